/* The inputs and weights of linear maps in WebAssembly with INT8: weights of 8 bits, inputs of up to 16.
 *
 * Plain SIMD has a product of integers of 16 bits. So inputs keep more bits than elsewhere, as many as sums of 32 bits
 * have room for. Weights that a bundle has in 8 bits stay exactly as they are, because gains of norms are not folded
 * into them.
 */

#pragma once

#include "operands.h"

typedef int8_t Weight; /* in units of its column's scale */
typedef int16_t Input; /* in units of its row's scale */
typedef int32_t InputPack;
typedef ivec SumVector;
typedef struct {
    int8_t bytes[2 * LANES];
} WeightVector;
/* Stands behind the inputs of a row: x = scale * input; zero_point is 0. */
typedef struct {
    float scale;
    int32_t zero_point;
} Quantization;
enum { INPUT_PACK = 2, INPUTS = 2, BEHIND = sizeof(Quantization) / sizeof(Input) };
enum { LARGEST_WEIGHT = 127, CAN_FOLD = 0 };

/* The most that an input of a map of n_in inputs may be. */
INLINE int64_t largest_input(int64_t n_in) {
    return larger_of(smaller(INT16_MAX, INT32_MAX / (LARGEST_WEIGHT * n_in)), 1);
}

INLINE SumVector add_products(SumVector so_far, InputPack inputs, WeightVector column) {
    return so_far + (SumVector)wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(&column), wasm_i32x4_splat(inputs));
}

/* The nearest whole numbers to x * factor, in the lowest bits. */
INLINE uvec nearest(vec x, float factor) { return (uvec)(x * factor + ROUNDING); }

/* The lower half of each number. */
INLINE void store_halves(Input *to, uvec numbers) {
    const v128_t halves = wasm_i16x8_shuffle((v128_t)numbers, (v128_t)numbers, 0, 2, 4, 6, 0, 2, 4, 6);
    wasm_v128_store64_lane(to, halves, 0);
}

/* A row -> its inputs up to `width`, and their scale, which is NaN for a row with a NaN or infinity. */
INLINE void quantize(const float *row, int64_t count, int64_t width, Input *to) {
    vec most = broadcast(0), wrong = broadcast(0);
    int64_t i;
    for (i = 0; i + LANES <= count; i += LANES) {
        const vec x = load(row + i);
        most = larger(most, larger(x, -x));
        wrong += x * 0.0f;
    }
    float highest = largest_of(most), none = sum_of(wrong);
    for (; i < count; i++) {
        highest = fabsf(row[i]) > highest ? fabsf(row[i]) : highest;
        none += row[i] * 0.0f;
    }
    if (none != none) highest = 0;
    const float largest = (float)largest_input(count), inverse = largest / highest;
    const float factor = inverse <= FLT_MAX && none == none ? inverse : 0; /* infinite for a row near 0 */
    for (i = 0; i + LANES <= count; i += LANES) store_halves(to + i, nearest(load(row + i), factor));
    for (; i < width; i++) to[i] = (Input)nearest(broadcast(i < count ? row[i] : 0), factor)[0];
    const Quantization own = {highest / largest + none, 0};
    memcpy(to + width, &own, sizeof own);
}

/* Rows of arrays in float32 or bfloat16 (the upper half of a float), as floats. */

#pragma once

#include "fused.h"
#include "vectors.h"

typedef uint16_t bfloat16;
typedef bfloat16 bfloat16s __attribute__((vector_size(2 * LANES)));

INLINE float from_bfloat16(bfloat16 number) {
    const uint32_t bits = (uint32_t)number << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

INLINE vec load_bfloat16s(const bfloat16 *from) {
    bfloat16s loaded;
    memcpy(&loaded, from, sizeof loaded);
    return (vec)(__builtin_convertvector(loaded, uvec) << 16);
}

/* Round to the nearest, and of two equally near to the even one. */
INLINE bfloat16s to_bfloat16s(vec wide) {
    const uvec bits = (uvec)wide, rounded = bits + 0x7fff + (bits >> 16 & 1);
    return __builtin_convertvector((uvec)choose(wide != wide, (vec)(bits | 0x400000), (vec)rounded) >> 16, bfloat16s);
}

/* A row, times `factor`, as floats. */
INLINE void read_scaled(const Array *array, int64_t place, int64_t count, float factor, float *to) {
    int64_t i = 0;
    if (array->is_bfloat16) {
        const bfloat16 *from = (const bfloat16 *)array->data + place;
        for (; i + LANES <= count; i += LANES) store(to + i, load_bfloat16s(from + i) * factor);
        for (; i < count; i++) to[i] = from_bfloat16(from[i]) * factor;
    } else {
        const float *from = (const float *)array->data + place;
        for (; i + LANES <= count; i += LANES) store(to + i, load(from + i) * factor);
        for (; i < count; i++) to[i] = from[i] * factor;
    }
}

/* Return a row as floats: where it lies, or in `scratch`. */
INLINE const float *read_row(const Array *array, int64_t place, int64_t count, float *scratch) {
    if (!array->is_bfloat16) return (const float *)array->data + place;
    read_scaled(array, place, count, 1, scratch);
    return scratch;
}

INLINE void write_row(const Array *array, int64_t place, int64_t count, const float *row) {
    if (!array->is_bfloat16) {
        memcpy((float *)array->data + place, row, count * sizeof(float));
        return;
    }
    bfloat16 *to = (bfloat16 *)array->data + place;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const bfloat16s rounded = to_bfloat16s(load(row + i));
        memcpy(to + i, &rounded, sizeof rounded);
    }
    for (; i < count; i++) to[i] = to_bfloat16s(broadcast(row[i]))[0];
}

INLINE float sum_of_row(const float *row, int64_t count) {
    vec sums = broadcast(0);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) sums += load(row + i);
    float total = sum_of(sums);
    for (; i < count; i++) total += row[i];
    return total;
}

INLINE float sum_of_products(const float *one, const float *other, int64_t count) {
    vec sums = broadcast(0);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) sums += load(one + i) * load(other + i);
    float total = sum_of(sums);
    for (; i < count; i++) total += one[i] * other[i];
    return total;
}

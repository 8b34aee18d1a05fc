/* The inputs and weights of linear maps.
 *
 * Both are like the operands of attention. Compiled with INT8, for AVX2 or more or for ARM, they are integers of 8
 * bits, and for WebAssembly those of wasm_int8.h: their sums are exact, and become floats at the end.
 */

#pragma once

#include "operands.h"
#if defined(INT8) && defined(__aarch64__)
#include "neon.h"
#endif

/* One lane multiplies INPUT_PACK inputs at once. The inputs of a row are filled up to a multiple of INPUTS. */
#if defined(INT8) && defined(__wasm__)

#include "wasm_int8.h"

#elif defined(INT8)

typedef int8_t Weight; /* in units of its column's scale */
typedef uint8_t Input; /* in units of its row's scale, from the row's lowest, or from 0 if that is lower; on ARM less
                        * 128, as a signed number */
typedef int32_t InputPack;
typedef ivec SumVector;
typedef struct {
    int8_t bytes[4 * LANES];
} WeightVector;
/* Stands behind the inputs of a row: x = scale * (input - zero_point). */
typedef struct {
    float scale;
    int32_t zero_point;
} Quantization;
enum { INPUT_PACK = 4, INPUTS = 4, BEHIND = sizeof(Quantization) };

/* The range of a row in units of its scale. Both its ends are rounded, so an input may be one more. */
enum { RANGE = 254 };

#ifdef __aarch64__
enum { LOWEST_INPUT = -128 };
#else
enum { LOWEST_INPUT = 0 };
#endif

/* With AVX2 alone, two neighbouring products are summed up in 16 bits, into which 2 * 255 * 64 fits. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__aarch64__)
enum { LARGEST_WEIGHT = 127 };
#else
enum { LARGEST_WEIGHT = 64 };
#endif

/* The most that an input of a map of n_in inputs may be. */
INLINE int64_t largest_input(int64_t n_in) { return (void)n_in, UINT8_MAX; }

enum { CAN_FOLD = 1 }; /* gains of norms into weights, which are rounded to integers again */

INLINE SumVector add_products(SumVector so_far, InputPack inputs, WeightVector column) {
#ifdef __AVX512VNNI__
    __m512i bytes;
    memcpy(&bytes, &column, sizeof bytes);
    return (SumVector)_mm512_dpbusd_epi32((__m512i)so_far, _mm512_set1_epi32(inputs), bytes);
#elif defined(__AVXVNNI__)
    __m256i bytes;
    memcpy(&bytes, &column, sizeof bytes);
    return (SumVector)_mm256_dpbusd_avx_epi32((__m256i)so_far, _mm256_set1_epi32(inputs), bytes);
#elif defined(__aarch64__)
    return (SumVector)add_signed_products((int32x4_t)so_far, inputs, column.bytes);
#else
    __m256i bytes;
    memcpy(&bytes, &column, sizeof bytes);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi32(inputs), bytes);
    return so_far + (SumVector)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
}

/* The nearest whole numbers to x * factor, plus the same number for all. */
INLINE uvec nearest(vec x, float factor) { return (uvec)(x * factor + ROUNDING); }

/* The lowest byte of each number; GCC would take them out one by one where there is no AVX-512. */
INLINE void store_bytes(Input *to, uvec numbers) {
#ifdef __AVX512F__
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)numbers));
#elif defined(__aarch64__)
    store_lowest_bytes(to, (uint32x4_t)numbers);
#else
    const __m256i every_fourth = _mm256_set1_epi64x(0x808080800c080400); /* 0x80: nothing */
    const __m256i halves = _mm256_shuffle_epi8((__m256i)numbers, every_fourth);
    const __m256i joined = _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0));
    _mm_storel_epi64((__m128i *)to, _mm256_castsi256_si128(joined));
#endif
}

/* A row -> its inputs up to `width`, and their scale and zero point. Of a row with a NaN or infinity the scale is NaN,
 * and the zero point that of zeros: the bits of such numbers are no integers to compute with. */
INLINE void quantize(const float *row, int64_t count, int64_t width, Input *to) {
    vec above = broadcast(0), below = broadcast(0), wrong = broadcast(0);
    int64_t i;
    for (i = 0; i + LANES <= count; i += LANES) {
        const vec x = load(row + i);
        above = larger(above, x);
        below = larger(below, -x);
        wrong += x * 0.0f;
    }
    float highest = largest_of(above), lowest = -largest_of(below), none = sum_of(wrong);
    for (; i < count; i++) {
        highest = row[i] > highest ? row[i] : highest;
        lowest = row[i] < lowest ? row[i] : lowest;
        none += row[i] * 0.0f;
    }
    if (none != none) highest = lowest = 0;
    const float range = highest - lowest, inverse = RANGE / range;
    const float factor = inverse <= FLT_MAX ? inverse : 0; /* infinite for a range near 0 */
    const uvec first = nearest(broadcast(lowest), factor) - LOWEST_INPUT;
    for (i = 0; i + LANES <= count; i += LANES) store_bytes(to + i, nearest(load(row + i), factor) - first);
    for (; i < width; i++) to[i] = (Input)(nearest(broadcast(i < count ? row[i] : 0), factor) - first)[0];
    const Quantization own = {range / RANGE + none, (int32_t)(nearest(broadcast(0), factor) - first)[0]};
    memcpy(to + width, &own, sizeof own);
}

#else

typedef Operand Weight, Input;
typedef Pack InputPack;
typedef vec SumVector;
typedef OperandVector WeightVector;
#ifdef __AVX512BF16__
enum { INPUT_PACK = PACK, INPUTS = 32, BEHIND = 0 }; /* INPUTS: those of a row of a tile of AMX */
#else
enum { INPUT_PACK = PACK, INPUTS = 1, BEHIND = 0 };
#endif

enum { CAN_FOLD = 1 };

INLINE SumVector add_products(SumVector so_far, InputPack inputs, WeightVector column) {
    return add_product(so_far, inputs, column);
}

#endif

INLINE WeightVector load_weights(const Weight *from) {
    WeightVector loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

INLINE InputPack input_pack_at(const Input *from) {
    InputPack read;
    memcpy(&read, from, sizeof read);
    return read;
}

enum { COLUMNS = 2 * LANES };

/* A linear map of n_in inputs to n_out outputs. The weights lie in panels of COLUMNS outputs: (n_panels, n_in up to
 * INPUTS / INPUT_PACK, COLUMNS, INPUT_PACK), filled with zeros. The bias (n_panels * COLUMNS) is always there; integers
 * have the scale and the sum of each column, too.
 */
typedef struct {
    int64_t n_in, n_out;
    const Weight *weight;
    const float *bias, *scales;
    const int32_t *column_sums;
} Linear;

/* The number of inputs from one row to the next, as products read them. */
INLINE int64_t input_stride(int64_t n_in) { return rounded_up(n_in, INPUTS) + BEHIND; }

/* x (R, n_in) -> rows as products read them, in `workspace`, which has room for as many. */
static inline const Input *to_inputs(const float *x, int64_t n_rows, int64_t n_in, Input *workspace) {
#ifdef INT8
    for (int64_t row = 0; row < n_rows; row++)
        quantize(x + row * n_in, n_in, rounded_up(n_in, INPUTS), workspace + row * input_stride(n_in));
    return workspace;
#else
    return to_operands(x, n_rows, n_in, rounded_up(n_in, INPUTS), workspace);
#endif
}

/* x W + b of some columns, from sums that began with `first_sum`; `row` as products read it. */
INLINE vec finish(SumVector whole, const Linear *map, const Input *row, int64_t column) {
#ifdef INT8
    Quantization inputs;
    SumVector column_sums;
    memcpy(&inputs, row + rounded_up(map->n_in, INPUTS), sizeof inputs);
    memcpy(&column_sums, map->column_sums + column, sizeof column_sums);
    const vec products = __builtin_convertvector(whole - column_sums * inputs.zero_point, vec);
    return products * (load(map->scales + column) * inputs.scale) + load(map->bias + column);
#else
    (void)map, (void)row, (void)column;
    return whole;
#endif
}

INLINE SumVector first_sum(const Linear *map, int64_t column) {
#ifdef INT8
    (void)map, (void)column;
    return (SumVector){0};
#else
    return load(map->bias + column);
#endif
}

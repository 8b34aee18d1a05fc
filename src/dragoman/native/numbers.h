/* What attention multiplies: float32, or bfloat16 where the processor has AVX-512 BF16. Sums are always float32. */

#include "vectors.h"

#ifdef __AVX512BF16__

typedef uint16_t Number; /* the upper half of a float */
typedef int32_t Unit;    /* numbers that are multiplied together */
typedef __m512bh Numbers;
enum { UNIT = 2 };

INLINE Numbers load_numbers(const Number *from) {
    Numbers loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

INLINE vec add_product(vec sum, Unit factor, Numbers column) {
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(factor), column);
}

/* Floats -> numbers, filled up with zeros to `width`, a multiple of UNIT. */
INLINE void narrow(const float *from, int64_t count, int64_t width, Number *to) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const __m256bh rounded = _mm512_cvtneps_pbh((__m512)load(from + i));
        memcpy(to + i, &rounded, sizeof rounded);
    }
    for (; i < width; i += LANES) {
        const __mmask16 there = (1 << larger_of(count - i, 0)) - 1, filled = (1 << smaller(width - i, LANES)) - 1;
        const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(there, from + i));
        _mm256_mask_storeu_epi16(to + i, filled, (__m256i)rounded);
    }
}

/* Numbers in whole vectors -> every other place of `to`, from the first or the second on. */
INLINE void spread(const Number *from, int64_t count, int64_t second, Number *to) {
    for (int64_t i = 0; i < count; i += LANES) {
        const __m512i pairs = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(from + i)));
        const __m512i placed = second ? _mm512_slli_epi32(pairs, 16) : pairs;
        _mm512_mask_storeu_epi16(to + i * UNIT, second ? 0xaaaaaaaa : 0x55555555, placed);
    }
}

/* Rows (R, count) -> numbers (R, width) in `workspace`. */
static const Number *narrowed(const float *x, int64_t n_rows, int64_t count, int64_t width, Number *workspace) {
    for (int64_t row = 0; row < n_rows; row++) narrow(x + row * count, count, width, workspace + row * width);
    return workspace;
}

#else

typedef float Number, Unit;
typedef vec Numbers;
enum { UNIT = 1 };

INLINE Numbers load_numbers(const Number *from) { return load(from); }

INLINE vec add_product(vec sum, Unit factor, Numbers column) { return sum + factor * column; }

INLINE void narrow(const float *from, int64_t count, int64_t width, Number *to) {
    (void)width;
    memcpy(to, from, count * sizeof(Number));
}

INLINE void spread(const Number *from, int64_t count, int64_t second, Number *to) {
    (void)second;
    memcpy(to, from, count * sizeof(Number));
}

static const Number *narrowed(const float *x, int64_t n_rows, int64_t count, int64_t width, Number *workspace) {
    (void)n_rows, (void)count, (void)width, (void)workspace;
    return x;
}

#endif

INLINE Unit unit_at(const Number *from) {
    Unit read;
    memcpy(&read, from, sizeof read);
    return read;
}

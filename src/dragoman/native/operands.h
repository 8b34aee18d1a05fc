/* The operands of attention: float32, or bfloat16 where the processor has AVX-512 BF16. Sums are always float32.
 *
 * One instruction multiplies a pack of PACK operands in each of LANES lanes: one float32, or two bfloat16. */

#pragma once

#include "vectors.h"

#ifdef __AVX512BF16__

typedef uint16_t Operand; /* the upper half of a float */
typedef int32_t Pack;     /* PACK operands, to be multiplied in one lane */
typedef __m512bh OperandVector;
enum { PACK = 2 };

INLINE OperandVector load_operands(const Operand *from) {
    OperandVector loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

INLINE vec add_product(vec sum, Pack factor, OperandVector column) {
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(factor), column);
}

/* Floats -> operands, filled up with zeros to `width`, a multiple of PACK. */
INLINE void write_operands(const float *from, int64_t count, int64_t width, Operand *to) {
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

/* Operands, in whole vectors -> every other place of `to`, from the first or the second on. */
INLINE void write_interleaved(const Operand *from, int64_t count, int64_t second, Operand *to) {
    for (int64_t i = 0; i < count; i += LANES) {
        const __m512i pairs = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(from + i)));
        const __m512i placed = second ? _mm512_slli_epi32(pairs, 16) : pairs;
        _mm512_mask_storeu_epi16(to + i * PACK, second ? 0xaaaaaaaa : 0x55555555, placed);
    }
}

/* Rows (R, count) -> operands (R, width) in `workspace`, or the rows themselves if they are float32. */
static inline const Operand *to_operands(const float *x, int64_t n_rows, int64_t count, int64_t width,
                                         Operand *workspace) {
    for (int64_t row = 0; row < n_rows; row++) write_operands(x + row * count, count, width, workspace + row * width);
    return workspace;
}

#else

typedef float Operand, Pack;
typedef vec OperandVector;
enum { PACK = 1 };

INLINE OperandVector load_operands(const Operand *from) { return load(from); }

INLINE vec add_product(vec sum, Pack factor, OperandVector column) { return sum + factor * column; }

INLINE void write_operands(const float *from, int64_t count, int64_t width, Operand *to) {
    (void)width;
    memcpy(to, from, count * sizeof(Operand));
}

INLINE void write_interleaved(const Operand *from, int64_t count, int64_t second, Operand *to) {
    (void)second;
    memcpy(to, from, count * sizeof(Operand));
}

static inline const Operand *to_operands(const float *x, int64_t n_rows, int64_t count, int64_t width,
                                         Operand *workspace) {
    (void)n_rows, (void)count, (void)width, (void)workspace;
    return x;
}

#endif

INLINE Pack pack_at(const Operand *from) {
    Pack read;
    memcpy(&read, from, sizeof read);
    return read;
}

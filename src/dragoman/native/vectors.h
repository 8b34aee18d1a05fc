/* Vectors of floats as wide as those of the processor, in the extensions that GCC and Clang share. */

#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* The floats of one register. */
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * LANES)));

INLINE vec load(const float *from) {
    vec loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

INLINE void store(float *to, vec stored) { memcpy(to, &stored, sizeof stored); }

INLINE vec broadcast(float number) { return (vec){0} + number; }

INLINE vec choose(ivec which, vec yes, vec no) { return (vec)((which & (ivec)yes) | (~which & (ivec)no)); }

INLINE vec larger(vec a, vec b) {
#if defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__wasm_simd128__)
    return (vec)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
    return choose(a > b, a, b);
#endif
}

/* Four numbers. The quarters of a vector are added, or compared, before its lanes: fewer steps than one a lane. */
typedef float quarter __attribute__((vector_size(16)));

INLINE quarter quarter_at(const vec *terms, int i) {
    quarter part;
    memcpy(&part, (const float *)terms + 4 * i, sizeof part);
    return part;
}

INLINE float sum_of(vec terms) {
    quarter sums = quarter_at(&terms, 0);
    for (int i = 1; i < LANES / 4; i++) sums += quarter_at(&terms, i);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

INLINE float largest_of(vec terms) {
    quarter most = quarter_at(&terms, 0);
    for (int i = 1; i < LANES / 4; i++) {
        const quarter other = quarter_at(&terms, i);
        for (int lane = 0; lane < 4; lane++) most[lane] = other[lane] > most[lane] ? other[lane] : most[lane];
    }
    const float one = most[0] > most[1] ? most[0] : most[1], two = most[2] > most[3] ? most[2] : most[3];
    return one > two ? one : two;
}

INLINE int any_lane(ivec which) {
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)which, (__m512i)which) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)which, (__m256i)which);
#elif defined(__wasm_simd128__)
    return wasm_v128_any_true((v128_t)which);
#else
    int found = 0;
    for (int lane = 0; lane < LANES; lane++) found |= which[lane];
    return found;
#endif
}

INLINE int64_t rounded_up(int64_t number, int64_t unit) { return (number + unit - 1) / unit * unit; }

INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

INLINE int64_t larger_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* The first n numbers of a vector, or all, and zeros. */
INLINE vec load_some(const float *from, int64_t n) {
    vec some = broadcast(0);
    if (n >= LANES) return load(from);
    memcpy(&some, from, n * sizeof(float));
    return some;
}

INLINE void store_some(float *to, vec some, int64_t n) {
    if (n >= LANES) {
        store(to, some);
    } else {
        memcpy(to, &some, n * sizeof(float));
    }
}

/* 1.5 * 2**23: adding it rounds a float to an integer, in its lowest bits. */
#define ROUNDING 12582912.0f

/* exp(x) up to 88, and the same above, to two units in the last place: from the nearest power of two and a Taylor
 * polynomial of what is left. */
INLINE vec exponential(vec x) {
    vec clamped = choose(x > 88.0f, broadcast(88.0f), larger(broadcast(-87.0f), x));
    vec shifted = clamped * 1.44269504f + ROUNDING;
    vec powers = shifted - ROUNDING;
    vec rest = clamped - powers * 0.693359375f + powers * 2.12194440e-4f; /* log(2), in two parts */
    vec series = broadcast(1.0f / 5040);
    series = series * rest + 1.0f / 720;
    series = series * rest + 1.0f / 120;
    series = series * rest + 1.0f / 24;
    series = series * rest + 1.0f / 6;
    series = series * rest + 0.5f;
    series = series * rest + 1.0f;
    series = series * rest + 1.0f;
    vec power = (vec)(((uvec)shifted << 23) + 0x3f800000); /* 2**powers: the exponent's bits */
    return choose(x < -87.0f, broadcast(0), series * power);
}

/* Return 2 for a processor with AVX-512, 1 for one with AVX2, else 0. */
INLINE int64_t kind_of_processor(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
    return 0;
}

/* Return which of the libraries for kinds 0, 1 and 2 run on a processor of some kind: a bit for each. */
INLINE int64_t libraries_of_kind(int64_t kind) { return (2 << kind) - 1; }

/* Products: x W + b of many rows, and the numbers that they and attention multiply.
 *
 * Compiled as it is, everything is float32. Compiled for a processor with AVX-512 BF16, maps and attention multiply
 * bfloat16. Compiled with INT8 for one with AVX2 or more, maps multiply integers of 8 bits, and attention what it would
 * without. Sums of bfloat16 are float32, and those of integers are exact.
 */

#include "../vectors.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#if defined(__AMX_BF16__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* ---- numbers ---- */

/* What attention multiplies, and how many of it are multiplied together (a unit). */
#ifdef __AVX512BF16__
typedef uint16_t number; /* the upper half of a float */
typedef int32_t unit;
enum { UNIT = 2 };
#else
typedef float number;
typedef float unit;
enum { UNIT = 1 };
#endif

#ifdef __AVX512BF16__

typedef __m512bh numbers;

INLINE numbers load_numbers(const number *from) {
    numbers loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

INLINE vec add_product(vec sum, unit factor, numbers column) {
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(factor), column);
}

/* Floats -> numbers, filled up with zeros to `width`, a multiple of UNIT. */
INLINE void narrow(const float *from, int64_t count, int64_t width, number *to) {
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
INLINE void spread(const number *from, int64_t count, int64_t second, number *to) {
    for (int64_t i = 0; i < count; i += LANES) {
        const __m512i pairs = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(from + i)));
        const __m512i placed = second ? _mm512_slli_epi32(pairs, 16) : pairs;
        _mm512_mask_storeu_epi16(to + i * UNIT, second ? 0xaaaaaaaa : 0x55555555, placed);
    }
}

/* Rows (R, count) -> numbers (R, width) in `workspace`. */
static const number *narrowed(const float *x, int64_t n_rows, int64_t count, int64_t width, number *workspace) {
    for (int64_t row = 0; row < n_rows; row++) narrow(x + row * count, count, width, workspace + row * width);
    return workspace;
}

#else

typedef vec numbers;

INLINE numbers load_numbers(const number *from) { return load(from); }

INLINE vec add_product(vec sum, unit factor, numbers column) { return sum + factor * column; }

INLINE void narrow(const float *from, int64_t count, int64_t width, number *to) {
    (void)width;
    memcpy(to, from, count * sizeof(number));
}

INLINE void spread(const number *from, int64_t count, int64_t second, number *to) {
    (void)second;
    memcpy(to, from, count * sizeof(number));
}

static const number *narrowed(const float *x, int64_t n_rows, int64_t count, int64_t width, number *workspace) {
    (void)n_rows, (void)count, (void)width, (void)workspace;
    return x;
}

#endif

INLINE unit unit_at(const number *from) {
    unit read;
    memcpy(&read, from, sizeof read);
    return read;
}

/* What maps multiply: weights by inputs, of which GROUP are multiplied together, and to how many of which those of a
 * map are filled up. What is summed up becomes floats at the end. */
#ifdef INT8

typedef int8_t weight; /* in units of its column's scale */
typedef uint8_t input; /* in units of its row's scale, from the row's lowest, or from 0 if that is lower */
typedef int32_t group;
typedef ivec sum;
typedef struct {
    int8_t bytes[4 * LANES];
} weights;
/* What stands behind the inputs of a row: x = scale * (input - zero_point). */
typedef struct {
    float scale;
    int32_t zero_point;
} Quantization;
enum { GROUP = 4, INPUTS = 4, BEHIND = sizeof(Quantization) };

/* What the range of a row is in units of its scale: both its ends are rounded, so that an input may be one more. */
enum { RANGE = 254 };

/* Without VNNI, two neighbouring products are summed up in 16 bits, into which 2 * 255 * 64 fits. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
enum { LARGEST_WEIGHT = 127 };
#else
enum { LARGEST_WEIGHT = 64 };
#endif

INLINE sum add_group(sum so_far, group inputs, weights column) {
#ifdef __AVX512VNNI__
    __m512i bytes;
    memcpy(&bytes, &column, sizeof bytes);
    return (sum)_mm512_dpbusd_epi32((__m512i)so_far, _mm512_set1_epi32(inputs), bytes);
#elif defined(__AVXVNNI__)
    __m256i bytes;
    memcpy(&bytes, &column, sizeof bytes);
    return (sum)_mm256_dpbusd_avx_epi32((__m256i)so_far, _mm256_set1_epi32(inputs), bytes);
#else
    __m256i bytes;
    memcpy(&bytes, &column, sizeof bytes);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi32(inputs), bytes);
    return so_far + (sum)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
}

/* The nearest whole numbers to x * factor, plus the same number for all. */
INLINE uvec nearest(vec x, float factor) { return (uvec)(x * factor + ROUNDING); }

/* The lowest byte of each number; GCC would take them out one by one where there is no AVX-512. */
INLINE void store_bytes(input *to, uvec numbers) {
#ifdef __AVX512F__
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)numbers));
#else
    const __m256i every_fourth = _mm256_set1_epi64x(0x808080800c080400); /* 0x80: nothing */
    const __m256i halves = _mm256_shuffle_epi8((__m256i)numbers, every_fourth);
    const __m256i joined = _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0));
    _mm_storel_epi64((__m128i *)to, _mm256_castsi256_si128(joined));
#endif
}

/* A row -> its inputs up to `width`, and their scale and zero point. Of a row with a NaN or infinity the scale is NaN.
 */
INLINE void quantize(const float *row, int64_t count, int64_t width, input *to) {
    vec above = all(0), below = all(0), wrong = all(0);
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
    const float range = highest - lowest, factor = range > 0 ? RANGE / range : 0;
    const uvec first = nearest(all(lowest), factor);
    for (i = 0; i + LANES <= count; i += LANES) store_bytes(to + i, nearest(load(row + i), factor) - first);
    for (; i < width; i++) to[i] = (input)(nearest(all(i < count ? row[i] : 0), factor) - first)[0];
    const Quantization own = {range / RANGE + none, (int32_t)(nearest(all(0), factor) - first)[0]};
    memcpy(to + width, &own, sizeof own);
}

#else

typedef number weight, input;
typedef unit group;
typedef vec sum;
typedef numbers weights;
#ifdef __AVX512BF16__
enum { GROUP = UNIT, INPUTS = 32, TILE = 16, BEHIND = 0 }; /* TILE: rows and columns of a tile of AMX */
#else
enum { GROUP = UNIT, INPUTS = 1, BEHIND = 0 };
#endif

INLINE sum add_group(sum so_far, group inputs, weights column) { return add_product(so_far, inputs, column); }

#endif

INLINE weights load_weights(const weight *from) {
    weights loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

INLINE group group_at(const input *from) {
    group read;
    memcpy(&read, from, sizeof read);
    return read;
}

/* ---- maps ---- */

/* How many rows of a product have their sums in registers, in two each. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define TILE_ROWS 12
#else
#define TILE_ROWS 6
#endif
enum { COLUMNS = 2 * LANES };

/* Weights (n_in, n_out) in panels of COLUMNS: (n_panels, n_in up to INPUTS / GROUP, COLUMNS, GROUP), filled with zeros.
 * Others (n_panels * COLUMNS): the bias, always there; of integers also each column's scale and sum. */
typedef struct {
    int64_t n_in, n_out;
    const weight *weight;
    const float *bias, *scales;
    const int32_t *column_sums;
} Linear;

/* How many inputs lie between two rows, as products read them. */
INLINE int64_t between_rows(int64_t n_in) { return rounded_up(n_in, INPUTS) + BEHIND; }

/* x (R, n_in) -> rows as products read them, in `workspace`, which has room for as many. */
static const input *converted(const float *x, int64_t n_rows, int64_t n_in, input *workspace) {
#ifdef INT8
    for (int64_t row = 0; row < n_rows; row++)
        quantize(x + row * n_in, n_in, rounded_up(n_in, INPUTS), workspace + row * between_rows(n_in));
    return workspace;
#else
    return narrowed(x, n_rows, n_in, rounded_up(n_in, INPUTS), workspace);
#endif
}

/* x W + b of some columns, from sums that began with `first_sum`; `row` as products read it. */
INLINE vec finished(sum whole, const Linear *map, const input *row, int64_t column) {
#ifdef INT8
    Quantization inputs;
    sum column_sums;
    memcpy(&inputs, row + rounded_up(map->n_in, INPUTS), sizeof inputs);
    memcpy(&column_sums, map->column_sums + column, sizeof column_sums);
    const vec products = __builtin_convertvector(whole - column_sums * inputs.zero_point, vec);
    return products * (load(map->scales + column) * inputs.scale) + load(map->bias + column);
#else
    (void)map, (void)row, (void)column;
    return whole;
#endif
}

INLINE sum first_sum(const Linear *map, int64_t column) {
#ifdef INT8
    (void)map, (void)column;
    return (sum){0};
#else
    return load(map->bias + column);
#endif
}

/* Rows of a product for one panel. A few rows alone wait for each sum; so each has several, of every other input. All
 * loops over sums are unrolled: were one of them not, GCC would keep the sums in memory. */
INLINE void tile(int n_rows, int chains, const Linear *map, int64_t panel, const input *x, float *out, int64_t stride) {
    sum sums[4][TILE_ROWS][2];
    const int64_t width = rounded_up(map->n_in, INPUTS), n_groups = width / GROUP, next = between_rows(map->n_in);
    const int64_t first = panel * COLUMNS;
    const weight *from = map->weight + width * first;
#pragma GCC unroll 4
    for (int chain = 0; chain < chains; chain++)
#pragma GCC unroll 12
        for (int row = 0; row < n_rows; row++) {
            sums[chain][row][0] = chain ? (sum){0} : first_sum(map, first);
            sums[chain][row][1] = chain ? (sum){0} : first_sum(map, first + LANES);
        }
    int64_t at = 0;
    for (; at + chains <= n_groups; at += chains)
#pragma GCC unroll 4
        for (int chain = 0; chain < chains; chain++) {
            const weights left = load_weights(from + (at + chain) * COLUMNS * GROUP);
            const weights right = load_weights(from + (at + chain) * COLUMNS * GROUP + LANES * GROUP);
#pragma GCC unroll 12
            for (int row = 0; row < n_rows; row++) {
                const group inputs = group_at(x + row * next + (at + chain) * GROUP);
                sums[chain][row][0] = add_group(sums[chain][row][0], inputs, left);
                sums[chain][row][1] = add_group(sums[chain][row][1], inputs, right);
            }
        }
    for (; at < n_groups; at++) {
        const weights left = load_weights(from + at * COLUMNS * GROUP);
        const weights right = load_weights(from + at * COLUMNS * GROUP + LANES * GROUP);
#pragma GCC unroll 12
        for (int row = 0; row < n_rows; row++) {
            const group inputs = group_at(x + row * next + at * GROUP);
            sums[0][row][0] = add_group(sums[0][row][0], inputs, left);
            sums[0][row][1] = add_group(sums[0][row][1], inputs, right);
        }
    }
    const int64_t columns = smaller(COLUMNS, map->n_out - first);
#pragma GCC unroll 12
    for (int row = 0; row < n_rows; row++) {
#pragma GCC unroll 4
        for (int chain = 1; chain < chains; chain++) {
            sums[0][row][0] += sums[chain][row][0];
            sums[0][row][1] += sums[chain][row][1];
        }
        const vec whole[2] = {finished(sums[0][row][0], map, x + row * next, first),
                              finished(sums[0][row][1], map, x + row * next, first + LANES)};
        float *to = out + row * stride;
        if (columns == COLUMNS) {
            store(to, whole[0]);
            store(to + LANES, whole[1]);
        } else {
            memcpy(to, whole, columns * sizeof(float));
        }
    }
}

#ifdef __AMX_BF16__

/* Whether this process may use tiles: Linux wants to be asked, since it must save their 8 KiB with each thread. */
static int may_tile(void) {
    static int known = -1; /* not asked yet */
    if (known < 0) {
        int may = 0;
#ifdef __linux__
        unsigned a, b, c, d;
        const unsigned tiles = 1 << 22 | 1 << 24; /* of bfloat16 */
        may = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & tiles) == tiles &&
              syscall(SYS_arch_prctl, 0x1023, 18) == 0; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
#endif
        known = may; /* only now: another thread may look */
    }
    return known;
}

/* Tiles of rows of 64 bytes: 0 to 3 for 16 sums of each row of a product, 4 and 5 for 32 inputs of each, 6 and 7 for 16
 * columns of 16 pairs of inputs. The fewer rows, the sooner they are multiplied. */
static void configure_tiles(int64_t n_rows) {
    struct {
        uint8_t palette, first_row, unused[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } configuration = {.palette = 1};
    for (int i = 0; i < 8; i++) configuration.row_bytes[i] = 64, configuration.rows[i] = i < 6 ? n_rows : TILE;
    _tile_loadconfig(&configuration);
}

/* Store tile TILE_NUMBER as columns of `out`, which may be fewer than a tile's. */
#define STORE_TILE(TILE_NUMBER, n_rows, columns, out, stride)                                                          \
    if ((columns) >= TILE) {                                                                                           \
        _tile_stored(TILE_NUMBER, out, (stride) * sizeof(float));                                                      \
    } else if ((columns) > 0) {                                                                                        \
        float whole[TILE * TILE];                                                                                      \
        _tile_stored(TILE_NUMBER, whole, TILE * sizeof(float));                                                        \
        for (int64_t row = 0; row < (n_rows); row++)                                                                   \
            memcpy((out) + row * (stride), whole + row * TILE, (columns) * sizeof(float));                             \
    }

/* The rows that the tiles are configured for, and if `two` as many below them, of a product for one panel. */
static void tiled(const Linear *map, int64_t panel, const input *x, int64_t n_rows, int two, float *out,
                  int64_t stride) {
    const int64_t width = rounded_up(map->n_in, INPUTS), columns = map->n_out - panel * COLUMNS;
    const int64_t row_bytes = width * sizeof(number), pair_bytes = COLUMNS * UNIT * sizeof(number);
    const weight *from = map->weight + panel * width * COLUMNS;
    _tile_loadd(0, map->bias + panel * COLUMNS, 0); /* the same row for each */
    _tile_loadd(1, map->bias + panel * COLUMNS + TILE, 0);
    _tile_loadd(2, map->bias + panel * COLUMNS, 0);
    _tile_loadd(3, map->bias + panel * COLUMNS + TILE, 0);
    for (int64_t at = 0; at < width; at += INPUTS) {
        _tile_loadd(4, x + at, row_bytes);
        _tile_loadd(6, from + at * COLUMNS, pair_bytes);
        _tile_loadd(7, from + at * COLUMNS + TILE * UNIT, pair_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (two) {
            _tile_loadd(5, x + n_rows * width + at, row_bytes);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    STORE_TILE(0, n_rows, columns, out, stride)
    STORE_TILE(1, n_rows, columns - TILE, out + TILE, stride)
    if (two) {
        STORE_TILE(2, n_rows, columns, out + n_rows * stride, stride)
        STORE_TILE(3, n_rows, columns - TILE, out + n_rows * stride + TILE, stride)
    }
}

/* `project` with tiles: first the rows of whole ones, then those that are left. */
static void project_tiled(const Linear *map, int64_t first, int64_t last, const input *x, int64_t n_rows, float *out,
                          int64_t stride) {
    const int64_t width = rounded_up(map->n_in, INPUTS), whole = n_rows / TILE * TILE;
    if (whole) {
        configure_tiles(TILE);
        for (int64_t panel = first; panel < last; panel++)
            for (int64_t row = 0; row < whole; row += 2 * TILE)
                tiled(map, panel, x + row * width, TILE, row + TILE < whole,
                      out + (panel - first) * COLUMNS + row * stride, stride);
    }
    if (whole < n_rows) {
        configure_tiles(n_rows - whole);
        for (int64_t panel = first; panel < last; panel++)
            tiled(map, panel, x + whole * width, n_rows - whole, 0, out + (panel - first) * COLUMNS + whole * stride,
                  stride);
    }
    _tile_release();
}

#endif

/* x (R, n_in), as products read it -> the columns of some panels of x W + b, in rows `stride` apart. */
static void project(const Linear *map, int64_t first, int64_t last, const input *x, int64_t n_rows, float *out,
                    int64_t stride) {
#ifdef __AMX_BF16__
    if (may_tile()) {
        project_tiled(map, first, last, x, n_rows, out, stride);
        return;
    }
#endif
    for (int64_t panel = first; panel < last; panel++) {
        float *to = out + (panel - first) * COLUMNS;
        for (int64_t row = 0; row < n_rows; row += TILE_ROWS) {
            const input *from = x + row * between_rows(map->n_in);
            switch (smaller(TILE_ROWS, n_rows - row)) {
            case 1: tile(1, 4, map, panel, from, to + row * stride, stride); break;
            case 2: tile(2, 2, map, panel, from, to + row * stride, stride); break;
            case 3: tile(3, 1, map, panel, from, to + row * stride, stride); break;
            case 4: tile(4, 1, map, panel, from, to + row * stride, stride); break;
            case 5: tile(5, 1, map, panel, from, to + row * stride, stride); break;
            case 6: tile(6, 1, map, panel, from, to + row * stride, stride); break;
#if TILE_ROWS > 6
            case 7: tile(7, 1, map, panel, from, to + row * stride, stride); break;
            case 8: tile(8, 1, map, panel, from, to + row * stride, stride); break;
            case 9: tile(9, 1, map, panel, from, to + row * stride, stride); break;
            case 10: tile(10, 1, map, panel, from, to + row * stride, stride); break;
            case 11: tile(11, 1, map, panel, from, to + row * stride, stride); break;
            case 12: tile(12, 1, map, panel, from, to + row * stride, stride); break;
#endif
            }
        }
    }
}

/* x (R, n_in) -> x W + b (R, n_out); workspace: room for the rows as products read them. */
static void apply(const Linear *map, const float *x, int64_t n_rows, float *out, input *workspace) {
    const input *rows = converted(x, n_rows, map->n_in, workspace);
    project(map, 0, rounded_up(map->n_out, COLUMNS) / COLUMNS, rows, n_rows, out, map->n_out);
}

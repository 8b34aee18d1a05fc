/* Products x W + b of many rows, with the inputs and weights of `linear.h`. */

#pragma once

#ifdef __AMX_BF16__
#include "tiles.h"
#else
#include "linear.h"
#endif

/* The number of rows of a product whose sums are in registers, two registers each. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define TILE_ROWS 12
#else
#define TILE_ROWS 6
#endif

/* Some rows of a product for one panel. A few rows alone would wait for each sum, so each row has several `chains` of
 * sums, over every other input. All loops over sums are unrolled: otherwise GCC would keep the sums in memory. */
INLINE void tile(int n_rows, int chains, const Linear *map, int64_t panel, const Input *x, float *out, int64_t stride) {
    SumVector sums[4][TILE_ROWS][2];
    const int64_t width = rounded_up(map->n_in, INPUTS), n_packs = width / INPUT_PACK, next = input_stride(map->n_in);
    const int64_t first = panel * COLUMNS;
    const Weight *from = map->weight + width * first;
#pragma GCC unroll 4
    for (int chain = 0; chain < chains; chain++)
#pragma GCC unroll 12
        for (int row = 0; row < n_rows; row++) {
            sums[chain][row][0] = chain ? (SumVector){0} : first_sum(map, first);
            sums[chain][row][1] = chain ? (SumVector){0} : first_sum(map, first + LANES);
        }
    int64_t at = 0;
    for (; at + chains <= n_packs; at += chains)
#pragma GCC unroll 4
        for (int chain = 0; chain < chains; chain++) {
            const WeightVector left = load_weights(from + (at + chain) * COLUMNS * INPUT_PACK);
            const WeightVector right = load_weights(from + (at + chain) * COLUMNS * INPUT_PACK + LANES * INPUT_PACK);
#pragma GCC unroll 12
            for (int row = 0; row < n_rows; row++) {
                const InputPack inputs = input_pack_at(x + row * next + (at + chain) * INPUT_PACK);
                sums[chain][row][0] = add_products(sums[chain][row][0], inputs, left);
                sums[chain][row][1] = add_products(sums[chain][row][1], inputs, right);
            }
        }
    for (; at < n_packs; at++) {
        const WeightVector left = load_weights(from + at * COLUMNS * INPUT_PACK);
        const WeightVector right = load_weights(from + at * COLUMNS * INPUT_PACK + LANES * INPUT_PACK);
#pragma GCC unroll 12
        for (int row = 0; row < n_rows; row++) {
            const InputPack inputs = input_pack_at(x + row * next + at * INPUT_PACK);
            sums[0][row][0] = add_products(sums[0][row][0], inputs, left);
            sums[0][row][1] = add_products(sums[0][row][1], inputs, right);
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
        const vec whole[2] = {finish(sums[0][row][0], map, x + row * next, first),
                              finish(sums[0][row][1], map, x + row * next, first + LANES)};
        float *to = out + row * stride;
        if (columns == COLUMNS) {
            store(to, whole[0]);
            store(to + LANES, whole[1]);
        } else {
            memcpy(to, whole, columns * sizeof(float));
        }
    }
}

/* x (R, n_in), as products read it -> the columns of some panels of x W + b, in rows `stride` apart. */
static void project(const Linear *map, int64_t first, int64_t last, const Input *x, int64_t n_rows, float *out,
                    int64_t stride) {
#ifdef __AMX_BF16__
    if (can_tile()) {
        project_tiled(map, first, last, x, n_rows, out, stride);
        return;
    }
#endif
    for (int64_t panel = first; panel < last; panel++) {
        float *to = out + (panel - first) * COLUMNS;
        for (int64_t row = 0; row < n_rows; row += TILE_ROWS) {
            const Input *from = x + row * input_stride(map->n_in);
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
static void apply_linear(const Linear *map, const float *x, int64_t n_rows, float *out, Input *workspace) {
    const Input *rows = to_inputs(x, n_rows, map->n_in, workspace);
    project(map, 0, rounded_up(map->n_out, COLUMNS) / COLUMNS, rows, n_rows, out, map->n_out);
}

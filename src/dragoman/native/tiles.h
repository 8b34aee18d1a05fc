/* Products in bfloat16 by the tiles of AMX: registers of 16 rows of 64 bytes. */

#pragma once

#include "linear.h"

#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { TILE = 16 }; /* rows and columns of a tile */

/* Return 1 if this process may use tiles. Linux wants to be asked, because it must save their 8 KiB for each thread. */
static int can_tile(void) {
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
static void tiled(const Linear *map, int64_t panel, const Input *x, int64_t n_rows, int two, float *out,
                  int64_t stride) {
    const int64_t width = rounded_up(map->n_in, INPUTS), columns = map->n_out - panel * COLUMNS;
    const int64_t row_bytes = width * sizeof(Operand), pair_bytes = COLUMNS * PACK * sizeof(Operand);
    const Weight *from = map->weight + panel * width * COLUMNS;
    _tile_loadd(0, map->bias + panel * COLUMNS, 0); /* the same row for each */
    _tile_loadd(1, map->bias + panel * COLUMNS + TILE, 0);
    _tile_loadd(2, map->bias + panel * COLUMNS, 0);
    _tile_loadd(3, map->bias + panel * COLUMNS + TILE, 0);
    for (int64_t at = 0; at < width; at += INPUTS) {
        _tile_loadd(4, x + at, row_bytes);
        _tile_loadd(6, from + at * COLUMNS, pair_bytes);
        _tile_loadd(7, from + at * COLUMNS + TILE * PACK, pair_bytes);
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
static void project_tiled(const Linear *map, int64_t first, int64_t last, const Input *x, int64_t n_rows, float *out,
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

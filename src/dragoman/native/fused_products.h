/* Products of the small matrices of one head. */

#pragma once

#include "vectors.h"

#if LANES == 16
enum { TILE_ROWS = 8 };
#else
enum { TILE_ROWS = 4 };
#endif

/* A matrix of which number (i, j) is data[i * row + j * column]. */
typedef struct {
    const float *data;
    int64_t row, column;
} Matrix;

/* Some rows of one or two vectors of a product. */
INLINE void tile(int n_rows, int n_vectors, int64_t n_inner, Matrix a, const float *b, int64_t b_row, float *out,
                 int64_t out_row) {
    vec sums[TILE_ROWS][2];
    for (int row = 0; row < n_rows; row++)
        for (int i = 0; i < n_vectors; i++) sums[row][i] = broadcast(0);
    for (int64_t inner = 0; inner < n_inner; inner++) {
        vec columns[2];
        for (int i = 0; i < n_vectors; i++) columns[i] = load(b + inner * b_row + i * LANES);
#pragma GCC unroll 8
        for (int row = 0; row < n_rows; row++) {
            const float factor = a.data[row * a.row + inner * a.column];
            for (int i = 0; i < n_vectors; i++) sums[row][i] += factor * columns[i];
        }
    }
    for (int row = 0; row < n_rows; row++)
        for (int i = 0; i < n_vectors; i++) store(out + row * out_row + i * LANES, sums[row][i]);
}

INLINE void tiles(int n_vectors, int64_t n_rows, int64_t n_inner, Matrix a, const float *b, int64_t b_row, float *out) {
    while (n_rows > 0) {
        int64_t done = TILE_ROWS;
        if (n_rows >= TILE_ROWS)
            tile(TILE_ROWS, n_vectors, n_inner, a, b, b_row, out, b_row);
        else if (n_rows >= 4)
            tile(done = 4, n_vectors, n_inner, a, b, b_row, out, b_row);
        else if (n_rows >= 2)
            tile(done = 2, n_vectors, n_inner, a, b, b_row, out, b_row);
        else
            tile(done = 1, n_vectors, n_inner, a, b, b_row, out, b_row);
        a.data += done * a.row, out += done * b_row, n_rows -= done;
    }
}

/* a (n_rows, n_inner) b (n_inner, width) -> out (n_rows, width), of whole vectors. */
static void multiply(int64_t n_rows, int64_t n_inner, int64_t width, Matrix a, const float *b, float *out) {
    int64_t column = 0;
    for (; column + 2 * LANES <= width; column += 2 * LANES)
        tiles(2, n_rows, n_inner, a, b + column, width, out + column);
    if (column < width) tiles(1, n_rows, n_inner, a, b + column, width, out + column);
}

/* Dropout of a training step. */

#include "fused_rows.h"

#include <omp.h>

enum { DRAWS_AT_ONCE = 64 };

/* A row -> `to`, which may be the row. A draw depends only on the seed and on its place
 * (SplitMix64, Steele et al. 2014), so the backward pass repeats it. */
static void drop(const Dropout *dropout, int64_t row, int64_t count, const float *from, float *to) {
    const float scale = (float)dropout->scale;
    const uint16_t n_dropped = (uint16_t)dropout->n_dropped;
    uint64_t place = (uint64_t)row * (rounded_up(count, DRAWS_AT_ONCE) / 4);
    for (int64_t i = 0; i < count; i += DRAWS_AT_ONCE) {
        uint64_t words[DRAWS_AT_ONCE / 4];
        uint16_t draws[DRAWS_AT_ONCE];
        for (int word = 0; word < DRAWS_AT_ONCE / 4; word++) {
            uint64_t mixed = dropout->seed + (++place) * 0x9e3779b97f4a7c15;
            mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
            words[word] = mixed ^ mixed >> 31;
        }
        memcpy(draws, words, sizeof draws);
        const int64_t here = smaller(DRAWS_AT_ONCE, count - i);
        for (int64_t j = 0; j < here; j++) to[i + j] = draws[j] < n_dropped ? 0 : from[i + j] * scale;
    }
}

/* x + dropped y: rows (R, D). */
int64_t add_dropped(const Array *x, const Array *y, const Array *out, const Dropout *dropout, int64_t width,
                    int64_t n_rows, int64_t n_threads) {
    float *workspace = malloc(n_threads * 2 * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * 2 * width, *sums = scratch + width;

        const float *kept = read_row(x, row * width, width, scratch);
        drop(dropout, row, width, read_row(y, row * width, width, sums), sums);
        for (int64_t i = 0; i < width; i++) sums[i] += kept[i];
        write_row(out, row * width, width, sums);
    }
    free(workspace);
    return 0;
}

/* The dropped gradient, which is that by y: rows (R, D). */
int64_t drop_rows(const Array *gradient, const Array *out, const Dropout *dropout, int64_t width, int64_t n_rows,
                  int64_t n_threads) {
    float *workspace = malloc(n_threads * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * width;

        drop(dropout, row, width, read_row(gradient, row * width, width, scratch), scratch);
        write_row(out, row * width, width, scratch);
    }
    free(workspace);
    return 0;
}

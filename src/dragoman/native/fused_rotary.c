/* The rotary positions of a training step. */

#include "fused_rows.h"

#include <omp.h>

/* Turn pairs of numbers by their position's angle, or back: x (B, H, T, K) -> out; table (positions, K): sines, then
 * cosines, rows `step` apart from one of the T to the next. */
int64_t rotate(const Array *x, const Array *out, const float *table, int64_t step, int64_t back, int64_t n_heads,
               int64_t n_positions, int64_t width, int64_t n_sentences, int64_t n_threads) {
    const int64_t n_pairs = width / 2;
    const float direction = back ? -1 : 1;
    float *workspace = malloc(n_threads * 2 * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t sentence = 0; sentence < n_sentences; sentence++) {
        float *scratch = workspace + omp_get_thread_num() * 2 * width, *rotated = scratch + width;

        for (int64_t row = 0; row < n_positions; row++)
            for (int64_t head = 0; head < n_heads; head++) {
                const int64_t place = sentence * x->strides[0] + head * x->strides[1] + row * x->strides[2];
                const float *from = read_row(x, place, width, scratch);
                const float *sines = table + row * step, *cosines = sines + n_pairs;
                for (int64_t i = 0; i < n_pairs; i++) {
                    const float even = from[2 * i], odd = from[2 * i + 1], sine = direction * sines[i];
                    rotated[2 * i] = even * cosines[i] - odd * sine;
                    rotated[2 * i + 1] = even * sine + odd * cosines[i];
                }
                write_row(out, sentence * out->strides[0] + head * out->strides[1] + row * out->strides[2], width,
                          rotated);
            }
    }
    free(workspace);
    return 0;
}

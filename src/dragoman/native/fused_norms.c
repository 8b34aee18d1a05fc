/* The layer norm of a training step. */

#include "fused_rows.h"

#include <omp.h>

/* (x - mean) / deviation * gain + bias: rows (R, D); moments (R, 2): mean and 1 / deviation. */
int64_t normalise(const Array *x, const float *gain, const float *bias, const Array *out, float *moments, double eps,
                  int64_t width, int64_t n_rows, int64_t n_threads) {
    float *workspace = malloc(n_threads * 2 * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * 2 * width, *centred = scratch + width;

        const float *from = read_row(x, row * width, width, scratch);
        const float mean = sum_of_row(from, width) / width;
        for (int64_t i = 0; i < width; i++) centred[i] = from[i] - mean;
        const float factor = 1 / sqrtf(sum_of_products(centred, centred, width) / width + (float)eps);
        for (int64_t i = 0; i < width; i++) centred[i] *= factor * gain[i];
        if (bias)
            for (int64_t i = 0; i < width; i++) centred[i] += bias[i];
        write_row(out, row * width, width, centred);
        moments[2 * row] = mean, moments[2 * row + 1] = factor;
    }
    free(workspace);
    return 0;
}

/* Gradients by x, plus `kept` if there is any, and by gain and bias, as sums of each thread (threads, 2, D). */
int64_t normalise_gradient(const Array *x, const float *gain, const float *moments, const Array *gradient,
                           const Array *kept, const Array *by_x, float *sums, int64_t width, int64_t n_rows,
                           int64_t n_threads) {
    float *workspace = malloc(n_threads * 4 * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * 4 * width, *normed = scratch + width,
              *scaled = normed + width;
        float *by_gain = sums + omp_get_thread_num() * 2 * width, *by_bias = by_gain + width;

        const float mean = moments[2 * row], factor = moments[2 * row + 1];
        const float *from = read_row(x, row * width, width, scratch);
        for (int64_t i = 0; i < width; i++) normed[i] = (from[i] - mean) * factor;
        const float *by_out = read_row(gradient, row * width, width, scratch);
        for (int64_t i = 0; i < width; i++) {
            by_gain[i] += by_out[i] * normed[i];
            by_bias[i] += by_out[i];
            scaled[i] = by_out[i] * gain[i];
        }
        const float mean_scaled = sum_of_row(scaled, width) / width;
        const float mean_product = sum_of_products(scaled, normed, width) / width;
        for (int64_t i = 0; i < width; i++) scaled[i] = (scaled[i] - mean_scaled - normed[i] * mean_product) * factor;
        if (kept->data) {
            const float *more = read_row(kept, row * width, width, scratch);
            for (int64_t i = 0; i < width; i++) scaled[i] += more[i];
        }
        write_row(by_x, row * width, width, scaled);
    }
    free(workspace);
    return 0;
}

/* The loss over the vocabulary of a training step. */

#include "fused_rows.h"

#include <omp.h>

/* A row of scores plus bias (V), if there is any -> `scores`, and exp(score - highest) -> `powers`, which may be
 * `scores`, both with room for whole vectors. Returns log(sum(exp)); the softmax is `powers` times `factor`. */
static float exponentiate(const Array *from, const float *bias, int64_t row, int64_t width, float *scores,
                          float *powers, float *factor) {
    const int64_t padded = rounded_up(width, LANES);
    vec highest = broadcast(-INFINITY), totals = broadcast(0);
    read_scaled(from, row * width, width, 1, scores);
    for (int64_t i = width; i < padded; i++) scores[i] = -INFINITY;
    if (bias)
        for (int64_t i = 0; i < width; i++) scores[i] += bias[i];
    for (int64_t i = 0; i < padded; i += LANES) highest = larger(load(scores + i), highest);
    const float shift = largest_of(highest);
    for (int64_t i = 0; i < padded; i += LANES) {
        const vec exponentials = exponential(load(scores + i) - shift);
        totals += exponentials;
        store(powers + i, exponentials);
    }
    const float total = sum_of(totals);
    *factor = 1 / total;
    return shift + logf(total);
}

/* R-Drop: add `weight` times the gradient of (KL(p, q) + KL(q, p)) / 2 by the scores to the distributions p and q, and
 * return that divergence. gaps: log p - log q. All in whole vectors. */
static float add_r_drop(float *p, float *q, const float *gaps, int64_t padded, float weight) {
    vec sums[2] = {broadcast(0), broadcast(0)};
    for (int64_t i = 0; i < padded; i += LANES) {
        sums[0] += load(p + i) * load(gaps + i);
        sums[1] -= load(q + i) * load(gaps + i);
    }
    const float of_p = sum_of(sums[0]), of_q = sum_of(sums[1]), half_weight = weight / 2;
    for (int64_t i = 0; i < padded; i += LANES) {
        const vec one = load(p + i), other = load(q + i), gap = load(gaps + i);
        store(p + i, one + half_weight * (one * (gap - of_p) + one - other));
        store(q + i, other + half_weight * (other * (-gap - of_q) + other - one));
    }
    return (of_p + of_q) / 2;
}

/* Scores plus bias (V), if there is any -> their softmax, in place, and log(sum(exp)): rows (R, V). With r_drop above
 * 0, R rows of a second pass lie behind them: `add_r_drop` changes both, and its result is added to the thread's entry
 * of `divergences`. */
int64_t softmax(const Array *scores, const float *bias, float *normalisers, float *divergences, double r_drop,
                int64_t width, int64_t n_rows, int64_t n_threads) {
    const int64_t padded = rounded_up(width, LANES);
    float *workspace = malloc(n_threads * 4 * padded * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * 4 * padded, *p = scratch + padded, *other = p + padded,
              *q = other + padded;
        float factor, other_factor;
        normalisers[row] = exponentiate(scores, bias, row, width, r_drop ? scratch : p, p, &factor);
        for (int64_t i = 0; i < padded; i++) p[i] *= factor;
        if (r_drop) {
            normalisers[row + n_rows] = exponentiate(scores, bias, row + n_rows, width, other, q, &other_factor);
            const float difference = normalisers[row] - normalisers[row + n_rows];
            for (int64_t i = 0; i < padded; i++) {
                q[i] *= other_factor;
                scratch[i] = i < width ? scratch[i] - other[i] - difference : 0;
            }
            divergences[omp_get_thread_num()] += add_r_drop(p, q, scratch, padded, (float)r_drop);
            write_row(scores, (row + n_rows) * width, width, q);
        }
        write_row(scores, row * width, width, p);
    }
    free(workspace);
    return 0;
}

/* Norms and activations. */

#include "model.h"

/* x (R, D) -> out (R, D), which may be x, and must be for NO_NORM. */
void normalise(const Norm *norm, int64_t width, const float *x, int64_t n_rows, float *out) {
    if (norm->kind == NO_NORM) return;
    for (int64_t row = 0; row < n_rows; row++, x += width, out += width) {
        double total = 0, squares = 0;
        float mean = 0;
        int64_t i;
        if (norm->kind == LAYER_NORM) {
            vec sums = broadcast(0);
            for (i = 0; i + LANES <= width; i += LANES) sums += load(x + i);
            for (total = sum_of(sums); i < width; i++) total += x[i];
            mean = (float)(total / width);
        }
        vec sums = broadcast(0);
        for (i = 0; i + LANES <= width; i += LANES) {
            const vec centred = load(x + i) - mean;
            sums += centred * centred;
        }
        for (squares = sum_of(sums); i < width; i++) squares += (x[i] - mean) * (x[i] - mean);
        const float factor =
            (float)(1 / (sqrt(squares * norm->square_factor + norm->inner_epsilon) + norm->outer_epsilon));
        for (i = 0; i < width; i++) {
            const float normed = (x[i] - mean) * factor;
            out[i] = (norm->gain ? normed * norm->gain[i] : normed) + (norm->bias ? norm->bias[i] : 0);
        }
    }
}

/* x (1 + erf(x / sqrt(2))) / 2, with erf to 1.5e-7 by Abramowitz and Stegun (1964), formula 7.1.26. */
INLINE vec gelu(vec x) {
    const vec size = larger(x, -x) * 0.70710678f;
    const vec t = 1.0f / (1.0f + 0.3275911f * size);
    vec series = 1.061405429f * t - 1.453152027f;
    series = (series * t + 1.421413741f) * t - 0.284496736f;
    series = (series * t + 0.254829592f) * t;
    const vec erf = 1.0f - series * exponential(-size * size);
    return x * (1.0f + choose(x < 0.0f, -erf, erf)) * 0.5f;
}

/* Activate `count` numbers, and those up to the next whole vector; SWIGLU alone reads the gates. */
void activate(int64_t activation, float *inner, const float *gates, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES) {
        const vec x = load(inner + i);
        if (activation == RELU) store(inner + i, choose(x < 0.0f, broadcast(0), x));
        if (activation == GELU) store(inner + i, gelu(x));
        if (activation == SILU) store(inner + i, x / (1.0f + exponential(-x)));
        if (activation == SWIGLU) store(inner + i, x / (1.0f + exponential(-x)) * load(gates + i));
    }
}

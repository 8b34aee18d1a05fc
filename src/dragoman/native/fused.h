/* The fused operations: those of a training step except products of large matrices, each in one pass over memory.
 *
 * OpenMP shares rows or sentences among `n_threads`; its threads are PyTorch's own if both use the same OpenMP library.
 * Sums are in float32; arrays that are read and written are in float32 or bfloat16. B sentences, H heads, T queries,
 * S keys, K and W widths of a key and a value, D model width, V vocabulary, R rows. `fused.py` says what each function
 * computes. They return 0 or NO_MEMORY. `native/header.py` makes the binding from this file; see dragoman.h.
 */

#pragma once

#include <stdint.h>

enum { NO_MEMORY = -1 };

/* A tensor whose numbers lie side by side along the last dimension; `strides` of sentences, heads and rows, in numbers.
 */
typedef struct {
    void *data; /* NULL for no tensor */
    int64_t is_bfloat16, strides[3];
} Array;

/* A number is dropped if a draw of 16 bits is below `n_dropped`; the others are multiplied by `scale`. */
typedef struct {
    uint64_t seed;
    int64_t n_dropped;
    double scale;
} Dropout;

/* Queries, keys and values of all heads; the mask (bytes, 0: may not attend); and the weights (B, H, T, S up to whole
 * vectors), which the forward pass writes and the backward pass reads. */
typedef struct {
    int64_t n_heads, n_queries, n_keys, key_width, value_width;
    Array queries, keys, values, mask;
    float *weights;
} Attention;

#pragma GCC visibility push(default)

int64_t add_dropped(const Array *x, const Array *y, const Array *out, const Dropout *dropout, int64_t width,
                    int64_t n_rows, int64_t n_threads);

int64_t drop_rows(const Array *gradient, const Array *out, const Dropout *dropout, int64_t width, int64_t n_rows,
                  int64_t n_threads);

int64_t normalise(const Array *x, const float *gain, const float *bias, const Array *out, float *moments, double eps,
                  int64_t width, int64_t n_rows, int64_t n_threads);

int64_t normalise_gradient(const Array *x, const float *gain, const float *moments, const Array *gradient,
                           const Array *kept, const Array *by_x, float *sums, int64_t width, int64_t n_rows,
                           int64_t n_threads);

int64_t rotate(const Array *x, const Array *out, const float *table, int64_t step, int64_t back, int64_t n_heads,
               int64_t n_positions, int64_t width, int64_t n_sentences, int64_t n_threads);

int64_t attend(const Attention *attention, const Array *out, int64_t n_sentences, int64_t n_threads);

int64_t attend_gradient(const Attention *attention, const Array *gradient, const Array *by_queries,
                        const Array *by_keys, const Array *by_values, int64_t n_sentences, int64_t n_threads);

int64_t softmax(const Array *scores, const float *bias, float *normalisers, float *divergences, double r_drop,
                int64_t width, int64_t n_rows, int64_t n_threads);

int64_t add_rows(float *totals, const Array *numbers, int64_t width, int64_t n_rows, int64_t n_threads);

/* Floats of a vector. */
int64_t lanes(void);

/* Return a bit for each library that runs on this processor. */
int64_t processor(void);

#pragma GCC visibility pop

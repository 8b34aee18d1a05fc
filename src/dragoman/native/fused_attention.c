/* The attention of a training step. */

#include "fused_products.h"
#include "fused_rows.h"

#include <omp.h>

/* Matrices of one head of a sentence, their rows filled up to whole vectors: `width` and `value_width` numbers of keys
 * and values, `padded` of scores. */
typedef struct {
    int64_t padded, width, value_width;
    float *queries, *keys, *values, *out; /* filled up with zeros */
    float *transposed;                    /* keys or values, (K or W, padded) */
    float *scores, *by_queries, *by_keys, *by_values;
    float *mask_bias; /* added to the scores, for each query and key: 0 or -inf */
} Scratch;

/* The number of floats in a `Scratch`. */
static int64_t scratch_size(const Attention *attention) {
    const int64_t width = rounded_up(larger_of(attention->key_width, attention->value_width), LANES);
    const int64_t n_keys = rounded_up(attention->n_keys, LANES), n_queries = attention->n_queries;
    return (3 * n_queries + 5 * n_keys) * width + 2 * n_queries * n_keys;
}

/* This thread's part of the workspace, which begins as zeros. */
static Scratch own_scratch(float *workspace, const Attention *attention) {
    const int64_t n_keys = attention->n_keys, n_queries = attention->n_queries;
    Scratch scratch = {.padded = rounded_up(n_keys, LANES),
                       .width = rounded_up(attention->key_width, LANES),
                       .value_width = rounded_up(attention->value_width, LANES)};
    float *next = workspace + omp_get_thread_num() * scratch_size(attention);
    scratch.queries = next, next += n_queries * scratch.width;
    scratch.by_queries = next, next += n_queries * scratch.width;
    scratch.out = next, next += n_queries * scratch.value_width;
    scratch.keys = next, next += n_keys * scratch.width;
    scratch.by_keys = next, next += n_keys * scratch.width;
    scratch.values = next, next += n_keys * scratch.value_width;
    scratch.by_values = next, next += n_keys * scratch.value_width;
    scratch.transposed = next, next += larger_of(attention->key_width, attention->value_width) * scratch.padded;
    scratch.mask_bias = next, next += n_queries * scratch.padded;
    scratch.scores = next;
    return scratch;
}

/* The rows of one head of a sentence, times `factor` -> (n_rows, width up to whole vectors). */
static void gather(const Array *array, int64_t sentence, int64_t head, int64_t n_rows, int64_t width, float factor,
                   float *to) {
    const int64_t place = sentence * array->strides[0] + head * array->strides[1];
    for (int64_t row = 0; row < n_rows; row++, to += rounded_up(width, LANES))
        read_scaled(array, place + row * array->strides[2], width, factor, to);
}

/* The same the other way. */
static void scatter(const float *from, int64_t n_rows, int64_t width, const Array *array, int64_t sentence,
                    int64_t head) {
    const int64_t place = sentence * array->strides[0] + head * array->strides[1];
    for (int64_t row = 0; row < n_rows; row++, from += rounded_up(width, LANES))
        write_row(array, place + row * array->strides[2], width, from);
}

/* Copy the rows of a head into `scratch`; keys are multiplied by `factor`, queries by 1 / sqrt(K). */
static void load_head(const Attention *attention, int64_t sentence, int64_t head, float factor,
                      const Scratch *scratch) {
    const int64_t n_keys = attention->n_keys, key_width = attention->key_width;
    gather(&attention->queries, sentence, head, attention->n_queries, key_width, 1 / sqrtf(key_width),
           scratch->queries);
    gather(&attention->keys, sentence, head, n_keys, key_width, factor, scratch->keys);
    gather(&attention->values, sentence, head, n_keys, attention->value_width, 1, scratch->values);
}

/* The weights of a head. */
static float *weights_of(const Attention *attention, int64_t sentence, int64_t head, const Scratch *scratch) {
    return attention->weights + (sentence * attention->n_heads + head) * attention->n_queries * scratch->padded;
}

/* (n_rows, width up to whole vectors) -> (width, n_rows up to whole vectors). */
static void transpose(const float *from, int64_t n_rows, int64_t width, float *to) {
    const int64_t from_row = rounded_up(width, LANES), to_row = rounded_up(n_rows, LANES);
    for (int64_t row = 0; row < n_rows; row++)
        for (int64_t i = 0; i < width; i++) to[i * to_row + row] = from[row * from_row + i];
    for (int64_t i = 0; i < width; i++)
        for (int64_t row = n_rows; row < to_row; row++) to[i * to_row + row] = 0;
}

/* Write the mask bias of a sentence. */
static void write_mask_bias(const Attention *attention, int64_t sentence, float *mask_bias) {
    const Array *mask = &attention->mask;
    const int64_t padded = rounded_up(attention->n_keys, LANES);
    for (int64_t query = 0; query < attention->n_queries; query++, mask_bias += padded) {
        const uint8_t *seen = (uint8_t *)mask->data + sentence * mask->strides[0] + query * mask->strides[2];
        for (int64_t key = 0; key < padded; key++) mask_bias[key] = -INFINITY;
        for (int64_t key = 0; key < attention->n_keys; key++) mask_bias[key] = mask->data && !seen[key] ? -INFINITY : 0;
    }
}

/* softmax over the keys: scores (S) -> weights (S), both in whole vectors; zeros if none may be seen. */
static void masked_softmax(const float *scores, const float *mask_bias, int64_t padded, float *weights) {
    vec highest = broadcast(-INFINITY), most_open = broadcast(-INFINITY), totals = broadcast(0);
    for (int64_t key = 0; key < padded; key += LANES) {
        const vec seen = load(scores + key) + load(mask_bias + key);
        highest = larger(highest, seen);
        most_open = larger(most_open, load(mask_bias + key));
        store(weights + key, seen);
    }
    const int is_blind = largest_of(most_open) == -INFINITY;
    const float shift = largest_of(highest);
    for (int64_t key = 0; key < padded; key += LANES) {
        const vec exponentials = is_blind ? broadcast(0) : exponential(load(weights + key) - shift);
        totals += exponentials;
        store(weights + key, exponentials);
    }
    const float factor = is_blind ? 0 : 1 / sum_of(totals);
    for (int64_t key = 0; key < padded; key += LANES) store(weights + key, load(weights + key) * factor);
}

/* Work on one head of a sentence; `arrays` are read or written. */
typedef void Work(const Attention *attention, const Array *const *arrays, int64_t sentence, int64_t head,
                  const Scratch *scratch);

/* Do `work` for all heads of all sentences. Returns 0 or NO_MEMORY. */
static int64_t with_all_heads(Work *work, const Attention *attention, const Array *const *arrays, int64_t n_sentences,
                              int64_t n_threads) {
    float *workspace = calloc(n_threads * scratch_size(attention), sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t sentence = 0; sentence < n_sentences; sentence++) {
        const Scratch scratch = own_scratch(workspace, attention);
        write_mask_bias(attention, sentence, scratch.mask_bias);
        for (int64_t head = 0; head < attention->n_heads; head++) work(attention, arrays, sentence, head, &scratch);
    }
    free(workspace);
    return 0;
}

static void attend_head(const Attention *attention, const Array *const *arrays, int64_t sentence, int64_t head,
                        const Scratch *scratch) {
    const int64_t n_queries = attention->n_queries, n_keys = attention->n_keys, padded = scratch->padded;
    float *weights = weights_of(attention, sentence, head, scratch);
    load_head(attention, sentence, head, 1, scratch);
    transpose(scratch->keys, n_keys, attention->key_width, scratch->transposed);
    multiply(n_queries, attention->key_width, padded, (Matrix){scratch->queries, scratch->width, 1},
             scratch->transposed, scratch->scores);
    for (int64_t query = 0; query < n_queries; query++)
        masked_softmax(scratch->scores + query * padded, scratch->mask_bias + query * padded, padded,
                       weights + query * padded);
    multiply(n_queries, n_keys, scratch->value_width, (Matrix){weights, padded, 1}, scratch->values, scratch->out);
    scatter(scratch->out, n_queries, attention->value_width, arrays[0], sentence, head);
}

/* softmax(Q K^T / sqrt(K)) V -> out (B, H, T, W), and the weights. */
int64_t attend(const Attention *attention, const Array *out, int64_t n_sentences, int64_t n_threads) {
    return with_all_heads(attend_head, attention, (const Array *[]){out}, n_sentences, n_threads);
}

static void attend_head_gradient(const Attention *attention, const Array *const *arrays, int64_t sentence, int64_t head,
                                 const Scratch *scratch) {
    const int64_t n_queries = attention->n_queries, n_keys = attention->n_keys, padded = scratch->padded;
    const float *weights = weights_of(attention, sentence, head, scratch);
    load_head(attention, sentence, head, 1 / sqrtf(attention->key_width), scratch);
    gather(arrays[0], sentence, head, n_queries, attention->value_width, 1, scratch->out);
    multiply(n_keys, n_queries, scratch->value_width, (Matrix){weights, 1, padded}, scratch->out, scratch->by_values);
    transpose(scratch->values, n_keys, attention->value_width, scratch->transposed);
    multiply(n_queries, attention->value_width, padded, (Matrix){scratch->out, scratch->value_width, 1},
             scratch->transposed, scratch->scores); /* gradient by the weights */
    for (int64_t query = 0; query < n_queries; query++) {
        float *by_weights = scratch->scores + query * padded;
        const float mean = sum_of_products(by_weights, weights + query * padded, padded);
        for (int64_t key = 0; key < padded; key++)
            by_weights[key] = (by_weights[key] - mean) * weights[query * padded + key]; /* gradient by the scores */
    }
    multiply(n_queries, n_keys, scratch->width, (Matrix){scratch->scores, padded, 1}, scratch->keys,
             scratch->by_queries);
    multiply(n_keys, n_queries, scratch->width, (Matrix){scratch->scores, 1, padded}, scratch->queries,
             scratch->by_keys);
    scatter(scratch->by_queries, n_queries, attention->key_width, arrays[1], sentence, head);
    scatter(scratch->by_keys, n_keys, attention->key_width, arrays[2], sentence, head);
    scatter(scratch->by_values, n_keys, attention->value_width, arrays[3], sentence, head);
}

/* Gradients by queries, keys and values, from the gradient by the output of `attend`. */
int64_t attend_gradient(const Attention *attention, const Array *gradient, const Array *by_queries,
                        const Array *by_keys, const Array *by_values, int64_t n_sentences, int64_t n_threads) {
    const Array *arrays[] = {gradient, by_queries, by_keys, by_values};
    return with_all_heads(attend_head_gradient, attention, arrays, n_sentences, n_threads);
}

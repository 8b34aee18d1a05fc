/* What the layers of encoder and decoder share: memory for some rows, and sublayers. */

#pragma once

#include "attention.h"
#include "products.h"

enum { ROWS_AT_ONCE = 96 }; /* rows that go through a layer together */

/* Memory for the rows that go through a layer together. */
typedef struct {
    void *all;
    float *normed, *projected, *attended, *inner, *gates, *added;
    Input *converted;
    Operand *token;
    Operand *keys, *values; /* of one head of a sentence */
    Scratch scratch;
    float *attention; /* (R', H, S), if the weights of the memory are asked for; else NULL */
} Workspace;

/* One block for everything, each part of whole vectors and with one to spare. No function needs all of it. Return 0 if
 * there is not enough memory. */
static inline int allocate_workspace(Workspace *workspace, const Shape *shape, int64_t n_rows, int64_t n_keys) {
    const int64_t d_attended = shape->n_heads * shape->d_v, d_model = shape->d_model, d_ff = shape->d_ff;
    const int64_t d_qkv = larger_of(shape->n_heads * 2 * shape->d_k + d_attended, 2 * d_model),
                  padded = rounded_up(n_keys, LANES);
    const int64_t packs = key_packs(shape), width = value_width(shape);
    const struct {
        void *part;
        int64_t size;
    } parts[] = {
        {&workspace->normed, n_rows * d_model * sizeof(float)},
        {&workspace->projected, n_rows * d_qkv * sizeof(float)},
        {&workspace->attended, n_rows * d_attended * sizeof(float)},
        {&workspace->inner, n_rows * d_ff * sizeof(float)},
        {&workspace->gates, n_rows * d_ff * sizeof(float)},
        {&workspace->added, n_rows * d_model * sizeof(float)},
        {&workspace->converted, n_rows * input_stride(larger_of(larger_of(d_model, d_attended), d_ff)) * sizeof(Input)},
        {&workspace->token, larger_of(packs * PACK, width) * sizeof(Operand)},
        {&workspace->keys, padded * packs * PACK * sizeof(Operand)},
        {&workspace->values, padded * width * sizeof(Operand)},
        {&workspace->scratch.queries, QUERIES_AT_ONCE * packs * PACK * sizeof(Operand)},
        {&workspace->scratch.weights, QUERIES_AT_ONCE * padded * sizeof(float)},
        {&workspace->scratch.operand_weights, QUERIES_AT_ONCE * padded * sizeof(Operand)},
    };
    const int64_t n_parts = sizeof parts / sizeof *parts;
    int64_t size = 0;
    for (int64_t i = 0; i < n_parts; i++) size += rounded_up(parts[i].size, sizeof(vec)) + sizeof(vec);
    char *next = workspace->all = allocate(size);
    if (!next) return 0;
    for (int64_t i = 0; i < n_parts; i++) {
        memcpy(parts[i].part, &next, sizeof next);
        next += rounded_up(parts[i].size, sizeof(vec)) + sizeof(vec);
    }
    return 1;
}

/* Return the input of a sublayer, from x (R, D): normed first, or x itself if the norm comes after the sum. */
INLINE const float *sublayer_input(const Shape *shape, const Norm *norm, const float *x, int64_t n_rows,
                                   Workspace *workspace) {
    if (!shape->pre_norm) return x;
    normalise(norm, shape->d_model, x, n_rows, workspace->normed);
    return workspace->normed;
}

/* x (R, D) + map(from), in place, normed if the norm comes after the sum. */
static inline void add_sublayer(const Shape *shape, const Linear *map, const Norm *norm, const float *from, float *x,
                                int64_t n_rows, Workspace *workspace) {
    apply_linear(map, from, n_rows, workspace->added, workspace->converted);
    for (int64_t i = 0; i < n_rows * shape->d_model; i++) x[i] += workspace->added[i];
    if (!shape->pre_norm) normalise(norm, shape->d_model, x, n_rows, x);
}

static inline void feed_forward(const Shape *shape, const Layer *layer, float *x, int64_t n_rows,
                                Workspace *workspace) {
    const float *from = sublayer_input(shape, &layer->feed_forward_norm, x, n_rows, workspace);
    apply_linear(&layer->inner, from, n_rows, workspace->inner, workspace->converted);
    if (shape->activation == SWIGLU) apply_linear(&layer->gate, from, n_rows, workspace->gates, workspace->converted);
    activate(shape->activation, workspace->inner, workspace->gates, n_rows * shape->d_ff);
    add_sublayer(shape, &layer->outer, &layer->feed_forward_norm, workspace->inner, x, n_rows, workspace);
}

/* Write one row's keys (H, K) and values (H, W) into the cache, as token number `token` of a sentence. */
static inline void cache_token(const Shape *shape, const KeyValueCache *cache, int64_t sentence, int64_t token,
                               const float *keys, const float *values, Workspace *workspace) {
    for (int64_t head = 0; head < shape->n_heads; head++) {
        const int64_t place = (sentence * shape->n_heads + head) * cache->blocks * LANES;
        write_token(shape, keys + head * shape->d_k, values + head * shape->d_v, token,
                    (Operand *)cache->keys + place * key_packs(shape) * PACK,
                    (Operand *)cache->values + place * value_width(shape), workspace->token);
    }
}

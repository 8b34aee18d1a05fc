/* Attention of a few queries over the keys and values of one head.
 *
 * Keys (B, H, blocks, K / PACK, LANES, PACK) and values (B, H, blocks * LANES / PACK, W, PACK) of one layer. K is
 * filled up to a multiple of PACK and W to whole vectors, and zeros stand where there is no token. One head of a
 * sentence, with PACK = 1:
 *
 *     keys, a block of LANES tokens                   values, a row for each token
 *
 *     token     0       1     ...  LANES-1            token
 *            k[0]    k[0]     ...  k[0]                 0     v[0]    v[1]    v[2]   ...  v[W-1]
 *            k[1]    k[1]     ...  k[1]                 1     v[0]    v[1]    v[2]   ...  v[W-1]
 *            ...                                        2     v[0]    v[1]    v[2]   ...  v[W-1]
 *            k[K-1]  k[K-1]   ...  k[K-1]              ...
 *
 * A row of keys is one vector: times one number of a query, it adds to the scores of LANES tokens at once. LANES
 * numbers of a row of values are one vector: times the token's weight, they add to LANES numbers of the output. With
 * PACK = 2 (bfloat16) every two rows are interleaved number by number, so that one instruction adds two products.
 */

#pragma once

#include "model.h"

enum { QUERIES_AT_ONCE = 6 }; /* queries that read a key together */

INLINE int64_t key_packs(const Shape *shape) { return rounded_up(shape->d_k, PACK) / PACK; }

INLINE int64_t value_width(const Shape *shape) { return rounded_up(shape->d_v, LANES); }

/* Write a token's key (K) and value (W) of one head in the layout of `KeyValueCache`; workspace: operands for either.
 */
static inline void write_token(const Shape *shape, const float *key, const float *value, int64_t token, Operand *keys,
                               Operand *values, Operand *workspace) {
    const int64_t packs = key_packs(shape), width = value_width(shape);
    Operand *column = keys + (token / LANES * packs * LANES + token % LANES) * PACK;
    write_operands(key, shape->d_k, packs * PACK, workspace);
    for (int64_t i = 0; i < packs; i++) memcpy(column + i * LANES * PACK, workspace + i * PACK, sizeof(Pack));
    write_operands(value, shape->d_v, width, workspace);
    write_interleaved(workspace, shape->d_v, token % PACK, values + token / PACK * width * PACK);
}

/* Turn pairs of dimensions by the angles of the position: x (R, H * K), rows `stride` apart; angles (n_positions, K),
 * sines and then cosines. Row i is at position i modulo n_positions. */
static inline void rotate(const Shape *shape, float *x, int64_t stride, int64_t n_rows, const float *angles,
                          int64_t n_positions) {
    const int64_t half = shape->d_k / 2;
    for (int64_t row = 0; row < n_rows; row++) {
        const float *sines = angles + row % n_positions * shape->d_k, *cosines = sines + half;
        for (int64_t head = 0; head < shape->n_heads; head++) {
            float *pairs = x + row * stride + head * shape->d_k;
            for (int64_t i = 0; i < half; i++) {
                const float even = pairs[2 * i], odd = pairs[2 * i + 1];
                pairs[2 * i] = even * cosines[i] - odd * sines[i];
                pairs[2 * i + 1] = even * sines[i] + odd * cosines[i];
            }
        }
    }
}

/* The keys and values that the queries of one head attend to. */
typedef struct {
    const Operand *keys, *values; /* as in `KeyValueCache` */
    const float *mask_bias; /* added to the scores of keys: 0 or -1e9; a row for each query, `mask_stride` apart */
    int64_t n_keys, mask_stride;
    float *attention; /* (n_queries, ...), `attention_stride` apart: the weights are written here; or NULL */
    int64_t attention_stride;
} HeadContext;

/* Memory for the attention of a few queries. */
typedef struct {
    Operand *queries;         /* (QUERIES_AT_ONCE, K up to PACK) */
    float *weights;           /* (QUERIES_AT_ONCE, keys up to whole vectors) */
    Operand *operand_weights; /* the same as operands */
} Scratch;

/* The scores of n queries and all keys, with the mask bias -> `weights`; each query's highest, lane by lane ->
 * `highest`. Few queries alone would wait for each sum; so each has several `chains` of sums, as in `tile`. */
INLINE void score_keys(int n, int chains, const Shape *shape, const HeadContext *context, const float *mask_bias,
                       const Scratch *scratch, vec *highest) {
    const int64_t padded = rounded_up(context->n_keys, LANES), packs = key_packs(shape);
    for (int i = 0; i < n; i++) highest[i] = broadcast(-INFINITY);
    for (int64_t first = 0; first < padded; first += LANES) {
        const Operand *keys = context->keys + first * packs * PACK;
        vec scores[4][QUERIES_AT_ONCE];
        for (int chain = 0; chain < chains; chain++)
            for (int i = 0; i < n; i++)
                scores[chain][i] = chain ? broadcast(0) : load(mask_bias + i * context->mask_stride + first);
        int64_t k = 0;
        for (; k + chains <= packs; k += chains)
#pragma GCC unroll 4
            for (int chain = 0; chain < chains; chain++) {
                const OperandVector column = load_operands(keys + (k + chain) * LANES * PACK);
#pragma GCC unroll 6
                for (int i = 0; i < n; i++)
                    scores[chain][i] = add_product(scores[chain][i],
                                                   pack_at(scratch->queries + (i * packs + k + chain) * PACK), column);
            }
        for (; k < packs; k++)
            for (int i = 0; i < n; i++)
                scores[0][i] = add_product(scores[0][i], pack_at(scratch->queries + (i * packs + k) * PACK),
                                           load_operands(keys + k * LANES * PACK));
        for (int i = 0; i < n; i++) {
            for (int chain = 1; chain < chains; chain++) scores[0][i] += scores[chain][i];
            highest[i] = larger(highest[i], scores[0][i]);
            store(scratch->weights + i * padded + first, scores[0][i]);
        }
    }
}

/* Scores -> exp(score - highest), in place, and 1 / their sum -> `factors`: softmax without its last product. */
INLINE void exponentiate_scores(int n, int64_t padded, const vec *highest, float *weights, float *factors) {
    for (int i = 0; i < n; i++) {
        const float shift = largest_of(highest[i]);
        vec totals = broadcast(0);
        for (int64_t first = 0; first < padded; first += LANES) {
            const vec exponentials = exponential(load(weights + i * padded + first) - shift);
            totals += exponentials;
            store(weights + i * padded + first, exponentials);
        }
        factors[i] = 1 / sum_of(totals);
    }
}

/* The values, weighted and summed, times `factors` -> out (n, W). */
INLINE void mix_values(int n, int chains, const Shape *shape, const HeadContext *context, const Operand *weights,
                       const float *factors, float *out, int64_t out_stride) {
    const int64_t padded = rounded_up(context->n_keys, LANES), width = value_width(shape);
    const int64_t n_rows = rounded_up(context->n_keys, PACK) / PACK;
    for (int64_t w = 0; w < shape->d_v; w += LANES) {
        vec sums[4][QUERIES_AT_ONCE];
        for (int chain = 0; chain < chains; chain++)
            for (int i = 0; i < n; i++) sums[chain][i] = broadcast(0);
        int64_t row = 0;
        for (; row + chains <= n_rows; row += chains)
#pragma GCC unroll 4
            for (int chain = 0; chain < chains; chain++) {
                const OperandVector values = load_operands(context->values + ((row + chain) * width + w) * PACK);
#pragma GCC unroll 6
                for (int i = 0; i < n; i++)
                    sums[chain][i] =
                        add_product(sums[chain][i], pack_at(weights + i * padded + (row + chain) * PACK), values);
            }
        for (; row < n_rows; row++)
            for (int i = 0; i < n; i++)
                sums[0][i] = add_product(sums[0][i], pack_at(weights + i * padded + row * PACK),
                                         load_operands(context->values + (row * width + w) * PACK));
        for (int i = 0; i < n; i++) {
            for (int chain = 1; chain < chains; chain++) sums[0][i] += sums[chain][i];
            store_some(out + i * out_stride + w, sums[0][i] * factors[i], shape->d_v - w);
        }
    }
}

/* Attention of the few queries in `scratch` -> out (n, W). */
INLINE void attend_few(int n, int chains, const Shape *shape, const HeadContext *context, const float *mask_bias,
                       const Scratch *scratch, float *out, int64_t out_stride) {
    const int64_t padded = rounded_up(context->n_keys, LANES);
    vec highest[QUERIES_AT_ONCE];
    float factors[QUERIES_AT_ONCE];
    score_keys(n, chains, shape, context, mask_bias, scratch, highest);
    exponentiate_scores(n, padded, highest, scratch->weights, factors);
    const Operand *weights = to_operands(scratch->weights, n, padded, padded, scratch->operand_weights);
    mix_values(n, chains, shape, context, weights, factors, out, out_stride);
}

/* Write the weights of n queries from the first on, whose exponentials are in `scratch`, if they are asked for. */
static inline void write_attention(const HeadContext *context, const Scratch *scratch, int64_t first, int64_t n) {
    if (!context->attention) return;
    for (int64_t i = 0; i < n; i++) {
        const float *weights = scratch->weights + i * rounded_up(context->n_keys, LANES);
        float *to = context->attention + (first + i) * context->attention_stride, total = 0;
        for (int64_t key = 0; key < context->n_keys; key++) total += weights[key];
        for (int64_t key = 0; key < context->n_keys; key++) to[key] = weights[key] / total;
    }
}

/* Queries (n_queries, K), scaled already -> out (n_queries, W). */
static inline void attend(const Shape *shape, const HeadContext *context, const float *queries, int64_t n_queries,
                          int64_t query_stride, const Scratch *scratch, float *out, int64_t out_stride) {
    const int64_t width = key_packs(shape) * PACK;
    for (int64_t first = 0; first < n_queries; first += QUERIES_AT_ONCE) {
        const float *mask_bias = context->mask_bias + first * context->mask_stride;
        const int64_t n = smaller(QUERIES_AT_ONCE, n_queries - first);
        float *to = out + first * out_stride;
        for (int64_t i = 0; i < n; i++)
            write_operands(queries + (first + i) * query_stride, shape->d_k, width, scratch->queries + i * width);
        switch (n) {
        case 1: attend_few(1, 4, shape, context, mask_bias, scratch, to, out_stride); break;
        case 2: attend_few(2, 2, shape, context, mask_bias, scratch, to, out_stride); break;
        case 3: attend_few(3, 1, shape, context, mask_bias, scratch, to, out_stride); break;
        case 4: attend_few(4, 1, shape, context, mask_bias, scratch, to, out_stride); break;
        case 5: attend_few(5, 1, shape, context, mask_bias, scratch, to, out_stride); break;
        case 6: attend_few(6, 1, shape, context, mask_bias, scratch, to, out_stride); break;
        }
        write_attention(context, scratch, first, n);
    }
}

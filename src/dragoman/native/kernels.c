/* The arithmetic of a search, in one call a layer: the same function as `array_model.py`, in float32 and one thread.
 * The operands of products may be narrower (`operands.h`, `linear.h`); everything else stays in float32.
 *
 * NumPy needs about sixty operations a layer, each over all rows. Here a few rows at a time go through the whole layer
 * while they are in the processor's cache. Sizes are int64_t, shapes are (slowest, ..., fastest), and memory that
 * outlives a call belongs to the caller. B sentences, S source, N slots for hypotheses of a sentence, D model width, H
 * heads, K and W widths of a key and a value, V target vocabulary, R rows.
 *
 * `kernels.py` has the same structures, `packing.py` fills them, and `compiled_model.py` calls the functions.
 */

#include "products.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { NO_MEMORY = -1, NO_SUCH_ID = -2 };

enum { INTERFACE = 6 };

enum { ROWS_AT_ONCE = 96 };     /* rows that go through a layer together */
enum { COLUMNS_AT_ONCE = 512 }; /* scores of a row that are looked through together */
enum { QUERIES_AT_ONCE = 6 };   /* queries that read a key together */

enum { NO_NORM, LAYER_NORM, RMS_NORM }; /* RMS_NORM does not subtract the mean */
typedef struct {
    int64_t kind;
    const float *gain, *bias; /* (D), or NULL */
    double square_factor, inner_epsilon,
        outer_epsilon; /* x / (sqrt(squares * square_factor + inner_epsilon) + outer_epsilon) */
} Norm;

enum { RELU, GELU, SWIGLU, SILU };
typedef struct {
    Linear self_projection; /* queries, keys and values side by side */
    Linear self_output;
    Linear cross_query, cross_memory, cross_output; /* of a decoder layer; cross_memory: keys and values */
    Linear inner, gate, outer;                      /* gate: SWIGLU alone */
    Norm self_norm, cross_norm, feed_forward_norm;
} Layer;

typedef struct {
    int64_t d_model, n_heads, d_k, d_v, d_ff, pre_norm, activation;
} Shape;

/* Ids to vectors: tokens (vocabulary, D) times `scale`. */
typedef struct {
    const float *tokens;
    int64_t n_tokens;
    double scale;
    int64_t centring; /* 1: subtract the mean of each vector */
} Embedding;

typedef struct {
    Shape shape;
    Embedding embedding;
    int64_t n_layers;
    const Layer *layers;
    Norm norm; /* of the last layer's output */
} Decoder;

/* Keys (B, H, blocks, K / PACK, LANES, PACK) and values (B, H, blocks * LANES / PACK, W, PACK) of one layer. K is
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
 * PACK = 2 (bfloat16) every two rows are interleaved number by number, so that one instruction adds two products. */
typedef struct {
    Operand *keys, *values;
    int64_t blocks;
} KeyValueCache;

/* The sentences that are being translated. Their caches stay where they were put at the start. */
typedef struct {
    int64_t source_length;
    const KeyValueCache *memory_caches, *target_caches; /* of each layer */
    const float *memory_mask_bias;                      /* (B, S up to whole vectors): 0, or -1e9 at padding */
    const int64_t *cache_rows; /* (B'): the sentences that are left, by their numbers among the B */
} SearchState;

/* One token in each of the N slots of the B' sentences that are left, of which R are open. */
typedef struct {
    const int64_t *ids; /* (B', N) */
    const int64_t
        *slots; /* (R): the open ones, in the flattened (B', N); fastest if those of a sentence are side by side */
    int64_t n_slots, n_rows; /* N and R */
    int64_t n_read;          /* tokens of a sentence in the cache; this step adds N */
    const float *added;      /* (D): the vector of their position, added to embeddings, or NULL */
    const float *angles;     /* (K): the sines of their position, then the cosines; NULL without rotary positions */
    const float *mask_bias;  /* (R, tokens up to whole vectors): 0, or -1e9 where a row may not attend */
    int64_t mask_stride;     /* 0: one row for all */
} Step;

/* ---- norms and activations ---- */

/* x (R, D) -> out (R, D), which may be x, and must be for NO_NORM. */
static void normalise(const Norm *norm, int64_t width, const float *x, int64_t n_rows, float *out) {
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
static void activate(int64_t activation, float *inner, const float *gates, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES) {
        const vec x = load(inner + i);
        if (activation == RELU) store(inner + i, choose(x < 0.0f, broadcast(0), x));
        if (activation == GELU) store(inner + i, gelu(x));
        if (activation == SILU) store(inner + i, x / (1.0f + exponential(-x)));
        if (activation == SWIGLU) store(inner + i, x / (1.0f + exponential(-x)) * load(gates + i));
    }
}

/* ---- attention ---- */

INLINE int64_t key_packs(const Shape *shape) { return rounded_up(shape->d_k, PACK) / PACK; }

INLINE int64_t value_width(const Shape *shape) { return rounded_up(shape->d_v, LANES); }

/* Write a token's key (K) and value (W) of one head in the layout of `KeyValueCache`; workspace: operands for either.
 */
static void write_token(const Shape *shape, const float *key, const float *value, int64_t token, Operand *keys,
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
static void rotate(const Shape *shape, float *x, int64_t stride, int64_t n_rows, const float *angles,
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
            const vec attended = sums[0][i] * factors[i];
            float *to = out + i * out_stride + w;
            if (w + LANES <= shape->d_v) {
                store(to, attended);
            } else {
                memcpy(to, &attended, (shape->d_v - w) * sizeof(float));
            }
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

/* Queries (n_queries, K), scaled already -> out (n_queries, W). */
static void attend(const Shape *shape, const HeadContext *context, const float *queries, int64_t n_queries,
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
    }
}

/* ---- layers ---- */

/* Memory for the rows that go through a layer together. */
typedef struct {
    void *all;
    float *normed, *projected, *attended, *inner, *gates, *added;
    Input *converted;
    Operand *token;
    Operand *keys, *values; /* of one head of a sentence */
    Scratch scratch;
} Workspace;

/* One block for everything, each part of whole vectors and with one to spare. No function needs all of it. Returns 0 if
 * there is not enough memory. */
static int allocate_workspace(Workspace *workspace, const Shape *shape, int64_t n_rows, int64_t n_keys) {
    const int64_t d_attended = shape->n_heads * shape->d_v, d_model = shape->d_model, d_ff = shape->d_ff;
    const int64_t d_qkv = shape->n_heads * 2 * shape->d_k + d_attended, padded = rounded_up(n_keys, LANES);
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
    char *next = workspace->all = aligned_alloc(sizeof(vec), size);
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
static void add_sublayer(const Shape *shape, const Linear *map, const Norm *norm, const float *from, float *x,
                         int64_t n_rows, Workspace *workspace) {
    apply_linear(map, from, n_rows, workspace->added, workspace->converted);
    for (int64_t i = 0; i < n_rows * shape->d_model; i++) x[i] += workspace->added[i];
    if (!shape->pre_norm) normalise(norm, shape->d_model, x, n_rows, x);
}

static void feed_forward(const Shape *shape, const Layer *layer, float *x, int64_t n_rows, Workspace *workspace) {
    const float *from = sublayer_input(shape, &layer->feed_forward_norm, x, n_rows, workspace);
    apply_linear(&layer->inner, from, n_rows, workspace->inner, workspace->converted);
    if (shape->activation == SWIGLU) apply_linear(&layer->gate, from, n_rows, workspace->gates, workspace->converted);
    activate(shape->activation, workspace->inner, workspace->gates, n_rows * shape->d_ff);
    add_sublayer(shape, &layer->outer, &layer->feed_forward_norm, workspace->inner, x, n_rows, workspace);
}

/* An encoder layer on x (B * S, D), in place; mask_bias (B, S up to whole vectors): 0, or -1e9 at padding; angles (S,
 * K) as in `rotate`, or NULL. Returns 0 or NO_MEMORY. */
int64_t encode(const Shape *shape, const Layer *layer, float *x, int64_t n_sentences, int64_t length,
               const float *mask_bias, const float *angles) {
    const int64_t d_k = shape->d_k, d_v = shape->d_v, n_heads = shape->n_heads;
    const int64_t stride = n_heads * (2 * d_k + d_v), padded = rounded_up(length, LANES);
    const int64_t at_once = larger_of(ROWS_AT_ONCE / length, 1);
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, at_once * length, length)) return NO_MEMORY;
    memset(workspace.keys, 0, padded * key_packs(shape) * PACK * sizeof(Operand));
    memset(workspace.values, 0, padded * value_width(shape) * sizeof(Operand));
    for (int64_t first = 0; first < n_sentences; first += at_once) {
        const int64_t n_here = smaller(at_once, n_sentences - first), n_rows = n_here * length;
        float *rows = x + first * length * shape->d_model;
        apply_linear(&layer->self_projection, sublayer_input(shape, &layer->self_norm, rows, n_rows, &workspace),
                     n_rows, workspace.projected, workspace.converted);
        if (angles) {
            rotate(shape, workspace.projected, stride, n_rows, angles, length);
            rotate(shape, workspace.projected + n_heads * d_k, stride, n_rows, angles, length);
        }
        for (int64_t sentence = 0; sentence < n_here; sentence++)
            for (int64_t head = 0; head < n_heads; head++) {
                const float *queries = workspace.projected + sentence * length * stride + head * d_k;
                const float *keys = queries + n_heads * d_k;
                const float *values = workspace.projected + sentence * length * stride + 2 * n_heads * d_k + head * d_v;
                for (int64_t token = 0; token < length; token++)
                    write_token(shape, keys + token * stride, values + token * stride, token, workspace.keys,
                                workspace.values, workspace.token);
                const HeadContext context = {
                    .keys = workspace.keys,
                    .values = workspace.values,
                    .mask_bias = mask_bias + (first + sentence) * padded,
                    .n_keys = length,
                    .mask_stride = 0,
                };
                attend(shape, &context, queries, length, stride, &workspace.scratch,
                       workspace.attended + sentence * length * n_heads * d_v + head * d_v, n_heads * d_v);
            }
        add_sublayer(shape, &layer->self_output, &layer->self_norm, workspace.attended, rows, n_rows, &workspace);
        feed_forward(shape, layer, rows, n_rows, &workspace);
    }
    free(workspace.all);
    return 0;
}

/* Write one row's keys (H, K) and values (H, W) into the cache, as token number `token` of a sentence. */
static void cache_token(const Shape *shape, const KeyValueCache *cache, int64_t sentence, int64_t token,
                        const float *keys, const float *values, Workspace *workspace) {
    for (int64_t head = 0; head < shape->n_heads; head++) {
        const int64_t place = (sentence * shape->n_heads + head) * cache->blocks * LANES;
        write_token(shape, keys + head * shape->d_k, values + head * shape->d_v, token,
                    cache->keys + place * key_packs(shape) * PACK, cache->values + place * value_width(shape),
                    workspace->token);
    }
}

/* The keys and values of a decoder layer's memory (B * S, D). Returns 0 or NO_MEMORY. */
int64_t read_memory(const Shape *shape, const Layer *layer, const float *memory, int64_t n_sentences, int64_t length,
                    const KeyValueCache *cache) {
    const int64_t n_keys = shape->n_heads * shape->d_k;
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, ROWS_AT_ONCE, length)) return NO_MEMORY;
    for (int64_t first = 0; first < n_sentences * length; first += ROWS_AT_ONCE) {
        const int64_t n_rows = smaller(ROWS_AT_ONCE, n_sentences * length - first);
        apply_linear(&layer->cross_memory, memory + first * shape->d_model, n_rows, workspace.projected,
                     workspace.converted);
        for (int64_t row = 0; row < n_rows; row++) {
            const float *keys = workspace.projected + row * layer->cross_memory.n_out;
            cache_token(shape, cache, (first + row) / length, (first + row) % length, keys, keys + n_keys, &workspace);
        }
    }
    free(workspace.all);
    return 0;
}

/* Fetch the keys and values of the next head, which lie behind these, while this head is computed. */
INLINE void prefetch_next_head(const HeadContext *context, const Shape *shape, int64_t blocks) {
    const int64_t key_bytes = key_packs(shape) * PACK * sizeof(Operand),
                  value_bytes = value_width(shape) * sizeof(Operand);
    const char *keys = (const char *)context->keys + blocks * LANES * key_bytes;
    const char *values = (const char *)context->values + blocks * LANES * value_bytes;
    for (int64_t i = 0; i < rounded_up(context->n_keys, LANES) * key_bytes; i += 64) __builtin_prefetch(keys + i);
    for (int64_t i = 0; i < context->n_keys * value_bytes; i += 64) __builtin_prefetch(values + i);
}

/* Attention of some rows over the caches of their sentences; neighbouring rows of one sentence together. */
static void attend_cached(const Shape *shape, const KeyValueCache *cache, const int64_t *sentence_of, int64_t n_rows,
                          int64_t n_keys, const float *mask_bias, int64_t sentence_stride, int64_t row_stride,
                          int64_t query_stride, Workspace *workspace) {
    const int64_t d_out = shape->n_heads * shape->d_v;
    for (int64_t row = 0, next; row < n_rows; row = next) {
        for (next = row + 1; next < n_rows && sentence_of[next] == sentence_of[row];) next++;
        for (int64_t head = 0; head < shape->n_heads; head++) {
            const int64_t place = (sentence_of[row] * shape->n_heads + head) * cache->blocks * LANES;
            const HeadContext context = {
                .keys = cache->keys + place * key_packs(shape) * PACK,
                .values = cache->values + place * value_width(shape),
                .mask_bias = mask_bias + sentence_of[row] * sentence_stride + row * row_stride,
                .n_keys = n_keys,
                .mask_stride = row_stride,
            };
            prefetch_next_head(&context, shape, cache->blocks);
            attend(shape, &context, workspace->projected + row * query_stride + head * shape->d_k, next - row,
                   query_stride, &workspace->scratch, workspace->attended + row * d_out + head * shape->d_v, d_out);
        }
    }
}

/* The vector of an id, plus that of its position if one is added -> x (D). */
static void embed(const Embedding *embedding, int64_t width, int64_t id, const float *added, float *x) {
    const float *token = embedding->tokens + id * width, scale = (float)embedding->scale;
    double total = 0;
    for (int64_t i = 0; i < width; i++) {
        x[i] = token[i] * scale + (added ? added[i] : 0);
        total += x[i];
    }
    if (embedding->centring)
        for (int64_t i = 0; i < width; i++) x[i] -= (float)(total / width);
}

/* A decoder layer on some rows x (R', D), in place; see `decode`. */
static void decode_layer(const Shape *shape, const Layer *layer, const SearchState *state,
                         const KeyValueCache *target_cache, const KeyValueCache *memory_cache, const Step *step,
                         int64_t first, int64_t n_rows, float *x, Workspace *workspace) {
    const int64_t d_keys = shape->n_heads * shape->d_k, length = state->source_length;
    const int64_t stride = 2 * d_keys + shape->n_heads * shape->d_v;
    const int64_t *slots = step->slots + first;
    int64_t sentence_of[ROWS_AT_ONCE];
    for (int64_t row = 0; row < n_rows; row++) sentence_of[row] = state->cache_rows[slots[row] / step->n_slots];

    apply_linear(&layer->self_projection, sublayer_input(shape, &layer->self_norm, x, n_rows, workspace), n_rows,
                 workspace->projected, workspace->converted);
    if (step->angles) {
        rotate(shape, workspace->projected, stride, n_rows, step->angles, 1);
        rotate(shape, workspace->projected + d_keys, stride, n_rows, step->angles, 1);
    }
    for (int64_t row = 0; row < n_rows; row++) {
        const float *keys = workspace->projected + row * stride + d_keys;
        cache_token(shape, target_cache, sentence_of[row], step->n_read + slots[row] % step->n_slots, keys,
                    keys + d_keys, workspace);
    }
    attend_cached(shape, target_cache, sentence_of, n_rows, step->n_read + step->n_slots,
                  step->mask_bias + first * step->mask_stride, 0, step->mask_stride, stride, workspace);
    add_sublayer(shape, &layer->self_output, &layer->self_norm, workspace->attended, x, n_rows, workspace);

    apply_linear(&layer->cross_query, sublayer_input(shape, &layer->cross_norm, x, n_rows, workspace), n_rows,
                 workspace->projected, workspace->converted);
    attend_cached(shape, memory_cache, sentence_of, n_rows, length, state->memory_mask_bias, rounded_up(length, LANES),
                  0, d_keys, workspace);
    add_sublayer(shape, &layer->cross_output, &layer->cross_norm, workspace->attended, x, n_rows, workspace);
    feed_forward(shape, layer, x, n_rows, workspace);
}

/* Read one token in each open slot -> hidden (R, D), the output of the decoder.
 * Returns 0, NO_SUCH_ID or NO_MEMORY. */
int64_t decode(const Decoder *decoder, const SearchState *state, const Step *step, float *hidden) {
    const Shape *shape = &decoder->shape;
    for (int64_t row = 0; row < step->n_rows; row++) {
        const int64_t id = step->ids[step->slots[row]];
        if (id < 0 || id >= decoder->embedding.n_tokens) return NO_SUCH_ID;
    }
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, smaller(step->n_rows, ROWS_AT_ONCE),
                            larger_of(step->n_read + step->n_slots, state->source_length)))
        return NO_MEMORY;
    for (int64_t row = 0; row < step->n_rows; row++)
        embed(&decoder->embedding, shape->d_model, step->ids[step->slots[row]], step->added,
              hidden + row * shape->d_model);
    for (int64_t i = 0; i < decoder->n_layers; i++)
        for (int64_t first = 0; first < step->n_rows; first += ROWS_AT_ONCE)
            decode_layer(shape, decoder->layers + i, state, state->target_caches + i, state->memory_caches + i, step,
                         first, smaller(ROWS_AT_ONCE, step->n_rows - first), hidden + first * shape->d_model,
                         &workspace);
    normalise(&decoder->norm, shape->d_model, hidden, step->n_rows, hidden);
    free(workspace.all);
    return 0;
}

/* A norm by itself: x (R, D) -> x. Returns 0. */
int64_t normalise_rows(const Shape *shape, const Norm *norm, float *x, int64_t n_rows) {
    normalise(norm, shape->d_model, x, n_rows, x);
    return 0;
}

/* ---- scores ---- */

/* log(sum(exp(scores))), of scores that come some at a time. */
typedef struct {
    float highest;
    double total; /* of exp(score - highest) */
} LogSum;

/* Add some scores, and return the highest of them. */
static float add_scores(LogSum *sum, const float *scores, int64_t count) {
    vec highest = broadcast(-INFINITY), totals = broadcast(0);
    int64_t i;
    for (i = 0; i + LANES <= count; i += LANES) highest = larger(highest, load(scores + i));
    float shift = largest_of(highest);
    for (; i < count; i++) shift = scores[i] > shift ? scores[i] : shift;
    const float highest_here = shift;
    if (sum->highest > shift) shift = sum->highest;
    if (shift == -INFINITY) { /* no score above -inf; or a NaN, which no comparison finds */
        for (i = 0; i < count; i++)
            if (scores[i] != -INFINITY) sum->total = sum->highest = NAN;
        return shift;
    }
    for (i = 0; i + LANES <= count; i += LANES) totals += exponential(load(scores + i) - shift);
    double total = sum_of(totals);
    for (; i < count; i++) total += expf(scores[i] - shift);
    sum->total = (sum->total ? sum->total * exp((double)sum->highest - shift) : 0) + total;
    sum->highest = shift;
    return highest_here;
}

/* Insert a score among the k highest, falling; of equal ones the lower id comes first. */
INLINE void insert_best(float score, int64_t id, int64_t k, float *values, int64_t *ids) {
    int64_t place = k - 1;
    for (; place > 0 && values[place - 1] < score; place--) {
        values[place] = values[place - 1];
        ids[place] = ids[place - 1];
    }
    values[place] = score;
    ids[place] = id;
}

/* Memory for some scores, and behind them for ROWS_AT_ONCE rows as products read them. */
static float *allocate_scores(const Linear *projection, int64_t n_scores) {
    const int64_t size = ROWS_AT_ONCE * input_stride(projection->n_in) * sizeof(Input) + n_scores * sizeof(float);
    return aligned_alloc(sizeof(vec), rounded_up(size, sizeof(vec)));
}

/* The k highest log-probabilities of each row and their tokens, (R, k), falling: hidden (R, D) -> values, ids.
 * Tokens in `forbidden` have -inf. Of a row with a NaN, all values are NaN.
 * Returns 0 or NO_MEMORY. */
int64_t best_scores(const Linear *projection, const float *hidden, int64_t n_rows, const int64_t *forbidden,
                    int64_t n_forbidden, int64_t k, float *values, int64_t *ids) {
    const int64_t n_scores = ROWS_AT_ONCE * COLUMNS_AT_ONCE;
    float *scores = allocate_scores(projection, n_scores);
    if (!scores) return NO_MEMORY;
    LogSum sums[ROWS_AT_ONCE];
    for (int64_t i = 0; i < n_rows * k; i++) values[i] = -INFINITY, ids[i] = 0;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE) {
        const int64_t n_here = smaller(ROWS_AT_ONCE, n_rows - row);
        const int64_t n_in = projection->n_in;
        const Input *from = to_inputs(hidden + row * n_in, n_here, n_in, (Input *)(scores + n_scores));
        for (int64_t i = 0; i < n_here; i++) sums[i] = (LogSum){-INFINITY, 0};
        for (int64_t column = 0; column < projection->n_out; column += COLUMNS_AT_ONCE) {
            const int64_t count = smaller(COLUMNS_AT_ONCE, projection->n_out - column);
            project(projection, column / COLUMNS, rounded_up(column + count, COLUMNS) / COLUMNS, from, n_here, scores,
                    COLUMNS_AT_ONCE);
            for (int64_t i = 0; i < n_here; i++) {
                float *own = scores + i * COLUMNS_AT_ONCE, *best = values + (row + i) * k;
                int64_t *best_ids = ids + (row + i) * k;
                if (!(add_scores(&sums[i], own, count) > best[k - 1])) continue;
                for (int64_t f = 0; f < n_forbidden; f++)
                    if (forbidden[f] >= column && forbidden[f] < column + count) own[forbidden[f] - column] = -INFINITY;
                for (int64_t j = 0; j < count; j += LANES) {
                    const int64_t end = smaller(j + LANES, count);
                    if (end - j == LANES && !any_lane(load(own + j) > best[k - 1])) continue;
                    for (int64_t id = j; id < end; id++)
                        if (own[id] > best[k - 1]) insert_best(own[id], column + id, k, best, best_ids);
                }
            }
        }
        for (int64_t i = 0; i < n_here; i++)
            for (int64_t j = 0; j < k; j++) values[(row + i) * k + j] -= (float)log(sums[i].total) + sums[i].highest;
    }
    free(scores);
    return 0;
}

/* All log-probabilities: hidden (R, D) -> scores (R, V). Returns 0 or NO_MEMORY. */
int64_t all_scores(const Linear *projection, const float *hidden, int64_t n_rows, float *scores) {
    const int64_t n_in = projection->n_in, n_out = projection->n_out;
    float *workspace = allocate_scores(projection, 0);
    if (!workspace) return NO_MEMORY;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE)
        apply_linear(projection, hidden + row * n_in, smaller(ROWS_AT_ONCE, n_rows - row), scores + row * n_out,
                     (Input *)workspace);
    free(workspace);
    for (int64_t row = 0; row < n_rows; row++, scores += n_out) {
        LogSum sum = {-INFINITY, 0};
        add_scores(&sum, scores, n_out);
        const float shift = (float)log(sum.total) + sum.highest;
        for (int64_t i = 0; i < n_out; i++) scores[i] -= shift;
    }
    return 0;
}

int64_t lanes(void) { return LANES; }

int64_t pack_size(void) { return PACK; }

int64_t input_pack_size(void) { return INPUT_PACK; }

int64_t inputs(void) { return INPUTS; }

/* The largest weight, if weights are integers; else 0. */
int64_t largest_weight(void) {
#ifdef INT8
    return LARGEST_WEIGHT;
#else
    return 0;
#endif
}

/* `kernels.py` compares this with its own: a number that changes with the arguments of the functions, and the sizes of
 * the structures. */
const int64_t interface[] = {INTERFACE,           sizeof(Linear),    sizeof(Norm),    sizeof(Layer),
                             sizeof(Shape),       sizeof(Embedding), sizeof(Decoder), sizeof(KeyValueCache),
                             sizeof(SearchState), sizeof(Step)};

/* Return which libraries of a precision (0 float32, 1 bfloat16, 2 int8) run on this processor, a bit for each, in the
 * order of `LIBRARIES` of kernels.py. bfloat16: the plain one, one with such products. int8: the plain one, AVX2,
 * AVX-VNNI, AVX-512 VNNI, and the last with bfloat16 in attention. */
int64_t processor(int64_t precision) {
    const int64_t kind = kind_of_processor();
    int64_t has_bfloat16 = 0, has_vnni = 0, has_avx_vnni = 0;
#ifdef __x86_64__
    unsigned a, b, c, d;
    has_bfloat16 = kind == 2 && __builtin_cpu_supports("avx512bf16");
    has_vnni = kind == 2 && __builtin_cpu_supports("avx512vnni");
    /* By its bit: older compilers have no name for AVX-VNNI. */
    has_avx_vnni = kind > 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
#endif
    if (precision == 1) return 1 | has_bfloat16 << 1;
    if (precision == 2)
        return 1 | (kind > 0) << 1 | has_avx_vnni << 2 | has_vnni << 3 | (has_vnni && has_bfloat16) << 4;
    return libraries_of_kind(kind);
}

/* The arithmetic of `array_model.py` as one call a layer, compiled: the same function, in float32, of one thread.
 * What products multiply may be narrower (`numbers.h`, `linear.h`); everything else stays in float32.
 *
 * What NumPy computes in some sixty operations a layer, each through memory, happens here to some rows at a time, while
 * they are in the processor's cache. Sizes are int64_t, shapes are (slowest, ..., fastest), and all memory that
 * outlives a call belongs to the caller. B sentences, S source, N places for hypotheses of a sentence, D model width, H
 * heads, K and W widths of a key and a value, V target vocabulary, R rows.
 *
 * It needs the vectors that GCC and Clang have in common. `kernels.py` has the same structures, and `compiled_model.py`
 * calls it.
 */

#include "products.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { NO_MEMORY = -1, NO_SUCH_ID = -2 };

enum { INTERFACE = 5 };

enum { ROWS_AT_ONCE = 96 };     /* rows that go through a layer together */
enum { COLUMNS_AT_ONCE = 512 }; /* scores of a row that are looked through together */
enum { QUERIES_AT_ONCE = 6 };   /* queries that read a key together */

enum { NO_NORM, LAYER_NORM, RMS_NORM }; /* RMS_NORM takes no mean off */
typedef struct {
    int64_t kind;
    const float *gain, *bias;                /* (D), or NULL */
    double part_of_squares, inside, outside; /* x / (sqrt(squares * part + inside) + outside) */
} Norm;

enum { RELU, GELU, SWIGLU, SILU };
typedef struct {
    Linear self_projection; /* queries, keys and values side by side */
    Linear self_output;
    Linear cross_query, cross_memory, cross_output; /* of a decoder layer; cross_memory: keys and values */
    Linear inner, gate, outer;                      /* gate: of SWIGLU */
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
    int64_t centring; /* whether the mean of each vector is taken off */
} Embedding;

typedef struct {
    Shape shape;
    Embedding embedding;
    int64_t n_layers;
    const Layer *layers;
    Norm norm; /* of what the last layer gives */
} Decoder;

/* Keys (B, H, blocks, K / UNIT, LANES, UNIT) and values (B, H, blocks * LANES / UNIT, W, UNIT) of one layer, K filled
 * up to UNIT and W to whole vectors; zeros where there is no token. */
typedef struct {
    Number *keys, *values;
    int64_t blocks;
} Tokens;

/* Sentences that are being translated, and what is kept of them, where it was put at the start. */
typedef struct {
    int64_t source_length;
    const Tokens *memories, *read; /* of each layer */
    const float *unseen_memory;    /* (B, S up to whole vectors): 0, or -1e9 at padding */
    const int64_t *slots;          /* which of the B are left */
} Sentences;

/* One token in each of the N places of the B' sentences that are left, of which R are open. */
typedef struct {
    const int64_t *ids;       /* (B', N) */
    const int64_t *places;    /* (R): the open ones, in the flattened (B', N); best those of a sentence side by side */
    int64_t n_places, n_rows; /* N and R */
    int64_t n_read;           /* tokens read before for a sentence; to them come N */
    const float *added;       /* (D): the vector of their position, which is added to embeddings, or NULL */
    const float *angles;      /* (K): the sines of their position, then the cosines; NULL: keys are not turned */
    const float *unseen;      /* (R, tokens up to whole vectors): 0, or -1e9 at what a row may not see */
    int64_t unseen_stride;    /* 0: one row for all */
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
            vec sums = all(0);
            for (i = 0; i + LANES <= width; i += LANES) sums += load(x + i);
            for (total = sum_of(sums); i < width; i++) total += x[i];
            mean = (float)(total / width);
        }
        vec sums = all(0);
        for (i = 0; i + LANES <= width; i += LANES) {
            const vec centred = load(x + i) - mean;
            sums += centred * centred;
        }
        for (squares = sum_of(sums); i < width; i++) squares += (x[i] - mean) * (x[i] - mean);
        const float factor = (float)(1 / (sqrt(squares * norm->part_of_squares + norm->inside) + norm->outside));
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

/* Of `count` numbers, and of those up to the next whole vector; gates are of SWIGLU. */
static void activate(int64_t activation, float *inner, const float *gates, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES) {
        const vec x = load(inner + i);
        if (activation == RELU) store(inner + i, choose(x < 0.0f, all(0), x));
        if (activation == GELU) store(inner + i, gelu(x));
        if (activation == SILU) store(inner + i, x / (1.0f + exponential(-x)));
        if (activation == SWIGLU) store(inner + i, x / (1.0f + exponential(-x)) * load(gates + i));
    }
}

/* ---- attention ---- */

INLINE int64_t key_units(const Shape *shape) { return rounded_up(shape->d_k, UNIT) / UNIT; }

INLINE int64_t value_width(const Shape *shape) { return rounded_up(shape->d_v, LANES); }

/* Put a token's key (K) and value (W) of one head among the others of `Tokens`; workspace: numbers for either. */
static void place_token(const Shape *shape, const float *key, const float *value, int64_t token, Number *keys,
                        Number *values, Number *workspace) {
    const int64_t units = key_units(shape), width = value_width(shape);
    Number *column = keys + (token / LANES * units * LANES + token % LANES) * UNIT;
    narrow(key, shape->d_k, units * UNIT, workspace);
    for (int64_t i = 0; i < units; i++) memcpy(column + i * LANES * UNIT, workspace + i * UNIT, sizeof(Unit));
    narrow(value, shape->d_v, width, workspace);
    spread(workspace, shape->d_v, token % UNIT, values + token / UNIT * width * UNIT);
}

/* Turn pairs of dimensions by the angle of the position: x (R, H * K), rows `stride` apart, whose positions go through
 * angles (n_positions, K), sines and then cosines, again and again. */
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

/* What a head of a sentence looks at. */
typedef struct {
    const Number *keys, *values; /* as in `Tokens` */
    const float *unseen; /* for each query, rows `unseen_stride` apart, what is added to a key's score: 0 or -1e9 */
    int64_t n_keys, unseen_stride;
} Seen;

/* Memory for the attention of a few queries. */
typedef struct {
    Number *queries; /* (QUERIES_AT_ONCE, K up to UNIT) */
    float *weights;  /* (QUERIES_AT_ONCE, keys up to whole vectors) */
    Number *shares;  /* the same, as products read them */
} Scratch;

/* The few queries of `scratch` -> out (n, W). As in `tile`, few queries have several sums each. */
INLINE void attend_few(int n, int chains, const Shape *shape, const Seen *seen, const float *unseen,
                       const Scratch *scratch, float *out, int64_t out_stride) {
    const int64_t padded = rounded_up(seen->n_keys, LANES), units = key_units(shape), width = value_width(shape);
    float *weights = scratch->weights;
    vec highest[QUERIES_AT_ONCE], totals[QUERIES_AT_ONCE];
    float factors[QUERIES_AT_ONCE];
    for (int i = 0; i < n; i++) highest[i] = all(-INFINITY), totals[i] = all(0);
    for (int64_t first = 0; first < padded; first += LANES) {
        const Number *keys = seen->keys + first * units * UNIT;
        vec scores[4][QUERIES_AT_ONCE];
        for (int chain = 0; chain < chains; chain++)
            for (int i = 0; i < n; i++)
                scores[chain][i] = chain ? all(0) : load(unseen + i * seen->unseen_stride + first);
        int64_t k = 0;
        for (; k + chains <= units; k += chains)
#pragma GCC unroll 4
            for (int chain = 0; chain < chains; chain++) {
                const Numbers column = load_numbers(keys + (k + chain) * LANES * UNIT);
#pragma GCC unroll 6
                for (int i = 0; i < n; i++)
                    scores[chain][i] = add_product(scores[chain][i],
                                                   unit_at(scratch->queries + (i * units + k + chain) * UNIT), column);
            }
        for (; k < units; k++)
            for (int i = 0; i < n; i++)
                scores[0][i] = add_product(scores[0][i], unit_at(scratch->queries + (i * units + k) * UNIT),
                                           load_numbers(keys + k * LANES * UNIT));
        for (int i = 0; i < n; i++) {
            for (int chain = 1; chain < chains; chain++) scores[0][i] += scores[chain][i];
            highest[i] = larger(highest[i], scores[0][i]);
            store(weights + i * padded + first, scores[0][i]);
        }
    }
    for (int i = 0; i < n; i++) {
        const float shift = largest_of(highest[i]);
        for (int64_t first = 0; first < padded; first += LANES) {
            const vec exponentials = exponential(load(weights + i * padded + first) - shift);
            totals[i] += exponentials;
            store(weights + i * padded + first, exponentials);
        }
        factors[i] = 1 / sum_of(totals[i]);
    }
    const Number *shares = narrowed(weights, n, padded, padded, scratch->shares);
    const int64_t n_rows = rounded_up(seen->n_keys, UNIT) / UNIT;
    for (int64_t w = 0; w < shape->d_v; w += LANES) {
        vec sums[4][QUERIES_AT_ONCE];
        for (int chain = 0; chain < chains; chain++)
            for (int i = 0; i < n; i++) sums[chain][i] = all(0);
        int64_t row = 0;
        for (; row + chains <= n_rows; row += chains)
#pragma GCC unroll 4
            for (int chain = 0; chain < chains; chain++) {
                const Numbers values = load_numbers(seen->values + ((row + chain) * width + w) * UNIT);
#pragma GCC unroll 6
                for (int i = 0; i < n; i++)
                    sums[chain][i] =
                        add_product(sums[chain][i], unit_at(shares + i * padded + (row + chain) * UNIT), values);
            }
        for (; row < n_rows; row++)
            for (int i = 0; i < n; i++)
                sums[0][i] = add_product(sums[0][i], unit_at(shares + i * padded + row * UNIT),
                                         load_numbers(seen->values + (row * width + w) * UNIT));
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

/* Queries (n_queries, K), scaled already -> out (n_queries, W). */
static void attend(const Shape *shape, const Seen *seen, const float *queries, int64_t n_queries, int64_t query_stride,
                   const Scratch *scratch, float *out, int64_t out_stride) {
    const int64_t width = key_units(shape) * UNIT;
    for (int64_t first = 0; first < n_queries; first += QUERIES_AT_ONCE) {
        const float *unseen = seen->unseen + first * seen->unseen_stride;
        const int64_t n = smaller(QUERIES_AT_ONCE, n_queries - first);
        float *to = out + first * out_stride;
        for (int64_t i = 0; i < n; i++)
            narrow(queries + (first + i) * query_stride, shape->d_k, width, scratch->queries + i * width);
        switch (n) {
        case 1: attend_few(1, 4, shape, seen, unseen, scratch, to, out_stride); break;
        case 2: attend_few(2, 2, shape, seen, unseen, scratch, to, out_stride); break;
        case 3: attend_few(3, 1, shape, seen, unseen, scratch, to, out_stride); break;
        case 4: attend_few(4, 1, shape, seen, unseen, scratch, to, out_stride); break;
        case 5: attend_few(5, 1, shape, seen, unseen, scratch, to, out_stride); break;
        case 6: attend_few(6, 1, shape, seen, unseen, scratch, to, out_stride); break;
        }
    }
}

/* ---- layers ---- */

/* Memory for the rows that go through a layer together. */
typedef struct {
    void *all;
    float *normed, *projected, *attended, *inner, *gates, *added;
    Input *converted;
    Number *token;
    Number *keys, *values; /* of one head of a sentence */
    Scratch scratch;
} Workspace;

/* One block for everything, each part of whole vectors and with one to spare; no kernel needs all of it. False if there
 * is not enough memory. */
static int allocate_workspace(Workspace *workspace, const Shape *shape, int64_t n_rows, int64_t n_keys) {
    const int64_t d_attended = shape->n_heads * shape->d_v, d_model = shape->d_model, d_ff = shape->d_ff;
    const int64_t d_qkv = shape->n_heads * 2 * shape->d_k + d_attended, padded = rounded_up(n_keys, LANES);
    const int64_t units = key_units(shape), width = value_width(shape);
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
        {&workspace->converted, n_rows * between_rows(larger_of(larger_of(d_model, d_attended), d_ff)) * sizeof(Input)},
        {&workspace->token, larger_of(units * UNIT, width) * sizeof(Number)},
        {&workspace->keys, padded * units * UNIT * sizeof(Number)},
        {&workspace->values, padded * width * sizeof(Number)},
        {&workspace->scratch.queries, QUERIES_AT_ONCE * units * UNIT * sizeof(Number)},
        {&workspace->scratch.weights, QUERIES_AT_ONCE * padded * sizeof(float)},
        {&workspace->scratch.shares, QUERIES_AT_ONCE * padded * sizeof(Number)},
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

/* What a sublayer reads of x (R, D): its norm comes before it, or after the sum. */
INLINE const float *before(const Shape *shape, const Norm *norm, const float *x, int64_t n_rows, Workspace *workspace) {
    if (!shape->pre_norm) return x;
    normalise(norm, shape->d_model, x, n_rows, workspace->normed);
    return workspace->normed;
}

/* x (R, D) + map(attended or inner), normed if the norm comes after. */
static void add(const Shape *shape, const Linear *map, const Norm *norm, const float *from, float *x, int64_t n_rows,
                Workspace *workspace) {
    apply(map, from, n_rows, workspace->added, workspace->converted);
    for (int64_t i = 0; i < n_rows * shape->d_model; i++) x[i] += workspace->added[i];
    if (!shape->pre_norm) normalise(norm, shape->d_model, x, n_rows, x);
}

static void feed_forward(const Shape *shape, const Layer *layer, float *x, int64_t n_rows, Workspace *workspace) {
    const float *from = before(shape, &layer->feed_forward_norm, x, n_rows, workspace);
    apply(&layer->inner, from, n_rows, workspace->inner, workspace->converted);
    if (shape->activation == SWIGLU) apply(&layer->gate, from, n_rows, workspace->gates, workspace->converted);
    activate(shape->activation, workspace->inner, workspace->gates, n_rows * shape->d_ff);
    add(shape, &layer->outer, &layer->feed_forward_norm, workspace->inner, x, n_rows, workspace);
}

/* An encoder layer on x (B * S, D), in place; unseen (B, S up to whole vectors): 0, or -1e9 at padding; angles (S, K)
 * as of `rotate`, or NULL. Returns 0 or NO_MEMORY. */
int64_t encode(const Shape *shape, const Layer *layer, float *x, int64_t n_sentences, int64_t length,
               const float *unseen, const float *angles) {
    const int64_t d_k = shape->d_k, d_v = shape->d_v, n_heads = shape->n_heads;
    const int64_t stride = n_heads * (2 * d_k + d_v), padded = rounded_up(length, LANES);
    const int64_t at_once = larger_of(ROWS_AT_ONCE / length, 1);
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, at_once * length, length)) return NO_MEMORY;
    memset(workspace.keys, 0, padded * key_units(shape) * UNIT * sizeof(Number));
    memset(workspace.values, 0, padded * value_width(shape) * sizeof(Number));
    for (int64_t first = 0; first < n_sentences; first += at_once) {
        const int64_t n_here = smaller(at_once, n_sentences - first), n_rows = n_here * length;
        float *rows = x + first * length * shape->d_model;
        apply(&layer->self_projection, before(shape, &layer->self_norm, rows, n_rows, &workspace), n_rows,
              workspace.projected, workspace.converted);
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
                    place_token(shape, keys + token * stride, values + token * stride, token, workspace.keys,
                                workspace.values, workspace.token);
                const Seen seen = {
                    .keys = workspace.keys,
                    .values = workspace.values,
                    .unseen = unseen + (first + sentence) * padded,
                    .n_keys = length,
                    .unseen_stride = 0,
                };
                attend(shape, &seen, queries, length, stride, &workspace.scratch,
                       workspace.attended + sentence * length * n_heads * d_v + head * d_v, n_heads * d_v);
            }
        add(shape, &layer->self_output, &layer->self_norm, workspace.attended, rows, n_rows, &workspace);
        feed_forward(shape, layer, rows, n_rows, &workspace);
    }
    free(workspace.all);
    return 0;
}

/* Put one row's keys (H, K) and values (H, W) where token number `token` of a sentence is kept. */
static void keep_token(const Shape *shape, const Tokens *tokens, int64_t sentence, int64_t token, const float *keys,
                       const float *values, Workspace *workspace) {
    for (int64_t head = 0; head < shape->n_heads; head++) {
        const int64_t place = (sentence * shape->n_heads + head) * tokens->blocks * LANES;
        place_token(shape, keys + head * shape->d_k, values + head * shape->d_v, token,
                    tokens->keys + place * key_units(shape) * UNIT, tokens->values + place * value_width(shape),
                    workspace->token);
    }
}

/* The keys and values of a decoder layer's memory (B * S, D). Returns 0 or NO_MEMORY. */
int64_t read_memory(const Shape *shape, const Layer *layer, const float *memory, int64_t n_sentences, int64_t length,
                    const Tokens *tokens) {
    const int64_t n_keys = shape->n_heads * shape->d_k;
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, ROWS_AT_ONCE, length)) return NO_MEMORY;
    for (int64_t first = 0; first < n_sentences * length; first += ROWS_AT_ONCE) {
        const int64_t n_rows = smaller(ROWS_AT_ONCE, n_sentences * length - first);
        apply(&layer->cross_memory, memory + first * shape->d_model, n_rows, workspace.projected, workspace.converted);
        for (int64_t row = 0; row < n_rows; row++) {
            const float *keys = workspace.projected + row * layer->cross_memory.n_out;
            keep_token(shape, tokens, (first + row) / length, (first + row) % length, keys, keys + n_keys, &workspace);
        }
    }
    free(workspace.all);
    return 0;
}

/* Ask for the keys and values of the next head, which lies behind this one, while this one is worked at. */
INLINE void fetch(const Seen *seen, const Shape *shape, int64_t blocks) {
    const int64_t key_bytes = key_units(shape) * UNIT * sizeof(Number),
                  value_bytes = value_width(shape) * sizeof(Number);
    const char *keys = (const char *)seen->keys + blocks * LANES * key_bytes;
    const char *values = (const char *)seen->values + blocks * LANES * value_bytes;
    for (int64_t i = 0; i < rounded_up(seen->n_keys, LANES) * key_bytes; i += 64) __builtin_prefetch(keys + i);
    for (int64_t i = 0; i < seen->n_keys * value_bytes; i += 64) __builtin_prefetch(values + i);
}

/* Attention of some rows over what is kept of their sentences; those side by side of one sentence together. */
static void attend_kept(const Shape *shape, const Tokens *tokens, const int64_t *sentence_of, int64_t n_rows,
                        int64_t n_keys, const float *unseen, int64_t sentence_stride, int64_t row_stride,
                        int64_t query_stride, Workspace *workspace) {
    const int64_t d_out = shape->n_heads * shape->d_v;
    for (int64_t row = 0, next; row < n_rows; row = next) {
        for (next = row + 1; next < n_rows && sentence_of[next] == sentence_of[row];) next++;
        for (int64_t head = 0; head < shape->n_heads; head++) {
            const int64_t place = (sentence_of[row] * shape->n_heads + head) * tokens->blocks * LANES;
            const Seen seen = {
                .keys = tokens->keys + place * key_units(shape) * UNIT,
                .values = tokens->values + place * value_width(shape),
                .unseen = unseen + sentence_of[row] * sentence_stride + row * row_stride,
                .n_keys = n_keys,
                .unseen_stride = row_stride,
            };
            fetch(&seen, shape, tokens->blocks);
            attend(shape, &seen, workspace->projected + row * query_stride + head * shape->d_k, next - row,
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
static void decode_layer(const Shape *shape, const Layer *layer, const Sentences *sentences, const Tokens *read,
                         const Tokens *memory, const Step *step, int64_t first, int64_t n_rows, float *x,
                         Workspace *workspace) {
    const int64_t d_keys = shape->n_heads * shape->d_k, length = sentences->source_length;
    const int64_t stride = 2 * d_keys + shape->n_heads * shape->d_v;
    const int64_t *places = step->places + first;
    int64_t sentence_of[ROWS_AT_ONCE];
    for (int64_t row = 0; row < n_rows; row++) sentence_of[row] = sentences->slots[places[row] / step->n_places];

    apply(&layer->self_projection, before(shape, &layer->self_norm, x, n_rows, workspace), n_rows, workspace->projected,
          workspace->converted);
    if (step->angles) {
        rotate(shape, workspace->projected, stride, n_rows, step->angles, 1);
        rotate(shape, workspace->projected + d_keys, stride, n_rows, step->angles, 1);
    }
    for (int64_t row = 0; row < n_rows; row++) {
        const float *keys = workspace->projected + row * stride + d_keys;
        keep_token(shape, read, sentence_of[row], step->n_read + places[row] % step->n_places, keys, keys + d_keys,
                   workspace);
    }
    attend_kept(shape, read, sentence_of, n_rows, step->n_read + step->n_places,
                step->unseen + first * step->unseen_stride, 0, step->unseen_stride, stride, workspace);
    add(shape, &layer->self_output, &layer->self_norm, workspace->attended, x, n_rows, workspace);

    apply(&layer->cross_query, before(shape, &layer->cross_norm, x, n_rows, workspace), n_rows, workspace->projected,
          workspace->converted);
    attend_kept(shape, memory, sentence_of, n_rows, length, sentences->unseen_memory, rounded_up(length, LANES), 0,
                d_keys, workspace);
    add(shape, &layer->cross_output, &layer->cross_norm, workspace->attended, x, n_rows, workspace);
    feed_forward(shape, layer, x, n_rows, workspace);
}

/* Read one token in some places -> hidden (R, D), what the decoder says of them.
 * Returns 0, NO_SUCH_ID or NO_MEMORY. */
int64_t decode(const Decoder *decoder, const Sentences *sentences, const Step *step, float *hidden) {
    const Shape *shape = &decoder->shape;
    for (int64_t row = 0; row < step->n_rows; row++) {
        const int64_t id = step->ids[step->places[row]];
        if (id < 0 || id >= decoder->embedding.n_tokens) return NO_SUCH_ID;
    }
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, smaller(step->n_rows, ROWS_AT_ONCE),
                            larger_of(step->n_read + step->n_places, sentences->source_length)))
        return NO_MEMORY;
    for (int64_t row = 0; row < step->n_rows; row++)
        embed(&decoder->embedding, shape->d_model, step->ids[step->places[row]], step->added,
              hidden + row * shape->d_model);
    for (int64_t i = 0; i < decoder->n_layers; i++)
        for (int64_t first = 0; first < step->n_rows; first += ROWS_AT_ONCE)
            decode_layer(shape, decoder->layers + i, sentences, sentences->read + i, sentences->memories + i, step,
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

/* Returns the highest of them. */
static float add_scores(LogSum *sum, const float *scores, int64_t count) {
    vec highest = all(-INFINITY), totals = all(0);
    int64_t i;
    for (i = 0; i + LANES <= count; i += LANES) highest = larger(highest, load(scores + i));
    float shift = largest_of(highest);
    for (; i < count; i++) shift = scores[i] > shift ? scores[i] : shift;
    const float highest_here = shift;
    if (sum->highest > shift) shift = sum->highest;
    if (shift == -INFINITY) { /* nothing to add, and nothing to take off; or a NaN, which is larger than no number */
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

/* Put a score among the k highest, falling; of equal ones the lower id first. */
INLINE void enter(float score, int64_t id, int64_t k, float *values, int64_t *ids) {
    int64_t place = k - 1;
    for (; place > 0 && values[place - 1] < score; place--) {
        values[place] = values[place - 1];
        ids[place] = ids[place - 1];
    }
    values[place] = score;
    ids[place] = id;
}

/* Memory for some scores, and behind them for ROWS_AT_ONCE rows as products read them. */
static float *scores_room(const Linear *projection, int64_t n_scores) {
    const int64_t size = ROWS_AT_ONCE * between_rows(projection->n_in) * sizeof(Input) + n_scores * sizeof(float);
    return aligned_alloc(sizeof(vec), rounded_up(size, sizeof(vec)));
}

/* The k highest log-probabilities of each row and their tokens, (R, k), falling: hidden (R, D) -> values, ids.
 * Tokens in `forbidden` have -inf. Of a row with a NaN, all values are NaN.
 * Returns 0 or NO_MEMORY. */
int64_t best_scores(const Linear *projection, const float *hidden, int64_t n_rows, const int64_t *forbidden,
                    int64_t n_forbidden, int64_t k, float *values, int64_t *ids) {
    const int64_t n_scores = ROWS_AT_ONCE * COLUMNS_AT_ONCE;
    float *scores = scores_room(projection, n_scores);
    if (!scores) return NO_MEMORY;
    LogSum sums[ROWS_AT_ONCE];
    for (int64_t i = 0; i < n_rows * k; i++) values[i] = -INFINITY, ids[i] = 0;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE) {
        const int64_t n_here = smaller(ROWS_AT_ONCE, n_rows - row);
        const int64_t n_in = projection->n_in;
        const Input *from = converted(hidden + row * n_in, n_here, n_in, (Input *)(scores + n_scores));
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
                    if (end - j == LANES && !any(load(own + j) > best[k - 1])) continue;
                    for (int64_t id = j; id < end; id++)
                        if (own[id] > best[k - 1]) enter(own[id], column + id, k, best, best_ids);
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
    float *workspace = scores_room(projection, 0);
    if (!workspace) return NO_MEMORY;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE)
        apply(projection, hidden + row * n_in, smaller(ROWS_AT_ONCE, n_rows - row), scores + row * n_out,
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

int64_t unit_size(void) { return UNIT; }

int64_t group_size(void) { return GROUP; }

int64_t inputs(void) { return INPUTS; }

/* The largest weight, if weights are integers; else 0. */
int64_t largest_weight(void) {
#ifdef INT8
    return LARGEST_WEIGHT;
#else
    return 0;
#endif
}

/* By which `kernels.py` sees that this is what it calls: a number of its own for each change of what functions are
 * called with, and the sizes of the structures. */
const int64_t interface[] = {INTERFACE,         sizeof(Linear),  sizeof(Norm),   sizeof(Layer),     sizeof(Shape),
                             sizeof(Embedding), sizeof(Decoder), sizeof(Tokens), sizeof(Sentences), sizeof(Step)};

/* Which of the libraries of a precision (0 float32, 1 bfloat16, 2 int8) fit this processor, a bit for each. Of bfloat16
 * the second is with such products; of int8 the second is with AVX2, the third with AVX-VNNI, the fourth with AVX-512
 * VNNI, the fifth with bfloat16 in attention besides. */
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

/* The operations of a training step, except products of large matrices: each in one pass over memory.
 *
 * OpenMP shares rows or sentences among `n_threads`; its threads are PyTorch's own if both use the same OpenMP library.
 * Sums are in float32; arrays that are read and written are in float32 or bfloat16. B sentences, H heads, T queries,
 * S keys, K and W widths of a key and a value, D model width, V vocabulary, R rows. `fused.py` says what
 * each function computes; `fused.h` declares them. They return 0 or NO_MEMORY.
 */

#include "fused.h"

#include "vectors.h"

#include <omp.h>

/* ---- bfloat16: the upper half of a float ---- */

typedef uint16_t bfloat16;
typedef bfloat16 bfloat16s __attribute__((vector_size(2 * LANES)));

INLINE float from_bfloat16(bfloat16 number) {
    const uint32_t bits = (uint32_t)number << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

INLINE vec load_bfloat16s(const bfloat16 *from) {
    bfloat16s loaded;
    memcpy(&loaded, from, sizeof loaded);
    return (vec)(__builtin_convertvector(loaded, uvec) << 16);
}

/* Round to the nearest, and of two equally near to the even one. */
INLINE bfloat16s to_bfloat16s(vec wide) {
    const uvec bits = (uvec)wide, rounded = bits + 0x7fff + (bits >> 16 & 1);
    return __builtin_convertvector((uvec)choose(wide != wide, (vec)(bits | 0x400000), (vec)rounded) >> 16, bfloat16s);
}

/* A row, times `factor`, as floats. */
INLINE void read_scaled(const Array *array, int64_t place, int64_t count, float factor, float *to) {
    int64_t i = 0;
    if (array->is_bfloat16) {
        const bfloat16 *from = (const bfloat16 *)array->data + place;
        for (; i + LANES <= count; i += LANES) store(to + i, load_bfloat16s(from + i) * factor);
        for (; i < count; i++) to[i] = from_bfloat16(from[i]) * factor;
    } else {
        const float *from = (const float *)array->data + place;
        for (; i + LANES <= count; i += LANES) store(to + i, load(from + i) * factor);
        for (; i < count; i++) to[i] = from[i] * factor;
    }
}

/* Return a row as floats: where it lies, or in `scratch`. */
INLINE const float *read_row(const Array *array, int64_t place, int64_t count, float *scratch) {
    if (!array->is_bfloat16) return (const float *)array->data + place;
    read_scaled(array, place, count, 1, scratch);
    return scratch;
}

INLINE void write_row(const Array *array, int64_t place, int64_t count, const float *row) {
    if (!array->is_bfloat16) {
        memcpy((float *)array->data + place, row, count * sizeof(float));
        return;
    }
    bfloat16 *to = (bfloat16 *)array->data + place;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const bfloat16s rounded = to_bfloat16s(load(row + i));
        memcpy(to + i, &rounded, sizeof rounded);
    }
    for (; i < count; i++) to[i] = to_bfloat16s(broadcast(row[i]))[0];
}

/* ---- dropout ---- */

enum { DRAWS_AT_ONCE = 64 };

/* A row -> `to`, which may be the row. A draw depends only on the seed and on its place
 * (SplitMix64, Steele et al. 2014), so the backward pass repeats it. */
static void drop(const Dropout *dropout, int64_t row, int64_t count, const float *from, float *to) {
    const float scale = (float)dropout->scale;
    const uint16_t n_dropped = (uint16_t)dropout->n_dropped;
    uint64_t place = (uint64_t)row * (rounded_up(count, DRAWS_AT_ONCE) / 4);
    for (int64_t i = 0; i < count; i += DRAWS_AT_ONCE) {
        uint64_t words[DRAWS_AT_ONCE / 4];
        uint16_t draws[DRAWS_AT_ONCE];
        for (int word = 0; word < DRAWS_AT_ONCE / 4; word++) {
            uint64_t mixed = dropout->seed + (++place) * 0x9e3779b97f4a7c15;
            mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
            words[word] = mixed ^ mixed >> 31;
        }
        memcpy(draws, words, sizeof draws);
        const int64_t here = smaller(DRAWS_AT_ONCE, count - i);
        for (int64_t j = 0; j < here; j++) to[i + j] = draws[j] < n_dropped ? 0 : from[i + j] * scale;
    }
}

/* x + dropped y: rows (R, D). */
int64_t add_dropped(const Array *x, const Array *y, const Array *out, const Dropout *dropout, int64_t width,
                    int64_t n_rows, int64_t n_threads) {
    float *workspace = malloc(n_threads * 2 * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * 2 * width, *sums = scratch + width;

        const float *kept = read_row(x, row * width, width, scratch);
        drop(dropout, row, width, read_row(y, row * width, width, sums), sums);
        for (int64_t i = 0; i < width; i++) sums[i] += kept[i];
        write_row(out, row * width, width, sums);
    }
    free(workspace);
    return 0;
}

/* The dropped gradient, which is that by y: rows (R, D). */
int64_t drop_rows(const Array *gradient, const Array *out, const Dropout *dropout, int64_t width, int64_t n_rows,
                  int64_t n_threads) {
    float *workspace = malloc(n_threads * width * sizeof(float));
    if (!workspace) return NO_MEMORY;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t row = 0; row < n_rows; row++) {
        float *scratch = workspace + omp_get_thread_num() * width;

        drop(dropout, row, width, read_row(gradient, row * width, width, scratch), scratch);
        write_row(out, row * width, width, scratch);
    }
    free(workspace);
    return 0;
}

/* ---- layer norm ---- */

static float sum_of_row(const float *row, int64_t count) {
    vec sums = broadcast(0);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) sums += load(row + i);
    float total = sum_of(sums);
    for (; i < count; i++) total += row[i];
    return total;
}

static float sum_of_products(const float *one, const float *other, int64_t count) {
    vec sums = broadcast(0);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) sums += load(one + i) * load(other + i);
    float total = sum_of(sums);
    for (; i < count; i++) total += one[i] * other[i];
    return total;
}

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

/* ---- rotary positions ---- */

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

/* ---- attention ---- */

#if LANES == 16
enum { TILE_ROWS = 8 };
#else
enum { TILE_ROWS = 4 };
#endif

/* A matrix of which number (i, j) is data[i * row + j * column]. */
typedef struct {
    const float *data;
    int64_t row, column;
} Matrix;

/* Some rows of one or two vectors of a product. */
INLINE void tile(int n_rows, int n_vectors, int64_t n_inner, Matrix a, const float *b, int64_t b_row, float *out,
                 int64_t out_row) {
    vec sums[TILE_ROWS][2];
    for (int row = 0; row < n_rows; row++)
        for (int i = 0; i < n_vectors; i++) sums[row][i] = broadcast(0);
    for (int64_t inner = 0; inner < n_inner; inner++) {
        vec columns[2];
        for (int i = 0; i < n_vectors; i++) columns[i] = load(b + inner * b_row + i * LANES);
#pragma GCC unroll 8
        for (int row = 0; row < n_rows; row++) {
            const float factor = a.data[row * a.row + inner * a.column];
            for (int i = 0; i < n_vectors; i++) sums[row][i] += factor * columns[i];
        }
    }
    for (int row = 0; row < n_rows; row++)
        for (int i = 0; i < n_vectors; i++) store(out + row * out_row + i * LANES, sums[row][i]);
}

INLINE void tiles(int n_vectors, int64_t n_rows, int64_t n_inner, Matrix a, const float *b, int64_t b_row, float *out) {
    while (n_rows > 0) {
        int64_t done = TILE_ROWS;
        if (n_rows >= TILE_ROWS)
            tile(TILE_ROWS, n_vectors, n_inner, a, b, b_row, out, b_row);
        else if (n_rows >= 4)
            tile(done = 4, n_vectors, n_inner, a, b, b_row, out, b_row);
        else if (n_rows >= 2)
            tile(done = 2, n_vectors, n_inner, a, b, b_row, out, b_row);
        else
            tile(done = 1, n_vectors, n_inner, a, b, b_row, out, b_row);
        a.data += done * a.row, out += done * b_row, n_rows -= done;
    }
}

/* a (n_rows, n_inner) b (n_inner, width) -> out (n_rows, width), of whole vectors. */
static void multiply(int64_t n_rows, int64_t n_inner, int64_t width, Matrix a, const float *b, float *out) {
    int64_t column = 0;
    for (; column + 2 * LANES <= width; column += 2 * LANES)
        tiles(2, n_rows, n_inner, a, b + column, width, out + column);
    if (column < width) tiles(1, n_rows, n_inner, a, b + column, width, out + column);
}

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

/* ---- the loss over the vocabulary ---- */

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

/* Add numbers to floats: rows (R, D). */
int64_t add_rows(float *totals, const Array *numbers, int64_t width, int64_t n_rows, int64_t n_threads) {
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t i = 0; i < n_rows * width; i++)
        totals[i] += numbers->is_bfloat16 ? from_bfloat16(((bfloat16 *)numbers->data)[i]) : ((float *)numbers->data)[i];
    return 0;
}

/* The digest of fused.h, which the binding compares with its own. */
__attribute__((visibility("default"))) const uint64_t interface = INTERFACE;

int64_t lanes(void) { return LANES; }

int64_t processor(void) { return libraries_of_kind(kind_of_processor()); }

/* The arithmetic of a search: the same function as `tests/oracles/array_model.py`, in float32 and one thread.
 * The operands of products may be narrower (`operands.h`, `linear.h`); everything else stays in float32.
 *
 * NumPy needs about sixty operations a layer, each over all rows. Here a few rows at a time go through the whole layer
 * while they are in the processor's cache.
 */

#include "layers.h"

/* Attention of all tokens of one of the sentences in the workspace over each other. */
static void attend_sentence(const Shape *shape, int64_t sentence, int64_t length, const float *mask_bias,
                            Workspace *workspace) {
    const int64_t d_k = shape->d_k, d_v = shape->d_v, n_heads = shape->n_heads, stride = n_heads * (2 * d_k + d_v);
    for (int64_t head = 0; head < n_heads; head++) {
        const float *start = workspace->projected + sentence * length * stride, *queries = start + head * d_k;
        const float *keys = queries + n_heads * d_k, *values = start + 2 * n_heads * d_k + head * d_v;
        for (int64_t token = 0; token < length; token++)
            write_token(shape, keys + token * stride, values + token * stride, token, workspace->keys,
                        workspace->values, workspace->token);
        const HeadContext context = {
            .keys = workspace->keys,
            .values = workspace->values,
            .mask_bias = mask_bias,
            .n_keys = length,
            .mask_stride = 0,
        };
        attend(shape, &context, queries, length, stride, &workspace->scratch,
               workspace->attended + sentence * length * n_heads * d_v + head * d_v, n_heads * d_v);
    }
}

/* An encoder layer on x (B * S, D), in place; mask_bias (B, S up to whole vectors): 0, or -1e9 at padding; angles (S,
 * K) as in `rotate`, or NULL. Return OK or NO_MEMORY. */
int64_t encode_layer(const Shape *shape, const Layer *layer, float *x, int64_t n_sentences, int64_t length,
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
            attend_sentence(shape, sentence, length, mask_bias + (first + sentence) * padded, &workspace);
        add_sublayer(shape, &layer->self_output, &layer->self_norm, workspace.attended, rows, n_rows, &workspace);
        feed_forward(shape, layer, rows, n_rows, &workspace);
    }
    release(workspace.all);
    return OK;
}

/* Write the keys and values of a decoder layer's memory (B * S, D) -> cache. Return OK or NO_MEMORY. */
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
    release(workspace.all);
    return OK;
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
                .keys = (const Operand *)cache->keys + place * key_packs(shape) * PACK,
                .values = (const Operand *)cache->values + place * value_width(shape),
                .mask_bias = mask_bias + sentence_of[row] * sentence_stride + row * row_stride,
                .n_keys = n_keys,
                .mask_stride = row_stride,
                .attention =
                    workspace->attention ? workspace->attention + (row * shape->n_heads + head) * n_keys : NULL,
                .attention_stride = shape->n_heads * n_keys,
            };
            prefetch_next_head(&context, shape, cache->blocks);
            attend(shape, &context, workspace->projected + row * query_stride + head * shape->d_k, next - row,
                   query_stride, &workspace->scratch, workspace->attended + row * d_out + head * shape->d_v, d_out);
        }
    }
}

void embed(const Embedding *embedding, int64_t width, int64_t id, const float *added, float *x) {
    const float scale = (float)embedding->scale, unit = embedding->integers ? embedding->token_scales[id] : 1;
    double total = 0;
    if (embedding->columns) read_column(embedding->columns, id, x);
    for (int64_t i = 0, at = id * width; i < width; i++, at++) {
        const float token = embedding->columns    ? x[i]
                            : embedding->integers ? (float)embedding->integers[at] * unit
                                                  : embedding->tokens[at];
        x[i] = token * scale + (added ? added[i] : 0);
        total += x[i];
    }
    if (embedding->centring)
        for (int64_t i = 0; i < width; i++) x[i] -= (float)(total / width);
}

/* Self-attention of some rows x (R', D), in place, over the tokens that each has read, these included. */
static void attend_to_target(const Shape *shape, const Layer *layer, const KeyValueCache *cache,
                             const int64_t *sentence_of, const Step *step, const float *angles, int64_t first,
                             int64_t n_rows, float *x, Workspace *workspace) {
    const int64_t d_keys = shape->n_heads * shape->d_k, stride = 2 * d_keys + shape->n_heads * shape->d_v;
    const int64_t *slots = step->slots + first;
    apply_linear(&layer->self_projection, sublayer_input(shape, &layer->self_norm, x, n_rows, workspace), n_rows,
                 workspace->projected, workspace->converted);
    if (angles) {
        rotate(shape, workspace->projected, stride, n_rows, angles, 1);
        rotate(shape, workspace->projected + d_keys, stride, n_rows, angles, 1);
    }
    for (int64_t row = 0; row < n_rows; row++) {
        const float *keys = workspace->projected + row * stride + d_keys;
        cache_token(shape, cache, sentence_of[row], step->n_read + slots[row] % step->n_slots, keys, keys + d_keys,
                    workspace);
    }
    workspace->attention = NULL;
    attend_cached(shape, cache, sentence_of, n_rows, step->n_read + step->n_slots,
                  step->mask_bias + first * step->mask_stride, 0, step->mask_stride, stride, workspace);
    add_sublayer(shape, &layer->self_output, &layer->self_norm, workspace->attended, x, n_rows, workspace);
}

/* The recurrent unit on some rows x (R', D), in place; see `model/ssru.py`. */
static void update_states(const Shape *shape, const Layer *layer, int64_t number, const Step *step, int64_t first,
                          int64_t n_rows, float *x, Workspace *workspace) {
    const int64_t d_model = shape->d_model;
    apply_linear(&layer->self_projection, sublayer_input(shape, &layer->self_norm, x, n_rows, workspace), n_rows,
                 workspace->projected, workspace->converted);
    for (int64_t row = 0; row < n_rows; row++) {
        const float *gates = workspace->projected + row * 2 * d_model, *inputs = gates + d_model;
        const float *state =
            step->states ? step->states + (number * step->n_parents + step->parents[first + row]) * d_model : NULL;
        float *next_state = step->next_states + (number * step->n_rows + first + row) * d_model;
        for (int64_t i = 0; i < d_model; i += LANES) {
            const int64_t n = d_model - i;
            const vec kept = 1.0f / (1.0f + exponential(-load(gates + i)));
            const vec added = (1.0f - kept) * load(inputs + i);
            const vec next = state ? kept * load_some(state + i, n) + added : added;
            store_some(next_state + i, next, n);
            store_some(x + row * d_model + i,
                       load_some(x + row * d_model + i, n) + choose(next < 0.0f, broadcast(0), next), n);
        }
    }
    if (!shape->pre_norm) normalise(&layer->self_norm, d_model, x, n_rows, x);
}

/* A decoder layer on some rows x (R', D), in place; see `dragoman_decode`. */
static void decode_layer(const Shape *shape, const Layer *layer, const SearchState *state, int64_t number,
                         const Step *step, const float *angles, int64_t first, int64_t n_rows, float *x,
                         Workspace *workspace) {
    const int64_t d_keys = shape->n_heads * shape->d_k, length = state->source_length;
    int64_t sentence_of[ROWS_AT_ONCE];
    for (int64_t row = 0; row < n_rows; row++)
        sentence_of[row] = state->cache_rows[step->slots[first + row] / step->n_slots];
    if (shape->decoder_layer == SSRU) {
        update_states(shape, layer, number, step, first, n_rows, x, workspace);
    } else {
        attend_to_target(shape, layer, state->target_caches + number, sentence_of, step, angles, first, n_rows, x,
                         workspace);
    }
    apply_linear(&layer->cross_query, sublayer_input(shape, &layer->cross_norm, x, n_rows, workspace), n_rows,
                 workspace->projected, workspace->converted);
    workspace->attention = NULL;
    if (step->attention)
        workspace->attention = step->attention + (number * step->n_rows + first) * shape->n_heads * length;
    attend_cached(shape, state->memory_caches + number, sentence_of, n_rows, length, state->memory_mask_bias,
                  rounded_up(length, LANES), 0, d_keys, workspace);
    add_sublayer(shape, &layer->cross_output, &layer->cross_norm, workspace->attended, x, n_rows, workspace);
    feed_forward(shape, layer, x, n_rows, workspace);
}

/* See dragoman.h. */
int64_t dragoman_decode(const Model *model, const SearchState *state, const Step *step, float *hidden) {
    const Shape *shape = &model->shape;
    const Positions *tables[] = {&model->target.positions, &model->angles};
    for (int64_t row = 0; row < step->n_rows; row++) {
        const int64_t id = step->ids[step->slots[row]];
        if (id < 0 || id >= model->target.n_tokens) return NO_SUCH_ID;
    }
    Workspace workspace;
    if (!allocate_workspace(&workspace, shape, smaller(step->n_rows, ROWS_AT_ONCE),
                            larger_of(step->n_read + step->n_slots, state->source_length)))
        return NO_MEMORY;
    float *computed = allocate((tables[0]->width + tables[1]->width) * (int64_t)sizeof(float));
    if (computed) {
        const float *added = position_rows(tables[0], step->position, 1, computed);
        const float *angles = position_rows(tables[1], step->position, 1, computed + tables[0]->width);
        for (int64_t row = 0; row < step->n_rows; row++)
            embed(&model->target, shape->d_model, step->ids[step->slots[row]], added, hidden + row * shape->d_model);
        for (int64_t i = 0; i < model->config.n_decoder_layers; i++)
            for (int64_t first = 0; first < step->n_rows; first += ROWS_AT_ONCE)
                decode_layer(shape, model->decoder_layers + i, state, i, step, angles, first,
                             smaller(ROWS_AT_ONCE, step->n_rows - first), hidden + first * shape->d_model, &workspace);
        normalise(&model->decoder_norm, shape->d_model, hidden, step->n_rows, hidden);
        release(computed);
    }
    release(workspace.all);
    return computed ? OK : NO_MEMORY;
}

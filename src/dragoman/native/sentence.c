/* One sentence that is being translated. */

#include "sentence.h"

#define MASKED -1e9f /* added to the score of a key that a query must not attend to: its exponential is 0 */

/* Give a cache as many blocks, and keep what it has. Return 0 if there is not enough memory. */
static int64_t resize_cache(const Shape *shape, KeyValueCache *cache, int64_t blocks) {
    const int64_t key_bytes = key_block(shape) * (int64_t)sizeof(Operand);
    const int64_t value_bytes = value_block(shape) * (int64_t)sizeof(Operand);
    char *keys = allocate_zeros(shape->n_heads * blocks, key_bytes);
    char *values = allocate_zeros(shape->n_heads * blocks, value_bytes);
    if (!keys || !values) {
        release(keys), release(values);
        return 0;
    }
    for (int64_t head = 0; head < shape->n_heads && cache->blocks; head++) {
        memcpy(keys + head * blocks * key_bytes, (char *)cache->keys + head * cache->blocks * key_bytes,
               cache->blocks * key_bytes);
        memcpy(values + head * blocks * value_bytes, (char *)cache->values + head * cache->blocks * value_bytes,
               cache->blocks * value_bytes);
    }
    release(cache->keys), release(cache->values);
    *cache = (KeyValueCache){keys, values, blocks};
    return 1;
}

/* Make room for some tokens in all caches of the target. Return 0 if there is not enough memory. */
static int64_t reserve(Sentence *sentence, int64_t n_tokens) {
    if (n_tokens <= sentence->room) return 1;
    const int64_t expected = sentence->n_read + sentence->most_rows * sentence->state.source_length;
    const int64_t room = rounded_up(larger_of(2 * n_tokens, expected), LANES);
    const int64_t n_layers = sentence->model->config.n_decoder_layers;
    for (int64_t i = 0; i < n_layers; i++)
        if (!resize_cache(&sentence->model->shape, sentence->caches + n_layers + i, room / LANES)) return 0;
    release(sentence->mask_bias);
    sentence->mask_bias = allocate_zeros(sentence->most_rows * room, sizeof(float));
    sentence->room = sentence->mask_bias ? room : 0;
    return sentence->mask_bias != NULL;
}

int64_t start_sentence(Sentence *sentence, const Model *model, const int64_t *source, int64_t n_source,
                       int64_t most_rows) {
    static const int64_t first_row[] = {0};
    const int64_t n_layers = model->config.n_decoder_layers, length = n_source + 1;
    const int64_t padded = rounded_up(length, LANES), row_bytes = model->config.d_model * (int64_t)sizeof(float);
    const int64_t n_states = model->config.decoder_layer == SSRU ? n_layers * most_rows : 0;
    *sentence = (Sentence){.model = model, .most_rows = most_rows};
    sentence->caches = calloc(2 * n_layers, sizeof(KeyValueCache));
    sentence->memory_mask_bias = allocate_zeros(padded, sizeof(float));
    sentence->slots = allocate_zeros(most_rows, sizeof(int64_t));
    sentence->hidden = allocate_zeros(most_rows, row_bytes);
    sentence->parents = allocate_zeros(most_rows, sizeof(int64_t));
    sentence->states = allocate_zeros(n_states, row_bytes);
    sentence->next_states = allocate_zeros(n_states, row_bytes);
    int64_t *ids = allocate_zeros(length, sizeof(int64_t)), status = NO_MEMORY;
    if (sentence->caches && sentence->memory_mask_bias && sentence->slots && sentence->hidden && sentence->parents &&
        sentence->states && sentence->next_states && ids) {
        for (int64_t i = length; i < padded; i++) sentence->memory_mask_bias[i] = MASKED;
        for (int64_t i = 0; i < most_rows; i++) sentence->slots[i] = i;
        if (n_source) memcpy(ids, source, n_source * sizeof(int64_t));
        ids[n_source] = model->config.source_end;
        if (n_source && model->config.source_end == model->config.source_pad)
            sentence->memory_mask_bias[n_source] = MASKED;
        sentence->state =
            (SearchState){length, sentence->caches, sentence->caches + n_layers, sentence->memory_mask_bias, first_row};
        status = OK;
        for (int64_t i = 0; i < n_layers && !status; i++)
            if (!resize_cache(&model->shape, sentence->caches + i, padded / LANES)) status = NO_MEMORY;
        if (!status)
            status = dragoman_read_sources(model, ids, 1, length, sentence->memory_mask_bias, sentence->caches);
    }
    release(ids);
    return status;
}

float *next_mask_bias(Sentence *sentence, int64_t n_rows, int64_t *stride) {
    const int64_t n_tokens = sentence->n_read + n_rows;
    if (!reserve(sentence, n_tokens)) return NULL;
    *stride = rounded_up(n_tokens, LANES);
    for (int64_t i = 0; i < n_rows * *stride; i++) sentence->mask_bias[i] = MASKED;
    return sentence->mask_bias;
}

int64_t read_tokens(Sentence *sentence, const int64_t *ids, int64_t n_rows, int64_t position, float *attention) {
    const Step step = {
        .ids = ids,
        .slots = sentence->slots,
        .n_slots = n_rows,
        .n_rows = n_rows,
        .n_read = sentence->n_read,
        .position = position,
        .attention = attention,
        .mask_bias = sentence->mask_bias,
        .mask_stride = rounded_up(sentence->n_read + n_rows, LANES),
        .states = sentence->n_read ? sentence->states : NULL,
        .parents = sentence->parents,
        .n_parents = sentence->n_parents,
        .next_states = sentence->next_states,
    };
    sentence->n_read += n_rows;
    sentence->n_parents = n_rows;
    sentence->next_states = sentence->states;
    sentence->states = step.next_states;
    return dragoman_decode(sentence->model, &sentence->state, &step, sentence->hidden);
}

void end_sentence(Sentence *sentence) {
    for (int64_t i = 0; sentence->caches && i < 2 * sentence->model->config.n_decoder_layers; i++)
        release(sentence->caches[i].keys), release(sentence->caches[i].values);
    free(sentence->caches);
    release(sentence->memory_mask_bias), release(sentence->slots);
    release(sentence->mask_bias), release(sentence->hidden), release(sentence->parents);
    release(sentence->states), release(sentence->next_states);
}

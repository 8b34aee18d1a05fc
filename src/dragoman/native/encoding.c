/* Reading sources: the encoder, and the keys and values of its memory. */

#include "model.h"

/* Return the sum of numbers in pairs of pairs, to the bits of NumPy's, which earlier versions take. */
static float sum_pairwise(const float *x, int64_t n) {
    const int64_t left = n / 2 - n / 2 % 8;
    float sums[8] = {0}, rest = 0;
    int64_t i = 0;
    if (n > 128) return sum_pairwise(x, left) + sum_pairwise(x + left, n - left);
    for (; i + 8 <= n; i += 8)
        for (int64_t j = 0; j < 8; j++) sums[j] += x[i + j];
    rest = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; i < n; i++) rest += x[i];
    return rest;
}

/* Ids (B, S) -> their vectors x (B * S, D). Return OK or NO_SUCH_ID. */
static int64_t embed_sources(const Model *model, const int64_t *ids, int64_t n_sentences, int64_t length,
                             const float *added, float *x) {
    const int64_t d_model = model->config.d_model;
    Embedding uncentred = model->source;
    uncentred.centring = 0;
    for (int64_t row = 0; row < n_sentences * length; row++) {
        if (ids[row] < 0 || ids[row] >= model->source.n_tokens) return NO_SUCH_ID;
        float *to = x + row * d_model;
        embed(&uncentred, d_model, ids[row], added ? added + row % length * d_model : NULL, to);
        if (!model->source.centring) continue;
        volatile float mean = sum_pairwise(to, d_model) * (float)(1 / (double)d_model); /* no fused product */
        const float shift = mean;
        for (int64_t i = 0; i < d_model; i++) to[i] -= shift;
    }
    return OK;
}

/* Compute the keys and values of the output x (B * S, D) of the encoder layer `number` for the decoder layers that
 * attend to it. Return OK or NO_MEMORY. */
static int64_t keep_memory(const Model *model, int64_t number, const float *x, float *memory, int64_t n_sentences,
                           int64_t length, const KeyValueCache *caches) {
    const ModelConfig *c = &model->config;
    const int64_t is_layerwise = c->memory == LAYERWISE, n_rows = n_sentences * length;
    if (!is_layerwise && number != c->n_encoder_layers - 1) return OK;
    memcpy(memory, x, n_rows * c->d_model * sizeof(float));
    normalise(&model->encoder_norm, c->d_model, memory, n_rows, memory);
    int64_t status = OK;
    for (int64_t i = is_layerwise ? number : 0; i < (is_layerwise ? number + 1 : c->n_decoder_layers) && !status; i++)
        status = read_memory(&model->shape, model->decoder_layers + i, memory, n_sentences, length, caches + i);
    return status;
}

/* See dragoman.h. */
int64_t dragoman_read_sources(const Model *model, const int64_t *ids, int64_t n_sentences, int64_t length,
                              const float *mask_bias, const KeyValueCache *memory_caches) {
    const int64_t d_model = model->config.d_model, n_rows = checked_product(n_sentences, length);
    const Positions *added_table = &model->source.positions, *angle_table = &model->angles;
    float *x = allocate_zeros(n_rows, 2 * d_model * (int64_t)sizeof(float));
    float *computed = allocate_zeros(length, (added_table->width + angle_table->width) * (int64_t)sizeof(float));
    int64_t status = x && computed && n_rows >= 0 ? OK : NO_MEMORY;
    if (!status) {
        const float *added = position_rows(added_table, 0, length, computed);
        const float *angles = position_rows(angle_table, 0, length, computed + length * added_table->width);
        status = embed_sources(model, ids, n_sentences, length, added, x);
        for (int64_t i = 0; i < model->config.n_encoder_layers && !status; i++) {
            status = encode_layer(&model->shape, model->encoder_layers + i, x, n_sentences, length, mask_bias, angles);
            if (!status) status = keep_memory(model, i, x, x + n_rows * d_model, n_sentences, length, memory_caches);
        }
    }
    release(x), release(computed);
    return status;
}

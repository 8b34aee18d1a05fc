/* What a search has found, and the scores of given translations. */

#include "search.h"

/* See dragoman.h. */
int64_t dragoman_candidates(const Translation *translation, const Candidate **candidates) {
    *candidates = translation->candidates;
    return translation->n_candidates;
}

/* See dragoman.h. */
int64_t dragoman_nodes(const Translation *translation, const Node **nodes) {
    *nodes = translation->nodes;
    return translation->n_nodes;
}

/* See dragoman.h. */
void dragoman_free_translation(Translation *translation) {
    if (!translation) return;
    for (int64_t i = 0; i < translation->n_candidates; i++) free((void *)translation->candidates[i].ids);
    free(translation->candidates);
    free(translation->nodes);
    free(translation);
}

/* Read one token -> scores (V) of the next, and attention as in `Step`. Return OK, NO_MEMORY, or NO_SUCH_ID. */
static int64_t score_next(Sentence *sentence, int64_t id, int64_t position, float *scores, float *attention) {
    if (sentence->model->config.decoder_layer != SSRU) {
        int64_t stride;
        float *mask_bias = next_mask_bias(sentence, 1, &stride);
        if (!mask_bias) return NO_MEMORY;
        for (int64_t i = 0; i <= position; i++) mask_bias[i] = 0;
    }
    const ScoredRows rows = {sentence->hidden, 1, NULL, NULL};
    const int64_t status = read_tokens(sentence, &id, 1, position, attention);
    return status ? status : dragoman_all_scores(sentence->model, &rows, scores);
}

/* See dragoman.h. */
int64_t dragoman_score(const Model *model, const int64_t *source, int64_t n_source, const int64_t *target,
                       int64_t n_target, float *log_probs, float *attention) {
    const ModelConfig *c = &model->config;
    const int64_t n_weights = c->n_decoder_layers * c->n_heads * (n_source + 1); /* of one token */
    Sentence sentence;
    if (n_source < 0 || n_source >= c->max_length || n_target < 0 || n_target >= c->max_length) return BAD_OPTIONS;
    for (int64_t i = 0; i < n_target; i++)
        if (target[i] < 0 || target[i] >= c->target_vocab_size) return NO_SUCH_ID;
    float *scores = allocate_zeros(c->target_vocab_size, sizeof(float));
    int64_t status = start_sentence(&sentence, model, source, n_source, 1);
    if (!scores) status = NO_MEMORY;
    for (int64_t i = 0; i <= n_target && !status; i++) {
        status = score_next(&sentence, i ? target[i - 1] : c->target_start, i, scores,
                            attention ? attention + i * n_weights : NULL);
        if (!status) log_probs[i] = scores[i < n_target ? target[i] : c->target_end];
    }
    end_sentence(&sentence);
    release(scores);
    return status;
}

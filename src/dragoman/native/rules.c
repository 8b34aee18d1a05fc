/* The rules of a search, as in `decoding/constraints/`, and the best next tokens that they allow. */

#include "search.h"

/* For more choices than this, a matrix of all scores is faster: see `MOST_SORTED` of `runtime/compiled_model.py`. */
enum { MOST_SORTED = 100 };

/* Collect the ids that no row may write next. */
static void collect_everywhere(Search *search) {
    const ModelConfig *c = &search->model->config;
    const SearchOptions *options = search->options;
    int64_t n = 0;
    if (c->target_pad != c->target_end) search->everywhere[n++] = c->target_pad;
    if (c->target_start != c->target_end) search->everywhere[n++] = c->target_start;
    if (search->n_written < options->min_length) search->everywhere[n++] = c->target_end;
    for (int64_t i = 0; i < options->n_forbidden; i++) search->everywhere[n++] = options->forbidden[i];
    search->n_everywhere = n;
}

/* Multiply the log-probability of each id in `path` once; is_written (V) has zeros before and after. */
static void penalise_repetition(float *scores, const int64_t *path, int64_t n_written, float penalty,
                                uint8_t *is_written) {
    for (int64_t i = 0; i < n_written; i++) {
        if (!is_written[path[i]]) scores[path[i]] *= penalty;
        is_written[path[i]] = 1;
    }
    for (int64_t i = 0; i < n_written; i++) is_written[path[i]] = 0;
}

/* Forbid each token that would complete a sequence of n tokens in `path` again. */
static void forbid_ngrams(float *scores, const int64_t *path, int64_t n_written, int64_t n) {
    const int64_t *latest = path + n_written - (n - 1);
    for (int64_t i = 0; i + n <= n_written; i++)
        if (!memcmp(path + i, latest, (n - 1) * sizeof(int64_t))) scores[path[i + n - 1]] = -INFINITY;
}

/* Apply all rules to the scores (V) of one row, and find the best. Return OK or NOT_A_NUMBER. */
static int64_t choose_from_all(Search *search, int64_t row, float *scores) {
    const SearchOptions *options = search->options;
    const int64_t n_scores = search->model->config.target_vocab_size, n = search->n_written, k = search->n_choices;
    const int64_t forced = n < options->n_prefix ? options->prefix[n] : -1;
    float *values = search->values + row * k;
    int64_t *choices = search->choices + row * k;
    if (forced >= 0) { /* it keeps its probability, whatever the other rules say */
        for (int64_t i = 0; i < k; i++) values[i] = -INFINITY, choices[i] = 0;
        values[0] = scores[forced], choices[0] = forced;
        return values[0] == values[0] ? OK : NOT_A_NUMBER;
    }
    for (int64_t i = 0; i < search->n_everywhere; i++) scores[search->everywhere[i]] = -INFINITY;
    write_path(search, search->first_row + row, search->path);
    if (options->repetition_penalty != 1)
        penalise_repetition(scores, search->path, n, (float)options->repetition_penalty, search->is_written);
    if (options->no_repeat_ngram && n >= options->no_repeat_ngram)
        forbid_ngrams(scores, search->path, n, options->no_repeat_ngram);
    return find_highest(scores, n_scores, k, values, choices);
}

int64_t find_choices(Search *search) {
    const SearchOptions *options = search->options;
    const Model *model = search->model;
    const int64_t n_scores = model->config.target_vocab_size, n = search->n_written, k = search->n_choices;
    const ScoredRows rows = {search->sentence.hidden, search->n_rows, search->short_list, NULL};
    int64_t status = OK;
    collect_everywhere(search);
    if (k <= MOST_SORTED && options->repetition_penalty == 1 && n >= options->n_prefix &&
        !(options->no_repeat_ngram && n >= options->no_repeat_ngram)) {
        status = dragoman_best_scores(model, &rows, search->everywhere, search->n_everywhere, k, search->values,
                                      search->choices);
        for (int64_t row = 0; row < search->n_rows && !status; row++)
            if (search->values[row * k] != search->values[row * k]) status = NOT_A_NUMBER;
        return status;
    }
    if (!search->scores) search->scores = allocate_zeros(options->beam_size, n_scores * (int64_t)sizeof(float));
    if (!search->is_written) search->is_written = allocate_zeros(n_scores, 1);
    if (!search->scores || !search->is_written) return NO_MEMORY;
    status = dragoman_all_scores(model, &rows, search->scores);
    for (int64_t row = 0; row < search->n_rows && !status; row++)
        status = choose_from_all(search, row, search->scores + row * n_scores);
    return status;
}

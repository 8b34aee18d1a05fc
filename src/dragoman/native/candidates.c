/* The best hypotheses of a search, as in `decoding/beam.py` (`Kept`) and `decoding/hypothesis.py`. */

#include "search.h"

double length_penalty(int64_t length, double alpha) { return pow((5 + (double)length) / 6, alpha); }

/* Set the score of a candidate by the log-probabilities of its tokens. */
static void set_score(Candidate *candidate, double alpha) {
    candidate->log_prob = 0;
    for (int64_t i = 0; i < candidate->n_log_probs; i++) candidate->log_prob += candidate->log_probs[i];
    candidate->score = candidate->log_prob / length_penalty(candidate->n_log_probs, alpha);
}

int64_t write_path(const Search *search, int64_t node, int64_t *path) {
    const Node *nodes = search->found->nodes;
    int64_t length = 0;
    for (int64_t at = node; nodes[at].parent >= 0; at = nodes[at].parent) length++;
    int64_t place = length;
    for (int64_t at = node; nodes[at].parent >= 0; at = nodes[at].parent) path[--place] = nodes[at].id;
    return length;
}

/* Make a candidate of a node and one token more, unless `id` is negative. Return OK or NO_MEMORY. */
static int64_t make_candidate(const Search *search, int64_t node, int64_t id, float log_prob, Candidate *made) {
    const Node *nodes = search->found->nodes;
    const int64_t n_before = write_path(search, node, search->path), n_written = n_before + (id >= 0);
    int64_t *ids = malloc((n_written + 1) * (sizeof(int64_t) + sizeof(float))), place = n_before;
    if (!ids) return NO_MEMORY;
    float *log_probs = (float *)(ids + n_written + 1);
    memcpy(ids, search->path, n_before * sizeof(int64_t));
    for (int64_t at = node; nodes[at].parent >= 0; at = nodes[at].parent) log_probs[--place] = nodes[at].token_log_prob;
    if (id >= 0) ids[n_before] = id, log_probs[n_before] = log_prob;
    const int64_t is_finished = id == search->model->config.target_end;
    *made = (Candidate){
        .n_ids = n_written - is_finished,
        .n_log_probs = n_written,
        .is_finished = is_finished,
        .ids = ids,
        .log_probs = log_probs,
    };
    set_score(made, search->options->length_penalty);
    return OK;
}

/* Return 1 if a candidate ranks before another: the finished without faults, those with faults, the unfinished. */
static int64_t ranks_before(const Candidate *one, const Candidate *other) {
    const int64_t rank = one->is_finished ? one->faults != 0 : 2;
    const int64_t other_rank = other->is_finished ? other->faults != 0 : 2;
    return rank != other_rank ? rank < other_rank : one->score > other->score;
}

int64_t keep(Search *search, int64_t node, int64_t id, float log_prob) {
    Translation *found = search->found;
    Candidate made;
    search->width--;
    const int64_t status = make_candidate(search, node, id, log_prob, &made);
    if (status) return status;
    /* With repeated n-grams forbidden, faults do not count: the user has chosen a remedy for loops. */
    if (made.is_finished && !search->options->no_repeat_ngram) {
        made.faults = find_faults(&search->finder, made.ids, made.n_ids, 0);
        if (made.faults < 0) {
            free((void *)made.ids);
            return NO_MEMORY;
        }
    }
    int64_t place = found->n_candidates;
    for (; place > 0 && ranks_before(&made, found->candidates + place - 1); place--)
        found->candidates[place] = found->candidates[place - 1];
    found->candidates[place] = made;
    if (found->n_candidates < search->options->n_best)
        found->n_candidates++;
    else
        free((void *)found->candidates[found->n_candidates].ids);
    return OK;
}

/* Return 1 if a candidate before number `number` has the same ids. */
static int64_t is_repeated(const Translation *found, int64_t number) {
    const Candidate *one = found->candidates + number;
    for (const Candidate *other = found->candidates; other < one; other++)
        if (other->n_ids == one->n_ids && !memcmp(other->ids, one->ids, one->n_ids * sizeof(int64_t))) return 1;
    return 0;
}

int64_t finish_candidates(Search *search) {
    Translation *found = search->found;
    const int64_t max_length = search->options->max_length, n_found = found->n_candidates;
    found->n_candidates = 0;
    int64_t status = OK;
    for (int64_t i = 0; i < n_found; i++) {
        Candidate candidate = found->candidates[i];
        if (max_length && candidate.n_ids >= max_length) {
            candidate.n_ids = candidate.n_log_probs = max_length - 1;
            candidate.is_finished = 0;
            set_score(&candidate, search->options->length_penalty);
        }
        found->candidates[found->n_candidates] = candidate;
        if (status || (max_length && is_repeated(found, found->n_candidates))) {
            free((void *)candidate.ids);
            continue;
        }
        const int64_t is_open = !candidate.is_finished, is_cut = is_open && candidate.n_ids + 1 == max_length;
        const int64_t faults = find_faults(&search->finder, candidate.ids, candidate.n_ids, is_cut);
        if (faults < 0) status = NO_MEMORY;
        const int64_t is_endless = is_open && candidate.n_ids + 1 >= search->natural_limit;
        found->candidates[found->n_candidates++].faults = faults | (is_endless ? LENGTH : 0);
    }
    return status;
}

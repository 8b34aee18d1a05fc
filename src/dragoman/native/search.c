/* Beam search for one sentence, as in `decoding/beam.py`, candidate by candidate. */

#include "search.h"

#include <time.h>

/* A continuation of a row. */
typedef struct {
    int64_t row, id;
    float token_log_prob, log_prob;
    int64_t is_open;
} Continuation;

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int64_t should_stop(const Search *search) {
    const SearchOptions *options = search->options;
    if (search->deadline > 0 && clock_seconds() >= search->deadline) return 1;
    return options->should_stop && options->should_stop(options->stop_argument);
}

/* Set the limits, and return 1 if the options are possible for this source. */
static int64_t set_limits(Search *search, const int64_t *source, int64_t n_source) {
    const ModelConfig *c = &search->model->config;
    const SearchOptions *options = search->options;
    const int64_t limit = options->max_length ? smaller(options->max_length, c->max_length) : c->max_length;
    if (n_source < 0 || n_source >= c->max_length || options->beam_size < 1 || options->beam_size > 1000 ||
        options->n_best < 1 || options->n_best > options->beam_size || options->min_length < 0 ||
        options->min_length >= limit || options->max_length < 0 || options->no_repeat_ngram < 0 ||
        !(options->length_penalty >= 0) || !(options->repetition_penalty >= 1) || options->n_prefix < 0 ||
        options->n_prefix >= c->max_length || options->n_forbidden < 0 || options->n_forbidden > c->target_vocab_size ||
        options->n_allowed < 0)
        return 0;
    const int64_t needed = larger_of(n_source * 3 / 2 + 50, options->min_length + 1) + options->n_prefix;
    search->natural_limit = smaller(needed, c->max_length);
    const int64_t returned = options->max_length ? limit : search->natural_limit;
    /* The best of several hypotheses is chosen among whole ones, and cut then; a single one is only written so far. */
    search->written_limit = options->beam_size == 1 ? returned : larger_of(returned, search->natural_limit);
    for (int64_t i = 0; i < options->n_prefix; i++) {
        const int64_t id = options->prefix[i];
        if (id < 0 || id >= c->target_vocab_size || id == c->target_pad || id == c->target_start || id == c->target_end)
            return 0;
    }
    for (int64_t i = 0; i < options->n_forbidden; i++)
        if (options->forbidden[i] < 0 || options->forbidden[i] >= c->target_vocab_size) return 0;
    search->finder = (FaultFinder){.source = source, .n_source = n_source, .n_prefix = options->n_prefix};
    return options->n_prefix < returned;
}

/* Make the nodes of the rows that go on. Return OK or NO_MEMORY. */
static int64_t add_nodes(Search *search, const Continuation *grown, int64_t n_grown) {
    Translation *found = search->found;
    if (found->n_nodes + n_grown > search->n_nodes_room) {
        search->n_nodes_room = 2 * (found->n_nodes + n_grown) + 64;
        Node *more = realloc(found->nodes, search->n_nodes_room * sizeof(Node));
        if (!more) return NO_MEMORY;
        found->nodes = more;
    }
    const int64_t first_parent = search->first_row;
    search->first_row = found->n_nodes, search->n_rows = 0;
    for (int64_t i = 0; i < n_grown; i++) {
        if (!grown[i].is_open) continue;
        found->nodes[found->n_nodes++] =
            (Node){first_parent + grown[i].row, grown[i].id, grown[i].token_log_prob, grown[i].log_prob};
        search->sentence.parents[search->n_rows++] = grown[i].row;
    }
    return OK;
}

/* Let each row attend to its own tokens, and to no other row's. Return OK or NO_MEMORY. */
static int64_t attend_to_ancestors(Search *search) {
    const Node *nodes = search->found->nodes;
    int64_t stride;
    float *mask_bias = next_mask_bias(&search->sentence, search->n_rows, &stride);
    if (!mask_bias) return NO_MEMORY;
    for (int64_t row = 0; row < search->n_rows; row++)
        for (int64_t node = search->first_row + row; node >= 0; node = nodes[node].parent)
            mask_bias[row * stride + node] = 0;
    return OK;
}

/* Read the latest token of each row -> hidden vectors. Return OK, NO_MEMORY, or NO_SUCH_ID. */
static int64_t read_rows(Search *search, int64_t *ids) {
    if (search->sentence.model->config.decoder_layer != SSRU && attend_to_ancestors(search)) return NO_MEMORY;
    for (int64_t row = 0; row < search->n_rows; row++) ids[row] = search->found->nodes[search->first_row + row].id;
    return read_tokens(&search->sentence, ids, search->n_rows, search->n_written, NULL);
}

/* Choose at most `width` continuations among the K best next tokens of each row, by falling probability, and of equally
 * probable ones the first; return how many. */
static int64_t choose_continuations(const Search *search, Continuation *grown) {
    const int64_t most = search->width, k = search->n_choices;
    int64_t n = 0;
    for (int64_t row = 0; row < search->n_rows; row++) {
        const float before = search->found->nodes[search->first_row + row].log_prob;
        for (int64_t choice = 0; choice < k; choice++) {
            const float value = search->values[row * k + choice], log_prob = value + before;
            if (log_prob == -INFINITY || most < 1 || (n == most && log_prob <= grown[n - 1].log_prob)) break;
            int64_t place = n < most ? n++ : n - 1;
            for (; place > 0 && grown[place - 1].log_prob < log_prob; place--) grown[place] = grown[place - 1];
            grown[place] = (Continuation){row, search->choices[row * k + choice], value, log_prob, 0};
        }
    }
    return n;
}

/* Update the score that a hypothesis must exceed. */
static void update_worst(Search *search) {
    const Translation *found = search->found;
    const Candidate *worst = found->candidates + found->n_candidates - 1;
    const int64_t is_full = found->n_candidates == search->options->n_best;
    search->worst_kept_score = is_full && worst->is_finished && !worst->faults ? (float)worst->score : -INFINITY;
}

/* Return 1 if a continuation may still become one of the n best; see `Kept.can_enter`. */
static int64_t can_enter(const Search *search, const Continuation *one) {
    const float next = (float)length_penalty(search->n_written + 2, search->options->length_penalty);
    const float penalty = search->largest_penalty > next ? search->largest_penalty : next;
    return one->log_prob / penalty > search->worst_kept_score;
}

/* Return 1 if all that can still be the best translation, cut to max_length, begins with the same tokens. */
static int64_t is_settled(Search *search, const Continuation *grown, int64_t n_grown) {
    const SearchOptions *options = search->options;
    const Translation *found = search->found;
    const int64_t n_tokens = options->max_length - 1;
    int64_t *start = search->path, *other = search->path + search->written_limit + 1, n_open = 0;
    if (!options->max_length || options->n_best > 1 || search->n_written + 1 < options->max_length) return 0;
    for (int64_t i = 0; i < n_grown; i++) {
        if (!grown[i].is_open) continue;
        int64_t *path = n_open++ ? other : start;
        path[write_path(search, search->first_row + grown[i].row, path)] = grown[i].id;
        if (memcmp(path, start, n_tokens * sizeof(int64_t))) return 0;
    }
    for (int64_t i = 0; i < found->n_candidates && n_open; i++)
        if (found->candidates[i].n_ids <= n_tokens ||
            memcmp(found->candidates[i].ids, start, n_tokens * sizeof(int64_t)))
            return 0;
    return n_open > 0;
}

/* Keep the rows as they are: those that no token may follow, or at the limit those that have not ended. */
static int64_t keep_rows(Search *search, const Continuation *grown, int64_t n_grown, int64_t are_stuck) {
    int64_t status = OK;
    for (int64_t row = 0; row < search->n_rows && !status; row++) {
        int64_t has_ended = 0;
        for (int64_t i = 0; i < n_grown; i++)
            has_ended |= grown[i].row == row && grown[i].id == search->model->config.target_end;
        if ((search->values[row * search->n_choices] == -INFINITY) == are_stuck && !has_ended)
            status = keep(search, search->first_row + row, -1, 0);
    }
    if (search->found->n_candidates) update_worst(search);
    return status;
}

/* Keep those of the continuations that have ended, or that are open. */
static int64_t keep_grown(Search *search, const Continuation *grown, int64_t n_grown, int64_t open_ones) {
    int64_t status = OK;
    for (int64_t i = 0; i < n_grown && !status; i++) {
        const int64_t has_ended = grown[i].id == search->model->config.target_end;
        if (open_ones ? grown[i].is_open : has_ended)
            status = keep(search, search->first_row + grown[i].row, grown[i].id, grown[i].token_log_prob);
    }
    if (search->found->n_candidates) update_worst(search);
    return status;
}

/* Take one step: read, choose, keep what has ended. Return OK, or why not. */
static int64_t take_step(Search *search, int64_t *ids, Continuation *grown) {
    int64_t status = should_stop(search) ? STOPPED : read_rows(search, ids);
    if (!status) status = find_choices(search);
    if (!status) status = keep_rows(search, NULL, 0, 1);
    if (status) return status;
    const int64_t n_grown = choose_continuations(search, grown),
                  is_last = search->n_written + 1 == search->written_limit;
    status = keep_grown(search, grown, n_grown, 0);
    for (int64_t i = 0; i < n_grown; i++)
        grown[i].is_open = grown[i].id != search->model->config.target_end && !is_last && can_enter(search, grown + i);
    if (!status && is_settled(search, grown, n_grown)) {
        status = keep_grown(search, grown, n_grown, 1);
        for (int64_t i = 0; i < n_grown; i++) grown[i].is_open = 0;
    }
    if (!status && is_last) status = keep_rows(search, grown, n_grown, 0);
    if (!status) status = add_nodes(search, grown, n_grown);
    search->n_written++;
    return status;
}

/* Allocate what a search needs beside its sentence. Return 0 if there is not enough memory. */
static int64_t allocate_search(Search *search) {
    const SearchOptions *options = search->options;
    const int64_t n_values = options->beam_size * search->n_choices;
    search->values = allocate_zeros(n_values, sizeof(float));
    search->choices = allocate_zeros(n_values, sizeof(int64_t));
    search->path = allocate_zeros(2 * (search->written_limit + 1), sizeof(int64_t));
    search->everywhere = allocate_zeros(options->n_forbidden + 3, sizeof(int64_t));
    search->found->candidates = calloc(options->n_best + 1, sizeof(Candidate));
    return search->values && search->choices && search->path && search->everywhere && search->found->candidates;
}

/* Search from the root on. Return OK, or why not. */
static int64_t run_search(Search *search, const int64_t *source, int64_t n_source) {
    const SearchOptions *options = search->options;
    const ModelConfig *c = &search->model->config;
    const Continuation root = {-1, c->target_start, 0, 0, 1};
    int64_t *own_source = allocate_zeros(n_source, sizeof(int64_t));
    int64_t *ids = allocate_zeros(options->beam_size, sizeof(int64_t));
    Continuation *grown = allocate_zeros(options->beam_size, sizeof(Continuation));
    int64_t status = own_source && ids && grown && allocate_search(search) ? OK : NO_MEMORY;
    if (!status && options->n_allowed)
        status = dragoman_make_short_list(search->model, options->allowed, &options->n_allowed, 1, &search->short_list);
    if (!status) status = start_finder(&search->finder, options->prefix, c->source_end, own_source);
    if (!status) status = start_sentence(&search->sentence, search->model, source, n_source, options->beam_size);
    if (!status) status = add_nodes(search, &root, 1);
    while (!status && search->n_rows) status = take_step(search, ids, grown);
    if (!status) status = finish_candidates(search);
    if (search->sentence.model) end_sentence(&search->sentence);
    dragoman_free_short_list(search->short_list);
    release(own_source), release(ids), release(grown);
    release(search->values), release(search->choices), release(search->path);
    release(search->everywhere), release(search->scores), release(search->is_written);
    return status;
}

/* See dragoman.h. */
int64_t dragoman_translate(const Model *model, const int64_t *source, int64_t n_source, const SearchOptions *options,
                           Translation **translation) {
    Search search = {.model = model, .options = options, .worst_kept_score = -INFINITY};
    *translation = NULL;
    if (!set_limits(&search, source, n_source)) return BAD_OPTIONS;
    search.width = options->beam_size;
    search.n_choices = smaller(options->beam_size, model->config.target_vocab_size);
    search.largest_penalty = (float)length_penalty(search.natural_limit, options->length_penalty);
    search.deadline = options->seconds > 0 ? clock_seconds() + options->seconds : 0;
    search.found = calloc(1, sizeof(Translation));
    if (!search.found) return NO_MEMORY;
    const int64_t status = run_search(&search, source, n_source);
    if (status)
        dragoman_free_translation(search.found);
    else
        *translation = search.found;
    return status;
}

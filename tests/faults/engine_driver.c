/* Loads models and translates under sanitizers: driver MODE CONFIG FILE SEED TRIALS.
 *
 * damage: the file with random damages. memory: the file whole, with the n-th allocation failing, for every n.
 * It prints how many times it loaded, and what a search returned. */

#include "dragoman.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t n_left = -1; /* allocations until one fails; negative: none does */

static int fails(void) { return n_left >= 0 && n_left-- == 0; }

void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void *__wrap_malloc(size_t n) { return fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *old, size_t n) { return fails() ? NULL : __real_realloc(old, n); }
void *__wrap_aligned_alloc(size_t to, size_t n) { return fails() ? NULL : __real_aligned_alloc(to, n); }

static uint64_t state;

static uint64_t draw(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static uint8_t *read_file(const char *path, int64_t *n_bytes) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    *n_bytes = ftell(file);
    rewind(file);
    uint8_t *bytes = __real_malloc(*n_bytes + 1);
    if (fread(bytes, 1, *n_bytes, file) != (size_t)*n_bytes) exit(2);
    fclose(file);
    return bytes;
}

/* Translate with some options and score; return the worst status. */
static int64_t use(const Model *model, int64_t beam_size, int64_t with_rules) {
    const int64_t source[] = {4, 5, 6, 7, 5}, prefix[] = {6}, forbidden[] = {8, 9};
    const int64_t allowed[] = {3, 6, 8, 11, 10, 11}, lists[] = {4, 3, 12, 3, 3, 9, 5}, ends[] = {2, 4, 7};
    const SearchOptions options = {
        .beam_size = beam_size,
        .n_best = beam_size,
        .length_penalty = 0.6,
        .max_length = with_rules ? 9 : 0,
        .min_length = with_rules ? 2 : 0,
        .no_repeat_ngram = with_rules ? 2 : 0,
        .repetition_penalty = with_rules ? 1.2 : 1,
        .n_prefix = with_rules,
        .n_forbidden = 2 * with_rules,
        .n_allowed = beam_size % 2 ? 6 : 0,
        .prefix = prefix,
        .forbidden = forbidden,
        .allowed = allowed,
    };
    Translation *found;
    ShortList *short_list;
    float log_probs[3];
    int64_t status = dragoman_translate(model, source, 5, &options, &found);
    if (!status) {
        const Candidate *candidates;
        for (int64_t i = dragoman_candidates(found, &candidates); i--;)
            if (candidates[i].n_ids < 0 || candidates[i].score > 0) exit(3);
        dragoman_free_translation(found);
        status = dragoman_score(model, source, 5, source, 2, log_probs, NULL);
    }
    if (!status) status = dragoman_make_short_list(model, lists, ends, 3, &short_list);
    if (!status) dragoman_free_short_list(short_list);
    return status;
}

static int64_t load_and_use(const ModelConfig *config, const uint8_t *bytes, int64_t n_bytes, int64_t trial,
                            int64_t *n_loaded) {
    char problem[PROBLEM_LENGTH];
    Model *model;
    int64_t status = dragoman_load(config, bytes, n_bytes, 0, 0, problem, &model);
    if (status) return status;
    ++*n_loaded;
    status = use(model, trial % 5 + 1, trial % 2);
    dragoman_free(model);
    return status;
}

/* Change a copy of the file a little, most often in its head; return its length. */
static int64_t damage(const uint8_t *file, int64_t n_bytes, uint8_t *copy) {
    static const char *const pieces[] = {"0", "9", "99999999999999999999", "-1", "[", "]", "{", "}", "\"", "\\", ",", ":"};
    int64_t n_head = 0, n = n_bytes;
    memcpy(copy, file, n_bytes);
    memcpy(&n_head, file, 8);
    for (uint64_t i = draw(3) + 1; i--;) {
        const int64_t place = draw(8) ? draw(n_head + 8) : draw(n_bytes);
        const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
        switch (draw(4)) {
        case 0: copy[place] ^= 1 << draw(8); break;
        case 1:
            if (place + (int64_t)strlen(piece) <= n_bytes) memcpy(copy + place, piece, strlen(piece));
            break;
        case 2: copy[place] = '0' + draw(10); break;
        case 3: n = draw(4) ? n : (int64_t)draw(n_bytes); break;
        }
    }
    return n;
}

int main(int n_arguments, char **arguments) {
    if (n_arguments != 6) return 2;
    int64_t n_bytes, n_config, n_loaded = 0, counts[8] = {0};
    const ModelConfig *config = (void *)read_file(arguments[2], &n_config);
    uint8_t *bytes = read_file(arguments[3], &n_bytes);
    state = strtoull(arguments[4], NULL, 10) * 2 + 1;
    const int64_t n_trials = strtoll(arguments[5], NULL, 10), is_memory = !strcmp(arguments[1], "memory");
    for (int64_t trial = 0; trial < n_trials; trial++) {
        /* Of just the right size, so that a sanitizer notices a byte too many. */
        uint8_t *copy = __real_malloc(n_bytes);
        int64_t n = is_memory ? n_bytes : damage(bytes, n_bytes, copy);
        if (is_memory) memcpy(copy, bytes, n_bytes);
        uint8_t *exact = __real_malloc(n + !n);
        memcpy(exact, copy, n);
        n_left = is_memory ? trial : -1;
        const int64_t status = load_and_use(config, exact, n, is_memory ? 3 : trial, &n_loaded);
        counts[-status]++;
        free(copy), free(exact);
        if (is_memory && n_left >= 0) break; /* there are no more allocations */
    }
    printf("loaded %lld ok %lld no_memory %lld damaged %lld other %lld\n", (long long)n_loaded, (long long)counts[0],
           (long long)counts[1], (long long)counts[3], (long long)(counts[2] + counts[4] + counts[5] + counts[6]));
    free((void *)config), free(bytes);
    return 0;
}

/* Calls the engine where there is no Python: driver processor, or driver CONFIG FILE translate or scores.
 *
 * translate: each line of the input is beam size, length penalty, no-repeat n-gram and ids; the answers are lines of a
 * candidate's score and ids, and an empty line behind them. scores: the input are rows of hidden floats, the output
 * their log-probabilities. */

#include "dragoman.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *read_file(const char *path, int64_t *n_bytes) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    *n_bytes = ftell(file);
    rewind(file);
    void *bytes = malloc(*n_bytes);
    if (fread(bytes, 1, *n_bytes, file) != (size_t)*n_bytes) exit(2);
    fclose(file);
    return bytes;
}

static void translate_line(const Model *model, char *line) {
    int64_t source[256], n_source = 0;
    Translation *found;
    SearchOptions options = {.repetition_penalty = 1};
    options.beam_size = options.n_best = strtoll(line, &line, 10);
    options.length_penalty = strtod(line, &line);
    options.no_repeat_ngram = strtoll(line, &line, 10);
    for (char *next; n_source < 256; line = next, n_source++) {
        source[n_source] = strtoll(line, &next, 10);
        if (next == line) break;
    }
    if (dragoman_translate(model, source, n_source, &options, &found)) exit(3);
    const Candidate *candidates;
    const int64_t n = dragoman_candidates(found, &candidates);
    for (int64_t i = 0; i < n; i++) {
        printf("%a", candidates[i].score);
        for (int64_t k = 0; k < candidates[i].n_ids; k++) printf(" %d", (int)candidates[i].ids[k]);
        printf("\n");
    }
    printf("\n");
    dragoman_free_translation(found);
}

static void score_row(const Model *model, const float *hidden, int64_t n_scores) {
    float *scores = malloc(n_scores * sizeof *scores);
    if (dragoman_all_scores(model, &(ScoredRows){.hidden = hidden, .n_rows = 1}, scores)) exit(3);
    fwrite(scores, sizeof *scores, n_scores, stdout);
    free(scores);
}

int main(int n_arguments, char **arguments) {
    if (n_arguments == 2) return printf("%d %d\n", (int)dragoman_processor(0), (int)dragoman_processor(2)), 0;
    if (n_arguments != 4) return 2;
    char problem[PROBLEM_LENGTH], line[4096];
    int64_t n_bytes, n_config;
    const ModelConfig *config = read_file(arguments[1], &n_config);
    void *bytes = read_file(arguments[2], &n_bytes);
    Model *model;
    if (dragoman_load(config, bytes, n_bytes, 0, 0, problem, &model)) return fprintf(stderr, "%s\n", problem), 1;
    free(bytes);
    if (!strcmp(arguments[3], "translate")) {
        while (fgets(line, sizeof line, stdin)) translate_line(model, line);
    } else {
        float *hidden = malloc(config->d_model * sizeof *hidden);
        while (fread(hidden, sizeof *hidden, config->d_model, stdin) == (size_t)config->d_model)
            score_row(model, hidden, config->target_vocab_size);
        free(hidden);
    }
    dragoman_free(model), free((void *)config);
    return 0;
}

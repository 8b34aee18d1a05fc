/* A search for the translation of one sentence: greedy for a beam of one, else with a beam.
 *
 * The tokens that were read make a tree, whose nodes lie in the order in which the caches have them. The hypotheses
 * that are open are the last nodes: rows. N beam size, K continuations of each row that are looked at, t tokens that
 * each row has written. */

#pragma once

#include "sentence.h"

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif

struct Translation {
    Candidate *candidates; /* (n_best + 1): the best so far, and room for one more */
    int64_t n_candidates;
    Node *nodes;
    int64_t n_nodes;
};

/* The ids of a sentence and of its prefix, and how often a translation may repeat something because of them. */
typedef struct {
    const int64_t *source;
    int64_t n_source, n_prefix, repeats_of_token, repeats_of_sequence;
} FaultFinder;

typedef struct {
    const Model *model;
    const SearchOptions *options;
    Translation *found;
    Sentence sentence;
    ShortList *short_list; /* of the allowed ids, or NULL */
    FaultFinder finder;
    int64_t natural_limit, written_limit; /* most tokens of a translation, the end mark included */
    int64_t n_nodes_room, first_row, n_rows, n_written;
    int64_t n_choices;      /* K */
    int64_t width;          /* most open hypotheses: the beam size less the hypotheses that have ended */
    float largest_penalty;  /* the length penalty at the natural limit */
    float worst_kept_score; /* of the n best; -inf while they are fewer, or if the worst has a fault */
    float *values;          /* (N, K): the log-probabilities of the best next tokens of each row, falling */
    int64_t *choices;       /* (N, K): these tokens */
    float *scores;          /* (N, V), once a rule needs them */
    uint8_t *is_written;    /* (V): zeros between calls */
    int64_t *path;          /* (2, written_limit + 1): the tokens of a row, and of one to compare with it */
    int64_t *everywhere;    /* ids forbidden in every row */
    int64_t n_everywhere;
    double deadline; /* in seconds of the clock; 0 for none */
} Search;

/* Write the tokens of a node's hypothesis, and return how many. */
int64_t write_path(const Search *search, int64_t node, int64_t *path);

/* ---- rules.c ---- */

/* Find the best next tokens of each row by the hidden vectors, as the rules allow -> values, choices.
 * Return OK, NO_MEMORY, or NOT_A_NUMBER. */
int64_t find_choices(Search *search);

/* ---- candidates.c ---- */

double length_penalty(int64_t length, double alpha);

/* Keep the hypothesis of a node, and of one token more unless `id` is negative, if it is among the n best.
 * Return OK or NO_MEMORY. */
int64_t keep(Search *search, int64_t node, int64_t id, float log_prob);

/* Cut the candidates to max_length, of equal ones keep the first, and find their faults. Return OK or NO_MEMORY. */
int64_t finish_candidates(Search *search);

/* ---- faults.c ---- */

/* Prepare the search for faults. Return OK or NO_MEMORY. */
int64_t start_finder(FaultFinder *finder, const int64_t *prefix, int64_t source_end, int64_t *own_source);

/* Return the faults of a translation, as bits, or NO_MEMORY; one that was cut on purpose is not too short. */
int64_t find_faults(const FaultFinder *finder, const int64_t *ids, int64_t n_ids, int64_t is_cut);

#ifndef _WIN32
#pragma GCC visibility pop
#endif

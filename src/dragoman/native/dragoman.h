/* The engine's interface, for any language: load a model, translate a sentence, or take the steps of a search.
 *
 * `native/header.py` reads this file and makes the Python binding from it, and a library carries the file's digest. So
 * it holds only comments, enums of constants, structures, types of functions, and functions, one declaration each.
 *
 * The engine knows nothing of text. It has no global state: any number of threads may use a model at once, since
 * nothing changes it. Sizes are int64_t; shapes are (slowest, ..., fastest). B sentences, S source, N slots for
 * hypotheses of a sentence, D model width, H heads, K and W widths of a head's keys and values, V target vocabulary, R
 * rows.
 */

#pragma once

#include <stdint.h>

/* Results of functions. */
enum {
    OK = 0,
    NO_MEMORY = -1,
    NO_SUCH_ID = -2,   /* an id outside the vocabulary, or the number of a list that does not exist */
    DAMAGED = -3,      /* the file is damaged, or of another model */
    BAD_OPTIONS = -4,  /* numbers that do not fit the model or each other */
    STOPPED = -5,      /* the search was told to stop, or its time was over */
    NOT_A_NUMBER = -6, /* the model's scores are NaN */
};

/* Values of `ModelConfig`. */
enum { POST_NORM, PRE_NORM };
enum { LAYER, STD, RMS };
enum { RELU, GELU, SWIGLU, SILU };
enum { SINUSOIDAL, HALVES, LEARNED, ROTARY };
enum { TIE_NONE, TIE_DECODER, TIE_ALL };
enum { LAST, LAYERWISE };
enum { ATTENTION, SSRU };

/* Faults of a candidate, as bits: a sequence that is repeated many times; far longer or shorter than the source. */
enum { REPETITION = 1, LENGTH = 2 };

enum { PROBLEM_LENGTH = 256 };

typedef struct Model Model;
typedef struct Translation Translation;
typedef struct ShortList ShortList;

/* The shape of a Transformer, as in config.json. */
typedef struct {
    int64_t d_model, d_ff, n_heads, d_k, d_v;
    int64_t n_encoder_layers, n_decoder_layers, max_length;
    int64_t source_vocab_size, target_vocab_size;
    int64_t norm, norm_kind, has_final_norm, activation, bias, scale_embeddings, positions, tie, memory;
    int64_t decoder_layer;
    double norm_epsilon;                                                  /* of LAYER */
    int64_t source_pad, source_end, target_pad, target_start, target_end; /* special ids */
} ModelConfig;

/* Return 1 if the search should stop. */
typedef int64_t (*StopFunction)(void *argument);

typedef struct {
    int64_t beam_size, n_best;
    double length_penalty;
    int64_t min_length, max_length; /* max_length: 0 for the natural limit */
    int64_t no_repeat_ngram;
    double repetition_penalty;
    int64_t n_prefix, n_forbidden, n_allowed;
    const int64_t *prefix;    /* (n_prefix): the ids that the translation begins with */
    const int64_t *forbidden; /* (n_forbidden): ids that it does not have, except in the prefix */
    const int64_t *allowed;   /* (n_allowed): the only ids that it has, those of the prefix and the end mark among them;
                               * none: the whole vocabulary */
    double seconds;           /* after which the search stops; 0 for any time */
    StopFunction should_stop; /* called before each step, or NULL */
    void *stop_argument;
} SearchOptions;

/* A translation of a sentence. It belongs to its `Translation`. */
typedef struct {
    int64_t n_ids, n_log_probs, is_finished, faults; /* is_finished: the end mark was written */
    const int64_t *ids;                              /* (n_ids): without the end mark */
    const float *log_probs;                          /* (n_log_probs): of each token, the end mark's included */
    double score, log_prob;                          /* score: log_prob over the length penalty */
} Candidate;

/* A token that a search has read: a hypothesis is a path from the root. A node's parent comes before it. */
typedef struct {
    int64_t parent; /* the number of a node; -1 for the root, which is the start mark */
    int64_t id;
    float token_log_prob, log_prob; /* log_prob: of the path */
} Node;

/* A cache of keys (B, H, blocks, K / PACK, LANES, PACK) and values (B, H, blocks * LANES / PACK, W, PACK) of one layer;
 * `kernels.c` draws it. */
typedef struct {
    void *keys, *values;
    int64_t blocks;
} KeyValueCache;

/* The sentences that are being translated. Their caches stay where they were put at the start. */
typedef struct {
    int64_t source_length;
    const KeyValueCache *memory_caches, *target_caches; /* of each decoder layer; SSRU reads no target_caches */
    const float *memory_mask_bias;                      /* (B, S up to whole vectors): 0, or -1e9 at padding */
    const int64_t *cache_rows; /* (B'): the sentences that are left, by their numbers among the B */
} SearchState;

/* One token in each of the N slots of the B' sentences that are left, of which R are open. */
typedef struct {
    const int64_t *ids;   /* (B', N) */
    const int64_t *slots; /* (R): the open ones, in the flattened (B', N); fastest if a sentence's are side by side */
    int64_t n_slots, n_rows; /* N and R */
    int64_t n_read;          /* tokens of a sentence in the cache; this step adds N */
    int64_t position;        /* of all these tokens */
    const float *mask_bias;  /* (R, tokens up to whole vectors): 0, or -1e9 where a row may not attend */
    int64_t mask_stride;     /* 0: one row for all */
    float *attention;        /* (layers, R, H, S): the weights of the memory are written here; or NULL */
    const float *states;     /* SSRU alone: (layers, P, D), of the P rows of the step before; NULL in the first step */
    const int64_t *parents;  /* (R): the row of the step before that each row continues */
    int64_t n_parents;       /* P */
    float *next_states;      /* (layers, R, D): the states of these rows are written here */
} Step;

/* The hidden vectors whose next tokens are scored. */
typedef struct {
    const float *hidden; /* (R, D) */
    int64_t n_rows;
    const ShortList *short_list; /* the tokens that have scores above -inf; NULL: the whole vocabulary */
    const int64_t *lists;        /* (R): the number of each row's list in it; NULL: the first for all */
} ScoredRows;

/* The layout of caches in this library. */
typedef struct {
    int64_t lanes;          /* floats of a vector */
    int64_t pack;           /* operands of one instruction in a lane: 1 float32, or 2 bfloat16 */
    int64_t operand_bytes;  /* 4 or 2 */
    int64_t largest_weight; /* if weights are integers; else 0 */
} Geometry;

#pragma GCC visibility push(default)

/* Load a model from the bytes of a safetensors file, which may be freed after that. Every size and offset is checked,
 * so the file may be a stranger's. With `allows_nan` weights may be infinite or NaN, and then scores will be. With
 * `is_mapped` the bytes are a file that was mapped for reading, and on Linux each tensor leaves RAM once it was read.
 * Return OK, NO_MEMORY, or DAMAGED with a line of text in `problem` (PROBLEM_LENGTH bytes). */
int64_t dragoman_load(const ModelConfig *config, const void *file, int64_t n_bytes, int64_t allows_nan,
                      int64_t is_mapped, char *problem, Model **model);

void dragoman_free(Model *model);

/* Search for the best translations of a source (n_source), which has no end mark: that of the model follows it. If that
 * is the padding, nothing attends to it.
 * Return OK, NO_MEMORY, NO_SUCH_ID, BAD_OPTIONS, STOPPED, or NOT_A_NUMBER. */
int64_t dragoman_translate(const Model *model, const int64_t *source, int64_t n_source, const SearchOptions *options,
                           Translation **translation);

/* Return how many candidates were found, and point to them, best first. */
int64_t dragoman_candidates(const Translation *translation, const Candidate **candidates);

/* Return the number of tokens that the search has read, and point to them: its trace. */
int64_t dragoman_nodes(const Translation *translation, const Node **nodes);

void dragoman_free_translation(Translation *translation);

/* The log-probabilities of a given target's tokens and of the end mark (n_target + 1), and unless `attention` is NULL
 * the weights with which each attends to the source (n_target + 1, decoder layers, H, n_source + 1).
 * Return OK, NO_MEMORY, NO_SUCH_ID, or BAD_OPTIONS if source or target is too long. */
int64_t dragoman_score(const Model *model, const int64_t *source, int64_t n_source, const int64_t *target,
                       int64_t n_target, float *log_probs, float *attention);

/* Read sources (B, S), at least one id each, with the mask bias of `SearchState` -> a cache for each decoder layer.
 * Return OK, NO_MEMORY, or NO_SUCH_ID. */
int64_t dragoman_read_sources(const Model *model, const int64_t *ids, int64_t n_sentences, int64_t length,
                              const float *mask_bias, const KeyValueCache *memory_caches);

/* Read one token in each open slot -> hidden (R, D), the output of the decoder. Return OK, NO_MEMORY, or NO_SUCH_ID. */
int64_t dragoman_decode(const Model *model, const SearchState *state, const Step *step, float *hidden);

/* Make a short-list: the tokens that translations may have. No others are scored, and the probabilities of these sum up
 * to 1. There are `n_lists` lists of ids, one after the other, of which the i-th ends before ids[ends[i]]; none is
 * empty, and ids may be repeated. A short-list belongs to its model and is freed before it. Return OK, NO_MEMORY,
 * NO_SUCH_ID, or BAD_OPTIONS if a list is empty. */
int64_t dragoman_make_short_list(const Model *model, const int64_t *ids, const int64_t *ends, int64_t n_lists,
                                 ShortList **short_list);

void dragoman_free_short_list(ShortList *short_list);

/* The k highest log-probabilities of each row and their tokens, (R, k), falling -> values, ids; k is at least 1. Tokens
 * in `forbidden` have -inf. Of a row with a NaN, all values are NaN. Return OK, NO_MEMORY, or NO_SUCH_ID for a
 * forbidden token or a list that does not exist. */
int64_t dragoman_best_scores(const Model *model, const ScoredRows *rows, const int64_t *forbidden, int64_t n_forbidden,
                             int64_t k, float *values, int64_t *ids);

/* All log-probabilities (R, V) -> scores. Return OK, NO_MEMORY, or NO_SUCH_ID for a list that does not exist. */
int64_t dragoman_all_scores(const Model *model, const ScoredRows *rows, float *scores);

void dragoman_geometry(Geometry *geometry);

/* Return which libraries of a precision (0 float32, 1 bfloat16, 2 int8) run on this processor, a bit for each, in the
 * order of `LIBRARIES` of kernels.py. */
int64_t dragoman_processor(int64_t precision);

#pragma GCC visibility pop

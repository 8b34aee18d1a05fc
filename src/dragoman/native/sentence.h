/* One sentence that is being translated: its memory, and the keys and values of the tokens read so far. */

#pragma once

#include "model.h"

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif

typedef struct {
    const Model *model;
    SearchState state;
    KeyValueCache *caches;           /* of the memory for each decoder layer, then of the target */
    float *memory_mask_bias;         /* (S up to whole vectors) */
    int64_t n_read, room, most_rows; /* room: tokens that fit into the caches */
    int64_t *slots;                  /* (most_rows): 0, 1, ... */
    float *mask_bias;                /* (most_rows, room); NULL for SSRU */
    float *hidden;                   /* (most_rows, D) */
    float *states, *next_states;     /* of SSRU: (layers, most_rows, D), as in `Step` */
    int64_t *parents, n_parents;     /* (most_rows): the caller writes which rows of the step before go on */
} Sentence;

/* Read a source (n_source), to which the end mark is added. Return OK, NO_MEMORY, or NO_SUCH_ID. End it in any case. */
int64_t start_sentence(Sentence *sentence, const Model *model, const int64_t *source, int64_t n_source,
                       int64_t most_rows);

/* Make room for n_rows more tokens, and return their mask bias (n_rows, stride), which the caller fills; or NULL. Not
 * for SSRU, which reads no token twice. */
float *next_mask_bias(Sentence *sentence, int64_t n_rows, int64_t *stride);

/* Read n_rows tokens at a position -> sentence->hidden, and unless it is NULL -> attention, as in `Step`. Return OK,
 * NO_MEMORY, or NO_SUCH_ID. */
int64_t read_tokens(Sentence *sentence, const int64_t *ids, int64_t n_rows, int64_t position, float *attention);

void end_sentence(Sentence *sentence);

#ifndef _WIN32
#pragma GCC visibility pop
#endif

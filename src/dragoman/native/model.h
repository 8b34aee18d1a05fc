/* The parts of a model, packed for the kernels, and the functions that the engine's sources share. */

#pragma once

#include "dragoman.h"
#include "linear.h"
#include "memory.h"

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif

enum { NO_NORM, LAYER_NORM, RMS_NORM }; /* RMS_NORM does not subtract the mean */
typedef struct {
    int64_t kind;
    const float *gain, *bias; /* (D), or NULL */
    /* x / (sqrt(squares * square_factor + inner_epsilon) + outer_epsilon) */
    double square_factor, inner_epsilon, outer_epsilon;
} Norm;

typedef struct {
    Linear self_projection; /* queries, keys and values side by side; of SSRU, gates and inputs */
    Linear self_output;     /* SSRU has none */
    Linear cross_query, cross_memory, cross_output; /* of a decoder layer; cross_memory: keys and values */
    Linear inner, gate, outer;                      /* gate: SWIGLU alone */
    Norm self_norm, cross_norm, feed_forward_norm;
} Layer;

typedef struct {
    int64_t d_model, n_heads, d_k, d_v, d_ff, pre_norm, activation, decoder_layer;
} Shape;

/* Vectors of positions: learned, or sines and cosines. */
typedef struct {
    int64_t width;
    const float *table; /* (n_rows, width) */
    int64_t n_rows;     /* as many as were computed when the model was loaded; 0 if the model has no such vectors */
    int64_t in_halves;  /* all sines first; else sines and cosines in turn */
    const double *frequencies; /* (width / 2) */
} Positions;

/* Ids to vectors: tokens (vocabulary, D) times `scale`, plus those of positions. */
typedef struct {
    const float *tokens;    /* NULL if one of the next is there */
    const int8_t *integers; /* times token_scales (vocabulary): as in the file, a quarter of their size as floats */
    const float *token_scales;
    const Linear *columns; /* the output layer, if each of its columns is the vector of a token */
    int64_t n_tokens;
    double scale;
    int64_t centring; /* 1: subtract the mean of each vector */
    Positions positions;
} Embedding;

typedef struct Block Block; /* memory that a model owns */

struct Model {
    ModelConfig config;
    Shape shape;
    Embedding source, target;
    Positions angles; /* of rotary positions */
    Layer *encoder_layers, *decoder_layers;
    Norm encoder_norm, decoder_norm; /* of the last layers' outputs */
    Linear output;
    Block *blocks;
};

/* Return memory filled with zeros that lives as long as the model, or NULL. */
void *own(Model *model, int64_t count, int64_t size);

/* ---- packing.c ---- */

/* The weights of one output of a map of integers -> row (I). */
void read_column(const Linear *map, int64_t column, float *row);

/* ---- positions.c ---- */

/* Prepare sines and cosines. Return 0 if there is not enough memory. */
int64_t prepare_waves(Model *model, Positions *positions, int64_t width, int64_t in_halves);

/* The vectors of `count` positions from `first` on, (count, width): of the table, or computed in `workspace`, which has
 * room for as many; NULL if there are none. */
const float *position_rows(const Positions *positions, int64_t first, int64_t count, float *workspace);

/* ---- norms.c ---- */

void normalise(const Norm *norm, int64_t width, const float *x, int64_t n_rows, float *out);

void activate(int64_t activation, float *inner, const float *gates, int64_t count);

/* ---- scores.c ---- */

/* Find the k highest of a row's scores (n_scores) -> values (k), falling, and ids (k); of equal ones the lower id comes
 * first. Return OK or NOT_A_NUMBER. */
int64_t find_highest(const float *scores, int64_t n_scores, int64_t k, float *values, int64_t *ids);

/* ---- kernels.c ---- */

/* The vector of an id, plus that of its position if one is added -> x (D). */
void embed(const Embedding *embedding, int64_t width, int64_t id, const float *added, float *x);

int64_t encode_layer(const Shape *shape, const Layer *layer, float *x, int64_t n_sentences, int64_t length,
                     const float *mask_bias, const float *angles);

int64_t read_memory(const Shape *shape, const Layer *layer, const float *memory, int64_t n_sentences, int64_t length,
                    const KeyValueCache *cache);

/* Numbers in the keys, and in the values, of LANES tokens of one head; see `KeyValueCache`. */
INLINE int64_t key_block(const Shape *shape) { return rounded_up(shape->d_k, PACK) * LANES; }

INLINE int64_t value_block(const Shape *shape) { return rounded_up(shape->d_v, LANES) * LANES; }

#ifndef _WIN32
#pragma GCC visibility pop
#endif

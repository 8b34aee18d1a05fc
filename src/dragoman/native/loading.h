/* Taking weights from a file, and packing them. */

#pragma once

#include "model.h"
#include "tensors.h"

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif

enum { NAME_LENGTH = 128 };

/* A model while it is loaded. After the first failure nothing more is read. */
typedef struct {
    Model *model;
    const TensorFile *file;
    char *problem;
    int64_t allows_nan, status;
    int64_t is_folding;  /* gains and biases of norms become part of the linear maps that read them */
    int64_t is_centring; /* summands of the residual sum have mean zero */
} Loader;

/* A norm's gain and bias (D), which the linear maps that read its output take over; NULL for none. */
typedef struct {
    const float *gain, *shift;
} FoldedNorm;

/* Tied embeddings are read from the columns of the output layer, if these have the 8 bits of a stored int8 matrix;
 * those of a file of floats are rounded to 8 bits, too. */
#ifdef INT8
enum { IS_SHARING = LARGEST_WEIGHT == INT8_MAX };
#else
enum { IS_SHARING = 0 };
#endif

enum { MOST_PARTS = 3 };

/* Linear maps of the same input, side by side. */
typedef struct {
    const char *prefix, *names[MOST_PARTS];
    int64_t n_in, n_outs[MOST_PARTS];
    float first_scale;     /* multiplies the first map */
    FoldedNorm norm;       /* what they read */
    int64_t is_summand;    /* their output is added to the residual sum */
    const char *bias_name; /* if it is not that of `names` */
    int64_t n_biases;      /* the first ones have biases; 0: all have */
} LinearParts;

/* Write one, two or three words as one. */
void join(char name[NAME_LENGTH], const char *one, const char *two, const char *three);

/* Return a tensor (n_rows, n_columns), or (n_rows) for 0 columns; NULL after a failure, or if it has another shape. */
const Tensor *take(Loader *loader, const char *name, int64_t n_rows, int64_t n_columns);

/* Return a vector (n) or a matrix (n, n_columns) in float32, owned by the model; NULL after a failure. */
const float *take_floats(Loader *loader, const char *name, int64_t n, int64_t n_columns);

/* Read the vectors of tokens, as floats, or as integers if the file has these. */
void take_tokens(Loader *loader, const char *name, Embedding *embedding);

/* Return the maps in panels. */
Linear take_linear(Loader *loader, const LinearParts *parts);

/* Return memory owned by the model, or NULL after a failure. */
void *take_memory(Loader *loader, int64_t count, int64_t size);

#ifndef _WIN32
#pragma GCC visibility pop
#endif

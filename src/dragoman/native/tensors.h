/* The tensors of a safetensors file, which may be a stranger's. */

#pragma once

#include "dragoman.h"

#include <string.h>

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif

enum { MOST_DIMENSIONS = 2 };

typedef enum { FLOAT32, FLOAT16, INT_8 } NumberKind;

typedef struct {
    const char *name; /* as in the file: not terminated */
    int64_t n_name;
    NumberKind kind;
    int64_t n_dimensions, shape[MOST_DIMENSIONS];
    const uint8_t *bytes; /* at any address */
    int64_t is_used;
} Tensor;

typedef struct {
    Tensor *tensors; /* by name */
    int64_t n_tensors;
    int64_t is_mapped; /* see `dragoman_load` */
} TensorFile;

/* Read the head of a file. Return OK, NO_MEMORY, or DAMAGED with a line in `problem`. All tensors lie in the file. */
int64_t read_head(const uint8_t *file, int64_t n_bytes, TensorFile *tensors, char *problem);

/* Return the tensor of a name, or NULL. */
Tensor *find_tensor(const TensorFile *file, const char *name);

/* Let a tensor that was read leave RAM, if the file is mapped. It may be read again. */
void drop_tensor(const TensorFile *file, const Tensor *tensor);

/* Write the numbers of a tensor from number `first` on; scale: of 8-bit integers. Return 1 if all are finite. */
int64_t read_numbers(const Tensor *tensor, int64_t first, int64_t count, float scale, float *out);

/* Return the largest size of some numbers, or NaN if one is NaN, by their bits: only integers are compared in vectors.
 */
static inline float largest_size(const float *numbers, int64_t count) {
    int32_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, numbers + i, sizeof bits);
        bits &= INT32_MAX; /* without the sign */
        largest = bits > largest ? bits : largest;
    }
    float size;
    memcpy(&size, &largest, sizeof size);
    return size;
}

/* Write "name: text" or, without a name, the text. Return DAMAGED. */
int64_t tell(char *problem, const char *name, int64_t n_name, const char *text);

#ifndef _WIN32
#pragma GCC visibility pop
#endif

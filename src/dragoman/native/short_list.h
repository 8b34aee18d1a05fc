/* Short-lists: the only tokens of the vocabulary that are scored. */

#pragma once

#include "model.h"

enum { ABSENT = -1 };

struct ShortList {
    int64_t n_lists;
    Linear output;      /* a column for each token that is on any list, in the order of their ids */
    int64_t *ids;       /* (n_out) */
    int64_t *column_of; /* (V): ABSENT for a token that is on no list */
    float *mask_bias;   /* (lists, n_out): 0, or -inf for a token that is not on the list; NULL for one list */
    Weight *weight;     /* what `output` points to */
    float *bias, *scales;
    int32_t *column_sums;
};

/* Sums over batches, and which library this is. */

#include "fused_rows.h"

/* Add numbers to floats: rows (R, D). */
int64_t add_rows(float *totals, const Array *numbers, int64_t width, int64_t n_rows, int64_t n_threads) {
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t i = 0; i < n_rows * width; i++)
        totals[i] += numbers->is_bfloat16 ? from_bfloat16(((bfloat16 *)numbers->data)[i]) : ((float *)numbers->data)[i];
    return 0;
}

/* The digest of fused.h, which the binding compares with its own. */
__attribute__((visibility("default"))) const uint64_t interface = INTERFACE;

int64_t lanes(void) { return LANES; }

int64_t processor(void) { return libraries_of_kind(kind_of_processor()); }

/* Memory at the bounds of cache lines, which vectors need; and sizes that may be a stranger's. */

#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { CACHE_LINE = 64, HUGE_PAGE = 1 << 21 };

/* The most bytes of one allocation: far more than a model needs, and no sum of a few overflows. */
#define MOST_BYTES ((int64_t)1 << (sizeof(void *) == 8 ? 46 : 30))

/* Return count * size, or -1 if that is more than MOST_BYTES; neither is negative. */
static inline int64_t checked_product(int64_t count, int64_t size) {
    return size > 0 && count > MOST_BYTES / size ? -1 : count * size;
}

/* Return memory for `n_bytes`, or NULL if there is not enough, or n_bytes is negative. */
static inline void *allocate(int64_t n_bytes) {
    if (n_bytes < 0 || n_bytes > MOST_BYTES) return NULL;
    const int64_t n_whole = (n_bytes / CACHE_LINE + 1) * CACHE_LINE;
#ifdef _WIN32
    return _aligned_malloc(n_whole, CACHE_LINE);
#else
#ifdef MADV_HUGEPAGE
    if (n_whole >= 2 * HUGE_PAGE) { /* as NumPy does: matrices of many megabytes are read several per cent faster */
        const int64_t n_huge = (n_whole + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *memory = aligned_alloc(HUGE_PAGE, n_huge);
        if (memory) madvise(memory, n_whole / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* the rest would take one alone */
        return memory;
    }
#endif
    return aligned_alloc(CACHE_LINE, n_whole);
#endif
}

static inline void release(void *memory) {
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

/* Return memory filled with zeros for `count` things, or NULL. */
static inline void *allocate_zeros(int64_t count, int64_t size) {
    const int64_t n_bytes = checked_product(count, size);
    void *memory = allocate(n_bytes);
    if (memory) memset(memory, 0, n_bytes);
    return memory;
}

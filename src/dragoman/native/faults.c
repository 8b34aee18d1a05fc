/* Two faults that the ids of a translation show, as in `decoding/faults.py`: a sequence repeated many times, and a
 * length out of proportion. */

#include "search.h"

enum { MAX_PERIOD = 8 };
enum { MIN_REPEATS = 5, MIN_REPEATED_TOKENS = 10 };
enum { REPEATS_EXPLAINED = 2 };
enum { LONG_START = 32, LONG_RATIO = 8 };
enum { SHORT_START = 24, SHORT_RATIO = 16 };

/* Compare numbers, as qsort wants it. */
static int compare(const void *one, const void *other) {
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* Count the tokens, or the pairs of neighbours, that are equal: the number of different ones, and the most of one.
 * Return OK or NO_MEMORY. */
static int64_t count_equal(const int64_t *ids, int64_t n_ids, int64_t in_pairs, int64_t *n_different, int64_t *most) {
    const int64_t n = n_ids - in_pairs;
    int64_t n_equal = 0;
    *n_different = *most = 0;
    if (n <= 0) return OK;
    int64_t *sorted = malloc(n * sizeof(int64_t));
    if (!sorted) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) sorted[i] = in_pairs ? (ids[i] << 32) + ids[i + 1] : ids[i];
    qsort(sorted, n, sizeof(int64_t), compare);
    for (int64_t i = 0; i < n; i++) {
        n_equal = i && sorted[i] == sorted[i - 1] ? n_equal + 1 : 1;
        *n_different += n_equal == 1;
        *most = larger_of(*most, n_equal);
    }
    free(sorted);
    return OK;
}

int64_t start_finder(FaultFinder *finder, const int64_t *prefix, int64_t source_end, int64_t *own_source) {
    const int64_t *given[] = {own_source, prefix};
    int64_t n_own = 0, n_different, most;
    for (int64_t i = 0; i < finder->n_source; i++)
        if (finder->source[i] != source_end) own_source[n_own++] = finder->source[i];
    finder->source = own_source;
    finder->n_source = n_own;
    for (int64_t i = 0; i < 2; i++) {
        const int64_t n = i ? finder->n_prefix : finder->n_source;
        if (count_equal(given[i], n, 0, &n_different, &most)) return NO_MEMORY;
        finder->repeats_of_token = larger_of(finder->repeats_of_token, REPEATS_EXPLAINED * most);
        if (count_equal(given[i], n, 1, &n_different, &most)) return NO_MEMORY;
        finder->repeats_of_sequence = larger_of(finder->repeats_of_sequence, REPEATS_EXPLAINED * most);
    }
    return OK;
}

/* Return the largest number of times in a row that a sequence of `period` tokens is written. A row of equal tokens
 * counts only for period 1. */
static int64_t most_repeats(const int64_t *ids, int64_t n_ids, int64_t period) {
    int64_t most = 0, start = 0;
    for (int64_t end = 1; end <= n_ids; end++) {
        if (end - start < period || (end < n_ids && ids[end] == ids[end - period])) continue;
        int64_t differs = period == 1;
        for (int64_t i = end - period + 1; i < end; i++) differs |= ids[i] != ids[i - 1];
        if (differs) most = larger_of(most, (end - start) / period);
        start = end - period + 1;
    }
    return most;
}

/* Return 1 if a sequence is repeated in a row, and more often than the source explains; or 0, or NO_MEMORY. */
static int64_t is_repetitive(const FaultFinder *finder, const int64_t *ids, int64_t n_ids) {
    int64_t n_different, most;
    if (count_equal(ids, n_ids, 0, &n_different, &most)) return NO_MEMORY;
    if (n_ids - n_different < MIN_REPEATED_TOKENS - MIN_REPEATED_TOKENS / MIN_REPEATS) return 0;
    for (int64_t period = 1; period <= smaller(MAX_PERIOD, n_ids / MIN_REPEATS); period++) {
        const int64_t n_repeats = most_repeats(ids, n_ids, period);
        const int64_t explained = period == 1 ? finder->repeats_of_token : finder->repeats_of_sequence;
        if (n_repeats >= MIN_REPEATS && n_repeats * period >= MIN_REPEATED_TOKENS && n_repeats > explained) return 1;
    }
    return 0;
}

int64_t find_faults(const FaultFinder *finder, const int64_t *ids, int64_t n_ids, int64_t is_cut) {
    const int64_t n_own = larger_of(n_ids - finder->n_prefix, 0), n_source = finder->n_source;
    const int64_t is_long = n_own > LONG_START + LONG_RATIO * n_source;
    const int64_t is_short = n_ids * SHORT_RATIO < n_source - SHORT_START || (!n_ids && n_source > 0);
    const int64_t repeats = is_repetitive(finder, ids + (n_ids - n_own), n_own);
    if (repeats < 0) return repeats;
    return (repeats ? REPETITION : 0) | (is_long || (is_short && !is_cut) ? LENGTH : 0);
}

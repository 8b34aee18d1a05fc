/* The scores of the next tokens: log-probabilities, and the highest of them. */

#include "model.h"
#include "products.h"
#include "short_list.h"

enum { ROWS_AT_ONCE = 96 };     /* rows that are multiplied together */
enum { COLUMNS_AT_ONCE = 512 }; /* scores of a row that are looked through together */

/* log(sum(exp(scores))), of scores that come some at a time. */
typedef struct {
    float highest;
    double total; /* of exp(score - highest) */
} LogSum;

/* Add some scores, and return the highest of them. */
static float add_scores(LogSum *sum, const float *scores, int64_t count) {
    vec highest = broadcast(-INFINITY), totals = broadcast(0);
    int64_t i;
    for (i = 0; i + LANES <= count; i += LANES) highest = larger(highest, load(scores + i));
    float shift = largest_of(highest);
    for (; i < count; i++) shift = scores[i] > shift ? scores[i] : shift;
    const float highest_here = shift;
    if (sum->highest > shift) shift = sum->highest;
    if (shift == -INFINITY) { /* no score above -inf; or a NaN, which no comparison finds */
        for (i = 0; i < count; i++)
            if (scores[i] != -INFINITY) sum->total = sum->highest = NAN;
        return shift;
    }
    for (i = 0; i + LANES <= count; i += LANES) totals += exponential(load(scores + i) - shift);
    double total = sum_of(totals);
    for (; i < count; i++) total += expf(scores[i] - shift);
    sum->total = (sum->total ? sum->total * exp((double)sum->highest - shift) : 0) + total;
    sum->highest = shift;
    return highest_here;
}

/* Insert a score among the k highest, falling; of equal ones the lower id comes first. */
INLINE void insert_best(float score, int64_t id, int64_t k, float *values, int64_t *ids) {
    int64_t place = k - 1;
    for (; place > 0 && values[place - 1] < score; place--) {
        values[place] = values[place - 1];
        ids[place] = ids[place - 1];
    }
    values[place] = score;
    ids[place] = id;
}

/* Memory for some scores, and behind them for ROWS_AT_ONCE rows as products read them. */
static float *allocate_scores(const Linear *projection, int64_t n_scores) {
    const int64_t size = ROWS_AT_ONCE * input_stride(projection->n_in) * sizeof(Input) + n_scores * sizeof(float);
    return allocate(size);
}

static const Linear *projection_of(const Model *model, const ScoredRows *rows) {
    return rows->short_list ? &rows->short_list->output : &model->output;
}

/* Return OK, or NO_SUCH_ID if a row's list or a forbidden token does not exist. */
static int64_t check_ids(const Model *model, const ScoredRows *rows, const int64_t *forbidden, int64_t n_forbidden) {
    const ShortList *list = rows->short_list;
    for (int64_t i = 0; i < n_forbidden; i++)
        if (forbidden[i] < 0 || forbidden[i] >= model->config.target_vocab_size) return NO_SUCH_ID;
    for (int64_t i = 0; list && rows->lists && i < rows->n_rows; i++)
        if (rows->lists[i] < 0 || rows->lists[i] >= list->n_lists) return NO_SUCH_ID;
    return OK;
}

/* Give some scores of a row, from a column on, -inf for tokens that are not on its list. */
static void mask_unlisted(const ScoredRows *rows, int64_t row, int64_t column, int64_t count, float *scores) {
    const ShortList *list = rows->short_list;
    if (!list || !list->mask_bias) return;
    const float *mask_bias = list->mask_bias + (rows->lists ? rows->lists[row] : 0) * list->output.n_out + column;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) store(scores + i, load(scores + i) + load(mask_bias + i));
    for (; i < count; i++) scores[i] += mask_bias[i];
}

/* Give forbidden tokens -inf, among the scores of `count` columns from one on. */
static void mask_forbidden(const ShortList *list, const int64_t *forbidden, int64_t n_forbidden, int64_t column,
                           int64_t count, float *scores) {
    for (int64_t i = 0; i < n_forbidden; i++) {
        const int64_t at = (list ? list->column_of[forbidden[i]] : forbidden[i]) - column;
        if (at >= 0 && at < count) scores[at] = -INFINITY;
    }
}

/* Put the best of `count` scores, from a column on, among a row's k highest. */
static void collect_best(const float *scores, int64_t column, int64_t count, int64_t k, float *values,
                         int64_t *columns) {
    for (int64_t j = 0; j < count; j += LANES) {
        const int64_t end = smaller(j + LANES, count);
        if (end - j == LANES && !any_lane(load(scores + j) > values[k - 1])) continue;
        for (int64_t i = j; i < end; i++)
            if (scores[i] > values[k - 1]) insert_best(scores[i], column + i, k, values, columns);
    }
}

int64_t find_highest(const float *scores, int64_t n_scores, int64_t k, float *values, int64_t *ids) {
    for (int64_t i = 0; i < k; i++) values[i] = -INFINITY, ids[i] = 0;
    for (int64_t id = 0; id < n_scores; id++)
        if (scores[id] != scores[id]) return NOT_A_NUMBER;
    collect_best(scores, 0, n_scores, k, values, ids);
    return OK;
}

/* See dragoman.h. */
int64_t dragoman_best_scores(const Model *model, const ScoredRows *rows, const int64_t *forbidden, int64_t n_forbidden,
                             int64_t k, float *values, int64_t *ids) {
    const Linear *projection = projection_of(model, rows);
    const int64_t n_scores = ROWS_AT_ONCE * COLUMNS_AT_ONCE, n_in = projection->n_in, n_rows = rows->n_rows;
    if (check_ids(model, rows, forbidden, n_forbidden)) return NO_SUCH_ID;
    float *scores = allocate_scores(projection, n_scores);
    if (!scores) return NO_MEMORY;
    LogSum sums[ROWS_AT_ONCE];
    for (int64_t i = 0; i < n_rows * k; i++) values[i] = -INFINITY, ids[i] = 0;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE) {
        const int64_t n_here = smaller(ROWS_AT_ONCE, n_rows - row);
        const Input *from = to_inputs(rows->hidden + row * n_in, n_here, n_in, (Input *)(scores + n_scores));
        for (int64_t i = 0; i < n_here; i++) sums[i] = (LogSum){-INFINITY, 0};
        for (int64_t column = 0; column < projection->n_out; column += COLUMNS_AT_ONCE) {
            const int64_t count = smaller(COLUMNS_AT_ONCE, projection->n_out - column);
            project(projection, column / COLUMNS, rounded_up(column + count, COLUMNS) / COLUMNS, from, n_here, scores,
                    COLUMNS_AT_ONCE);
            for (int64_t i = 0; i < n_here; i++) {
                float *own = scores + i * COLUMNS_AT_ONCE, *best = values + (row + i) * k;
                mask_unlisted(rows, row + i, column, count, own);
                if (!(add_scores(&sums[i], own, count) > best[k - 1])) continue;
                mask_forbidden(rows->short_list, forbidden, n_forbidden, column, count, own);
                collect_best(own, column, count, k, best, ids + (row + i) * k);
            }
        }
        for (int64_t i = 0; i < n_here; i++)
            for (int64_t j = 0; j < k; j++) values[(row + i) * k + j] -= (float)log(sums[i].total) + sums[i].highest;
    }
    release(scores);
    for (int64_t i = 0; i < n_rows * k && rows->short_list; i++)
        ids[i] = values[i] == -INFINITY ? 0 : rows->short_list->ids[ids[i]];
    return OK;
}

/* The scores of all columns of a few rows -> scores (n_rows, n_out), not yet log-probabilities, and their sums. */
static void score_columns(const Linear *projection, const ScoredRows *rows, int64_t first, int64_t n_rows,
                          float *scores, Input *workspace) {
    const int64_t n_in = projection->n_in, n_out = projection->n_out;
    apply_linear(projection, rows->hidden + first * n_in, n_rows, scores, workspace);
    for (int64_t i = 0; i < n_rows; i++) {
        float *own = scores + i * n_out;
        LogSum sum = {-INFINITY, 0};
        mask_unlisted(rows, first + i, 0, n_out, own);
        add_scores(&sum, own, n_out);
        const float shift = (float)log(sum.total) + sum.highest;
        for (int64_t j = 0; j < n_out; j++) own[j] -= shift;
    }
}

/* See dragoman.h. */
int64_t dragoman_all_scores(const Model *model, const ScoredRows *rows, float *scores) {
    const Linear *projection = projection_of(model, rows);
    const ShortList *list = rows->short_list;
    const int64_t vocab_size = model->config.target_vocab_size, n_out = projection->n_out;
    const int64_t n_scores = list ? ROWS_AT_ONCE * n_out : 0;
    if (check_ids(model, rows, NULL, 0)) return NO_SUCH_ID;
    float *columns = allocate_scores(projection, n_scores);
    if (!columns) return NO_MEMORY;
    for (int64_t row = 0; row < rows->n_rows; row += ROWS_AT_ONCE) {
        const int64_t n_here = smaller(ROWS_AT_ONCE, rows->n_rows - row);
        float *own = scores + row * vocab_size;
        score_columns(projection, rows, row, n_here, list ? columns : own, (Input *)(columns + n_scores));
        for (int64_t i = 0; list && i < n_here * vocab_size; i++) own[i] = -INFINITY;
        for (int64_t i = 0; list && i < n_here; i++)
            for (int64_t j = 0; j < n_out; j++) own[i * vocab_size + list->ids[j]] = columns[i * n_out + j];
    }
    release(columns);
    return OK;
}

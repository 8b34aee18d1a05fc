/* The scores of the next tokens: log-probabilities, and the highest of them. */

#include "model.h"
#include "products.h"

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

/* See dragoman.h. */
int64_t dragoman_best_scores(const Model *model, const float *hidden, int64_t n_rows, const int64_t *forbidden,
                             int64_t n_forbidden, int64_t k, float *values, int64_t *ids) {
    const Linear *projection = &model->output;
    const int64_t n_scores = ROWS_AT_ONCE * COLUMNS_AT_ONCE;
    float *scores = allocate_scores(projection, n_scores);
    if (!scores) return NO_MEMORY;
    LogSum sums[ROWS_AT_ONCE];
    for (int64_t i = 0; i < n_rows * k; i++) values[i] = -INFINITY, ids[i] = 0;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE) {
        const int64_t n_here = smaller(ROWS_AT_ONCE, n_rows - row);
        const int64_t n_in = projection->n_in;
        const Input *from = to_inputs(hidden + row * n_in, n_here, n_in, (Input *)(scores + n_scores));
        for (int64_t i = 0; i < n_here; i++) sums[i] = (LogSum){-INFINITY, 0};
        for (int64_t column = 0; column < projection->n_out; column += COLUMNS_AT_ONCE) {
            const int64_t count = smaller(COLUMNS_AT_ONCE, projection->n_out - column);
            project(projection, column / COLUMNS, rounded_up(column + count, COLUMNS) / COLUMNS, from, n_here, scores,
                    COLUMNS_AT_ONCE);
            for (int64_t i = 0; i < n_here; i++) {
                float *own = scores + i * COLUMNS_AT_ONCE, *best = values + (row + i) * k;
                int64_t *best_ids = ids + (row + i) * k;
                if (!(add_scores(&sums[i], own, count) > best[k - 1])) continue;
                for (int64_t f = 0; f < n_forbidden; f++)
                    if (forbidden[f] >= column && forbidden[f] < column + count) own[forbidden[f] - column] = -INFINITY;
                for (int64_t j = 0; j < count; j += LANES) {
                    const int64_t end = smaller(j + LANES, count);
                    if (end - j == LANES && !any_lane(load(own + j) > best[k - 1])) continue;
                    for (int64_t id = j; id < end; id++)
                        if (own[id] > best[k - 1]) insert_best(own[id], column + id, k, best, best_ids);
                }
            }
        }
        for (int64_t i = 0; i < n_here; i++)
            for (int64_t j = 0; j < k; j++) values[(row + i) * k + j] -= (float)log(sums[i].total) + sums[i].highest;
    }
    release(scores);
    return 0;
}

/* See dragoman.h. */
int64_t dragoman_all_scores(const Model *model, const float *hidden, int64_t n_rows, float *scores) {
    const Linear *projection = &model->output;
    const int64_t n_in = projection->n_in, n_out = projection->n_out;
    float *workspace = allocate_scores(projection, 0);
    if (!workspace) return NO_MEMORY;
    for (int64_t row = 0; row < n_rows; row += ROWS_AT_ONCE)
        apply_linear(projection, hidden + row * n_in, smaller(ROWS_AT_ONCE, n_rows - row), scores + row * n_out,
                     (Input *)workspace);
    release(workspace);
    for (int64_t row = 0; row < n_rows; row++, scores += n_out) {
        LogSum sum = {-INFINITY, 0};
        add_scores(&sum, scores, n_out);
        const float shift = (float)log(sum.total) + sum.highest;
        for (int64_t i = 0; i < n_out; i++) scores[i] -= shift;
    }
    return 0;
}

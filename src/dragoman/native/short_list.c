/* Making a short-list: the output layer for some tokens of the vocabulary alone. */

#include "short_list.h"

/* Copy one column of a map, with all that belongs to it. */
static void copy_column(const Linear *from, int64_t column, ShortList *to, int64_t place) {
    enum { NEXT = COLUMNS * INPUT_PACK }; /* weights from one pack of a column to the next */
    const int64_t width = rounded_up(from->n_in, INPUTS);
    const Weight *read = from->weight + column / COLUMNS * COLUMNS * width + column % COLUMNS * INPUT_PACK;
    Weight *write = to->weight + place / COLUMNS * COLUMNS * width + place % COLUMNS * INPUT_PACK;
    for (int64_t i = 0; i < width / INPUT_PACK; i++) memcpy(write + i * NEXT, read + i * NEXT, sizeof(InputPack));
    to->bias[place] = from->bias[column];
#ifdef INT8
    to->scales[place] = from->scales[column];
    to->column_sums[place] = from->column_sums[column];
#endif
}

/* Number the tokens that are on any list by their ids -> column_of, ids. Return OK, NO_MEMORY, or NO_SUCH_ID. */
static int64_t number_tokens(ShortList *list, const int64_t *ids, int64_t n_ids, int64_t vocab_size) {
    list->column_of = allocate_zeros(vocab_size, sizeof(int64_t));
    if (!list->column_of) return NO_MEMORY;
    for (int64_t i = 0; i < n_ids; i++) {
        if (ids[i] < 0 || ids[i] >= vocab_size) return NO_SUCH_ID;
        list->column_of[ids[i]] = 1;
    }
    int64_t n_columns = 0;
    for (int64_t id = 0; id < vocab_size; id++) list->column_of[id] = list->column_of[id] ? n_columns++ : ABSENT;
    list->ids = allocate_zeros(n_columns, sizeof(int64_t));
    if (!list->ids) return NO_MEMORY;
    for (int64_t id = 0; id < vocab_size; id++)
        if (list->column_of[id] != ABSENT) list->ids[list->column_of[id]] = id;
    list->output.n_out = n_columns;
    return OK;
}

/* Copy the columns of the model's output layer. Return OK or NO_MEMORY. */
static int64_t copy_output(ShortList *list, const Linear *from) {
    const int64_t n_columns = list->output.n_out, padded = rounded_up(n_columns, COLUMNS);
    list->weight = allocate_zeros(rounded_up(from->n_in, INPUTS) * padded, sizeof(Weight));
    list->bias = allocate_zeros(padded, sizeof(float));
#ifdef INT8
    list->scales = allocate_zeros(padded, sizeof(float));
    list->column_sums = allocate_zeros(padded, sizeof(int32_t));
    if (!list->scales || !list->column_sums) return NO_MEMORY;
#endif
    if (!list->weight || !list->bias) return NO_MEMORY;
    for (int64_t i = 0; i < n_columns; i++) copy_column(from, list->ids[i], list, i);
    list->output = (Linear){from->n_in, n_columns, list->weight, list->bias, list->scales, list->column_sums};
    return OK;
}

/* Say which tokens each list lacks. Return OK or NO_MEMORY. */
static int64_t mask_others(ShortList *list, const int64_t *ids, const int64_t *ends, int64_t n_lists) {
    const int64_t n_columns = list->output.n_out;
    if (n_lists == 1) return OK; /* it lacks none */
    list->mask_bias = allocate(checked_product(checked_product(n_lists, n_columns), sizeof(float)));
    if (!list->mask_bias) return NO_MEMORY;
    for (int64_t i = 0; i < n_lists * n_columns; i++) list->mask_bias[i] = -INFINITY;
    for (int64_t number = 0, i = 0; number < n_lists; number++)
        for (; i < ends[number]; i++) list->mask_bias[number * n_columns + list->column_of[ids[i]]] = 0;
    return OK;
}

/* See dragoman.h. */
int64_t dragoman_make_short_list(const Model *model, const int64_t *ids, const int64_t *ends, int64_t n_lists,
                                 ShortList **short_list) {
    *short_list = NULL;
    for (int64_t i = 0; i < n_lists; i++)
        if (ends[i] <= (i ? ends[i - 1] : 0)) return BAD_OPTIONS;
    if (n_lists < 1) return BAD_OPTIONS;
    ShortList *list = calloc(1, sizeof(ShortList));
    if (!list) return NO_MEMORY;
    list->n_lists = n_lists;
    int64_t status = number_tokens(list, ids, ends[n_lists - 1], model->config.target_vocab_size);
    if (!status) status = copy_output(list, &model->output);
    if (!status) status = mask_others(list, ids, ends, n_lists);
    if (status)
        dragoman_free_short_list(list);
    else
        *short_list = list;
    return status;
}

/* See dragoman.h. */
void dragoman_free_short_list(ShortList *list) {
    if (!list) return;
    release(list->weight), release(list->bias), release(list->scales), release(list->column_sums);
    release(list->ids), release(list->column_of), release(list->mask_bias);
    free(list);
}

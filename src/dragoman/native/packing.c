/* Weights in the layout of `Linear`: folded, and in panels of columns. I inputs, O outputs. */

#include "loading.h"

/* A matrix (O, I) of the file; rows of 8-bit integers have scales. */
typedef struct {
    const char *name;
    const Tensor *numbers, *scales;
} StoredMatrix;

/* A linear map that is being packed. */
typedef struct {
    Loader *loader;
    int64_t n_in, n_out, n_done; /* n_done: outputs that are packed */
    Weight *weight;
    float *bias, *scales, *row, *means; /* means: (I), over the outputs */
    int32_t *column_sums;
} Packing;

void join(char name[NAME_LENGTH], const char *one, const char *two, const char *three) {
    const char *words[] = {one, two, three};
    int64_t length = 0;
    for (int64_t i = 0; i < 3; i++)
        for (const char *at = words[i]; *at && length < NAME_LENGTH - 1; at++) name[length++] = *at;
    name[length] = 0;
}

static const void *fail(Loader *loader, const char *name, const char *text) {
    if (!loader->status) loader->status = tell(loader->problem, name, strlen(name), text);
    return NULL;
}

void *take_memory(Loader *loader, int64_t count, int64_t size) {
    void *memory = loader->status ? NULL : own(loader->model, count, size);
    if (!memory && !loader->status) loader->status = NO_MEMORY;
    return memory;
}

const Tensor *take(Loader *loader, const char *name, int64_t n_rows, int64_t n_columns) {
    if (loader->status) return NULL;
    Tensor *tensor = find_tensor(loader->file, name);
    if (!tensor) return fail(loader, name, "missing");
    if (tensor->n_dimensions != (n_columns ? 2 : 1) || tensor->shape[0] != n_rows ||
        (n_columns && tensor->shape[1] != n_columns))
        return fail(loader, name, "not of the configured shape");
    if (tensor->kind == INT_8 && !n_columns) return fail(loader, name, "a vector of 8-bit integers");
    tensor->is_used = 1;
    return tensor;
}

static StoredMatrix take_matrix(Loader *loader, const char *name, int64_t n_rows, int64_t n_columns) {
    char scales[NAME_LENGTH];
    StoredMatrix matrix = {name, take(loader, name, n_rows, n_columns), NULL};
    join(scales, name, ".scales", "");
    if (matrix.numbers && matrix.numbers->kind == INT_8) matrix.scales = take(loader, scales, n_rows, 0);
    return matrix;
}

/* Read one row of a matrix -> out (I). */
static void read_row(Loader *loader, const StoredMatrix *matrix, int64_t row, int64_t width, float *out) {
    float scale = 1;
    int64_t is_finite = 1;
    if (loader->status) return;
    if (matrix->scales) is_finite = read_numbers(matrix->scales, row, 1, 1, &scale);
    is_finite &= read_numbers(matrix->numbers, row * width, width, scale, out);
    if (!is_finite && !loader->allows_nan) fail(loader, matrix->name, "not finite");
}

const float *take_floats(Loader *loader, const char *name, int64_t n, int64_t n_columns) {
    const StoredMatrix matrix = take_matrix(loader, name, n, n_columns);
    const int64_t n_rows = n_columns ? n : 1, width = n_columns ? n_columns : n;
    float *floats = take_memory(loader, n * larger_of(n_columns, 1), sizeof(float));
    for (int64_t row = 0; row < n_rows && !loader->status; row++)
        read_row(loader, &matrix, row, width, floats + row * width);
    if (matrix.numbers) drop_tensor(loader->file, matrix.numbers);
    return loader->status ? NULL : floats;
}

void take_tokens(Loader *loader, const char *name, Embedding *embedding) {
    const int64_t n_tokens = embedding->n_tokens, width = loader->model->config.d_model;
    const StoredMatrix matrix = take_matrix(loader, name, n_tokens, width);
    if (!matrix.scales) {
        embedding->tokens = take_floats(loader, name, n_tokens, width);
        return;
    }
    int8_t *integers = take_memory(loader, n_tokens * width, sizeof(int8_t));
    float *scales = take_memory(loader, n_tokens, sizeof(float)), wrong = 0;
    if (loader->status) return;
    memcpy(integers, matrix.numbers->bytes, n_tokens * width);
    read_numbers(matrix.scales, 0, n_tokens, 1, scales);
    for (int64_t i = 0; i < n_tokens; i++) wrong += scales[i] * 128.0f * 0.0f; /* NaN for what is not finite */
    if (wrong != 0.0f && !loader->allows_nan) fail(loader, name, "not finite");
    drop_tensor(loader->file, matrix.numbers);
    embedding->integers = integers;
    embedding->token_scales = scales;
}

/* Round to 8 bits of precision, of two equally near numbers to the even one; or leave a float as it is. */
INLINE Operand to_operand(float number) {
#ifdef __AVX512BF16__
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return number != number ? 0x7fc0 : (Operand)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#else
    return number;
#endif
}

/* Put the weights of one output into the next column; `row` is lost. */
static void pack_row(Packing *packing, float *row) {
    const int64_t column = packing->n_done++, width = rounded_up(packing->n_in, INPUTS);
    Weight *to = packing->weight + column / COLUMNS * COLUMNS * width + column % COLUMNS * INPUT_PACK;
#ifdef INT8
    const int64_t largest_sum = largest_input(packing->n_in) * packing->n_in; /* of weights of 1 */
    const int64_t fitting = INT32_MAX / largest_sum;                          /* so that sums fit into 32 bits */
    const float largest = (float)larger_of(smaller(LARGEST_WEIGHT, fitting), 1);
    const float most = largest_size(row, packing->n_in), scale = most / largest + most * 0.0f; /* NaN if not finite */
    const float unit = scale > 0 ? scale : 1;
    packing->scales[column] = scale;
    for (int64_t i = 0; i < packing->n_in; i++) {
        const float count = scale == scale ? rintf(row[i] / unit) : 0;
        row[i] = count > largest ? largest : count < -largest ? -largest : count;
    }
    for (int64_t i = 0; i < packing->n_in; i++) {
        const Weight weight = (Weight)row[i];
        to[i / INPUT_PACK * COLUMNS * INPUT_PACK + i % INPUT_PACK] = weight;
        packing->column_sums[column] += weight;
    }
#else
    for (int64_t i = 0; i < packing->n_in; i++)
        to[i / INPUT_PACK * COLUMNS * INPUT_PACK + i % INPUT_PACK] = to_operand(row[i]);
#endif
}

void read_column(const Linear *map, int64_t column, float *row) {
    const int64_t width = rounded_up(map->n_in, INPUTS);
    const Weight *from = map->weight + column / COLUMNS * COLUMNS * width + column % COLUMNS * INPUT_PACK;
    const float scale = map->scales ? map->scales[column] : 1;
    for (int64_t i = 0; i < map->n_in; i++)
        row[i] = (float)from[i / INPUT_PACK * COLUMNS * INPUT_PACK + i % INPUT_PACK] * scale;
}

/* The means over the outputs -> packing->means, in the order of `fold_norms` and so to the same bits; of the bias in
 * place. */
static void centre(Packing *packing, const StoredMatrix *matrix, float *bias, int64_t n_out) {
    Loader *loader = packing->loader;
    double total = 0;
    memset(packing->means, 0, packing->n_in * sizeof(float));
    for (int64_t r = 0; r < n_out && !loader->status; r++) {
        read_row(loader, matrix, r, packing->n_in, packing->row);
        for (int64_t i = 0; i < packing->n_in; i++) packing->means[i] += packing->row[i];
        total += bias[r];
    }
    for (int64_t i = 0; i < packing->n_in; i++) packing->means[i] /= (float)n_out;
    for (int64_t r = 0; r < n_out; r++) bias[r] -= (float)(total / (double)n_out);
}

/* Pack one map. */
static void pack_part(Packing *packing, const LinearParts *parts, int64_t part, const StoredMatrix *matrix) {
    Loader *loader = packing->loader;
    const float scale = part ? 1 : parts->first_scale, *gain = parts->norm.gain, *shift = parts->norm.shift;
    const int64_t centres = parts->is_summand && loader->is_centring, n_in = packing->n_in;
    float *row = packing->row, *bias = packing->bias + packing->n_done;
    if (centres) centre(packing, matrix, bias, parts->n_outs[part]);
    for (int64_t r = 0; r < parts->n_outs[part] && !loader->status; r++) {
        double shifted = 0;
        read_row(loader, matrix, r, n_in, row);
        for (int64_t i = 0; i < n_in && centres; i++) row[i] -= packing->means[i];
        for (int64_t i = 0; i < n_in && shift; i++) shifted += (double)row[i] * shift[i];
        for (int64_t i = 0; i < n_in && gain; i++) row[i] *= gain[i];
        for (int64_t i = 0; i < n_in; i++) row[i] *= scale;
        bias[r] = (bias[r] + (float)shifted) * scale;
        pack_row(packing, row);
    }
}

/* Return the memory of a map of this size. */
static Packing start_packing(Loader *loader, int64_t n_in, int64_t n_out) {
    Packing packing = {.loader = loader, .n_in = n_in, .n_out = n_out};
    const int64_t columns = rounded_up(n_out, COLUMNS);
    packing.weight = take_memory(loader, rounded_up(n_in, INPUTS) * columns, sizeof(Weight));
    packing.bias = take_memory(loader, columns, sizeof(float));
#ifdef INT8
    packing.scales = take_memory(loader, columns, sizeof(float));
    packing.column_sums = take_memory(loader, columns, sizeof(int32_t));
#endif
    packing.row = allocate_zeros(n_in, sizeof(float));
    packing.means = allocate_zeros(n_in, sizeof(float));
    if (!loader->status && (!packing.row || !packing.means)) loader->status = NO_MEMORY;
    return packing;
}

Linear take_linear(Loader *loader, const LinearParts *parts) {
    char names[MOST_PARTS][NAME_LENGTH], bias_name[NAME_LENGTH];
    StoredMatrix matrices[MOST_PARTS];
    int64_t n_parts = 0, n_out = 0;
    for (; n_parts < MOST_PARTS && parts->names[n_parts]; n_parts++) {
        join(names[n_parts], parts->prefix, parts->names[n_parts], ".weight");
        matrices[n_parts] = take_matrix(loader, names[n_parts], parts->n_outs[n_parts], parts->n_in);
        n_out += parts->n_outs[n_parts];
    }
    if (loader->status) return (Linear){0};
    Packing packing = start_packing(loader, parts->n_in, n_out);
    for (int64_t part = 0; part < n_parts && !loader->status; part++) {
        const char *name = parts->bias_name ? parts->bias_name : parts->names[part];
        join(bias_name, parts->bias_name ? "" : parts->prefix, name, ".bias");
        if (loader->model->config.bias && (!parts->n_biases || part < parts->n_biases)) {
            const StoredMatrix bias = {bias_name, take(loader, bias_name, parts->n_outs[part], 0), NULL};
            read_row(loader, &bias, 0, parts->n_outs[part], packing.bias + packing.n_done);
        }
        if (!loader->status) pack_part(&packing, parts, part, matrices + part);
        drop_tensor(loader->file, matrices[part].numbers);
    }
    release(packing.row), release(packing.means);
    return (Linear){parts->n_in, n_out, packing.weight, packing.bias, packing.scales, packing.column_sums};
}

/* Reading a safetensors file: 8 bytes with the length of the head, the head in JSON, and the numbers.
 *
 * The head is an object. Each name has an object of dtype, shape and data_offsets; "__metadata__" has strings. */

#include "tensors.h"

#include "memory.h"

#include <math.h>
#ifdef __linux__
#include <unistd.h>
#endif

/* What is left of the head. After a failure `at` is `end`. */
typedef struct {
    const char *at, *end;
    int64_t has_failed;
} Reader;

typedef struct {
    const char *text;
    int64_t length;
} Word;

int64_t tell(char *problem, const char *name, int64_t n_name, const char *text) {
    int64_t length = 0;
    for (int64_t i = 0; i < n_name && length < PROBLEM_LENGTH / 2; i++)
        problem[length++] = name[i] >= ' ' && name[i] < 127 ? name[i] : '?';
    if (n_name) problem[length++] = ':', problem[length++] = ' ';
    while (*text && length < PROBLEM_LENGTH - 1) problem[length++] = *text++;
    problem[length] = 0;
    return DAMAGED;
}

static void fail(Reader *reader) { reader->has_failed = 1, reader->at = reader->end; }

/* Return the next character that is no white space, or 0 at the end. */
static char next_mark(Reader *reader) {
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t' || *reader->at == '\r'))
        reader->at++;
    return reader->at < reader->end ? *reader->at : 0;
}

/* Read this character if it comes next. */
static int64_t accept(Reader *reader, char mark) {
    if (next_mark(reader) != mark) return 0;
    reader->at++;
    return 1;
}

static void expect(Reader *reader, char mark) {
    if (!accept(reader, mark)) fail(reader);
}

/* Read a string, as it stands: no name of ours has an escape. */
static Word read_word(Reader *reader) {
    expect(reader, '"');
    Word word = {reader->at, 0};
    while (reader->at < reader->end && *reader->at != '"') {
        if ((unsigned char)*reader->at < ' ')
            fail(reader);
        else
            reader->at += *reader->at == '\\' && reader->at + 1 < reader->end ? 2 : 1;
    }
    word.length = reader->at - word.text;
    if (!reader->has_failed) expect(reader, '"');
    return word;
}

/* Read a whole number from 0 to MOST_BYTES. */
static int64_t read_count(Reader *reader) {
    int64_t number = 0, n_digits = 0;
    next_mark(reader);
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++, n_digits++) {
        number = number * 10 + (*reader->at - '0');
        if (number > MOST_BYTES) fail(reader);
        if (reader->has_failed) return 0;
    }
    if (!n_digits) fail(reader);
    return number;
}

/* Read at most `most` numbers in brackets; return how many. */
static int64_t read_counts(Reader *reader, int64_t most, int64_t *counts) {
    int64_t n = 0;
    expect(reader, '[');
    if (accept(reader, ']')) return 0;
    do {
        if (n == most) fail(reader);
        if (reader->has_failed) return 0;
        counts[n++] = read_count(reader);
    } while (accept(reader, ','));
    expect(reader, ']');
    return n;
}

static int64_t is_word(Word word, const char *text) {
    return word.length == (int64_t)strlen(text) && !memcmp(word.text, text, word.length);
}

static int64_t number_bytes(NumberKind kind) { return kind == FLOAT32 ? 4 : kind == FLOAT16 ? 2 : 1; }

/* Read the object of one tensor, whose numbers lie among `n_bytes` from `data` on. */
static void read_tensor(Reader *reader, const uint8_t *data, int64_t n_bytes, Tensor *tensor) {
    int64_t offsets[2] = {0, 0}, n_offsets = 0, keys = 0;
    expect(reader, '{');
    do {
        const Word key = read_word(reader);
        expect(reader, ':');
        if (is_word(key, "dtype") && !(keys & 1)) {
            const Word kind = read_word(reader);
            tensor->kind = is_word(kind, "F32") ? FLOAT32 : is_word(kind, "F16") ? FLOAT16 : INT_8;
            if (tensor->kind == INT_8 && !is_word(kind, "I8")) fail(reader);
            keys |= 1;
        } else if (is_word(key, "shape") && !(keys & 2)) {
            tensor->n_dimensions = read_counts(reader, MOST_DIMENSIONS, tensor->shape);
            keys |= 2;
        } else if (is_word(key, "data_offsets") && !(keys & 4)) {
            n_offsets = read_counts(reader, 2, offsets);
            keys |= 4;
        } else {
            fail(reader);
        }
    } while (accept(reader, ','));
    expect(reader, '}');
    int64_t size = number_bytes(tensor->kind);
    for (int64_t i = 0; i < tensor->n_dimensions && size >= 0; i++) size = checked_product(tensor->shape[i], size);
    if (keys != 7 || n_offsets != 2 || offsets[0] > offsets[1] || offsets[1] > n_bytes || size < 0 ||
        offsets[1] - offsets[0] != size)
        fail(reader);
    else
        tensor->bytes = data + offsets[0];
}

static void skip_metadata(Reader *reader) {
    expect(reader, '{');
    if (accept(reader, '}')) return;
    do {
        read_word(reader);
        expect(reader, ':');
        read_word(reader);
    } while (accept(reader, ','));
    expect(reader, '}');
}

/* Compare names, as qsort wants it. */
static int compare_names(const void *one, const void *other) {
    const Tensor *a = one, *b = other;
    const int order = memcmp(a->name, b->name, a->n_name < b->n_name ? a->n_name : b->n_name);
    return order ? order : (a->n_name > b->n_name) - (a->n_name < b->n_name);
}

/* Read the tensors of a head. Return OK, NO_MEMORY, or DAMAGED. */
static int64_t read_tensors(Reader *reader, const uint8_t *data, int64_t n_bytes, TensorFile *file, char *problem) {
    int64_t room = 0;
    expect(reader, '{');
    do {
        const Word name = read_word(reader);
        expect(reader, ':');
        if (reader->has_failed) break;
        if (is_word(name, "__metadata__")) {
            skip_metadata(reader);
            continue;
        }
        if (file->n_tensors == room) {
            room = 2 * room + 64;
            Tensor *more = realloc(file->tensors, room * sizeof(Tensor));
            if (!more) return NO_MEMORY;
            file->tensors = more;
        }
        Tensor *tensor = file->tensors + file->n_tensors;
        *tensor = (Tensor){.name = name.text, .n_name = name.length};
        read_tensor(reader, data, n_bytes, tensor);
        if (reader->has_failed) return tell(problem, name.text, name.length, "its entry in the head is wrong");
        file->n_tensors++;
    } while (accept(reader, ','));
    expect(reader, '}');
    if (reader->has_failed || next_mark(reader)) return tell(problem, NULL, 0, "the head is not readable");
    return OK;
}

int64_t read_head(const uint8_t *file, int64_t n_bytes, TensorFile *tensors, char *problem) {
    uint64_t n_head = 0;
    *tensors = (TensorFile){0};
    for (int64_t i = 7; i >= 0 && n_bytes >= 8; i--) n_head = n_head << 8 | file[i];
    if (n_bytes < 8 || n_head > (uint64_t)(n_bytes - 8)) return tell(problem, NULL, 0, "the file is cut off");
    const char *head = (const char *)file + 8;
    Reader reader = {head, head + n_head, 0};
    const int64_t status = read_tensors(&reader, file + 8 + n_head, n_bytes - 8 - n_head, tensors, problem);
    if (status) {
        free(tensors->tensors);
        *tensors = (TensorFile){0};
        return status;
    }
    qsort(tensors->tensors, tensors->n_tensors, sizeof(Tensor), compare_names);
    return OK;
}

Tensor *find_tensor(const TensorFile *file, const char *name) {
    const Tensor key = {.name = name, .n_name = strlen(name)};
    if (!file->n_tensors) return NULL;
    return bsearch(&key, file->tensors, file->n_tensors, sizeof(Tensor), compare_names);
}

void drop_tensor(const TensorFile *file, const Tensor *tensor) {
#ifdef __linux__
    if (!file->is_mapped) return;
    int64_t n_bytes = number_bytes(tensor->kind);
    for (int64_t i = 0; i < tensor->n_dimensions; i++) n_bytes *= tensor->shape[i];
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)tensor->bytes;
    const uintptr_t first = (start + page - 1) / page * page, end = (start + (uintptr_t)n_bytes) / page * page;
    if (first < end) madvise((void *)first, end - first, MADV_DONTNEED); /* only whole pages: others have neighbours */
#else
    (void)file, (void)tensor;
#endif
}

/* The number whose 16 bits are a half: sign, 5 bits of exponent, 10 bits of fraction. */
static float from_half(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? ldexpf((float)(fraction | 1024), exponent - 25)
                                      : ldexpf((float)fraction, -24);
    return half >> 15 ? -size : size;
}

int64_t read_numbers(const Tensor *tensor, int64_t first, int64_t count, float scale, float *out) {
    const uint8_t *bytes = tensor->bytes + first * number_bytes(tensor->kind);
    if (tensor->kind == FLOAT32) memcpy(out, bytes, count * sizeof(float));
    if (tensor->kind == INT_8)
        for (int64_t i = 0; i < count; i++) out[i] = (float)(int8_t)bytes[i] * scale;
    if (tensor->kind == FLOAT16)
        for (int64_t i = 0; i < count; i++) out[i] = from_half((uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8));
    return largest_size(out, count) * 0.0f == 0.0f; /* NaN for what is not finite */
}

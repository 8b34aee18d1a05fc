/* Vectors of positions: sines and cosines of angles that grow with the position, or learned ones. */

#include "model.h"

/* Numbers that are computed when a model is loaded; `max_length` may be a million tokens. */
enum { FIRST_NUMBERS = 1 << 16 };

/* The sines and cosines of one position -> row (width). */
static void write_waves(const Positions *positions, int64_t position, float *row) {
    const int64_t half = positions->width / 2;
    for (int64_t i = 0; i < half; i++) {
        const double angle = position * positions->frequencies[i];
        row[positions->in_halves ? i : 2 * i] = (float)sin(angle);
        row[positions->in_halves ? half + i : 2 * i + 1] = (float)cos(angle);
    }
}

int64_t prepare_waves(Model *model, Positions *positions, int64_t width, int64_t in_halves) {
    const int64_t n_rows = smaller(model->config.max_length, larger_of(FIRST_NUMBERS / width, 1));
    double *frequencies = own(model, width / 2, sizeof(double));
    float *table = own(model, n_rows * width, sizeof(float));
    if (!frequencies || !table) return 0;
    for (int64_t i = 0; i < width / 2; i++) frequencies[i] = pow(10000.0, -2.0 * (double)i / (double)width);
    *positions = (Positions){width, table, n_rows, in_halves, frequencies};
    for (int64_t position = 0; position < n_rows; position++)
        write_waves(positions, position, table + position * width);
    return 1;
}

const float *position_rows(const Positions *positions, int64_t first, int64_t count, float *workspace) {
    if (!positions->n_rows) return NULL;
    if (first + count <= positions->n_rows) return positions->table + first * positions->width;
    for (int64_t i = 0; i < count; i++) write_waves(positions, first + i, workspace + i * positions->width);
    return workspace;
}

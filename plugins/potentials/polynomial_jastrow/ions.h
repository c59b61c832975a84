/* Images of ions that electrons of the cell feel, for polynomial_jastrow.c: included inside its PLUGMC_HOST part. */
#ifndef POLYNOMIAL_JASTROW_IONS_H
#define POLYNOMIAL_JASTROW_IONS_H

/* A part of the cell in units of its vectors, from `low` to `low` + `width`. */
typedef struct part_of_cell {
    double low[3], width;
} part_of_cell;

static void from_fractions(const plugmc_box *box, const double f[3], double r[3])
{
    for (int d = 0; d < 3; d++)
        r[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
}

/* How far the corners of a part are from its centre, which is found too. */
static double radius_of(const plugmc_box *box, const part_of_cell *part, double centre[3])
{
    double f[3], largest = 0;
    for (int d = 0; d < 3; d++) f[d] = part->low[d] + part->width / 2;
    from_fractions(box, f, centre);
    for (int k = 0; k < 4; k++) { /* the others are opposite */
        const double corner[3] = {part->width / 2, k & 1 ? part->width / 2 : -part->width / 2,
                                  k & 2 ? part->width / 2 : -part->width / 2};
        double r[3];
        from_fractions(box, corner, r);
        largest = fmax(largest, r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
    return sqrt(largest);
}

/* Adds the images of an ion (fractions in [0, 1)) within reach of a part to places, if these are given, from
 * *count on, which counts them. */
static void add_images(const plugmc_box *box, const double ion[3], const part_of_cell *part,
                       double reach, real *places, int64_t *count)
{
    double centre[3], r[3];
    /* electrons may be beyond faces by rounding, and places are rounded to float */
    const double most = 1.001 * (reach + radius_of(box, part, centre));
    int low[3], high[3];
    for (int d = 0; d < 3; d++) {
        const double middle = part->low[d] + part->width / 2 - ion[d],
                     width = most / plugmc_height(box, d);
        low[d] = (int)ceil(middle - width);
        high[d] = (int)floor(middle + width);
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int k = low[2]; k <= high[2]; k++) {
                double square = 0;
                from_fractions(box, (double[]){ion[0] + i, ion[1] + j, ion[2] + k}, r);
                for (int d = 0; d < 3; d++) square += (r[d] - centre[d]) * (r[d] - centre[d]);
                if (square > most * most) continue;
                for (int d = 0; d < 3 && places; d++) places[3 * *count + d] = (real)r[d];
                ++*count;
            }
}

/* All images within reach of a part of the cell, as add_images. */
static void add_ions(const plugmc_box *box, const ion_sites *sites, const part_of_cell *part,
                     double reach, real *places, int64_t *count)
{
    for (int32_t i = 0; i < sites->count; i++)
        add_images(box, sites->at[i], part, reach, places, count);
}

/* Places of ions within reach of each of bins^3 parts of the cell, one part after the other, from number `from` of the
 * list on; begin [bins^3 + 1] in numbers of places. Without places it counts. In open space there is one part. */
static int64_t fill_bins(const plugmc_box *box, const ion_sites *sites, int32_t bins, double reach,
                         int64_t from, real *places, real *begin)
{
    int64_t count = 0;
    if (places) places += 3 * from;
    for (int32_t k = 0; k < bins * bins * bins; k++) {
        const part_of_cell part = {.low = {(double)(k / bins / bins) / bins,
                                           (double)(k / bins % bins) / bins,
                                           (double)(k % bins) / bins},
                                   .width = 1.0 / bins};
        if (begin) begin[k] = (real)(3 * (from + count));
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
            add_ions(box, sites, &part, reach, places, &count);
            continue;
        }
        for (int32_t i = 0; i < sites->count && places; i++)
            for (int d = 0; d < 3; d++) places[3 * i + d] = (real)sites->at[i][d];
        count += sites->count;
    }
    if (begin) begin[bins * bins * bins] = (real)(3 * (from + count));
    return count;
}

#endif

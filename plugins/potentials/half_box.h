/* How far the nearest image of a pair is the only one in reach: included inside the PLUGMC_HOST part
 * of a potential. */
#ifndef PLUGMC_HALF_BOX_H
#define PLUGMC_HALF_BOX_H

/* Half the shortest lattice vector, which is the radius of the largest sphere in the Wigner-Seitz
 * cell; INFINITY in a domain without images. Looked for up to three times each edge: its half is in the cell, where
 * fractional coordinates are at most 3/2 in boxes that the core takes (system/skew.c). */
static inline double half_box(const plugmc_box *box)
{
    double shortest = INFINITY;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return INFINITY;
    for (int i = 0; i < 343; i++) {
        const int n[3] = {i % 7 - 3, i / 7 % 7 - 3, i / 49 - 3};
        double square = 0;
        if (i == 171 || (box->dimension == 2 && n[2])) continue;
        for (int d = 0; d < box->dimension; d++) {
            double x =
                n[0] * box->vector[0][d] + n[1] * box->vector[1][d] + n[2] * box->vector[2][d];
            square += x * x;
        }
        shortest = fmin(shortest, square);
    }
    return 0.5 * sqrt(shortest);
}

#endif

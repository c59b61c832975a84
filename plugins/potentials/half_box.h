/* How far the nearest image of a pair is the only one in reach: included inside the PLUGMC_HOST part
 * of a potential. */
#ifndef PLUGMC_HALF_BOX_H
#define PLUGMC_HALF_BOX_H

/* Half the shortest lattice vector, which is the radius of the largest sphere in the Wigner-Seitz
 * cell; INFINITY in a domain without images. Looked for up to twice each edge, which is more than
 * reduced lattice vectors need. */
static inline double half_box(const plugmc_box *box)
{
    double shortest = INFINITY;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return INFINITY;
    for (int i = 0; i < 125; i++) {
        const int n[3] = {i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2};
        double square = 0;
        if (i == 62 || (box->dimension == 2 && n[2])) continue;
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

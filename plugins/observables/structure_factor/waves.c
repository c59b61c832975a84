/* The waves that fit into the box, in the order of their length, and shells of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "structure_factor.h"

enum { MOST_WAVES = 1000000 };

typedef struct wave {
    int32_t n[3];
    double k; /* |k| */
} wave;

double length_of(const plugmc_box *box, const int32_t n[3])
{
    double square = 0;
    for (int e = 0; e < 3; e++) {
        double k =
            2 * M_PI *
            (n[0] * box->inverse[e][0] + n[1] * box->inverse[e][1] + n[2] * box->inverse[e][2]);
        square += k * k;
    }
    return sqrt(square);
}

/* By |k|, then by n: the same order on every machine. */
static int longer(const void *pa, const void *pb)
{
    const wave *a = pa, *b = pb;
    if (a->k != b->k) return a->k < b->k ? -1 : 1;
    return memcmp(a->n, b->n, sizeof a->n);
}

/* k.a_d = 2 pi n_d, so |n_d| <= |k| |a_d| / 2 pi. Returns how many there are; writes them if there
 * is room for them. */
static int64_t list_waves(const structure_factor *f, wave *out, int64_t room)
{
    const plugmc_box *box = &f->system->box;
    int64_t found = 0, most[3];
    for (int d = 0; d < 3; d++)
        most[d] = d < box->dimension
                      ? (int64_t)floor(f->k_max * (1 + 1e-9) * box->length[d] / (2 * M_PI))
                      : 0;
    for (int64_t x = 0; x <= most[0]; x++)
        for (int64_t y = x ? -most[1] : 0; y <= most[1]; y++)
            for (int64_t z = x || y ? -most[2] : 1; z <= most[2]; z++) {
                const int32_t n[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
                const double k = length_of(box, n);
                if (k > f->k_max * (1 + 1e-9)) continue;
                if (found < room) out[found] = (wave){{n[0], n[1], n[2]}, k};
                found++;
            }
    return found;
}

/* Shells in the order of the waves; those without a wave are left out. */
static void take_shells(structure_factor *f, const wave *waves)
{
    int64_t bin = -1;
    double begun = 0;
    f->used = 0;
    for (int64_t i = 0; i < f->waves; i++) {
        const double k = waves[i].k;
        const int64_t own = f->shells ? (int64_t)fmin((double)f->shells - 1,
                                                      floor(k / f->k_max * (double)f->shells))
                                      : bin + (bin < 0 || k > begun * (1 + 1e-9));
        if (own != bin) {
            bin = own;
            begun = k;
            f->used++;
        }
        f->shell[i] = (int32_t)(f->used - 1);
        memcpy(f->wave[i], waves[i].n, sizeof waves[i].n);
        f->k[f->used - 1] += k;
        f->weight[f->used - 1]++;
    }
    for (int64_t s = 0; s < f->used; s++) {
        f->k[s] /= f->weight[s];
        f->weight[s] = 1 / f->weight[s];
    }
}

int take_waves(structure_factor *f, const plugmc_host *host)
{
    const plugmc_system *system = f->system;
    const double volume =
        system->box.dimension == 2
            ? M_PI * pow(f->k_max, 2) * system->box.volume / pow(2 * M_PI, 2)
            : 4 * M_PI / 3 * pow(f->k_max, 3) * system->box.volume / pow(2 * M_PI, 3);
    if (volume / 2 > MOST_WAVES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "about %.0f waves have |k| up to k_max = %g, but the limit is %d",
                          volume / 2, (double)f->k_max, MOST_WAVES);
    f->waves = list_waves(f, NULL, 0);
    if (f->waves == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no wave with |k| up to k_max = %g fits into the box", (double)f->k_max);
    const size_t n = (size_t)f->waves;
    wave *waves = malloc(n * sizeof *waves);
    f->wave = host->allocate(host->context, n * sizeof *f->wave);
    f->shell = host->allocate(host->context, n * sizeof *f->shell);
    f->k = host->allocate(host->context, n * sizeof *f->k);
    f->weight = host->allocate(host->context, n * sizeof *f->weight);
    f->density =
        host->allocate(host->context, 2 * n * (size_t)system->walkers *
                                          (size_t)system->species_count * sizeof *f->density);
    f->fraction =
        host->allocate(host->context, 3 * (size_t)system->particles * sizeof *f->fraction);
    int code = PLUGMC_OK;
    if (!waves || !f->wave || !f->shell || !f->k || !f->weight || !f->density || !f->fraction)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu waves", n);
    if (!code) {
        list_waves(f, waves, f->waves);
        qsort(waves, n, sizeof *waves, longer);
        take_shells(f, waves);
    }
    free(waves);
    return code;
}

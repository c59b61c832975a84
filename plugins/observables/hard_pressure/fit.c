/* g(r) near contact: its points, and the weights of a polynomial through them. */
#include "fit.h"

#include <math.h>

#include "../extrapolation.h"

/* R_i, where g is read off if it is linear within a bin (eq. 6 and its analogue), what one pair in
 * the bin is worth (eq. 5, with the area of the ring as it is), and the weights of the fit. */
int prepare_fit(contact_fit *f, const plugmc_host *host, double range, double volume,
                int64_t degree)
{
    const int32_t n = f->bins, d = f->dimension;
    double *work = host->allocate(host->context, (size_t)n * 3 * sizeof *work);
    f->radius = host->allocate(host->context, (size_t)n * sizeof *f->radius);
    f->g_factor = host->allocate(host->context, (size_t)n * sizeof *f->g_factor);
    f->weight = host->allocate(host->context, (size_t)n * sizeof *f->weight);
    if (!work || !f->radius || !f->g_factor || !f->weight)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d bins", n);
    const double width = (range - f->contact) / n, density = f->particles / volume;
    for (int32_t b = 0; b < n; b++) {
        double low = f->contact + width * b, high = low + width;
        double sum = d == 2 ? (low + high) / 2 : (low * low + low * high + high * high) / 3;
        double shell = width * sum * (d == 2 ? 2 * M_PI : 4 * M_PI);
        f->radius[b] = d == 2 ? (low * low + low * high + high * high) / (3 * sum)
                              : (low + high) * (low * low + high * high) / (4 * sum);
        f->g_factor[b] = 2 / (f->particles * density * shell);
    }
    extrapolation_weights(f->radius + 1, n - 1, degree, f->contact, work, f->weight + 1);
    return PLUGMC_OK;
}

double fitted_pressure(const contact_fit *f, const double *g, double volume)
{
    const double virial =
        (f->dimension == 2 ? M_PI / 2 : 2 * M_PI / 3) * pow(f->contact, f->dimension);
    const double density = f->particles / volume;
    double contact = 0;
    for (int32_t b = 1; b < f->bins; b++) contact += f->weight[b] * g[b]; /* not the first bin */
    return density * (1 + virial * density * contact);
}

/* Two walkers that take each other's rung: multipliers change hands, configurations stay where they are. */
#include <string.h>

#include "energy/hamiltonian.h"

/* sum_k (m_bk - m_ak) (X_ak - X_bk), X what multipliers m multiply. Where these are equal X may be infinite. */
int hamiltonian_exchange_delta(hamiltonian *h, const plugmc_host *host, int32_t a, int32_t b,
                               double *delta)
{
    const double *ma = &h->multipliers[(int64_t)a * h->width],
                 *mb = &h->multipliers[(int64_t)b * h->width], *xa, *xb;
    int code = hamiltonian_energy(h, host, a, &xa);
    if (!code) code = hamiltonian_energy(h, host, b, &xb);
    *delta = 0;
    for (int k = 0; k < h->width && !code; k++)
        if (ma[k] != mb[k]) *delta -= (ma[k] - mb[k]) * (xa[k] - xb[k]);
    return code;
}

static void swap_bytes(char *a, char *b, size_t n)
{
    char keep[n];
    memcpy(keep, a, n);
    memcpy(a, b, n);
    memcpy(b, keep, n);
}

void hamiltonian_set_rung(hamiltonian *h, int32_t w, const double *multipliers)
{
    memcpy(&h->multipliers[(int64_t)w * h->width], multipliers,
           (size_t)h->width * sizeof *multipliers);
}

/* In the state, and in what is kept of it here. */
int hamiltonian_exchange_rungs(hamiltonian *h, int32_t a, int32_t b)
{
    static const int arrays[] = {PLUGMC_STATE_MULTIPLIER, PLUGMC_STATE_RUNG};
    int code = PLUGMC_OK;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0] && !code; k++) {
        void *rows;
        size_t row;
        code = h->state->array(h->state, arrays[k], PLUGMC_ON_HOST, PLUGMC_READ | PLUGMC_WRITE,
                               &rows, &row);
        if (!code) swap_bytes((char *)rows + (size_t)a * row, (char *)rows + (size_t)b * row, row);
    }
    if (!code)
        swap_bytes((char *)&h->multipliers[(int64_t)a * h->width],
                   (char *)&h->multipliers[(int64_t)b * h->width],
                   (size_t)h->width * sizeof *h->multipliers);
    return code;
}

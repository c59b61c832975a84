/* See f_form.h. */
#include "f_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Conditions -------------------------------------------------------------------------------- */

static void list_columns(f_form *f, f_order order)
{
    int32_t c = 0;
    for (int32_t m = 0; m <= f->most_l && order == F_ORDER_QMCPACK; m++)
        for (int32_t l = m; l <= f->most_l; l++)
            for (int32_t n = 0; n <= f->most_n; n++, c++)
                memcpy(f->power[c], (int32_t[]){l, m, n}, sizeof f->power[c]);
    if (order == F_ORDER_QMCPACK) return;
    for (int32_t n = 0; n <= f->most_n; n++)
        for (int32_t m = 0; m <= f->most_l; m++)
            for (int32_t l = m; l <= f->most_l; l++, c++)
                memcpy(f->power[c], (int32_t[]){l, m, n}, sizeof f->power[c]);
}

static int32_t count_rows(const f_form *f)
{
    return 2 * f->most_l + 1 + f->most_l + f->most_n + 1 + (f->without_u ? f->most_n + 1 : 0) +
           (f->without_chi ? f->most_l + 1 : 0);
}

/* Entries of a column, which stands for g_lmn and g_mln. */
static void fill_column(const f_form *f, int32_t c, double *rows)
{
    const int32_t l = f->power[c][0], m = f->power[c][1], n = f->power[c][2];
    double *meet = rows + c, *ion = meet + (2 * f->most_l + 1) * f->columns,
           *u = ion + (f->most_l + f->most_n + 1) * f->columns,
           *chi = u + (f->without_u ? f->most_n + 1 : 0) * f->columns;
    if (n == 1) meet[(l + m) * f->columns] += l == m ? 1 : 2;
    for (int32_t side = 0; side < (l == m ? 1 : 2); side++) {
        const int32_t own = side ? m : l, other = side ? l : m;
        if (own == 0) ion[(other + n) * f->columns] += f->truncation;
        if (own == 1) ion[(other + n) * f->columns] -= 1;
    }
    if (f->without_u && l == 0 && m == 0) u[n * f->columns] = 1;
    if (f->without_chi && m == 0 && n == 0) chi[l * f->columns] = 1;
}

/* ---- Elimination ------------------------------------------------------------------------------- */

static void swap_rows(double *a, double *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Brings rows to reduced echelon form; leads [columns]: the row that a column leads, or -1. */
static void eliminate(double *rows, int32_t count, int32_t columns, int32_t *leads)
{
    const double zero = 1e-9; /* entries are whole numbers of the size of C at first */
    int32_t done = 0;
    for (int32_t c = 0; c < columns; c++) {
        int32_t best = done;
        leads[c] = -1;
        for (int32_t r = done; r < count; r++)
            if (fabs(rows[r * columns + c]) > fabs(rows[best * columns + c])) best = r;
        if (done == count || fabs(rows[best * columns + c]) < zero) continue;
        double *lead = rows + done * columns, over = 1 / rows[best * columns + c];
        swap_rows(lead, rows + best * columns, columns);
        for (int32_t i = 0; i < columns; i++) lead[i] *= over;
        for (int32_t r = 0; r < count; r++) {
            const double factor = rows[r * columns + c];
            for (int32_t i = 0; i < columns && r != done; i++)
                rows[r * columns + i] -= factor * lead[i];
        }
        leads[c] = done++;
    }
}

/* ---- The form ---------------------------------------------------------------------------------- */

/* Of rows in reduced form each gives the coefficient that leads it. */
static int fill_basis(f_form *f, const plugmc_host *host, const double *rows, const int32_t *leads)
{
    f->free = 0;
    for (int32_t c = 0; c < f->columns; c++)
        if (leads[c] < 0) f->free_column[f->free++] = c;
    f->basis =
        host->allocate(host->context, ((size_t)f->columns * (size_t)f->free + 1) * sizeof(double));
    if (!f->basis) return 0;
    for (int32_t c = 0; c < f->columns; c++)
        for (int32_t k = 0; k < f->free; k++)
            f->basis[c * f->free + k] = leads[c] < 0
                                            ? c == f->free_column[k]
                                            : -rows[leads[c] * f->columns + f->free_column[k]];
    return 1;
}

f_form *f_form_make(const plugmc_host *host, f_order order, int most_l, int most_n, int truncation,
                    int without_u, int without_chi)
{
    f_form *f = host->allocate(host->context, sizeof *f);
    const size_t columns = (size_t)((most_n + 1) * (most_l + 1) * (most_l + 2) / 2);
    if (f) {
        *f = (f_form){.most_l = most_l,
                      .most_n = most_n,
                      .truncation = truncation,
                      .without_u = without_u,
                      .without_chi = without_chi,
                      .columns = (int32_t)columns};
        f->power = host->allocate(host->context, columns * sizeof *f->power);
        f->free_column = host->allocate(host->context, columns * sizeof *f->free_column);
    }
    const size_t rows = f ? (size_t)count_rows(f) : 0;
    double *conditions = calloc(rows * columns + 1, sizeof *conditions);
    int32_t *leads = calloc(columns, sizeof *leads);
    int good = f && f->power && f->free_column && conditions && leads;
    if (good) list_columns(f, order);
    for (int32_t c = 0; c < (int32_t)columns && good; c++) fill_column(f, c, conditions);
    if (good) eliminate(conditions, (int32_t)rows, f->columns, leads);
    good = good && fill_basis(f, host, conditions, leads);
    free(conditions), free(leads);
    if (good) return f;
    host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the Jastrow factor");
    return NULL;
}

static double coefficient_of(const f_form *f, const double *values, const int32_t power[3])
{
    double sum = 0;
    for (int32_t c = 0; c < f->columns; c++) {
        if (memcmp(f->power[c], power, sizeof f->power[c]) != 0) continue;
        for (int32_t k = 0; k < f->free; k++) sum += f->basis[c * f->free + k] * values[k];
    }
    return sum;
}

void f_form_convert(const f_form *from, const double *values, const f_form *to, double *out)
{
    for (int32_t k = 0; k < to->free; k++)
        out[k] = coefficient_of(from, values, to->power[to->free_column[k]]);
}

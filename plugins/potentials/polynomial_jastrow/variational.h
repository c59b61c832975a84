/* The coefficients of a polynomial Jastrow factor as variational parameters (plugmc/wave.h), for polynomial_jastrow.c: included
 * inside its PLUGMC_HOST part.
 *
 * J is linear in them. What every monomial adds up to over pairs and ions is found first, for like and for unlike
 * spins: the columns. The variational parameters are combinations of columns, c_0 brings C c_1 with it, and those of f have the
 * basis of f_form.h. */
#ifndef POLYNOMIAL_JASTROW_FREE_NUMBERS_H
#define POLYNOMIAL_JASTROW_FREE_NUMBERS_H

enum { FREE_LISTS = 5 };

static void free_lists(const parameters *p, const plugmc_list *lists[FREE_LISTS])
{
    const plugmc_list *const all[] = {&p->u_like, &p->u_unlike, &p->chi, &p->f_like, &p->f_unlike};
    memcpy(lists, all, sizeof all);
}

static const char *const free_keys[] = {"u_like", "u_unlike", "chi", "f_like", "f_unlike"};

static int64_t variational_count(const void *instance)
{
    const plugmc_list *lists[FREE_LISTS];
    int64_t count = 0;
    free_lists(instance, lists);
    for (int k = 0; k < FREE_LISTS; k++) count += lists[k]->count;
    return count;
}

static int free_number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    const plugmc_list *lists[FREE_LISTS];
    int list = 0;
    free_lists(instance, lists);
    while (k >= lists[list]->count) k -= lists[list++]->count;
    out->key = free_keys[list];
    out->place = k;
    return PLUGMC_OK;
}

static int free_get(const void *instance, double *values)
{
    const plugmc_list *lists[FREE_LISTS];
    free_lists(instance, lists);
    for (int k = 0; k < FREE_LISTS; k++)
        for (int32_t i = 0; i < lists[k]->count; i++) *values++ = (double)lists[k]->values[i];
    return PLUGMC_OK;
}

static int free_set(void *instance, const double *values)
{
    const plugmc_list *lists[FREE_LISTS];
    free_lists(instance, lists);
    for (int k = 0; k < FREE_LISTS; k++)
        for (int32_t i = 0; i < lists[k]->count; i++)
            ((real *)lists[k]->values)[i] = (real)*values++;
    fill_tables(instance);
    return PLUGMC_OK;
}

/* ---- Derivatives ------------------------------------------------------------------------------ */

_Static_assert((int)MOST_POWERS == (int)CORRELATION_MOST_F + 1, "powers of f");

static int64_t variational_sums(const parameters *p)
{
    return 2 * p->u_terms + p->chi_table.count +
           2 * (int64_t)p->f_kinds.count / F_NUMBERS * f_columns(p);
}

/* Adds to `count` derivatives. */
static void combine_radial(const double *column, int64_t truncation, int32_t count, double *out)
{
    for (int32_t k = 0; k < count; k++)
        out[k] += k ? column[k + 1] : column[0] + (double)truncation * column[1];
}

/* The column of a coefficient with l >= m among those up to the highest powers of all kinds, by n, then m, then l. */
static int32_t column_of(const parameters *p, const int32_t power[3])
{
    const int32_t terms = (int32_t)p->f_electron_ion + 1, l = power[0], m = power[1], n = power[2];
    return n * (terms * (terms + 1) / 2) + m * terms - m * (m - 1) / 2 + l - m;
}

static void combine_f(const parameters *p, const f_form *form, const double *columns, double *out)
{
    for (int32_t c = 0; c < form->columns; c++)
        for (int32_t k = 0; k < form->free; k++)
            out[k] += form->basis[c * form->free + k] * columns[column_of(p, form->power[c])];
}

static void variational_combine(const parameters *p, const double *sums, double *row)
{
    const polynomial_form *form = p->form;
    const double *chi = sums + 2 * p->u_terms, *f = chi + p->chi_table.count;
    double *like = row + p->u_like.count + p->u_unlike.count + p->chi.count,
           *unlike = like + p->f_like.count;
    combine_radial(sums, p->truncation, p->u_like.count, row);
    combine_radial(sums + p->u_terms, p->truncation, p->u_unlike.count, row + p->u_like.count);
    for (int k = 0; k < form->chi_kinds; k++) {
        const polynomial_kind *kind = &form->chi[k];
        combine_radial(chi, p->truncation, kind->count,
                       row + p->u_like.count + p->u_unlike.count + kind->first);
        chi += kind->count + 1;
    }
    for (int k = 0; k < form->f_kinds; k++, f += 2 * f_columns(p)) {
        const polynomial_kind *kind = &form->f[k];
        if (p->f_like.count) combine_f(p, kind->form, f, like + kind->first);
        if (p->f_unlike.count) combine_f(p, kind->form, f + f_columns(p), unlike + kind->first);
    }
}

#include "file_text.h"

#define PLUGMC_VARIATIONAL (PLUGMC_VARIATIONAL_PAIR | PLUGMC_VARIATIONAL_FIELD)
#include <plugmc/variational.h>

static const char *const free_tables[] = {"u_like",  "u_unlike",  "chi",     "f_like", "f_unlike",
                                          "u_table", "chi_table", "f_table", NULL};

static const plugmc_variational free_facet = {.size = sizeof free_facet,
                                              .count = variational_count,
                                              .number = free_number,
                                              .get = free_get,
                                              .set = free_set,
                                              PLUGMC_VARIATIONAL_MEMBERS,
                                              .keys_before_files = 1,
                                              .file_text = file_text,
                                              .file_key = "file",
                                              .tables = free_tables};

#endif

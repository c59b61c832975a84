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
    return 2 * p->u_terms + p->chi_terms + 2 * f_columns(p);
}

static void combine_radial(const double *column, int64_t truncation, int32_t count, double **out)
{
    for (int32_t k = 0; k < count; k++)
        (*out)[k] += k ? column[k + 1] : column[0] + (double)truncation * column[1];
    *out += count;
}

static void combine_f(const f_form *form, const double *column, int32_t count, double **out)
{
    for (int32_t c = 0; c < (count ? form->columns : 0); c++)
        for (int32_t k = 0; k < count; k++) (*out)[k] += form->basis[c * count + k] * column[c];
    *out += count;
}

static void variational_combine(const parameters *p, const double *sums, double *row)
{
    const double *chi = sums + 2 * p->u_terms, *f = chi + p->chi_terms;
    combine_radial(sums, p->truncation, p->u_like.count, &row);
    combine_radial(sums + p->u_terms, p->truncation, p->u_unlike.count, &row);
    combine_radial(chi, p->truncation, p->chi.count, &row);
    combine_f(p->form, f, p->f_like.count, &row);
    combine_f(p->form, f + f_columns(p), p->f_unlike.count, &row);
}

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
                                              .tables = free_tables};

#endif

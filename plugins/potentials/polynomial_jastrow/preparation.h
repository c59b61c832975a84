/* From lists of a polynomial Jastrow factor to tables and ions, for polynomial_jastrow.c: included inside its PLUGMC_HOST
 * part. */
#ifndef POLYNOMIAL_JASTROW_PREPARATION_H
#define POLYNOMIAL_JASTROW_PREPARATION_H

#include "../ions_of_orbitals.h"

/* ---- Tables ------------------------------------------------------------------------------------ */

/* c_0, c_1 from the slope at 0, c_2 ...; nothing of a list that is empty. */
static void fill_radial(const plugmc_list *from, double slope, const parameters *p, double cutoff,
                        real *out)
{
    if (!from->count) return;
    out[0] = from->values[0];
    out[1] = (real)((double)p->truncation * (double)from->values[0] + slope * cutoff);
    for (int32_t k = 1; k < from->count; k++) out[k + 1] = from->values[k];
}

static void fill_f(const plugmc_list *from, const f_form *form, real *out)
{
    const int32_t terms = form->most_l + 1;
    if (!from->count) return;
    for (int32_t c = 0; c < form->columns; c++) {
        const int32_t l = form->power[c][0], m = form->power[c][1], n = form->power[c][2];
        double sum = 0;
        for (int32_t k = 0; k < form->free; k++)
            sum += form->basis[c * form->free + k] * (double)from->values[k];
        out[(n * terms + l) * terms + m] = out[(n * terms + m) * terms + l] = (real)sum;
    }
}

/* From the numbers that are free: at first and whenever they change. The tables are our own memory. */
static void fill_tables(const parameters *p)
{
    real *u = (real *)p->u_table.values, *f = (real *)p->f_table.values;
    fill_radial(&p->u_like, 0.25, p, (double)p->u_reach, u);
    fill_radial(&p->u_unlike, 0.5, p, (double)p->u_reach, u + p->u_terms);
    fill_radial(&p->chi, -(double)p->chi_cusp, p, (double)p->chi_reach,
                (real *)p->chi_table.values);
    if (!p->form) return;
    fill_f(&p->f_like, p->form, f);
    fill_f(&p->f_unlike, p->form, f + p->f_table.count / 2);
}

/* ---- Preparation ------------------------------------------------------------------------------- */

/* `most` is what a cutoff may be, and is where none is given; INFINITY in open space. */
static int choose_cutoff(const plugmc_host *host, const char *key, real given, double most,
                         real *out)
{
    char what[32];
    *out = given > 0 ? given : (real)most;
    if (given > 0 && (double)given > most * (1 + 1e-6))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %g is too large for this box: at most %g", key, (double)given,
                          most);
    if (!isfinite((double)*out))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s must be given, since the box is not periodic", key);
    snprintf(what, sizeof what, "%s = 0", key);
    return given > 0 ? PLUGMC_OK : box_default_check(host, what, "give a length");
}

static int most_count(const plugmc_list *a, const plugmc_list *b)
{
    return a->count > b->count ? a->count : b->count;
}

static int prepare_u(parameters *p, const plugmc_host *host)
{
    const int count = most_count(&p->u_like, &p->u_unlike);
    int code = count ? choose_cutoff(host, "u_cutoff", p->u_cutoff,
                                     plugmc_half_box(&host->system->box), &p->u_reach)
                     : PLUGMC_OK;
    p->u_terms = count ? count + 1 : 0;
    return code ? code : new_list(host, 2 * p->u_terms, &p->u_table);
}

static int check_ions(const parameters *p, const plugmc_host *host)
{
    const int wanted = p->chi.count || p->f_like.count || p->f_unlike.count;
    if (p->ions.count % 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions has %d numbers, which is not a multiple of three", p->ions.count);
    if (wanted != (p->ions.count > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s",
                          wanted ? "chi and f need the positions of the ions that they belong to: "
                                   "give ions"
                                 : "ions are given, but neither chi nor f, which depend on them");
    for (int d = 0; d < 3; d++)
        if (p->tile.values[d] != floor((double)p->tile.values[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "tile needs three whole numbers");
    return wanted ? box_default_check(host, "the place of ions", "omit chi and f") : PLUGMC_OK;
}

/* Ions within reach of parts of the cell; begin [bins^3 + 1] may be NULL. */
static int prepare_places(const parameters *p, const plugmc_host *host, int32_t bins, double reach,
                          plugmc_list *places, plugmc_list *begin)
{
    const plugmc_box *box = &host->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int64_t count = periodic ? fill_bins(p, box, bins, reach, NULL, NULL) : p->ions.count / 3;
    const double most = 5e6; /* whole numbers are exact in float up to 1.6e7 */
    if ((double)count > most)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%lld images of ions are within the cutoff of the cell, which is "
                          "too many: use shorter cutoffs",
                          (long long)count);
    int code = new_list(host, 3 * count, places);
    if (!code && begin) code = new_list(host, (int64_t)bins * bins * bins + 1, begin);
    if (code) return code;
    if (periodic) {
        fill_bins(p, box, bins, reach, (real *)places->values,
                  begin ? (real *)begin->values : NULL);
        return PLUGMC_OK;
    }
    memcpy((real *)places->values, p->ions.values, (size_t)p->ions.count * sizeof(real));
    if (begin) ((real *)begin->values)[1] = (real)p->ions.count;
    return PLUGMC_OK;
}

static int prepare_cell(parameters *p, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return PLUGMC_OK;
    const int code = new_list(host, 18, &p->cell);
    for (int k = 0; k < 9 && !code; k++) {
        ((real *)p->cell.values)[k] = (real)box->inverse[k / 3][k % 3];
        ((real *)p->cell.values)[9 + k] = (real)box->vector[k / 3][k % 3];
    }
    return code;
}

static int prepare_chi(parameters *p, const plugmc_host *host)
{
    if (!p->chi.count) return new_list(host, 0, &p->chi_table);
    int code = choose_cutoff(host, "chi_cutoff", p->chi_cutoff, plugmc_half_box(&host->system->box),
                             &p->chi_reach);
    p->chi_terms = p->chi.count + 1;
    if (!code) code = new_list(host, p->chi_terms, &p->chi_table);
    return code ? code : prepare_places(p, host, 1, (double)p->chi_reach, &p->chi_places, NULL);
}

/* All zeros may be written as one. */
static int spread_zero(const plugmc_host *host, int32_t count, plugmc_list *list)
{
    if (list->count != 1 || list->values[0] != 0) return PLUGMC_OK;
    return new_list(host, count, list);
}

/* As wide as half the reach, or there are many. */
static int32_t choose_bins(const plugmc_box *box, double reach)
{
    enum { MOST_BINS = 6 };
    double narrow = INFINITY;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return 1;
    for (int d = 0; d < 3; d++) narrow = fmin(narrow, plugmc_height(box, d));
    const double fit = floor(2 * narrow / reach);
    return fit < 1 ? 1 : fit > MOST_BINS ? MOST_BINS : (int32_t)fit;
}

static int prepare_f(parameters *p, const plugmc_host *host)
{
    plugmc_list *const lists[] = {&p->f_like, &p->f_unlike};
    const char *const names[] = {"f_like", "f_unlike"};
    if (!most_count(&p->f_like, &p->f_unlike)) return new_list(host, 0, &p->f_table);
    int code = choose_cutoff(host, "f_cutoff", p->f_cutoff,
                             0.5 * plugmc_half_box(&host->system->box), &p->f_reach);
    if (code) return code;
    const f_form *form = f_form_make(host, (int)p->f_electron_ion, (int)p->f_electron_electron,
                                     (int)p->truncation, p->f_without_u, p->f_without_chi);
    if (!form) return PLUGMC_ERROR_MEMORY;
    p->form = form;
    for (int k = 0; k < 2 && !code; k++) {
        code = spread_zero(host, form->free, lists[k]);
        if (!code && lists[k]->count && lists[k]->count != form->free)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s has %d numbers, but f of these orders has %d independent "
                              "coefficients (a single 0: all are 0)",
                              names[k], lists[k]->count, form->free);
    }
    const int64_t terms = form->most_l + 1;
    if (!code) code = new_list(host, 2 * terms * terms * (form->most_n + 1), &p->f_table);
    p->f_bins = choose_bins(&host->system->box, (double)p->f_reach);
    return code ? code
                : prepare_places(p, host, (int32_t)p->f_bins, (double)p->f_reach, &p->f_places,
                                 &p->f_begin);
}

/* Its ions against those of the orbitals. */
static int prepare(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    const plugmc_box *box = &host->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int32_t copies =
        periodic ? (int32_t)(p->tile.values[0] * p->tile.values[1] * p->tile.values[2]) : 1;
    ion_comparison comparison = ion_comparison_begin(host);
    for (int32_t i = 0; i < p->ions.count / 3 * copies; i++) {
        double f[3], r[3];
        if (periodic) fractions_of(p, box, i / copies, i % copies, f);
        for (int e = 0; e < 3 && !periodic; e++) r[e] = (double)p->ions.values[3 * i + e];
        if (periodic) from_fractions(box, f, r);
        ion_comparison_add(&comparison, r);
    }
    ion_comparison_end(&comparison);
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    plugmc_list *const lists[] = {&p->u_like, &p->u_unlike, &p->chi, &p->f_like, &p->f_unlike};
    int code = *p->casino ? read_file(p, host) : PLUGMC_OK, count = 0;
    if (!code && host->system->box.dimension != 3)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "it needs three dimensions, but this box has %d",
                          host->system->box.dimension);
    for (int k = 0; k < 5 && !code; k++) count += lists[k]->count;
    if (!code && !count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no coefficients: give u_like, u_unlike, chi, f_like, f_unlike "
                          "or CASINO's file with them");
    if (!code) code = check_ions(p, host);
    if (!code) code = prepare_u(p, host);
    if (!code) code = prepare_cell(p, host);
    if (!code) code = prepare_chi(p, host);
    if (!code) code = prepare_f(p, host);
    for (int k = 0; k < 5 && !code; k++) code = own(host, lists[k], NULL, 0);
    if (code) return code;
    p->reach = p->u_reach > 2 * p->f_reach ? p->u_reach : 2 * p->f_reach;
    fill_tables(p);
    return PLUGMC_OK;
}

#endif

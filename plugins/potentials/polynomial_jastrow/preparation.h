/* From lists of a polynomial Jastrow factor to tables and ions, for polynomial_jastrow.c: included inside its PLUGMC_HOST
 * part. */
#ifndef POLYNOMIAL_JASTROW_PREPARATION_H
#define POLYNOMIAL_JASTROW_PREPARATION_H

/* ---- Tables ------------------------------------------------------------------------------------ */

/* c_0, c_1 from the slope at 0, c_2 ...; nothing of a list that is empty. */
static void fill_radial(const real *from, int32_t count, double slope, const parameters *p,
                        double cutoff, real *out)
{
    if (!count) return;
    out[0] = from[0];
    out[1] = (real)((double)p->truncation * (double)from[0] + slope * cutoff);
    for (int32_t k = 1; k < count; k++) out[k + 1] = from[k];
}

/* All g_lmn [n][l][m], up to the highest powers of all kinds. */
static void fill_f(const parameters *p, const real *from, const f_form *form, real *out)
{
    const int32_t terms = (int32_t)p->f_electron_ion + 1;
    for (int32_t c = 0; c < form->columns; c++) {
        const int32_t l = form->power[c][0], m = form->power[c][1], n = form->power[c][2];
        double sum = 0;
        for (int32_t k = 0; k < form->free; k++)
            sum += form->basis[c * form->free + k] * (double)from[k];
        out[(n * terms + l) * terms + m] = out[(n * terms + m) * terms + l] = (real)sum;
    }
}

/* From the numbers that are free: at first and whenever they change. The tables are our own memory. */
static void fill_tables(const parameters *p)
{
    const polynomial_form *form = p->form;
    const plugmc_list *const f[2] = {&p->f_like, &p->f_unlike};
    real *u = (real *)p->u_table.values, *chi = (real *)p->chi_table.values,
         *f_table = (real *)p->f_table.values;
    fill_radial(p->u_like.values, p->u_like.count, 0.25, p, (double)p->u_reach, u);
    fill_radial(p->u_unlike.values, p->u_unlike.count, 0.5, p, (double)p->u_reach, u + p->u_terms);
    for (int k = 0; k < form->chi_kinds; k++) {
        const polynomial_kind *kind = &form->chi[k];
        fill_radial(p->chi.values + kind->first, kind->count, -kind->cusp, p, kind->cutoff, chi);
        chi += kind->count + 1;
    }
    for (int k = 0; k < form->f_kinds; k++)
        for (int spin = 0; spin < 2; spin++, f_table += f_size(p))
            if (f[spin]->count)
                fill_f(p, f[spin]->values + form->f[k].first, form->f[k].form, f_table);
}

/* ---- Preparation ------------------------------------------------------------------------------- */

/* `most` is what a cutoff may be, and is where none is given; INFINITY in open space. */
static int choose_cutoff(const plugmc_host *host, const char *key, double given, double most,
                         double *out)
{
    char what[32];
    *out = given > 0 ? given : most;
    if (given > 0 && given > most * (1 + 1e-6))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %g is too large for this box: at most %g", key, given, most);
    if (!isfinite(*out))
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
    const double given = p->form->u_cutoff;
    double reach = 0;
    int code = count ? choose_cutoff(host, "u_cutoff", given > 0 ? given : (double)p->u_cutoff,
                                     plugmc_half_box(&host->system->box), &reach)
                     : PLUGMC_OK;
    p->u_reach = (real)reach;
    p->u_terms = count ? count + 1 : 0;
    return code ? code : new_list(host, 2 * p->u_terms, &p->u_table);
}

static int check_ions(const parameters *p, const plugmc_host *host)
{
    const polynomial_form *form = p->form;
    const int wanted = form->chi_kinds || form->f_kinds;
    if (p->ions.count % 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions has %d numbers, which is not a multiple of three", p->ions.count);
    if (p->ions.count && !wanted)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions are given, but neither chi nor f, which depend on them");
    if (p->ions.count && (form->chi_kinds > 1 || form->f_kinds > 1))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions are given beside functions of several elements: say by elements "
                          "which of them they are");
    for (int d = 0; d < 3; d++) {
        if (p->tile.values[d] != floor((double)p->tile.values[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "tile needs three whole numbers");
        if (wanted && !p->ions.count && p->tile.values[d] != 1)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "tile is for ions of this section, and there are none");
    }
    return wanted ? box_default_check(host, "the place of ions", "omit chi and f") : PLUGMC_OK;
}

/* 1 for each ion of the orbitals that is of a kind, in `wanted` [ions]. */
static int choose_labelled(const parameters *p, const plugmc_host *host, const plugmc_ions *ions,
                           const correlation_ions *named, uint8_t *wanted)
{
    const int32_t cells = ions->primitive_cells > 0 ? ions->primitive_cells : 1,
                  atoms = ions->count / cells;
    int32_t *number = host->allocate(host->context, (size_t)atoms * sizeof *number);
    if (!number) return lacks_memory(host);
    const int32_t species = number_elements(ions, atoms, number);
    const int by_species = named->labelling == LABELS_OF_SPECIES;
    if (named->labelling == LABELS_OF_SUPERCELL && cells > 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s' labels atoms of a supercell (labelling 1), whose order is not "
                          "known here: label those of the primitive cell (2) or species (3)",
                          p->file);
    for (int k = 0; k < named->count; k++) {
        if (named->labels[k] > (by_species ? species : atoms))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "file '%s' has a set for %s %d, but the orbitals have %d", p->file,
                              by_species ? "species" : "atom", named->labels[k],
                              by_species ? species : atoms);
        for (int32_t i = 0; i < ions->count; i++)
            wanted[i] |= (by_species ? number[i % atoms] : i % atoms) + 1 == named->labels[k];
    }
    return PLUGMC_OK;
}

static int choose_element(const plugmc_host *host, const plugmc_ions *ions, const char *label,
                          int32_t element, uint8_t *wanted)
{
    int32_t found = 0;
    for (int32_t i = 0; i < ions->count; i++) {
        found += wanted[i] = !element || ions->atomic_number[i] == element;
        if (!element && ions->atomic_number[i] != ions->atomic_number[0])
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' has ions of %s and %s: say by elements, or by ions, "
                              "for which chi and f are",
                              label, element_symbol(ions->atomic_number[0]),
                              element_symbol(ions->atomic_number[i]));
    }
    if (found) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "there is a function for ions of %s, but potential '%s' has none",
                      element_symbol(element), label);
}

/* Where the ions of a kind are. */
static int find_sites(const parameters *p, const plugmc_host *host, polynomial_kind *kind)
{
    plugmc_ions ions;
    if (p->ions.count) return ion_sites_of_list(host, &p->ions, &p->tile, &kind->sites);
    const char *label = ions_of_orbitals(host, &ions);
    if (!label)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi and f need the positions of the ions that they belong to: give "
                          "ions%s",
                          p->form->casino ? ", or chi_set = 0 and f_set = 0 for u alone" : "");
    uint8_t *wanted = host->allocate(host->context, (size_t)ions.count + 1);
    if (!wanted) return lacks_memory(host);
    int code = kind->ions ? choose_labelled(p, host, &ions, kind->ions, wanted)
                          : choose_element(host, &ions, label, kind->element, wanted);
    for (int32_t i = 0; i < ions.count && !code && kind->own_cusp && !(p->chi_cusp > 0); i++) {
        if (!wanted[i]) continue;
        if (kind->cusp > 0 && kind->cusp != ions.valence[i])
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "file '%s' gives one chi the cusps of ions of charges %g and %g",
                              p->file, kind->cusp, ions.valence[i]);
        kind->cusp = ions.valence[i];
    }
    return code ? code : ion_sites_of_orbitals(host, &ions, wanted, &kind->sites);
}

static int prepare_sites(const parameters *p, const plugmc_host *host, polynomial_form *form)
{
    int code = PLUGMC_OK;
    for (int k = 0; k < form->chi_kinds && !code; k++) code = find_sites(p, host, &form->chi[k]);
    for (int k = 0; k < form->f_kinds && !code; k++) code = find_sites(p, host, &form->f[k]);
    return code;
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

/* Adds a kind to a list of places, which has `from` of them: counted at first, then written. */
static int64_t add_places(const plugmc_box *box, const polynomial_kind *kind, int32_t bins,
                          int64_t from, real *places, real *begin)
{
    return from + fill_bins(box, &kind->sites, bins, kind->cutoff, from, places, begin);
}

static int new_places(const plugmc_host *host, int64_t count, plugmc_list *places)
{
    const double most = 5e6; /* whole numbers are exact in float up to 1.6e7 */
    if ((double)count <= most) return new_list(host, 3 * count, places);
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%lld images of ions are within the cutoff of the cell, which is "
                      "too many: use shorter cutoffs",
                      (long long)count);
}

static int prepare_chi(parameters *p, const plugmc_host *host, polynomial_form *form)
{
    const plugmc_box *box = &host->system->box;
    int64_t count = 0, terms = 0, from = 0;
    int code = PLUGMC_OK;
    for (int k = 0; k < form->chi_kinds && !code; k++) {
        polynomial_kind *kind = &form->chi[k];
        code = choose_cutoff(host, "chi_cutoff",
                             kind->cutoff > 0 ? kind->cutoff : (double)p->chi_cutoff,
                             plugmc_half_box(box), &kind->cutoff);
        if (!code) count = add_places(box, kind, 1, count, NULL, NULL);
        terms += kind->count + 1;
    }
    if (!code) code = new_list(host, terms, &p->chi_table);
    if (!code) code = new_list(host, CHI_NUMBERS * form->chi_kinds, &p->chi_kinds);
    if (!code) code = new_places(host, count, &p->chi_places);
    terms = 0;
    for (int k = 0; k < form->chi_kinds && !code; k++) {
        const polynomial_kind *kind = &form->chi[k];
        real *numbers = (real *)p->chi_kinds.values + k * CHI_NUMBERS;
        numbers[CHI_BEGIN] = (real)(3 * from);
        from = add_places(box, kind, 1, from, (real *)p->chi_places.values, NULL);
        numbers[CHI_END] = (real)(3 * from);
        numbers[CHI_FIRST] = (real)terms;
        numbers[CHI_TERMS] = (real)(kind->count + 1);
        numbers[CHI_REACH] = (real)kind->cutoff;
        terms += kind->count + 1;
    }
    return code;
}

/* All zeros may be written as one. */
static int spread_zero(const plugmc_host *host, int32_t count, plugmc_list *list)
{
    if (list->count != 1 || list->values[0] != 0) return PLUGMC_OK;
    return new_list(host, count, list);
}

/* The lists have what the forms of all kinds together ask for. */
static int check_f_lists(parameters *p, const plugmc_host *host, const polynomial_form *form)
{
    plugmc_list *const lists[] = {&p->f_like, &p->f_unlike};
    static const char *const names[] = {"f_like", "f_unlike"};
    int32_t all = 0;
    for (int k = 0; k < form->f_kinds; k++) all += form->f[k].count;
    for (int k = 0; k < 2; k++) {
        const int code = spread_zero(host, all, lists[k]);
        if (code) return code;
        if (lists[k]->count && lists[k]->count != all)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s has %d numbers, but f of these orders has %d independent "
                              "coefficients%s (a single 0: all are 0)",
                              names[k], lists[k]->count, all,
                              form->f_kinds > 1 ? " of all kinds of ions" : "");
    }
    return PLUGMC_OK;
}

static int prepare_f(parameters *p, const plugmc_host *host, polynomial_form *form)
{
    const plugmc_box *box = &host->system->box;
    double widest = 0;
    int64_t count = 0, from = 0;
    int code = check_f_lists(p, host, form);
    for (int k = 0; k < form->f_kinds && !code; k++) {
        polynomial_kind *kind = &form->f[k];
        code =
            choose_cutoff(host, "f_cutoff", kind->cutoff > 0 ? kind->cutoff : (double)p->f_cutoff,
                          0.5 * plugmc_half_box(box), &kind->cutoff);
        widest = fmax(widest, kind->cutoff);
    }
    p->f_bins = form->f_kinds && !code ? choose_bins(box, widest) : 1;
    p->reach = (real)fmax((double)p->u_reach, 2 * widest);
    const int32_t bins = (int32_t)p->f_bins, begins = bins * bins * bins + 1;
    for (int k = 0; k < form->f_kinds && !code; k++)
        count = add_places(box, &form->f[k], bins, count, NULL, NULL);
    if (!code) code = new_list(host, 2 * (int64_t)f_size(p) * form->f_kinds, &p->f_table);
    if (!code) code = new_list(host, F_NUMBERS * form->f_kinds, &p->f_kinds);
    if (!code) code = new_list(host, (int64_t)begins * form->f_kinds, &p->f_begin);
    if (!code) code = new_places(host, count, &p->f_places);
    for (int k = 0; k < form->f_kinds && !code; k++) {
        real *numbers = (real *)p->f_kinds.values + k * F_NUMBERS;
        from = add_places(box, &form->f[k], bins, from, (real *)p->f_places.values,
                          (real *)p->f_begin.values + k * begins);
        numbers[F_REACH] = (real)form->f[k].cutoff;
        numbers[F_BINS] = (real)(k * begins);
        numbers[F_FIRST] = (real)(2 * f_size(p) * k);
    }
    return code;
}

/* Its ions against those of the orbitals. */
static int prepare(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    const polynomial_form *form = p->form;
    ion_comparison comparison = ion_comparison_begin(host);
    int fixed = 0;
    for (int k = 0; form->qmcpack && k < form->qmcpack->three_elements; k++)
        fixed += form->qmcpack->three[k][0].at.fixed + form->qmcpack->three[k][1].at.fixed;
    if (fixed && host->system->parameters_change)
        host->warn(host->context,
                   "file '%s' has coefficients with optimize=\"no\", which are optimised here, too",
                   p->file);
    if (!p->ions.count) return PLUGMC_OK;
    ion_comparison_add_sites(&comparison,
                             form->chi_kinds ? &form->chi[0].sites : &form->f[0].sites);
    ion_comparison_end(&comparison);
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    polynomial_form *form = host->allocate(host->context, sizeof *form);
    if (!form) return lacks_memory(host);
    p->form = form;
    plugmc_list *const lists[] = {&p->u_like, &p->u_unlike, &p->chi, &p->f_like, &p->f_unlike};
    int code = read_coefficients(p, host, form), count = 0;
    if (!code && host->system->box.dimension != 3)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "it needs three dimensions, but this box has %d",
                          host->system->box.dimension);
    for (int k = 0; k < 5 && !code; k++) count += lists[k]->count;
    if (!code && !count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no coefficients: give u_like, u_unlike, chi, f_like, f_unlike "
                          "or a file with them");
    if (!code) code = check_ions(p, host);
    if (!code) code = prepare_sites(p, host, form);
    if (!code) code = prepare_u(p, host);
    if (!code) code = prepare_cell(p, host);
    if (!code) code = prepare_chi(p, host, form);
    if (!code) code = prepare_f(p, host, form);
    for (int k = 0; k < 5 && !code; k++) code = own(host, lists[k], NULL, 0);
    if (!code) fill_tables(p);
    return code;
}

#endif

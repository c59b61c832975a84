/* Coefficients of polynomial_jastrow.c from a file, in our units: CASINO's correlation.data, or the three-body term of
 * QMCPACK's XML. Included inside its PLUGMC_HOST part. */
#ifndef POLYNOMIAL_JASTROW_FROM_FILE_H
#define POLYNOMIAL_JASTROW_FROM_FILE_H

enum { MOST_KINDS = 32 };
_Static_assert((int)MOST_KINDS >= (int)CORRELATION_MOST_SETS, "sets");
_Static_assert((int)MOST_KINDS >= (int)QMCPACK_MOST_ELEMENTS, "elements");

/* Ions with a chi, or an f, of their own. */
typedef struct polynomial_kind {
    int32_t element;              /* atomic number; 0: not told */
    const correlation_ions *ions; /* as CASINO names them; NULL: by element */
    int set;                      /* of CASINO's file; 0: another one */
    int32_t count, first;         /* its free coefficients in the list */
    double cusp, cutoff;          /* minus the slope of chi, 1/length; length, 0: not given */
    int own_cusp;                 /* 1: where cusp is 0 it is the charge of the ions */
    const f_form *form;           /* of f */
    ion_sites sites;
} polynomial_kind;

/* What only the host needs. */
typedef struct polynomial_form {
    double u_cutoff; /* of the file; 0: not given */
    int32_t chi_kinds, f_kinds;
    polynomial_kind chi[MOST_KINDS], f[MOST_KINDS];
    const correlation_data *casino; /* NULL: no such file */
    const qmcpack_jastrow *qmcpack;
} polynomial_form;

/* ---- Lists ------------------------------------------------------------------------------------- */

static int append(const plugmc_host *host, plugmc_list *list, const double *values, int32_t count)
{
    plugmc_list made;
    const int code = new_list(host, (int64_t)list->count + count, &made);
    for (int32_t i = 0; i < made.count && !code; i++)
        ((real *)made.values)[i] =
            i < list->count ? list->values[i] : (real)values[i - list->count];
    if (!code) *list = made;
    return code;
}

/* Coefficients of u or chi in our units, of spin number `spin`. */
static int append_radial(const plugmc_host *host, const correlation_radial *from, int truncation,
                         int spin, plugmc_list *out)
{
    const int each = from->order; /* coefficient 1 is no number of the file */
    double values[CORRELATION_MOST_ORDER];
    const double *found = from->values + each * (spin < from->spins ? spin : 0);
    for (int k = 0; k < each; k++)
        values[k] = found[k] * pow(-from->cutoff, truncation) * pow(from->cutoff, k ? k + 1 : 0);
    return append(host, out, values, each);
}

/* Those of f from coefficients gamma_lmn of `form`, for the cutoff: `sign` gamma L^(2 C + l + m + n). */
static void scale_f(const f_form *form, const double *gamma, double cutoff, double sign,
                    double *out)
{
    for (int32_t k = 0; k < form->free; k++) {
        const int32_t *power = form->power[form->free_column[k]];
        out[k] =
            sign * gamma[k] * pow(cutoff, 2 * form->truncation + power[0] + power[1] + power[2]);
    }
}

static int append_f(const plugmc_host *host, const correlation_f *from, int spin, plugmc_list *out)
{
    const f_form *form = from->form;
    double *values = host->allocate(host->context, ((size_t)form->free + 1) * sizeof *values);
    if (!values) return lacks_memory(host);
    scale_f(form, from->values + form->free * (spin < from->spins ? spin : 0), from->cutoff, 1,
            values);
    return append(host, out, values, form->free);
}

/* ---- CASINO ------------------------------------------------------------------------------------ */

/* A cutoff of the section beside the one that coefficients of the file belong to. */
static int check_cutoff(const plugmc_host *host, const char *file, const char *key, real given,
                        double found)
{
    if (!(given > 0) || fabs((double)given - found) <= 1e-6 * found) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s = %g is given beside file '%s', which has %g: leave it out", key,
                      (double)given, file, found);
}

/* Sets first ... last of chi or f that are wanted; `key` is chi_set or f_set. */
static int choose_sets(const parameters *p, const plugmc_host *host, const char *key,
                       int64_t wanted, int sets, int *first, int *last)
{
    *first = wanted < 0 ? 1 : (int)wanted;
    *last = wanted < 0 ? (p->ions.count ? 1 : sets) : (int)wanted;
    if (wanted == 0) *last = -1;
    if (wanted > 0 && wanted > sets)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s' has no set %lld of %.*s (%s = 0 takes none)", p->file,
                          (long long)wanted, (int)strcspn(key, "_"), key, key);
    if (*last > sets) *last = sets;
    return PLUGMC_OK;
}

static int take_chi(parameters *p, const plugmc_host *host, const correlation_data *d,
                    polynomial_form *form)
{
    int first, last, code = choose_sets(p, host, "chi_set", p->chi_set, d->chi_sets, &first, &last);
    plugmc_list found = {NULL, 0};
    int cusps = 0;
    for (int set = first; set <= last && !code; set++) {
        const correlation_radial *chi = &d->chi[set - 1];
        if (!chi->given) continue;
        cusps += chi->cusp;
        if (chi->cusp && !(p->chi_cusp > 0) && p->ions.count)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "file '%s' gives chi the cusp of the nucleus: chi_cusp needs its "
                              "charge",
                              p->file);
        if (!code) code = check_cutoff(host, p->file, "chi_cutoff", p->chi_cutoff, chi->cutoff);
        form->chi[form->chi_kinds++] =
            (polynomial_kind){.ions = &chi->ions,
                              .set = set,
                              .count = chi->order,
                              .first = found.count,
                              .own_cusp = chi->cusp,
                              .cusp = chi->cusp ? (double)p->chi_cusp : 0,
                              .cutoff = chi->cutoff};
        if (!code) code = append_radial(host, chi, d->truncation, 0, &found);
    }
    if (!code && p->chi_cusp > 0 && !cusps)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi_cusp is given beside file '%s', which imposes no cusp at the "
                          "nucleus: leave it out",
                          p->file);
    if (!code && !p->chi.count) p->chi = found;
    return code;
}

static int take_f(parameters *p, const plugmc_host *host, const correlation_data *d,
                  polynomial_form *form)
{
    int first, last, code = choose_sets(p, host, "f_set", p->f_set, d->f_sets, &first, &last);
    plugmc_list found[2] = {{NULL, 0}, {NULL, 0}};
    for (int set = first; set <= last && !code; set++) {
        const correlation_f *f = &d->f[set - 1];
        if (!f->given) continue;
        code = check_cutoff(host, p->file, "f_cutoff", p->f_cutoff, f->cutoff);
        form->f[form->f_kinds++] = (polynomial_kind){.ions = &f->ions,
                                                     .set = set,
                                                     .count = f->form->free,
                                                     .first = found[0].count,
                                                     .cutoff = f->cutoff,
                                                     .form = f->form};
        for (int spin = 0; spin < 2 && !code; spin++) code = append_f(host, f, spin, &found[spin]);
    }
    if (!code && !p->f_like.count) p->f_like = found[0];
    if (!code && !p->f_unlike.count) p->f_unlike = found[1];
    return code;
}

/* Lists that the section gives are kept. */
static int take_casino(parameters *p, const plugmc_host *host, const char *text,
                       polynomial_form *form)
{
    plugmc_list *const lists[2] = {&p->u_like, &p->u_unlike};
    correlation_data *d = host->allocate(host->context, sizeof *d);
    if (!d) return lacks_memory(host);
    int code = correlation_data_parse(host, p->file, text, d);
    if (!code && *p->elements)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "elements is given beside file '%s', whose sets say for which ions they "
                          "are: leave it out",
                          p->file);
    form->casino = d;
    if (code) return code;
    p->truncation = d->truncation;
    form->u_cutoff = d->u.given ? d->u.cutoff : 0;
    if (d->u.given) code = check_cutoff(host, p->file, "u_cutoff", p->u_cutoff, d->u.cutoff);
    for (int spin = 0; spin < 2 && !code && d->u.given; spin++)
        if (!lists[spin]->count)
            code = append_radial(host, &d->u, d->truncation, spin, lists[spin]);
    if (!code) code = take_chi(p, host, d, form);
    return code ? code : take_f(p, host, d, form);
}

/* ---- QMCPACK ----------------------------------------------------------------------------------- */

/* f = -gamma of QMCPACK, whose Psi has the factor exp(-J), within rcut/2 of the ion. */
static int append_polynomial(const plugmc_host *host, const qmcpack_polynomial *from, double cutoff,
                             const f_form *to, plugmc_list *out)
{
    const f_form *order = f_form_make(host, F_ORDER_QMCPACK, from->isize, from->esize, 3, 0, 0);
    if (!order) return PLUGMC_ERROR_MEMORY;
    double *values = host->allocate(host->context, (2 * (size_t)to->free + 1) * sizeof *values);
    if (!values) return lacks_memory(host);
    if (from->at.count) {
        scale_f(order, from->at.values, cutoff, -1, values);
        f_form_convert(order, values, to, values + to->free);
    }
    return append(host, out, values + to->free, to->free);
}

/* What the file gives for ions of an element. */
static int take_polynomial(parameters *p, const plugmc_host *host, const qmcpack_polynomial from[2],
                           int shared, polynomial_kind *kind, plugmc_list found[2])
{
    const qmcpack_polynomial *unlike = &from[!shared];
    double rcut = from->at.cutoff;
    const double radius = plugmc_half_box(&host->system->box), rounding = 1e-4; /* of files, bohr */
    if (from->isize != unlike->isize || from->esize != unlike->esize ||
        from->at.cutoff != unlike->at.cutoff)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s': functions of like and unlike spins for ions of %s differ in "
                          "isize, esize or rcut, which is not supported",
                          p->file, element_symbol(kind->element));
    if (rcut > radius && rcut < radius + rounding) rcut = radius;
    if (rcut <= 0) rcut = p->f_cutoff > 0 ? 2 * (double)p->f_cutoff : radius;
    if (!isfinite(rcut))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s' has no rcut for ions of %s, which it needs as the box is not "
                          "periodic",
                          p->file, element_symbol(kind->element));
    int code = check_cutoff(host, p->file, "f_cutoff", p->f_cutoff, rcut / 2);
    kind->form = f_form_make(host, F_ORDER_CASINO, from->isize, from->esize, 3, 0, 0);
    if (!kind->form) return PLUGMC_ERROR_MEMORY;
    kind->cutoff = rcut / 2;
    kind->first = found[0].count;
    kind->count = kind->form->free;
    for (int spin = 0; spin < 2 && !code; spin++)
        code =
            append_polynomial(host, spin ? unlike : from, kind->cutoff, kind->form, &found[spin]);
    return code;
}

static int find_polynomial(const parameters *p, const plugmc_host *host, const qmcpack_jastrow *d,
                           int32_t element, int *out)
{
    for (*out = 0; *out < d->three_elements; ++*out)
        if (d->three[*out][0].at.element == element) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "elements: file '%s' has no three-body function for ions of %s", p->file,
                      element_symbol(element));
}

static int take_markup(parameters *p, const plugmc_host *host, const char *text,
                       polynomial_form *form)
{
    plugmc_list found[2] = {{NULL, 0}, {NULL, 0}};
    qmcpack_jastrow *d = host->allocate(host->context, sizeof *d);
    if (!d) return lacks_memory(host);
    int code = qmcpack_jastrow_parse(host, p->file, text, d);
    form->qmcpack = d;
    if (!code && !d->three_elements)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s' has no three-body term (type=\"eeI\"): its other factors are "
                          "for [potential jastrow]",
                          p->file);
    if (!code && (p->truncation != 3 || p->f_without_u || p->f_without_chi))
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "truncation, f_without_u and f_without_chi are decided by the form of "
                          "file '%s': leave them out",
                          p->file);
    for (int k = 0; k < d->three_elements && !code && !form->f_kinds && !*p->elements; k++)
        form->f[k].element = d->three[k][0].at.element;
    if (!*p->elements) form->f_kinds = d->three_elements;
    for (int k = 0, from = 0; k < form->f_kinds && !code; k++) {
        code = find_polynomial(p, host, d, form->f[k].element, &from);
        if (!code)
            code =
                take_polynomial(p, host, d->three[from], d->three_shared[from], &form->f[k], found);
    }
    form->chi_kinds = 0;
    if (!code && p->chi.count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi is given beside file '%s', of which the three-body term is read "
                          "here: give it a section of its own",
                          p->file);
    if (!code && !p->f_like.count) p->f_like = found[0];
    if (!code && !p->f_unlike.count) p->f_unlike = found[1];
    return code;
}

/* ---- Kinds of ions ------------------------------------------------------------------------------ */

/* Those that `elements` names, for chi and f alike. */
static int read_elements(const parameters *p, const plugmc_host *host, polynomial_form *form)
{
    char words[1024], *rest = words, *word;
    if (snprintf(words, sizeof words, "%s", p->elements) >= (int)sizeof words)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "elements has too many words");
    while ((word = strtok_r(rest, " \t", &rest))) {
        const int32_t number = element_of(word);
        if (!number)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "elements: '%.40s' is not the symbol of an element", word);
        for (int k = 0; k < form->f_kinds; k++)
            if (form->f[k].element == number)
                return host->fail(host->context, PLUGMC_ERROR_INPUT, "elements has %s twice", word);
        if (form->f_kinds == MOST_KINDS)
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "elements has more than %d words",
                              MOST_KINDS);
        form->chi[form->chi_kinds++].element = form->f[form->f_kinds++].element = number;
    }
    return PLUGMC_OK;
}

/* Without a file: as many coefficients for each element. */
static int share_lists(const parameters *p, const plugmc_host *host, polynomial_form *form)
{
    const int named = form->f_kinds, chi = p->chi.count > 0,
              f = p->f_like.count > 0 || p->f_unlike.count > 0;
    if (named && !chi && !f)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "elements are given, but neither chi nor f, which depend on them");
    form->chi_kinds = !chi ? 0 : named ? named : 1;
    form->f_kinds = !f ? 0 : named ? named : 1;
    if (chi && p->chi.count % form->chi_kinds)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi has %d coefficients, which %d elements cannot share evenly",
                          p->chi.count, form->chi_kinds);
    for (int k = 0; k < form->chi_kinds; k++) {
        polynomial_kind *kind = &form->chi[k];
        kind->count = p->chi.count / form->chi_kinds;
        kind->first = k * kind->count;
        kind->cusp = (double)p->chi_cusp;
    }
    for (int k = 0; k < form->f_kinds; k++) {
        polynomial_kind *kind = &form->f[k];
        kind->form =
            f_form_make(host, F_ORDER_CASINO, (int)p->f_electron_ion, (int)p->f_electron_electron,
                        (int)p->truncation, p->f_without_u, p->f_without_chi);
        if (!kind->form) return PLUGMC_ERROR_MEMORY;
        kind->count = kind->form->free;
        kind->first = k * kind->count;
    }
    return PLUGMC_OK;
}

/* A list of chi in the section beside a file: of one kind it may have another order. */
static int check_chi(const parameters *p, const plugmc_host *host, polynomial_form *form)
{
    int32_t all = 0;
    for (int k = 0; k < form->chi_kinds; k++) all += form->chi[k].count;
    if (form->chi_kinds == 1) form->chi[0].count = p->chi.count;
    if (form->chi_kinds == 1 || all == p->chi.count) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "chi has %d coefficients, but file '%s' has %d in their place", p->chi.count,
                      p->file, all);
}

/* Lists of the section, and those of the file that it does not have. */
static int read_coefficients(parameters *p, const plugmc_host *host, polynomial_form *form)
{
    int code = read_elements(p, host, form);
    const char *text = !code && *p->file ? text_file_read(host, p->file) : NULL;
    if (code) return code;
    if (!*p->file) return share_lists(p, host, form);
    if (!text) return PLUGMC_ERROR_INPUT;
    code = qmcpack_is_markup(text) ? take_markup(p, host, text, form)
                                   : take_casino(p, host, text, form);
    if (!code) code = check_chi(p, host, form);
    for (int k = 0; k < form->f_kinds && !code; k++) {
        const f_form *f = form->f[k].form;
        if (k == 0) p->f_electron_ion = p->f_electron_electron = 1;
        if (f->most_l > p->f_electron_ion) p->f_electron_ion = f->most_l;
        if (f->most_n > p->f_electron_electron) p->f_electron_electron = f->most_n;
    }
    return code;
}

#endif

/* From coefficients to tables and ions, for jastrow.c: included inside its PLUGMC_HOST part. */
#ifndef JASTROW_PREPARATION_H
#define JASTROW_PREPARATION_H

/* ---- Tables --------------------------------------------------------------------------------- */

/* Twice the spline as polynomials of t in [0, 1) on each of the n + 1 intervals. A cubic B-spline
 * with coefficients a, b, c, d around an interval is (a (1-t)^3 + b (3t^3 - 6t^2 + 4) + c (-3t^3 +
 * 3t^2 + 3t + 1) + d t^3) / 6. */
static void fill_table(const real *coefficients, int32_t n, double cusp, double spacing, real *out)
{
    for (int32_t k = 0; k <= n && n; k++) {
        double q[4];
        for (int j = 0; j < 4; j++) {
            const int32_t at = k - 1 + j; /* knot of the coefficient */
            q[j] = at < 0   ? (double)coefficients[1] - 2 * spacing * cusp
                   : at < n ? (double)coefficients[at]
                            : 0;
        }
        out[4 * k] = (real)((q[0] + 4 * q[1] + q[2]) / 3);
        out[4 * k + 1] = (real)(q[2] - q[0]);
        out[4 * k + 2] = (real)(q[0] - 2 * q[1] + q[2]);
        out[4 * k + 3] = (real)((q[3] - q[0]) / 3 + q[1] - q[2]);
    }
}

/* Rows of a table: one for each interval, and zeros for everything beyond the cutoff. */
static int32_t rows_of(int32_t count) { return count ? count + 2 : 1; }

/* Once the tables and their spacings are there; and again, when coefficients have changed. The tables are our
 * own memory. */
static void fill_tables(parameters *p)
{
    const jastrow_form *form = p->form;
    real *u = (real *)p->u_table.values, *chi = (real *)p->chi_table.values;
    fill_table(p->like.values, p->like.count, form->cusp[0], form->spacing[0], u);
    fill_table(p->unlike.values, p->unlike.count, form->cusp[1], form->spacing[1],
               u + 4 * rows_of(p->like.count));
    for (int k = 0; k < form->kinds; k++) {
        const jastrow_kind *kind = &form->kind[k];
        fill_table(p->chi.values + kind->first, kind->count, kind->cusp, kind->spacing, chi);
        chi += 4 * rows_of(kind->count);
    }
}

static int make_table(const plugmc_host *host, int32_t rows, plugmc_list *out)
{
    real *table = host->allocate(host->context, 4 * (size_t)rows * sizeof *table);
    if (!table) return lacks_memory(host);
    *out = (plugmc_list){table, 4 * rows};
    return PLUGMC_OK;
}

/* ---- Cutoffs -------------------------------------------------------------------------------- */

/* `of_file` goes before `given`; 0: not given. */
static int choose_cutoff(const plugmc_host *host, const char *key, double of_file, real given,
                         double *out)
{
    const double radius = plugmc_half_box(&host->system->box);
    const double rounding = 1e-4; /* bohr: that files round their cutoffs by */
    *out = of_file > 0 ? of_file : given > 0 ? (double)given : radius;
    if (of_file > radius && of_file < radius + rounding) *out = radius;
    if (!isfinite(*out))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s must be given, since the box is not periodic", key);
    char what[32];
    snprintf(what, sizeof what, "%s = 0", key);
    return of_file > 0 || given > 0 ? PLUGMC_OK : box_default_check(host, what, "give a length");
}

static int too_few(const plugmc_host *host, const char *key, int32_t count)
{
    if (count == 0 || count >= 2) return 0;
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s needs at least two coefficients", key);
}

/* ---- u -------------------------------------------------------------------------------------- */

/* Of like or unlike spins: knots and their distance. */
static int prepare_spins(const parameters *p, const plugmc_host *host, jastrow_form *form, int k,
                         real *intervals, real *per_length)
{
    const int32_t n = k ? p->unlike.count : p->like.count;
    const double radius = plugmc_half_box(&host->system->box);
    double cutoff = 0;
    int code = too_few(host, k ? "unlike" : "like", n);
    if (!code && n) code = choose_cutoff(host, "u_cutoff", form->cutoff[k], p->u_cutoff, &cutoff);
    if (code) return code;
    if (cutoff > radius * (1 + 1e-6))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "u_cutoff = %g exceeds the distance to the nearest image, %g", cutoff,
                          radius);
    form->cutoff[k] = cutoff;
    form->spacing[k] = cutoff / (n + 1);
    *intervals = (real)(rows_of(n) - 1);
    *per_length = (real)(n ? 1 / form->spacing[k] : 0);
    return PLUGMC_OK;
}

static int prepare_u(parameters *p, const plugmc_host *host, jastrow_form *form)
{
    if (!form->file && p->like.count && p->unlike.count && p->like.count != p->unlike.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "like has %d coefficients but unlike has %d: the numbers must be "
                          "equal",
                          p->like.count, p->unlike.count);
    int code = prepare_spins(p, host, form, 0, &p->like_intervals, &p->like_per_length);
    if (!code) code = prepare_spins(p, host, form, 1, &p->unlike_intervals, &p->unlike_per_length);
    p->u_reach = (real)fmax(form->cutoff[0], form->cutoff[1]);
    return code ? code
                : make_table(host, rows_of(p->like.count) + rows_of(p->unlike.count), &p->u_table);
}

/* ---- Ions ----------------------------------------------------------------------------------- */

/* Distance between the lattice planes that d counts. */
static double plane_distance(const plugmc_box *box, int d)
{
    double square = 0;
    for (int e = 0; e < 3; e++) square += box->inverse[e][d] * box->inverse[e][d];
    return 1 / sqrt(square);
}

/* Images with fractional coordinates between -reach and 1 + reach, counted, and written if out is
 * given. `from` is the ion, fractional in [0, 1). */
static int64_t images_of(const plugmc_box *box, const double from[3], const double reach[3],
                         real *out)
{
    int64_t count = 0;
    int low[3], high[3];
    for (int d = 0; d < 3; d++) {
        low[d] = (int)ceil(-reach[d] - from[d]);
        high[d] = (int)floor(1 + reach[d] - from[d]);
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int k = low[2]; k <= high[2]; k++, count++) {
                const double f[3] = {from[0] + i, from[1] + j, from[2] + k};
                for (int d = 0; d < 3 && out; d++)
                    out[3 * count + d] =
                        (real)(f[0] * box->vector[0][d] + f[1] * box->vector[1][d] +
                               f[2] * box->vector[2][d]);
            }
    return count;
}

/* The places of all ions of a kind that can be within the cutoff of a point of the cell; a thousandth of the
 * cell more, since electrons may be beyond its faces by rounding. Written if out is given. */
static int64_t centres_of(const plugmc_box *box, const ion_sites *sites, double cutoff, real *out)
{
    int64_t count = 0;
    double reach[3];
    for (int d = 0; d < 3; d++) reach[d] = cutoff / plane_distance(box, d) + 1e-3;
    for (int32_t i = 0; i < sites->count; i++) {
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
            count += images_of(box, sites->at[i], reach, out ? out + 3 * count : NULL);
            continue;
        }
        for (int d = 0; d < 3 && out; d++) out[3 * count + d] = (real)sites->at[i][d];
        count++;
    }
    return count;
}

/* Those of an element among the ions of the orbitals; those of all if it is 0, which then have to be of one. */
static int find_sites(const plugmc_host *host, const plugmc_ions *ions, const char *label,
                      jastrow_kind *kind)
{
    uint8_t *wanted = host->allocate(host->context, (size_t)ions->count + 1);
    if (!wanted) return lacks_memory(host);
    for (int32_t i = 0; i < ions->count; i++) {
        wanted[i] = !kind->element || ions->atomic_number[i] == kind->element;
        if (!kind->element && ions->atomic_number[i] != ions->atomic_number[0])
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' has ions of %s and %s: say by elements, or by ions, "
                              "for which chi is",
                              label, element_symbol(ions->atomic_number[0]),
                              element_symbol(ions->atomic_number[i]));
    }
    const int code = ion_sites_of_orbitals(host, ions, wanted, &kind->sites);
    if (code || kind->sites.count) return code;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "there is a chi for ions of %s, but potential '%s' has none",
                      element_symbol(kind->element), label);
}

static int check_ions(const parameters *p, const plugmc_host *host, const jastrow_form *form)
{
    if (p->ions.count % 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions has %d numbers, which is not a multiple of three", p->ions.count);
    if (!form->kinds && p->ions.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions are given, but no chi of the distance to them");
    if (form->kinds > 1 && p->ions.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions are given beside a chi for each of %d elements: say by elements "
                          "which of them they are",
                          form->kinds);
    for (int d = 0; d < 3; d++) {
        if (p->tile.values[d] != floor((double)p->tile.values[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "tile needs three whole numbers");
        if (form->kinds && !p->ions.count && p->tile.values[d] != 1)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "tile is for ions of this section, and there are none");
    }
    return form->kinds ? box_default_check(host, "the place of ions", "omit chi") : PLUGMC_OK;
}

/* Where the ions of each kind are. */
static int prepare_sites(const parameters *p, const plugmc_host *host, jastrow_form *form)
{
    plugmc_ions ions;
    int code = check_ions(p, host, form);
    if (code || !form->kinds) return code;
    if (p->ions.count) return ion_sites_of_list(host, &p->ions, &p->tile, &form->kind[0].sites);
    const char *label = ions_of_orbitals(host, &ions);
    if (!label)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi needs the positions of the ions that it belongs to: give ions");
    for (int k = 0; k < form->kinds && !code; k++)
        code = find_sites(host, &ions, label, &form->kind[k]);
    return code;
}

/* ---- chi ------------------------------------------------------------------------------------ */

/* Numbers of a kind, whose centres begin at number `from` of the list; its images are written if there is memory. */
static int64_t fill_kind(const plugmc_host *host, const jastrow_kind *kind, int32_t rows,
                         int64_t from, real *numbers, real *centres)
{
    const int64_t count = centres_of(&host->system->box, &kind->sites, kind->cutoff,
                                     centres ? centres + 3 * from : NULL);
    numbers[KIND_BEGIN] = (real)(3 * from);
    numbers[KIND_END] = (real)(3 * (from + count));
    numbers[KIND_ROWS] = (real)(4 * rows);
    numbers[KIND_INTERVALS] = (real)(kind->count + 1);
    numbers[KIND_PER_LENGTH] = (real)(1 / kind->spacing);
    numbers[KIND_FIRST] = (real)kind->first;
    return count;
}

static int prepare_centres(parameters *p, const plugmc_host *host, const jastrow_form *form)
{
    const int64_t most = 5000000; /* whole numbers are exact in float up to 1.6e7 */
    const int32_t numbers = form->kinds * KIND_NUMBERS;
    real *kinds = host->allocate(host->context, (size_t)numbers * sizeof *kinds), *centres = NULL;
    if (!kinds) return lacks_memory(host);
    for (int pass = 0; pass < 2; pass++) {
        int64_t count = 0;
        int32_t rows = 0;
        for (int k = 0; k < form->kinds; k++) {
            count +=
                fill_kind(host, &form->kind[k], rows, count, kinds + k * KIND_NUMBERS, centres);
            rows += rows_of(form->kind[k].count);
        }
        if (count > most)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%lld images of ions are within the cutoff of the cell, which is "
                              "too many: use shorter cutoffs",
                              (long long)count);
        if (pass == 0) centres = host->allocate(host->context, 3 * (size_t)count * sizeof *centres);
        if (!centres) return lacks_memory(host);
        p->centres = (plugmc_list){centres, (int32_t)(3 * count)};
    }
    p->kinds = (plugmc_list){kinds, numbers};
    return PLUGMC_OK;
}

static int prepare_chi(parameters *p, const plugmc_host *host, jastrow_form *form)
{
    int32_t rows = 0;
    int code = PLUGMC_OK;
    for (int k = 0; k < form->kinds && !code; k++) {
        jastrow_kind *kind = &form->kind[k];
        code = too_few(host, "chi", kind->count);
        if (!code)
            code = choose_cutoff(host, "chi_cutoff", kind->cutoff, p->chi_cutoff, &kind->cutoff);
        kind->spacing = kind->cutoff / (kind->count + 1);
        rows += rows_of(kind->count);
    }
    if (!code) code = prepare_sites(p, host, form);
    if (!code) code = make_table(host, rows ? rows : 1, &p->chi_table);
    return code || !form->kinds ? code : prepare_centres(p, host, form);
}

/* ---- All together --------------------------------------------------------------------------- */

/* Copies that may be written to. */
static int own_coefficients(parameters *p, const plugmc_host *host)
{
    plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi};
    for (int k = 0; k < 3; k++) {
        real *own = host->allocate(host->context, ((size_t)lists[k]->count + 1) * sizeof *own);
        if (!own) return lacks_memory(host);
        for (int32_t i = 0; i < lists[k]->count; i++) own[i] = lists[k]->values[i];
        lists[k]->values = own;
    }
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    jastrow_form *form = host->allocate(host->context, sizeof *form);
    if (!form) return lacks_memory(host);
    p->form = form;
    int code = read_coefficients(p, host, form);
    if (!code && !p->like.count && !p->unlike.count && !p->chi.count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no coefficients: give like, unlike, chi or a file with them");
    if (!code) code = prepare_u(p, host, form);
    if (!code) code = prepare_chi(p, host, form);
    if (!code) code = own_coefficients(p, host);
    if (!code) fill_tables(p);
    return code;
}

/* A three-body term of the file is for another plugin, which has to be there: a factor that is left out makes another
 * wave function. */
static int check_three_body(const parameters *p, const plugmc_host *host)
{
    if (!p->form->file || !p->form->file->three_elements) return PLUGMC_OK;
    for (int32_t t = 0; t < host->system->term_count; t++)
        if (!strcmp(plugmc_term_at(host->system, t)->plugin->name, "polynomial_jastrow"))
            return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "file '%s' has a three-body term (eeI), which [potential polynomial_jastrow] "
                      "file = %s reads: add it, with role = measured to leave the term out",
                      p->file, p->file);
}

static void warn_of_fixed(const parameters *p, const plugmc_host *host)
{
    const qmcpack_jastrow *file = p->form->file;
    int fixed = 0;
    if (!host->system->parameters_change || !file) return;
    for (int k = 0; k < 2; k++) fixed += file->pair[k].at.fixed;
    for (int k = 0; k < file->elements; k++) fixed += file->one[k].at.fixed;
    if (fixed)
        host->warn(host->context,
                   "file '%s' has coefficients with optimize=\"no\", which are optimised here, too",
                   p->file);
}

static int prepare(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    ion_comparison comparison = ion_comparison_begin(host);
    const int code = check_three_body(p, host);
    if (code) return code;
    warn_of_fixed(p, host);
    if (!p->ions.count) return PLUGMC_OK;
    ion_comparison_add_sites(&comparison, &p->form->kind[0].sites);
    ion_comparison_end(&comparison);
    return PLUGMC_OK;
}

/* ---- For plugmc check ------------------------------------------------------------------------ */

static int32_t describe(const void *instance, int32_t index, char *out, size_t bytes)
{
    const parameters *p = instance;
    const jastrow_form *form = p->form;
    const int32_t counts[2] = {p->like.count, p->unlike.count};
    for (int k = 0; k < 2; k++)
        if (counts[k] && !index--) {
            snprintf(out, bytes, "u of %s spins: %d coefficients, cutoff %.6g, slope at contact %g",
                     k ? "unlike" : "like", counts[k], form->cutoff[k], form->cusp[k]);
            return 1;
        }
    if (index >= form->kinds) return 0;
    const jastrow_kind *kind = &form->kind[index];
    snprintf(out, bytes, "chi of %d ions%s%s: %d coefficients, cutoff %.6g, slope at the ion %g",
             kind->sites.count, kind->element ? " of " : "",
             kind->element ? element_symbol(kind->element) : "", kind->count, kind->cutoff,
             kind->cusp);
    return 1;
}

static const plugmc_description description = {.size = sizeof description, .line = describe};

#endif

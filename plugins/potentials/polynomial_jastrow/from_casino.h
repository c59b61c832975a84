/* What a file of CASINO gives, in our units, for polynomial_jastrow.c: included inside its PLUGMC_HOST part. */
#ifndef POLYNOMIAL_JASTROW_FROM_CASINO_H
#define POLYNOMIAL_JASTROW_FROM_CASINO_H

/* Coefficients of spin number `spin` in our units into a list that the section does not give. */
static int take_radial(const plugmc_host *host, const correlation_radial *from, int truncation,
                       int spin, plugmc_list *out)
{
    const int each = from->order; /* coefficient 1 is no number of the file */
    double values[CORRELATION_MOST_ORDER];
    const double *found = from->values + each * (spin < from->spins ? spin : 0);
    if (!from->given) return PLUGMC_OK;
    for (int k = 0; k < each; k++)
        values[k] = found[k] * pow(-from->cutoff, truncation) * pow(from->cutoff, k ? k + 1 : 0);
    return own(host, out, values, each);
}

static int take_f(const plugmc_host *host, const correlation_f *from, int spin, plugmc_list *out)
{
    const f_form *form = from->form;
    if (!from->given) return PLUGMC_OK;
    double *values = host->allocate(host->context, ((size_t)form->free + 1) * sizeof *values);
    if (!values) return lacks_memory(host);
    for (int32_t k = 0; k < form->free; k++) {
        const int32_t *power = form->power[form->free_column[k]];
        values[k] = from->values[form->free * (spin < from->spins ? spin : 0) + k] *
                    pow(from->cutoff, 2 * form->truncation + power[0] + power[1] + power[2]);
    }
    return own(host, out, values, form->free);
}

/* Numbers are of the cutoff that stands beside them. */
static int take_cutoff(const plugmc_host *host, const char *file, const char *key, int given,
                       double found, real *cutoff)
{
    if (!given) return PLUGMC_OK;
    if (*cutoff > 0 && fabs((double)*cutoff - found) > 1e-6 * found)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %g is given beside file '%s', which has %g: leave it out", key,
                          (double)*cutoff, file, found);
    *cutoff = (real)found;
    return PLUGMC_OK;
}

/* Lists that the section gives are kept. */
static int take_file(parameters *p, const plugmc_host *host, const correlation_data *d)
{
    int code = take_radial(host, &d->u, d->truncation, 0, &p->u_like);
    if (!code) code = take_radial(host, &d->u, d->truncation, 1, &p->u_unlike);
    if (!code) code = take_radial(host, &d->chi, d->truncation, 0, &p->chi);
    if (!code) code = take_f(host, &d->f, 0, &p->f_like);
    if (!code) code = take_f(host, &d->f, 1, &p->f_unlike);
    if (!code && d->chi.given && d->chi_has_cusp && !(p->chi_cusp > 0))
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s' gives chi the cusp of the nucleus: chi_cusp needs its charge",
                          p->casino);
    if (!code)
        code = take_cutoff(host, p->casino, "u_cutoff", d->u.given, d->u.cutoff, &p->u_cutoff);
    if (!code)
        code =
            take_cutoff(host, p->casino, "chi_cutoff", d->chi.given, d->chi.cutoff, &p->chi_cutoff);
    if (!code)
        code = take_cutoff(host, p->casino, "f_cutoff", d->f.given, d->f.cutoff, &p->f_cutoff);
    p->truncation = d->truncation;
    if (!d->f.given) return code;
    p->f_electron_ion = d->f.form->most_l;
    p->f_electron_electron = d->f.form->most_n;
    p->f_without_u = d->f.form->without_u;
    p->f_without_chi = d->f.form->without_chi;
    return code;
}

static int read_file(parameters *p, const plugmc_host *host)
{
    correlation_data data;
    const int ions = p->ions.count > 0;
    const int code = correlation_data_read(host, p->casino, ions ? (int)p->chi_set : 0,
                                           ions ? (int)p->f_set : 0, &data);
    return code ? code : take_file(p, host, &data);
}

#endif

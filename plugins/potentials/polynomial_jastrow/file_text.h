/* The file of polynomial_jastrow.c with the present coefficients: included inside its PLUGMC_HOST part. */
#ifndef POLYNOMIAL_JASTROW_FILE_TEXT_H
#define POLYNOMIAL_JASTROW_FILE_TEXT_H

/* ---- CASINO ------------------------------------------------------------------------------------ */

/* Coefficients of the file from ours [count], for its cutoff; zeros up to `order`. */
static void unscale_radial(const real *from, int32_t count, int order, int truncation,
                           double cutoff, double *out)
{
    for (int k = 0; k < order; k++)
        out[k] =
            k < count ? (double)from[k] / pow(-cutoff, truncation) / pow(cutoff, k ? k + 1 : 0) : 0;
}

/* u of like and of unlike spins, each with coefficients of its own. */
static int put_u(const parameters *p, const plugmc_host *host, correlation_radial *u)
{
    const plugmc_list *const lists[2] = {&p->u_like, &p->u_unlike};
    const int order = most_count(&p->u_like, &p->u_unlike);
    u->values = host->allocate(host->context, (2 * (size_t)order + 1) * sizeof *u->values);
    if (!u->values) return lacks_memory(host);
    u->order = order;
    u->spins = 2;
    for (int spin = 0; spin < 2; spin++)
        unscale_radial(lists[spin]->values, lists[spin]->count, order, (int)p->truncation,
                       u->cutoff, u->values + spin * order);
    return PLUGMC_OK;
}

static int put_chi(const parameters *p, const plugmc_host *host, const polynomial_kind *kind,
                   correlation_radial *chi)
{
    chi->values = host->allocate(host->context, ((size_t)kind->count + 1) * sizeof *chi->values);
    if (!chi->values) return lacks_memory(host);
    chi->order = kind->count;
    unscale_radial(p->chi.values + kind->first, kind->count, chi->order, (int)p->truncation,
                   chi->cutoff, chi->values);
    return PLUGMC_OK;
}

static int put_f(const parameters *p, const plugmc_host *host, const polynomial_kind *kind,
                 correlation_f *f)
{
    const plugmc_list *const lists[2] = {&p->f_like, &p->f_unlike};
    const f_form *form = f->form;
    f->values = host->allocate(host->context, (2 * (size_t)form->free + 1) * sizeof *f->values);
    if (!f->values) return lacks_memory(host);
    f->spins = 2;
    for (int spin = 0; spin < 2; spin++)
        for (int32_t k = 0; k < form->free; k++) {
            const int32_t *power = form->power[form->free_column[k]];
            f->values[spin * form->free + k] =
                (double)lists[spin]->values[kind->first + k] /
                pow(f->cutoff, 2 * form->truncation + power[0] + power[1] + power[2]);
        }
    return PLUGMC_OK;
}

static char *casino_text(const parameters *p, const plugmc_host *host, const char *text)
{
    const polynomial_form *form = p->form;
    correlation_data *d = host->allocate(host->context, sizeof *d);
    if (!d) return NULL;
    *d = *form->casino;
    int code = d->u.given ? put_u(p, host, &d->u) : PLUGMC_OK;
    for (int k = 0; k < form->chi_kinds && !code; k++)
        code = put_chi(p, host, &form->chi[k], &d->chi[form->chi[k].set - 1]);
    for (int k = 0; k < form->f_kinds && !code; k++)
        code = put_f(p, host, &form->f[k], &d->f[form->f[k].set - 1]);
    return code ? NULL : correlation_data_rewrite(text, d);
}

/* ---- QMCPACK ----------------------------------------------------------------------------------- */

/* gamma of QMCPACK in its order; NULL: there is no memory. */
static double *polynomial_values(const plugmc_host *host, const polynomial_kind *kind,
                                 const qmcpack_polynomial *of_file, const plugmc_list *list)
{
    const f_form *order =
        f_form_make(host, F_ORDER_QMCPACK, of_file->isize, of_file->esize, 3, 0, 0);
    double *values =
        order ? host->allocate(host->context, (2 * (size_t)order->free + 1) * sizeof *values)
              : NULL;
    if (!values) return NULL;
    double *ours = values + order->free;
    for (int32_t k = 0; k < order->free; k++) ours[k] = (double)list->values[kind->first + k];
    f_form_convert(kind->form, ours, order, values);
    for (int32_t k = 0; k < order->free; k++) {
        const int32_t *power = order->power[order->free_column[k]];
        values[k] /= -pow(kind->cutoff, 6 + power[0] + power[1] + power[2]);
    }
    return values;
}

/* A function of unlike spins, which QMCPACK takes from the like ones where there is none. */
static void word_unlike(const qmcpack_polynomial *like, char before[300])
{
    char cutoff[40] = "";
    const char *ion = like->at.ion;
    if (like->at.cutoff > 0) snprintf(cutoff, sizeof cutoff, " rcut=\"%.12g\"", like->at.cutoff);
    snprintf(before, 300,
             "\n<correlation ispecies=\"%s\" especies1=\"u\" especies2=\"d\" isize=\"%d\" "
             "esize=\"%d\"%s>\n<coefficients id=\"ud%s\" type=\"Array\">",
             ion, like->isize, like->esize, cutoff, ion);
}

static char *polynomial_text(const parameters *p, const plugmc_host *host, const char *text)
{
    const polynomial_form *form = p->form;
    const plugmc_list *const lists[2] = {&p->f_like, &p->f_unlike};
    qmcpack_jastrow *file = host->allocate(host->context, sizeof *file);
    qmcpack_change change[2 * MOST_KINDS];
    char(*before)[300] = host->allocate(host->context, MOST_KINDS * sizeof *before);
    int count = 0, at;
    if (!file || !before || qmcpack_jastrow_parse(host, p->file, text, file)) return NULL;
    for (int k = 0; k < form->f_kinds; k++) {
        const polynomial_kind *kind = &form->f[k];
        if (find_polynomial(p, host, file, kind->element, &at)) return NULL;
        const qmcpack_polynomial *of_file = file->three[at];
        for (int spin = 0; spin < 2; spin++) {
            const int new = spin && file->three_shared[at];
            double *values = polynomial_values(host, kind, of_file, lists[spin]);
            if (!values) return NULL;
            if (new) word_unlike(of_file, before[k]);
            change[count++] =
                (qmcpack_change){&of_file[new ? 0 : spin].at, values, kind->count,
                                 new ? before[k] : NULL, "</coefficients>\n</correlation>"};
        }
    }
    return qmcpack_jastrow_rewrite(text, change, count);
}

static char *file_text(const void *instance, const plugmc_host *host, const char *text)
{
    const parameters *p = instance;
    return p->form->casino ? casino_text(p, host, text) : polynomial_text(p, host, text);
}

#endif

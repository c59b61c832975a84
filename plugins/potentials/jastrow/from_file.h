/* Coefficients of jastrow.c from a file: lines with lists, or the XML of QMCPACK. Included inside its PLUGMC_HOST part. */
#ifndef JASTROW_FROM_FILE_H
#define JASTROW_FROM_FILE_H

/* Ions with a chi of their own. */
typedef struct jastrow_kind {
    int32_t element;              /* atomic number; 0: the section does not say */
    int32_t count, first;         /* its coefficients among those of chi */
    double cusp, cutoff, spacing; /* 1/length; length, 0: not given; length between knots */
    ion_sites sites;
} jastrow_kind;

/* What only the host needs. */
typedef struct jastrow_form {
    double cusp[2], cutoff[2], spacing[2]; /* of u of like and unlike spins, as of a kind */
    int32_t kinds;
    jastrow_kind kind[QMCPACK_MOST_ELEMENTS];
    const qmcpack_jastrow *file; /* NULL: no XML */
} jastrow_form;

static int lacks_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the Jastrow factor");
}

/* ---- Lines ------------------------------------------------------------------------------------- */

/* Appends the numbers of a line to a list; returns what is wrong with them, or NULL. */
static const char *append_numbers(const plugmc_host *host, char *text, plugmc_list *list)
{
    const size_t most = (size_t)list->count + strlen(text) / 2 + 1;
    real *values = host->allocate(host->context, most * sizeof *values);
    char *rest = text, *word, *end;
    if (!values) return "needs more memory than there is";
    for (int32_t i = 0; i < list->count; i++) values[i] = list->values[i];
    list->values = values;
    while ((word = strtok_r(rest, " \t\r", &rest))) {
        double value = strtod(word, &end);
        if (*end || !isfinite(value)) return "has something that is not a number";
        values[list->count++] = (real)value;
    }
    return NULL;
}

enum { LISTS = 4 };
static const char *const list_names[LISTS] = {"like", "unlike", "chi", "ions"};

/* Lines "like ...", "unlike ...", "chi ..." with coefficients and "ions ..." with positions, each
 * as often as wanted; # begins a comment. A list of the section goes before that of the file. */
static int read_lines(parameters *p, const plugmc_host *host, char *text)
{
    plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi, &p->ions}, none = {NULL, 0};
    int given[LISTS], number = 0, code = PLUGMC_OK;
    for (int k = 0; k < LISTS; k++) given[k] = lists[k]->count > 0;
    for (char *line = text, *next; line && !code; line = next) {
        char *rest = line, *word;
        int kind = 0;
        const char *wrong = NULL;
        number++;
        if ((next = strchr(line, '\n'))) *next++ = 0;
        line[strcspn(line, "#")] = 0;
        if (!(word = strtok_r(rest, " \t\r", &rest))) continue;
        while (kind < LISTS && strcmp(list_names[kind], word)) kind++;
        plugmc_list unused = none;
        if (kind == LISTS)
            wrong = "does not begin with like, unlike, chi or ions";
        else
            wrong = append_numbers(host, rest, given[kind] ? &unused : lists[kind]);
        if (wrong)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%s', line %d %s", p->file,
                              number, wrong);
    }
    return code;
}

/* ---- QMCPACK's XML ------------------------------------------------------------------------------ */

/* Appends `count` coefficients, zeros where the file has none. */
static int append_values(const plugmc_host *host, const qmcpack_spline *from, plugmc_list *list)
{
    real *values =
        host->allocate(host->context, (size_t)(list->count + from->size) * sizeof *values);
    if (!values) return lacks_memory(host);
    for (int32_t i = 0; i < list->count; i++) values[i] = list->values[i];
    for (int i = 0; i < from->at.count; i++) values[list->count + i] = (real)from->at.values[i];
    list->values = values;
    list->count += from->size;
    return PLUGMC_OK;
}

/* A list of the section goes before that of the file, and has to have its form. */
static int check_count(const parameters *p, const plugmc_host *host, const char *key, int32_t count,
                       int32_t of_file)
{
    if (count == of_file) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s has %d coefficients, but file '%s' has %d in their place", key, count,
                      p->file, of_file);
}

/* A key of the section that the file decides. */
static int check_key(const parameters *p, const plugmc_host *host, const char *key, real value,
                     double unless)
{
    if ((real)unless == value) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s = %g is given beside file '%s', which decides that: leave it out", key,
                      (double)value, p->file);
}

static int take_pairs(parameters *p, const plugmc_host *host, const qmcpack_jastrow *file,
                      jastrow_form *form)
{
    plugmc_list *const lists[2] = {&p->like, &p->unlike};
    static const char *const names[] = {"like", "unlike"};
    int lacking = 0, code = check_key(p, host, "like_cusp", p->like_cusp, -0.25);
    if (!code) code = check_key(p, host, "unlike_cusp", p->unlike_cusp, -0.5);
    for (int k = 0; k < 2 && !code; k++) {
        const qmcpack_spline *from = &file->pair[k && file->shared ? 0 : k];
        if (!from->at.given) {
            code = lists[k]->count ? check_count(p, host, names[k], lists[k]->count, 0) : PLUGMC_OK;
            continue;
        }
        form->cusp[k] = from->cusp;
        form->cutoff[k] = from->at.cutoff;
        lacking += !(from->at.cutoff > 0);
        code = lists[k]->count ? check_count(p, host, names[k], lists[k]->count, from->size)
                               : append_values(host, from, lists[k]);
    }
    return code || lacking ? code : check_key(p, host, "u_cutoff", p->u_cutoff, 0);
}

static int take_ones(parameters *p, const plugmc_host *host, const qmcpack_jastrow *file,
                     jastrow_form *form)
{
    plugmc_list found = {NULL, 0};
    int lacking = 0, code = check_key(p, host, "chi_cusp", p->chi_cusp, 0);
    for (int k = 0; k < form->kinds && !code; k++) {
        jastrow_kind *kind = &form->kind[k];
        const qmcpack_spline *from = NULL;
        for (int e = 0; e < file->elements; e++)
            if (file->one[e].at.element == kind->element) from = &file->one[e];
        if (!from)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "elements: file '%s' has no one-body function for ions of %s",
                              p->file, element_symbol(kind->element));
        *kind = (jastrow_kind){.element = kind->element,
                               .count = from->size,
                               .first = found.count,
                               .cusp = from->cusp,
                               .cutoff = from->at.cutoff};
        lacking += !(from->at.cutoff > 0);
        code = append_values(host, from, &found);
    }
    if (!code && !lacking) code = check_key(p, host, "chi_cutoff", p->chi_cutoff, 0);
    if (code) return code;
    if (p->chi.count) return check_count(p, host, "chi", p->chi.count, found.count);
    p->chi = found;
    return PLUGMC_OK;
}

/* ---- Kinds of ions ------------------------------------------------------------------------------ */

/* Those that `elements` names. */
static int read_elements(const parameters *p, const plugmc_host *host, jastrow_form *form)
{
    char words[1024], *rest = words, *word;
    if (snprintf(words, sizeof words, "%s", p->elements) >= (int)sizeof words)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "elements has too many words");
    while ((word = strtok_r(rest, " \t", &rest))) {
        const int32_t number = element_of(word);
        if (!number)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "elements: '%.40s' is not the symbol of an element", word);
        for (int k = 0; k < form->kinds; k++)
            if (form->kind[k].element == number)
                return host->fail(host->context, PLUGMC_ERROR_INPUT, "elements has %s twice", word);
        if (form->kinds == QMCPACK_MOST_ELEMENTS)
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "elements has more than %d words",
                              QMCPACK_MOST_ELEMENTS);
        form->kind[form->kinds++].element = number;
    }
    return PLUGMC_OK;
}

/* As many coefficients for each. */
static int share_chi(const parameters *p, const plugmc_host *host, jastrow_form *form)
{
    if (!p->chi.count)
        return form->kinds ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                                        "elements are given, but no chi of the distance to them")
                           : PLUGMC_OK;
    if (!form->kinds) form->kinds = 1;
    if (p->chi.count % form->kinds)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi has %d coefficients, which %d elements cannot share evenly",
                          p->chi.count, form->kinds);
    for (int k = 0; k < form->kinds; k++) {
        jastrow_kind *kind = &form->kind[k];
        kind->count = p->chi.count / form->kinds;
        kind->first = k * kind->count;
        kind->cusp = (double)p->chi_cusp;
    }
    return PLUGMC_OK;
}

static int take_markup(parameters *p, const plugmc_host *host, const char *text, jastrow_form *form)
{
    qmcpack_jastrow *file = host->allocate(host->context, sizeof *file);
    if (!file) return lacks_memory(host);
    int code = qmcpack_jastrow_parse(host, p->file, text, file);
    form->file = file;
    for (int e = 0; e < file->elements && !code && !*p->elements; e++)
        form->kind[form->kinds++].element = file->one[e].at.element;
    if (!code) code = take_pairs(p, host, file, form);
    if (!code) code = take_ones(p, host, file, form);
    return code;
}

/* Lists of the section, and those of the file that it does not have. */
static int read_coefficients(parameters *p, const plugmc_host *host, jastrow_form *form)
{
    form->cusp[0] = (double)p->like_cusp;
    form->cusp[1] = (double)p->unlike_cusp;
    int code = read_elements(p, host, form);
    char *text = !code && *p->file ? text_file_read(host, p->file) : NULL;
    if (code) return code;
    if (*p->file && !text) return PLUGMC_ERROR_INPUT;
    if (text && qmcpack_is_markup(text)) return take_markup(p, host, text, form);
    if (text) code = read_lines(p, host, text);
    return code ? code : share_chi(p, host, form);
}

#endif

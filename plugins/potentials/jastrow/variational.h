/* The coefficients of jastrow.c as variational parameters (plugmc/wave.h): included inside its PLUGMC_HOST part. */
#ifndef JASTROW_VARIATIONAL_H
#define JASTROW_VARIATIONAL_H

/* The three lists one after the other. */
static int64_t variational_count(const void *instance)
{
    const parameters *p = instance;
    return (int64_t)p->like.count + p->unlike.count + p->chi.count;
}

static int free_number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    const parameters *p = instance;
    const int64_t unlike = p->like.count, chi = unlike + p->unlike.count;
    out->key = k < unlike ? "like" : k < chi ? "unlike" : "chi";
    out->place = k < unlike ? k : k < chi ? k - unlike : k - chi;
    return PLUGMC_OK;
}

static int free_get(const void *instance, double *values)
{
    const parameters *p = instance;
    const plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi};
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < lists[k]->count; i++) *values++ = (double)lists[k]->values[i];
    return PLUGMC_OK;
}

static int free_set(void *instance, const double *values)
{
    parameters *p = instance;
    const plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi};
    for (int k = 0; k < 3; k++) {
        real *own = (real *)lists[k]->values;
        for (int32_t i = 0; i < lists[k]->count; i++) own[i] = (real)*values++;
    }
    fill_tables(p);
    return PLUGMC_OK;
}

/* Numbers of the three lists; they are the sums. */
static int64_t variational_sums(const parameters *p) { return variational_count(p); }

static void variational_combine(const parameters *p, const double *sums, double *row)
{
    for (int64_t k = 0; k < variational_count(p); k++) row[k] += sums[k];
}

#define PLUGMC_VARIATIONAL (PLUGMC_VARIATIONAL_PAIR | PLUGMC_VARIATIONAL_FIELD)
#include <plugmc/variational.h>

/* ---- The file of the section ----------------------------------------------------------------- */

/* A spline for unlike spins, which QMCPACK takes from the like ones where there is none. */
static int add_unlike(const parameters *p, const qmcpack_spline *like, char before[200],
                      qmcpack_change *out)
{
    char cutoff[40] = "";
    if (like->at.cutoff > 0) snprintf(cutoff, sizeof cutoff, " rcut=\"%.12g\"", like->at.cutoff);
    snprintf(before, 200,
             "\n<correlation speciesA=\"u\" speciesB=\"d\" size=\"%d\"%s cusp=\"%.12g\">"
             "\n<coefficients id=\"ud\" type=\"Array\">",
             p->unlike.count, cutoff, p->form->cusp[1]);
    *out = (qmcpack_change){&like->at, NULL, p->unlike.count, before,
                            "</coefficients>\n</correlation>"};
    return 1;
}

static char *markup_text(const parameters *p, const plugmc_host *host, const char *text,
                         const double *values)
{
    qmcpack_jastrow *file = host->allocate(host->context, sizeof *file);
    qmcpack_change change[QMCPACK_MOST_ELEMENTS + 2];
    const double *unlike = values + p->like.count, *chi = unlike + p->unlike.count;
    char before[200];
    int count = 0;
    if (!file || qmcpack_jastrow_parse(host, p->file, text, file)) return NULL;
    if (file->pair[0].at.given)
        change[count++] = (qmcpack_change){&file->pair[0].at, values, p->like.count, NULL, NULL};
    if (file->pair[1].at.given)
        change[count++] = (qmcpack_change){&file->pair[1].at, unlike, p->unlike.count, NULL, NULL};
    if (file->shared && memcmp(values, unlike, (size_t)p->unlike.count * sizeof *values) != 0) {
        count += add_unlike(p, &file->pair[0], before, &change[count]);
        change[count - 1].values = unlike;
    }
    for (int k = 0; k < p->form->kinds; k++)
        for (int e = 0; e < file->elements; e++)
            if (file->one[e].at.element == p->form->kind[k].element)
                change[count++] = (qmcpack_change){&file->one[e].at, chi + p->form->kind[k].first,
                                                   p->form->kind[k].count, NULL, NULL};
    return qmcpack_jastrow_rewrite(text, change, count);
}

/* All lists as lines; what else there was, comments, is not kept. */
static char *lines_text(const parameters *p)
{
    const plugmc_list *const lists[LISTS] = {&p->like, &p->unlike, &p->chi, &p->ions};
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    if (!out) return NULL;
    for (int k = 0; k < LISTS; k++) {
        if (!lists[k]->count) continue;
        fputs(list_names[k], out);
        for (int32_t i = 0; i < lists[k]->count; i++)
            fprintf(out, " %.12g", (double)lists[k]->values[i]);
        fputc('\n', out);
    }
    if (!fclose(out)) return made;
    free(made);
    return NULL;
}

static char *file_text(const void *instance, const plugmc_host *host, const char *text)
{
    const parameters *p = instance;
    if (!p->form->file) return lines_text(p);
    double *values = malloc(((size_t)variational_count(p) + 1) * sizeof *values);
    if (!values) return NULL;
    free_get(p, values);
    char *made = markup_text(p, host, text, values);
    free(values);
    return made;
}

static const char *const free_tables[] = {"like", "unlike", "chi", "u_table", "chi_table", NULL};

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

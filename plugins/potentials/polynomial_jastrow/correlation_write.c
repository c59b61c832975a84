/* A Jastrow factor in the form of CASINO's correlation.data: see correlation_data.h. */
#define _GNU_SOURCE /* open_memstream */
#include "correlation_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void write_value(FILE *out, double value, const char *name)
{
    fprintf(out, " %24.16E           1       ! %s\n", value, name);
}

static void write_cutoff(FILE *out, double cutoff)
{
    fprintf(out,
            " Cutoff (a.u.)     ;  Optimizable (0=NO; 1=YES)\n   %.15g   0\n"
            " Parameter values  ;  Optimizable (0=NO; 1=YES)\n",
            cutoff);
}

/* How sets name their ions, and whose a set is. */
static void write_sets(FILE *out, int sets, int labelling)
{
    fprintf(
        out,
        " Number of sets ; labelling (1->atom in s. cell; 2->atom in p. cell; 3->species)\n   %d "
        "%d\n",
        sets, labelling ? labelling : LABELS_OF_SUPERCELL);
}

static void write_ions(FILE *out, const correlation_ions *ions)
{
    const char *what = ions->labelling == LABELS_OF_SPECIES ? "species" : "atom";
    fprintf(out, " Number of %s%s in set\n   %d\n", what,
            ions->labelling == LABELS_OF_SPECIES ? "" : "s", ions->count);
    if (!ions->count) return;
    fprintf(out, " Label of the %s in this set\n  ", what);
    for (int k = 0; k < ions->count; k++) fprintf(out, " %d", ions->labels[k]);
    fprintf(out, "\n");
}

/* Powers 0, 2, 3 ...; `set` of chi, 0 of u. */
static void write_radial(FILE *out, const correlation_radial *r, int set)
{
    char name[80];
    for (int s = 0; s < r->spins; s++)
        for (int k = 0; k < r->order; k++) {
            if (set)
                snprintf(name, sizeof name, "beta_%d,%d,%d", k ? k + 1 : 0, s + 1, set);
            else
                snprintf(name, sizeof name, "alpha_%d,%d", k ? k + 1 : 0, s + 1);
            write_value(out, r->values[s * r->order + k], name);
        }
}

static void write_u(FILE *out, const correlation_radial *u)
{
    fprintf(out,
            " START U TERM\n Number of sets\n   1\n START SET 1\n Spherical harmonic l,m\n   0 0\n"
            " Expansion order N_u\n   %d\n Spin dep (0->uu=dd=ud; 1->uu=dd/=ud; 2->uu/=dd/=ud)\n"
            "   %d\n",
            u->order, u->spins - 1);
    write_cutoff(out, u->cutoff);
    write_radial(out, u, 0);
    fprintf(out, " END SET 1\n END U TERM\n");
}

static void write_chi(FILE *out, const correlation_radial *chi, int set)
{
    fprintf(out, " START SET %d\n Spherical harmonic l,m\n   0 0\n", set);
    write_ions(out, &chi->ions);
    fprintf(out,
            " Impose electron-nucleus cusp (0=NO; 1=YES)\n   %d\n Expansion order N_chi\n   %d\n"
            " Spin dep (0->u=d; 1->u/=d)\n   %d\n",
            chi->cusp, chi->order, chi->spins - 1);
    write_cutoff(out, chi->cutoff);
    write_radial(out, chi, set);
    fprintf(out, " END SET %d\n", set);
}

static void write_f(FILE *out, const correlation_f *f, int set)
{
    const f_form *form = f->form;
    fprintf(out, " START SET %d\n", set);
    write_ions(out, &f->ions);
    fprintf(out,
            " Prevent duplication of u term? (0=NO; 1=YES)\n   %d\n"
            " Prevent duplication of chi term? (0=NO; 1=YES)\n   %d\n"
            " Electron-nucleus expansion order N_f_eN\n   %d\n"
            " Electron-electron expansion order N_f_ee\n   %d\n"
            " Spin dep (0->uu=dd=ud; 1->uu=dd/=ud; 2->uu/=dd/=ud)\n   %d\n",
            form->without_u, form->without_chi, form->most_l, form->most_n, f->spins - 1);
    write_cutoff(out, f->cutoff);
    for (int s = 0; s < f->spins; s++)
        for (int k = 0; k < form->free; k++) {
            const int32_t *power = form->power[form->free_column[k]];
            char name[80];
            snprintf(name, sizeof name, "gamma_%d,%d,%d,%d,%d", power[0], power[1], power[2], s + 1,
                     set);
            write_value(out, f->values[s * form->free + k], name);
        }
    fprintf(out, " END SET %d\n", set);
}

static void write_jastrow(FILE *out, const correlation_data *d)
{
    int chis = 0, fs = 0, of_chi = 0, of_f = 0;
    for (int k = 0; k < d->chi_sets; k++)
        if (d->chi[k].given) chis++, of_chi = d->chi[k].ions.labelling;
    for (int k = 0; k < d->f_sets; k++)
        if (d->f[k].given) fs++, of_f = d->f[k].ions.labelling;
    fprintf(out, " START JASTROW\n Title\n %s\n Truncation order C\n   %d\n",
            *d->title ? d->title : "none", d->truncation);
    if (d->u.given) write_u(out, &d->u);
    if (chis) {
        fprintf(out, " START CHI TERM\n");
        write_sets(out, chis, of_chi);
        for (int k = 0; k < d->chi_sets; k++)
            if (d->chi[k].given) write_chi(out, &d->chi[k], k + 1);
        fprintf(out, " END CHI TERM\n");
    }
    if (fs) {
        fprintf(out, " START F TERM\n");
        write_sets(out, fs, of_f);
        for (int k = 0; k < d->f_sets; k++)
            if (d->f[k].given) write_f(out, &d->f[k], k + 1);
        fprintf(out, " END F TERM\n");
    }
    fprintf(out, " END JASTROW\n");
}

/* The first line from `text` on that begins with `label` behind blanks; its end if there is none. */
static const char *find_line(const char *text, const char *label)
{
    while (*text) {
        const char *word = text + strspn(text, " \t\r\f\v");
        if (!strncasecmp(word, label, strlen(label))) return text;
        text += strcspn(text, "\n");
        if (*text) text++;
    }
    return text;
}

char *correlation_data_rewrite(const char *text, const correlation_data *data)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    if (!out) return NULL;
    const char *begin = find_line(text, "START JASTROW"), *end = find_line(begin, "END JASTROW");
    end += strcspn(end, "\n");
    if (*end) end++;
    fwrite(text, 1, (size_t)(begin - text), out);
    write_jastrow(out, data);
    fputs(end, out);
    const int bad = ferror(out);
    if (!fclose(out) && !bad) return made;
    free(made);
    return NULL;
}

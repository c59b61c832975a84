/* What all formats of pseudopotentials share: splines, reading files, telling formats. */
#define _GNU_SOURCE /* strtod_l */
#include "pseudopotential.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

static int load_file(file_text *);

int pseudopotential_read(pseudopotential *p, const plugmc_host *host, const char *path,
                         double tolerance)
{
    file_text file = {.host = host, .path = path};
    *p = (pseudopotential){.path = path};
    int code = load_file(&file);
    if (code) return code;
    if (strstr(file.text, "<UPF version"))
        code = read_upf(p, &file, tolerance);
    else if (strstr(file.text, "<pseudo"))
        code = read_qmcpack(p, &file, tolerance);
    else if (strstr(file.text, "Atomic number and pseudo-charge"))
        code = read_casino(p, &file, tolerance);
    else
        code = pseudopotential_fault(&file,
                                     "is no pseudopotential in UPF 2, QMCPACK's XML or CASINO's "
                                     "tabulated format");
    free(file.text);
    if (!code && !(p->valence > 0 && p->atomic_number >= 1 &&
                   p->atomic_number <= MOST_ATOMIC_NUMBER && p->valence <= p->atomic_number))
        code = pseudopotential_fault(&file, "is of atomic number %d with %g valence electrons",
                                     p->atomic_number, p->valence);
    return code;
}

static int load_file(file_text *file)
{
    FILE *in = fopen(file->path, "rb");
    long bytes = -1;
    if (!in)
        return file->host->fail(file->host->context, PLUGMC_ERROR_INPUT,
                                "pseudopotential '%s' cannot be opened", file->path);
    if (fseek(in, 0, SEEK_END) == 0) bytes = ftell(in);
    rewind(in);
    if (bytes > 0 && bytes <= MOST_BYTES) file->text = calloc(1, (size_t)bytes + 1);
    const int good = file->text && fread(file->text, 1, (size_t)bytes, in) == (size_t)bytes;
    fclose(in);
    if (good && strlen(file->text) == (size_t)bytes) return PLUGMC_OK;
    free(file->text);
    file->text = NULL;
    return pseudopotential_fault(file, good ? "has binary data in it" : "cannot be read");
}

int pseudopotential_fault(const file_text *file, const char *format, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return file->host->fail(file->host->context, PLUGMC_ERROR_INPUT, "pseudopotential '%s' %s",
                            file->path, words);
}

double *read_numbers(const file_text *file, const char *what, char **at, int64_t count)
{
    /* A number and its blank take two characters: memory is for what can be there. */
    const int64_t most = (int64_t)strlen(*at) / 2 + 1, room = count < most ? count : most;
    double *out = malloc((size_t)(room > 0 ? room : 1) * sizeof *out);
    locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
    char *place = *at;
    int64_t found = 0;
    for (char *end; out && c && found < room; found++, place = end) {
        out[found] = strtod_l(place, &end, c);
        if (end == place || !isfinite(out[found])) break;
    }
    if (!out || !c)
        file->host->fail(file->host->context, PLUGMC_ERROR_MEMORY,
                         "no memory for a pseudopotential");
    else if (count <= 0 || found < count)
        pseudopotential_fault(file, "has %lld numbers in %s, where there should be %lld",
                              (long long)found, what, (long long)count);
    *at = place;
    if (c) freelocale(c);
    if (out && c && count > 0 && found == count) return out;
    free(out);
    return NULL;
}

/* Blanks what stands in elements of that name but for ends of lines, so that lines keep their
 * numbers. */
static void blank_content(char *text, const char *begin, const char *end)
{
    char *at = text;
    while ((at = strstr(at, begin)) && (at = strchr(at, '>'))) {
        char *close = strstr(at, end);
        if (!close) return;
        for (at++; at < close; at++)
            if (*at != '\n') *at = ' ';
    }
}

int pseudopotential_markup(const file_text *file, element **outermost)
{
    char what[512];
    /* In UPF these hold what people wrote and the input of the program that made the file, with '&'
     * and '<' as they come. */
    blank_content(file->text, "<PP_INFO>", "</PP_INFO>");
    blank_content(file->text, "<PP_INPUTFILE>", "</PP_INPUTFILE>");
    snprintf(what, sizeof what, "pseudopotential '%.400s'", file->path);
    return markup_read(file->host, what, file->text, outermost);
}

/* ---- Splines --------------------------------------------------------------------------------- */

/* Natural at both ends: from a function that is flat at 0 to one that has died off. */
static void find_curvature(radial *f)
{
    const int64_t n = f->n;
    double *work = f->curvature + n;
    for (int64_t i = 1; i < n - 1; i++) {
        const double left = f->r[i] - f->r[i - 1], right = f->r[i + 1] - f->r[i];
        const double share = left / (left + right), p = share * f->curvature[i - 1] + 2;
        const double bend = (f->y[i + 1] - f->y[i]) / right - (f->y[i] - f->y[i - 1]) / left;
        f->curvature[i] = (share - 1) / p;
        work[i] = (6 * bend / (left + right) - share * work[i - 1]) / p;
    }
    for (int64_t i = n - 2; i >= 0; i--)
        f->curvature[i] = f->curvature[i] * f->curvature[i + 1] + work[i];
}

int radial_make(radial *f, const plugmc_host *host, int64_t n, const double *r, const double *y,
                double tolerance)
{
    while (n > 0 && fabs(y[n - 1]) <= tolerance) n--;
    *f = (radial){.n = n};
    if (!n) return PLUGMC_OK;
    f->r = host->allocate(host->context, 4 * (size_t)n * sizeof *f->r);
    if (!f->r)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a pseudopotential");
    f->y = f->r + n;
    f->curvature = f->r + 2 * n;
    memcpy(f->r, r, (size_t)n * sizeof *r);
    memcpy(f->y, y, (size_t)n * sizeof *y);
    find_curvature(f);
    return PLUGMC_OK;
}

double radial_reach(const radial *f) { return f->n ? f->r[f->n - 1] : 0; }

/* ---- From potentials of each l --------------------------------------------------------------- */

int semilocal_channels(pseudopotential *p, const file_text *file, int64_t n, const double *r,
                       int count, double *const *r_v, int local, double tolerance)
{
    double *y = malloc((size_t)n * sizeof *y);
    int code = y ? PLUGMC_OK
                 : file->host->fail(file->host->context, PLUGMC_ERROR_MEMORY,
                                    "no memory for a pseudopotential");
    for (int64_t i = 0; i < n && !code; i++) {
        y[i] = r_v[local][i] + p->valence;
        if (i > 0 && !(r[i] > r[i - 1]))
            code = pseudopotential_fault(file, "has a grid that does not grow at point %lld",
                                         (long long)i + 1);
    }
    if (!code && fabs(y[n - 1]) > 1e-3)
        code =
            pseudopotential_fault(file, "does not end as -Z/r with Z = %g: r v + Z = %g at r = %g",
                                  p->valence, y[n - 1], r[n - 1]);
    if (!code) code = radial_make(&p->local, file->host, n, r, y, tolerance);
    const int64_t skip = r[0] == 0; /* where v cannot be had from r v */
    for (int l = 0; l < count && !code; l++) {
        p->channels = count;
        if (l == local) continue;
        for (int64_t i = skip; i < n; i++) y[i] = (r_v[l][i] - r_v[local][i]) / r[i];
        code = radial_make(&p->channel[l], file->host, n - skip, r + skip, y + skip, tolerance);
    }
    free(y);
    return code;
}

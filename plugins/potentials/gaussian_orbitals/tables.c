/* tables.c: from what a file gives to what evaluation reads: which orbitals are occupied, how far shells reach, lattice
 * vectors, coefficients. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mixing.h"

/* ---- Occupied orbitals ---------------------------------------------------------------------- */

static const char *const spin_name[2] = {"up", "down"};

/* A list such as 1-4,6 with numbers from 1. */
static int read_occupied(gaussian_orbitals *g, int s)
{
    const plugmc_host *host = g->host;
    const int32_t orbitals = g->source.spin[s].orbitals;
    const char *at = g->keys.occupied[s];
    int32_t found = 0;
    while (*at) {
        char *end;
        long first, last;
        first = last = strtol(at, &end, 10);
        if (end != at && *end == '-') last = strtol(end + 1, &end, 10);
        while (isspace((unsigned char)*end)) end++;
        if (end == at || (*end && *end != ',') || first < 1 || last < first)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "occupied_%s = %s: this is not a list such as 1-4,6", spin_name[s],
                              g->keys.occupied[s]);
        if (last > orbitals)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "occupied_%s names orbital %ld, but %s has %d", spin_name[s], last,
                              g->keys.file, orbitals);
        for (; first <= last; first++, found++) {
            for (int32_t i = 0; i < found && i < g->wanted[s]; i++)
                if (g->occupied[s][i] == first - 1)
                    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                      "occupied_%s names orbital %ld twice", spin_name[s], first);
            if (found < g->wanted[s]) g->occupied[s][found] = (int32_t)first - 1;
        }
        at = *end ? end + 1 : end;
    }
    if (found == g->wanted[s]) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "occupied_%s has %d orbitals for %d electrons and virtual = %lld",
                      spin_name[s], found, g->electrons[s], (long long)g->keys.beyond);
}

/* A shell of equal energies that is not full: which of its orbitals are taken is the file's choice. */
static void warn_of_shell(const gaussian_orbitals *g, int s)
{
    const molecule_spin *spin = &g->source.spin[s];
    const int32_t n = g->electrons[s];
    if (g->keys.beyond || !spin->energy || n == 0 || n >= spin->orbitals) return;
    if (fabs(spin->energy[n] - spin->energy[n - 1]) > 1e-6) return;
    g->host->warn(g->host->context,
                  "orbitals %d and %d of spin %s have the same energy, %.8g Hartree, and only the "
                  "first is occupied",
                  n, n + 1, spin_name[s], spin->energy[n]);
}

int gaussian_occupy(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    const plugmc_system *system = host->system;
    const molecule *m = &g->source;
    int code = PLUGMC_OK;
    for (int s = 0; s < system->species_count && s < 2; s++) {
        g->electrons[s] = (int32_t)plugmc_species_at(system, s)->count;
        g->wanted[s] = g->electrons[s] ? g->electrons[s] + (int32_t)g->keys.beyond : 0;
    }
    if (m->electrons[0] >= 0 &&
        (m->electrons[0] != g->electrons[0] || m->electrons[1] != g->electrons[1]))
        host->warn(host->context,
                   "%s is of %d electrons of spin up and %d of spin down, the run has %d and %d",
                   g->keys.file, m->electrons[0], m->electrons[1], g->electrons[0],
                   g->electrons[1]);
    for (int s = 0; s < 2 && !code; s++) {
        g->occupied[s] =
            host->allocate(host->context, ((size_t)g->wanted[s] + 1) * sizeof *g->occupied[s]);
        if (!g->occupied[s])
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d orbitals",
                              g->wanted[s]);
        if (*g->keys.occupied[s]) {
            code = read_occupied(g, s);
            continue;
        }
        if (g->wanted[s] > m->spin[s].orbitals)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s has %d orbitals of spin %s for %d electrons and virtual = %lld",
                              g->keys.file, m->spin[s].orbitals, spin_name[s], g->electrons[s],
                              (long long)g->keys.beyond);
        for (int32_t i = 0; i < g->wanted[s]; i++) g->occupied[s][i] = i;
        warn_of_shell(g, s);
    }
    return code;
}

/* ---- Lattice vectors ------------------------------------------------------------------------ */

/* Half of the longest diagonal of the box: displacements from nuclei are within. */
static double half_diagonal(const gaussian_tables *t)
{
    double most = 0;
    for (int k = 0; k < 4; k++) {
        double square = 0;
        for (int e = 0; e < 3; e++) {
            const double x = t->vector[0][e] + (k & 1 ? -1 : 1) * t->vector[1][e] +
                             (k & 2 ? -1 : 1) * t->vector[2][e];
            square += x * x / 4;
        }
        most = square > most ? square : most;
    }
    return sqrt(most);
}

/* Beyond this distance all functions of a shell are below the tolerance, polynomials included. */
static double reach_of(const gaussian_orbitals *g, const gaussian_shell *s, double least)
{
    double r = sqrt(LARGEST_EXPONENT / least), value = 0;
    for (; r > 1e-3; r *= 0.99) {
        value = 0;
        for (int32_t k = s->first; k < s->first + s->primitives; k++)
            value += fabs(g->source.primitive[k][1]) * pow(r, s->l) *
                     exp(-g->source.primitive[k][0] * r * r);
        if (value >= (double)g->keys.tolerance) break;
    }
    return r / 0.99;
}

static int by_length(const void *a, const void *b)
{
    const double *u = a, *v = b;
    const double x = u[0] * u[0] + u[1] * u[1] + u[2] * u[2],
                 y = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (x != y) return x < y ? -1 : 1;
    return memcmp(u, v, 3 * sizeof *u); /* the same order in every run */
}

/* Those that bring a shell of this reach near a point, by their length. */
static int list_images(gaussian_orbitals *g, double reach, double (**out)[5], int64_t *count)
{
    const plugmc_host *host = g->host;
    const gaussian_tables *t = &g->tables;
    const double most = reach + half_diagonal(t);
    int64_t room = 1;
    int32_t n[3], limit[3];
    for (int d = 0; d < 3; d++) {
        double square = 0;
        for (int e = 0; e < 3; e++) square += t->inverse[e][d] * t->inverse[e][d];
        limit[d] = (int32_t)(most * sqrt(square)) + 1;
        room *= 2 * limit[d] + 1;
    }
    if (room > 10000000)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "functions of %s reach %.3g bohr, over too many images of the box",
                          g->keys.file, reach);
    *out = host->allocate(host->context, (size_t)room * sizeof **out);
    if (!*out) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for images");
    *count = 0;
    for (n[0] = -limit[0]; n[0] <= limit[0]; n[0]++)
        for (n[1] = -limit[1]; n[1] <= limit[1]; n[1]++)
            for (n[2] = -limit[2]; n[2] <= limit[2]; n[2]++) {
                double *to = (*out)[*count], square = 0, turns = 0;
                for (int e = 0; e < 3; e++) {
                    to[e] =
                        n[0] * t->vector[0][e] + n[1] * t->vector[1][e] + n[2] * t->vector[2][e];
                    square += to[e] * to[e];
                    turns += n[e] * t->turns[e];
                }
                to[3] = cos(2 * M_PI * turns);
                to[4] = sin(2 * M_PI * turns);
                *count += square < most * most;
            }
    qsort(*out, (size_t)*count, sizeof **out, by_length);
    return PLUGMC_OK;
}

/* ---- Shells --------------------------------------------------------------------------------- */

static int by_kind(const void *a, const void *b)
{
    const gaussian_entry *u = a, *v = b;
    const int32_t x = 2 * u->l + u->cartesian, y = 2 * v->l + v->cartesian;
    if (x != y) return x - y;
    return u->nucleus != v->nucleus ? u->nucleus - v->nucleus : u->reserved - v->reserved;
}

static int fill_shells(gaussian_orbitals *g, gaussian_entry *entry)
{
    const molecule *m = &g->source;
    double far = 0, (*image)[5] = NULL;
    int64_t images = 1;
    for (int32_t i = 0; i < m->shells; i++) {
        const gaussian_shell *s = &m->shell[i];
        double least = INFINITY;
        for (int32_t k = s->first; k < s->first + s->primitives; k++)
            least = fmin(least, m->primitive[k][0]);
        double reach = sqrt(LARGEST_EXPONENT / least);
        if (g->tables.periodic) reach = reach_of(g, s, least);
        far = fmax(far, reach);
        entry[i] = (gaussian_entry){.reach2 = reach * reach,
                                    .nucleus = s->nucleus,
                                    .l = s->l,
                                    .cartesian = s->cartesian,
                                    .first = s->first,
                                    .primitives = s->primitives,
                                    .images = 1,
                                    .reserved = i};
    }
    qsort(entry, (size_t)m->shells, sizeof *entry, by_kind);
    if (g->tables.periodic) {
        const double half = half_diagonal(&g->tables);
        int code = list_images(g, far, &image, &images);
        if (code) return code;
        for (int32_t i = 0; i < m->shells; i++) {
            const double most = sqrt(entry[i].reach2) + half;
            int32_t n = 0;
            while (n < images && image[n][0] * image[n][0] + image[n][1] * image[n][1] +
                                         image[n][2] * image[n][2] <
                                     most * most)
                n++;
            entry[i].images = n;
        }
    } else if (!(image = g->host->allocate(g->host->context, sizeof *image))) {
        return g->host->fail(g->host->context, PLUGMC_ERROR_MEMORY, "no memory for images");
    } else {
        image[0][3] = 1;
    }
    g->tables.image = (const double(*)[5])image;
    return PLUGMC_OK;
}

/* Consecutive shells that a block of the GPU works out at once. */
static void fill_chunks(gaussian_orbitals *g, const gaussian_entry *entry, gaussian_chunk *chunk)
{
    int32_t count = 0;
    for (int32_t i = 0; i < g->tables.shells; i++) {
        const int32_t rows =
            functions_of_shell(entry[i].l, entry[i].cartesian) * g->tables.chi_parts;
        gaussian_chunk *last = count ? &chunk[count - 1] : NULL;
        if (!last || last->rows + rows > GAUSSIAN_ROWS)
            chunk[count++] = (gaussian_chunk){i, 1, entry[i].row, rows};
        else
            last->shells++, last->rows += rows;
    }
    g->tables.chunks = count;
}

/* ---- Coefficients --------------------------------------------------------------------------- */

/* The coefficients of an orbital, re and im, in rows of functions: with functions re + i im the product is
 * (re C - im D) + i (re D + im C). */
static void fill_orbital(const gaussian_orbitals *g, const gaussian_entry *entry, int s, int32_t o,
                         double *to, int64_t pitch)
{
    const molecule *m = &g->source;
    const molecule_spin *spin = &m->spin[s];
    const size_t from = (size_t)g->occupied[s][o] * (size_t)m->functions;
    const int parts = g->tables.parts, chi_parts = g->tables.chi_parts;
    for (int32_t i = 0; i < m->shells; i++) {
        const gaussian_shell *shell = &m->shell[entry[i].reserved];
        for (int32_t f = 0; f < functions_of_shell(shell->l, shell->cartesian); f++) {
            const size_t at = from + (size_t)(shell->function + f);
            const double re = spin->real[at], im = spin->imaginary ? spin->imaginary[at] : 0;
            double *row = to + (entry[i].row + f * chi_parts) * pitch + (int64_t)o * parts;
            row[0] = re;
            if (parts == 2) row[1] = im;
            if (chi_parts == 1) continue;
            row[pitch] = -im;
            row[pitch + 1] = re;
        }
    }
}

/* The GPU multiplies GAUSSIAN_STEP rows at once, of which some may be zeros behind the last. */
size_t gaussian_coefficients(const gaussian_orbitals *g, int s)
{
    return (size_t)(g->rows + GAUSSIAN_STEP) * (size_t)g->spin[s].pitch;
}

static int fill_coefficients(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    for (int s = 0; s < 2; s++) {
        gaussian_spin *spin = &g->spin[s];
        spin->columns = (int64_t)g->wanted[s] * g->tables.parts;
        spin->pitch = (spin->columns + GAUSSIAN_STRIP - 1) / GAUSSIAN_STRIP * GAUSSIAN_STRIP;
        double *to = host->allocate(host->context, gaussian_coefficients(g, s) * sizeof *to);
        if (!to)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for coefficients");
        spin->coefficient = g->coefficients[s] = to;
    }
    gaussian_fill_coefficients(g);
    return PLUGMC_OK;
}

void gaussian_fill_coefficients(gaussian_orbitals *g)
{
    for (int s = 0; s < 2; s++) {
        for (int32_t o = 0; o < g->wanted[s]; o++)
            fill_orbital(g, g->tables.shell, s, o, g->coefficients[s], g->spin[s].pitch);
        mixing_add(g, s, g->coefficients[s]);
    }
}

/* Whether orbitals have imaginary parts worth the name. */
static bool has_imaginary_parts(const molecule *m)
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0;
             m->spin[s].imaginary && i < (size_t)m->spin[s].orbitals * (size_t)m->functions; i++)
            if (fabs(m->spin[s].imaginary[i]) > 1e-9) return true;
    return false;
}

int gaussian_tables_fill(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    const molecule *m = &g->source;
    gaussian_tables *t = &g->tables;
    const size_t n = (size_t)m->shells;
    bool twisted = false;
    memcpy(t->vector, host->system->box.vector, sizeof t->vector);
    memcpy(t->inverse, host->system->box.inverse, sizeof t->inverse);
    t->periodic = m->periodic;
    for (int d = 0; d < 3 && m->periodic; d++) {
        t->turns[d] = m->turns[d] - rint(m->turns[d]);
        if (fabs(t->turns[d]) < 1e-9) t->turns[d] = 0;
        twisted = twisted || t->turns[d] != 0;
    }
    t->chi_parts = twisted ? 2 : 1;
    t->parts = twisted || has_imaginary_parts(m) ? 2 : 1;
    t->nuclei = m->nuclei;
    t->shells = m->shells;
    t->position = (const double(*)[3])m->position;
    t->primitive = (const double(*)[2])m->primitive;
    gaussian_entry *entry = host->allocate(host->context, n * sizeof *entry);
    gaussian_chunk *chunk = host->allocate(host->context, n * sizeof *chunk);
    if (!entry || !chunk)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu shells", n);
    int code = fill_shells(g, entry);
    g->rows = 0;
    for (size_t i = 0; i < n && !code; i++) {
        entry[i].row = g->rows;
        g->rows += functions_of_shell(entry[i].l, entry[i].cartesian) * t->chi_parts;
    }
    if (code) return code;
    fill_chunks(g, entry, chunk);
    t->shell = entry;
    t->chunk = chunk;
    return fill_coefficients(g);
}

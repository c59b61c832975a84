/* CASINO's bwfn.data.b1 as pw2casino of Quantum ESPRESSO 6 writes it: Fortran records, each between
 * two marks of four bytes that give its length.
 *
 *   1    588 bytes, the header
 *   2    k points, atoms, numbers of bands, eigenvalues
 *   3    whether blips are in single precision
 *   4    maps that only CASINO uses
 *   5... one orbital each: k point outermost, then spin, then band; x fastest
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "orbital_file.h"

enum { HEADER = 588, MARKS = 8 };

/* A record in memory, taken apart from its beginning. */
typedef struct record {
    unsigned char *bytes;
    size_t at;
} record;

static void get(record *r, void *out, size_t bytes)
{
    memcpy(out, r->bytes + r->at, bytes);
    r->at += bytes;
}

static int32_t get_integer(record *r)
{
    int32_t value;
    get(r, &value, sizeof value);
    return value;
}

static double get_real(record *r)
{
    double value;
    get(r, &value, sizeof value);
    return value;
}

/* A record of known length from where the file is, without its marks. */
static int read_record(orbital_file *f, const char *what, void *out, int64_t bytes)
{
    int32_t before = 0, after = 0;
    const long long at = (long long)ftello(f->stream);
    if (fread(&before, 1, sizeof before, f->stream) != sizeof before)
        return damaged(f, "byte %lld: the file ends before %s", at, what);
    if (before != bytes)
        return damaged(f, "byte %lld: %s says that it has %d bytes, but by the header it has %lld",
                       at, what, before, (long long)bytes);
    if (fread(out, 1, (size_t)bytes, f->stream) != (size_t)bytes ||
        fread(&after, 1, sizeof after, f->stream) != sizeof after)
        return damaged(f, "byte %lld: the file ends inside of %s", at, what);
    if (after != before)
        return damaged(f, "byte %lld: %s ends with a mark of %d bytes, but begins with one of %d",
                       at + MARKS / 2 + (long long)bytes, what, after, before);
    return PLUGMC_OK;
}

/* A text of 80 characters without its blanks at the end. */
static void get_text(record *r, char out[81])
{
    get(r, out, 80);
    out[80] = 0;
    for (int i = 79; i >= 0 && (out[i] == ' ' || out[i] == 0); i--) out[i] = 0;
    for (char *c = out; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
}

/* A logical of Fortran: compilers write true as 1 or as -1. */
static int get_logical(const orbital_file *f, record *r, const char *what, bool *out)
{
    int32_t value = get_integer(r);
    *out = value != 0;
    return check_count(f, "record 1", what, value, -1, 1);
}

typedef struct counts {
    int32_t bands;
    bool polarised;
} counts;

static int read_header(orbital_file *f, counts *c)
{
    static const char where[] = "record 1 (header)";
    unsigned char bytes[HEADER];
    record r = {bytes, 0};
    char unused[81];
    bool gamma = false, extended = false;
    int code = read_record(f, "record 1 (header)", bytes, HEADER);
    if (code) return code;
    for (int i = 0; i < 4; i++) get_text(&r, unused); /* title, code, method, functional */
    get_text(&r, f->crystal.pseudopotential);
    f->crystal.cutoff = get_real(&r);
    code = get_logical(f, &r, "the flag of spin polarisation", &c->polarised);
    f->crystal.energies = ENERGIES;
    for (int i = 0; i < ENERGIES; i++) f->crystal.energy[i] = get_real(&r);
    f->crystal.electrons = get_integer(&r);
    f->crystal.atoms = get_integer(&r);
    int32_t waves = get_integer(&r);
    f->k_points = get_integer(&r);
    for (int d = 0; d < 3; d++) f->grid[d] = get_integer(&r);
    c->bands = get_integer(&r);
    if (!code) code = get_logical(f, &r, "the flag of real orbitals", &gamma);
    if (!code) code = get_logical(f, &r, "the flag of extended orbitals", &extended);
    int32_t localized = get_integer(&r);
    localized |= get_integer(&r);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) f->crystal.lattice[d][e] = get_real(&r);
    f->real = gamma;
    f->spins = c->polarised ? 2 : 1;
    if (!code && (!extended || localized))
        code = damaged(f, "%s: it has localized orbitals, which this plugin does not read", where);
    if (!code) code = check_finite(f, where, "the cutoff", &f->crystal.cutoff, 1, 1e5);
    if (!code && !(f->crystal.cutoff > 0))
        code = damaged(f, "%s: the cutoff is %g Hartree", where, f->crystal.cutoff);
    if (!code)
        code = check_count(f, where, "the number of electrons", f->crystal.electrons, 1,
                           MOST_ELECTRONS);
    if (!code) code = check_count(f, where, "the number of atoms", f->crystal.atoms, 1, MOST_ATOMS);
    if (!code) code = check_count(f, where, "the number of G vectors", waves, 0, INT32_MAX);
    if (!code)
        code = check_count(f, where, "the number of k points", f->k_points, 1, MOST_K_POINTS);
    if (!code) code = check_count(f, where, "the number of bands", c->bands, 1, MOST_BANDS);
    for (int d = 0; d < 3 && !code; d++)
        code = check_count(f, where, "an edge of the blip grid", f->grid[d], LEAST_GRID, MOST_GRID);
    return code ? code : set_lattice(f, where);
}

/* Bytes of an orbital's record, without marks. */
static int64_t orbital_bytes(const orbital_file *f)
{
    int64_t points = (int64_t)f->grid[0] * f->grid[1] * f->grid[2];
    return points * (f->real ? 1 : 2) * (int64_t)(f->single ? sizeof(float) : sizeof(double));
}

/* Lengths of records 2 and 4 by the counts of the header. */
static int64_t table_bytes(const orbital_file *f, const counts *c)
{
    int64_t nk = f->k_points, states = nk * c->bands * f->spins;
    return (3 + 1 + 6) * 8 * nk + 28 * (int64_t)f->crystal.atoms + 8 * nk + 12 * states + 8;
}

static int64_t map_bytes(const orbital_file *f, const counts *c)
{
    return 4 * 4 * 2 * (int64_t)f->k_points * c->bands;
}

/* The lengths of all records by the header make the size of the file: nothing is believed, and no
 * memory taken, before that. The precision of the blips stands behind record 2. */
static int check_size(orbital_file *f, const counts *c)
{
    const int64_t states = (int64_t)f->k_points * c->bands * f->spins;
    const int64_t flag_at = HEADER + MARKS + table_bytes(f, c) + MARKS;
    const int64_t first = flag_at + 4 + MARKS + map_bytes(f, c) + MARKS;
    int32_t single = 0;
    if (states > MOST_STATES || (int64_t)f->grid[0] * f->grid[1] * f->grid[2] > MOST_GRID_POINTS)
        return damaged(f,
                       "record 1 (header): %d k points x %d bands on a grid of %d x %d x %d are "
                       "more than this plugin reads",
                       f->k_points, c->bands, f->grid[0], f->grid[1], f->grid[2]);
    if (first < f->bytes) {
        if (fseeko(f->stream, flag_at + MARKS / 2, SEEK_SET) ||
            fread(&single, 1, sizeof single, f->stream) != sizeof single)
            return damaged(f, "byte %lld: record 3 cannot be read", (long long)flag_at);
        int code = check_count(f, "record 3", "the flag of single precision", single, -1, 1);
        if (code) return code;
    }
    f->single = single != 0;
    const int64_t whole = first + states * (orbital_bytes(f) + MARKS);
    if (whole != f->bytes)
        return damaged(f,
                       "the header (record 1) speaks of %lld orbitals on a grid of %d x %d x %d "
                       "and makes a file of %lld bytes, but it has %lld",
                       (long long)states, f->grid[0], f->grid[1], f->grid[2], (long long)whole,
                       (long long)f->bytes);
    return fseeko(f->stream, HEADER + MARKS, SEEK_SET)
               ? damaged(f, "byte %d: record 2 cannot be read", HEADER + MARKS)
               : PLUGMC_OK;
}

/* k and its products say the same thing three times. */
static int check_products(const orbital_file *f, int32_t k, const double v[3], double square,
                          const double products[6])
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double found = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    double error = fabs(found - square), scale = 1e-10 * (1 + found);
    for (int i = 0; i < 6; i++)
        error = fmax(error, fabs(v[pair[i][0]] * v[pair[i][1]] - products[i]));
    if (error <= scale) return PLUGMC_OK;
    return damaged(f,
                   "record 2: k point %d, (%g %g %g), and its squares and products do not "
                   "belong together",
                   k + 1, v[0], v[1], v[2]);
}

static int read_k_points(orbital_file *f, record *r)
{
    const int32_t nk = f->k_points;
    record squares = {r->bytes, r->at + 24 * (size_t)nk};
    record products = {r->bytes, squares.at + 8 * (size_t)nk};
    for (int32_t k = 0; k < nk; k++) {
        double v[3], p[6];
        get(r, v, sizeof v);
        get(&products, p, sizeof p);
        int code = check_products(f, k, v, get_real(&squares), p);
        if (code) return code;
        set_k_point(f, k, v);
    }
    r->at = products.at;
    return PLUGMC_OK;
}

static int read_states(orbital_file *f, record *r, const counts *c, int64_t first)
{
    const int32_t nk = f->k_points, nb = c->bands;
    for (int32_t i = 0; i < 2 * nk; i++) {
        int32_t bands = get_integer(r);
        if (bands != nb)
            return damaged(f, "record 2: k point %d has %d bands, but the header says %d",
                           i / 2 + 1, bands, nb);
    }
    /* eigenvalues [spin][k][band], orbitals [k][spin][band] */
    const size_t values = r->at;
    int64_t at = first;
    int32_t i = 0;
    for (int32_t k = 0; k < nk; k++)
        for (int32_t spin = 0; spin < f->spins; spin++)
            for (int32_t band = 0; band < nb; band++, i++) {
                r->at = values +
                        8 * (((size_t)spin * (size_t)nk + (size_t)k) * (size_t)nb + (size_t)band);
                f->state[i] = (orbital_state){k, spin, band, get_real(r), at, 0};
                at += orbital_bytes(f) + MARKS;
            }
    return PLUGMC_OK;
}

static int read_table(orbital_file *f, const counts *c)
{
    const int64_t bytes = table_bytes(f, c);
    f->states = f->k_points * c->bands * f->spins;
    f->k = take(f, (size_t)f->k_points, sizeof *f->k);
    f->crystal.atomic_number = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.atomic_number);
    f->crystal.position = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.position);
    f->crystal.valence = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.valence);
    f->state = take(f, (size_t)f->states, sizeof *f->state);
    record r = {malloc((size_t)bytes), 0};
    if (!r.bytes)
        f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for a file of orbitals");
    if (!f->k || !f->crystal.atomic_number || !f->crystal.position || !f->crystal.valence ||
        !f->state || !r.bytes) {
        free(r.bytes);
        return PLUGMC_ERROR_MEMORY;
    }
    int code = read_record(f, "record 2 (k points, atoms, eigenvalues)", r.bytes, bytes);
    if (!code) code = read_k_points(f, &r);
    if (!code) {
        get(&r, f->crystal.atomic_number,
            (size_t)f->crystal.atoms * sizeof *f->crystal.atomic_number);
        get(&r, f->crystal.position, (size_t)f->crystal.atoms * sizeof *f->crystal.position);
        code = check_atoms(f, "record 2");
    }
    const int64_t first = HEADER + MARKS + bytes + MARKS + 4 + MARKS + map_bytes(f, c) + MARKS;
    if (!code) code = read_states(f, &r, c, first);
    free(r.bytes);
    return code;
}

/* Record 3 has been looked at; record 4 is for CASINO alone. */
static int pass_maps(orbital_file *f, const counts *c)
{
    int32_t flag;
    int code = read_record(f, "record 3", &flag, sizeof flag);
    void *maps = code ? NULL : malloc((size_t)map_bytes(f, c));
    if (!code && maps) code = read_record(f, "record 4", maps, map_bytes(f, c));
    if (!code && !maps)
        code = f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY,
                             "no memory for a file of orbitals");
    free(maps);
    return code;
}

/* Values of either precision, real or complex, x fastest, into [x][y][z]. */
static void unpack(const orbital_file *f, const void *in, double complex *out)
{
    const int64_t nx = f->grid[0], ny = f->grid[1], nz = f->grid[2];
    const float *s = in;
    const double *d = in;
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < nx; x++) {
                int64_t from = (z * ny + y) * nx + x, to = (x * ny + y) * nz + z;
                double re, im = 0;
                if (f->real) {
                    re = f->single ? (double)s[from] : d[from];
                } else {
                    re = f->single ? (double)s[2 * from] : d[2 * from];
                    im = f->single ? (double)s[2 * from + 1] : d[2 * from + 1];
                }
                out[to] = CMPLX(re, im);
            }
}

static int read_orbital(orbital_file *f, const orbital_state *s, double complex *out)
{
    char what[96];
    const int64_t bytes = orbital_bytes(f);
    snprintf(what, sizeof what, "the record of k point %d, spin %d, band %d", s->k + 1, s->spin + 1,
             s->band + 1);
    void *values = malloc((size_t)bytes);
    if (!values)
        return f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for an orbital");
    int code = fseeko(f->stream, s->at, SEEK_SET)
                   ? damaged(f, "byte %lld: %s cannot be read", (long long)s->at, what)
                   : read_record(f, what, values, bytes);
    if (!code) unpack(f, values, out);
    free(values);
    return code;
}

int open_casino_binary(orbital_file *f)
{
    counts c = {0};
    f->format = "CASINO bwfn.data.b1";
    f->read = read_orbital;
    int code = read_header(f, &c);
    if (!code) code = check_size(f, &c);
    if (!code) code = read_table(f, &c);
    return code ? code : pass_maps(f, &c);
}

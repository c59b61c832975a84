/* CASINO's bwfn.data (blips) and pwfn.data (plane waves), text as written by Quantum ESPRESSO,
 * ABINIT and CASINO's own blip utility.
 *
 * Values stand on the lines after a label. The wording of labels and the blanks in them differ from
 * code to code, so a label is known by a few of its letters, in the order in which all codes write
 * them. The file is read twice: when it is opened, to find where each orbital begins and that its
 * numbers are all there, and then orbital by orbital.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "orbital_file.h"

enum { LONGEST_LINE = 1024, LONGEST_NUMBER = 64 };

/* ---- Lines and numbers --------------------------------------------------------------------- */

/* The next line without its end; longer ones are cut. False at the end of the file. */
static bool read_line(orbital_file *f, char line[LONGEST_LINE])
{
    int n = 0, c;
    while ((c = getc_unlocked(f->stream)) != EOF && c != '\n')
        if (n < LONGEST_LINE - 1 && c) line[n++] = (char)c;
    line[n] = 0;
    if (c == EOF && n == 0) return false;
    f->line++;
    return true;
}

/* Letters and digits alone, in lower case. */
static void squeeze(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++)
        if (isalnum((unsigned char)*from)) *to++ = (char)tolower((unsigned char)*from);
    *to = 0;
}

/* Goes on behind the next line that has the letters of a label. */
static int find_label(orbital_file *f, const char *letters, const char *name)
{
    char line[LONGEST_LINE];
    const long long from = f->line;
    while (read_line(f, line)) {
        squeeze(line);
        if (strstr(line, letters)) return PLUGMC_OK;
    }
    return damaged(f, "there is no line '%s' after line %lld", name, from);
}

static int skip_blanks(orbital_file *f)
{
    int c;
    while ((c = getc_unlocked(f->stream)) != EOF && isspace(c))
        if (c == '\n') f->line++;
    return c;
}

/* Characters up to a blank or a bracket. */
static int read_word(orbital_file *f, char word[LONGEST_NUMBER], const char *what)
{
    int n = 0, c = skip_blanks(f);
    while (c != EOF && !isspace(c) && c != '(' && c != ')' && c != ',') {
        if (n == LONGEST_NUMBER - 1)
            return damaged(f, "line %lld: %s is no number", (long long)f->line, what);
        word[n++] = (char)c;
        c = getc_unlocked(f->stream);
    }
    if (c != EOF) ungetc(c, f->stream);
    word[n] = 0;
    if (n == 0 && c == EOF)
        return damaged(f, "line %lld: the file ends where %s should be", (long long)f->line, what);
    return PLUGMC_OK;
}

/* A number as Fortran may write it: 1.0D-03, and 1.0-103 for three digits of exponent. */
static bool number_of(const char *word, double *value)
{
    char copy[LONGEST_NUMBER + 1];
    int n = 0;
    bool exponent = false;
    for (const char *c = word; *c && n < LONGEST_NUMBER - 1; c++) {
        bool mark = *c == 'd' || *c == 'D' || *c == 'e' || *c == 'E';
        bool sign = (*c == '-' || *c == '+') && c > word && isdigit((unsigned char)c[-1]);
        if (!mark && !isdigit((unsigned char)*c) && *c != '.' && *c != '-' && *c != '+')
            return false;
        if (sign && !exponent) copy[n++] = 'e';
        copy[n++] = mark ? 'e' : *c;
        exponent |= mark || sign;
    }
    copy[n] = 0;
    char *end;
    *value = strtod(copy, &end);
    return n > 0 && *end == 0 && isfinite(*value);
}

static int read_real(orbital_file *f, const char *what, double *value)
{
    char word[LONGEST_NUMBER];
    int code = read_word(f, word, what);
    if (code) return code;
    return number_of(word, value)
               ? PLUGMC_OK
               : damaged(f, "line %lld: %s is '%s', no number", (long long)f->line, what, word);
}

static int read_integer(orbital_file *f, const char *what, int64_t least, int64_t most,
                        int32_t *value)
{
    char where[48];
    double x;
    int code = read_real(f, what, &x);
    if (code) return code;
    snprintf(where, sizeof where, "line %lld", (long long)f->line);
    if (x != rint(x) || fabs(x) > 1e15)
        return damaged(f, "%s: %s is %g, no integer", where, what, x);
    *value = (int32_t)fmax(fmin(x, INT32_MAX), INT32_MIN);
    return check_count(f, where, what, (int64_t)x, least, most);
}

static int read_vector(orbital_file *f, const char *what, double v[3])
{
    int code = PLUGMC_OK;
    for (int d = 0; d < 3 && !code; d++) code = read_real(f, what, &v[d]);
    return code;
}

static int read_mark(orbital_file *f, char wanted)
{
    int c = skip_blanks(f);
    if (c == wanted) return PLUGMC_OK;
    if (c == EOF)
        return damaged(f, "line %lld: the file ends inside of an orbital", (long long)f->line);
    return damaged(f, "line %lld: '%c' stands where a complex number (re,im) needs '%c'",
                   (long long)f->line, isprint(c) ? c : '?', wanted);
}

/* ---- Header -------------------------------------------------------------------------------- */

/* The line after a label, without the blanks around it. */
static int read_value_line(orbital_file *f, const char *letters, const char *name, char *out,
                           size_t size)
{
    char line[LONGEST_LINE], *begin = line;
    int code = find_label(f, letters, name);
    if (code) return code;
    if (!read_line(f, line))
        return damaged(f, "line %lld: the file ends after '%s'", (long long)f->line, name);
    while (isspace((unsigned char)*begin)) begin++;
    for (size_t n = strlen(begin); n && isspace((unsigned char)begin[n - 1]); n--) begin[n - 1] = 0;
    snprintf(out, size, "%s", begin);
    for (char *c = out; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    return PLUGMC_OK;
}

/* F, T, .false., .true. */
static int read_polarised(orbital_file *f)
{
    char word[81];
    int code = read_value_line(f, "spinpolarized", "Spin polarized", word, sizeof word);
    if (code) return code;
    squeeze(word);
    bool yes = *word == 't', no = *word == 'f';
    if (!yes && !no)
        return damaged(f, "line %lld: 'Spin polarized' is '%s', neither true nor false",
                       (long long)f->line - 1, word);
    f->spins = yes ? 2 : 1;
    return PLUGMC_OK;
}

static int read_energies(orbital_file *f)
{
    static const struct {
        const char *letters, *name;
    } label[ENERGIES] = {{"totalenergy", "Total energy"},
                         {"kineticenergy", "Kinetic energy"},
                         {"localpotentialenergy", "Local potential energy"},
                         {"nonlocalpotentialenergy", "Non local potential energy"},
                         {"electronelectronenergy", "Electron electron energy"},
                         {"ionionenergy", "Ion-ion energy"}};
    int code = PLUGMC_OK;
    f->crystal.energies = ENERGIES;
    for (int i = 0; i < ENERGIES && !code; i++) {
        code = find_label(f, label[i].letters, label[i].name);
        if (!code) code = read_real(f, label[i].name, &f->crystal.energy[i]);
    }
    return code;
}

static int read_basics(orbital_file *f)
{
    int code = find_label(f, "basicinfo", "BASIC INFO");
    if (!code)
        code = read_value_line(f, "pseudopotential", "Pseudopotential", f->crystal.pseudopotential,
                               sizeof f->crystal.pseudopotential);
    if (!code) code = find_label(f, "planewavecutoff", "Plane wave cutoff");
    if (!code) code = read_real(f, "the plane wave cutoff", &f->crystal.cutoff);
    if (!code && !(f->crystal.cutoff > 0 && f->crystal.cutoff < 1e5))
        code = damaged(f, "line %lld: the plane wave cutoff is %g Hartree", (long long)f->line,
                       f->crystal.cutoff);
    if (!code) code = read_polarised(f);
    if (!code) code = read_energies(f);
    if (!code) code = find_label(f, "numberofelectrons", "Number of electrons per primitive cell");
    return code ? code
                : read_integer(f, "the number of electrons", 1, MOST_ELECTRONS,
                               &f->crystal.electrons);
}

static int read_geometry(orbital_file *f)
{
    char where[64];
    int code = find_label(f, "geometry", "GEOMETRY");
    if (!code) code = find_label(f, "numberofatoms", "Number of atoms per primitive cell");
    if (!code) code = read_integer(f, "the number of atoms", 1, MOST_ATOMS, &f->crystal.atoms);
    if (!code && f->crystal.atoms > f->bytes / 8)
        code = damaged(f, "line %lld: %d atoms do not fit into the file", (long long)f->line,
                       f->crystal.atoms);
    if (code) return code;
    f->crystal.atomic_number = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.atomic_number);
    f->crystal.position = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.position);
    f->crystal.valence = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.valence);
    if (!f->crystal.atomic_number || !f->crystal.position || !f->crystal.valence)
        return PLUGMC_ERROR_MEMORY;
    code = find_label(f, "atomicnumber", "Atomic number and position of the atoms");
    snprintf(where, sizeof where, "lines %lld to %lld", (long long)f->line,
             (long long)f->line + f->crystal.atoms - 1);
    for (int32_t i = 0; i < f->crystal.atoms && !code; i++) {
        code = read_integer(f, "an atomic number", 1, 400, &f->crystal.atomic_number[i]);
        if (!code) code = read_vector(f, "a position", f->crystal.position[i]);
    }
    if (!code) code = check_atoms(f, where);
    if (!code) code = find_label(f, "primitivelatticevectors", "Primitive lattice vectors");
    snprintf(where, sizeof where, "line %lld", (long long)f->line);
    for (int d = 0; d < 3 && !code; d++)
        code = read_vector(f, "a lattice vector", f->crystal.lattice[d]);
    return code ? code : set_lattice(f, where);
}

/* A Cartesian G vector is an integer combination of reciprocal vectors. */
static int set_wave(orbital_file *f, int32_t index, const double g[3])
{
    for (int d = 0; d < 3; d++) {
        double x = 0;
        for (int e = 0; e < 3; e++) x += g[e] * f->crystal.lattice[d][e];
        x /= 2 * M_PI;
        if (!(fabs(x - rint(x)) < 1e-4 && fabs(x) < 1e6))
            return damaged(f, "line %lld: G vector %d, (%g %g %g), does not belong to the lattice",
                           (long long)f->line, index + 1, g[0], g[1], g[2]);
        f->wave[index][d] = (int32_t)rint(x);
    }
    return PLUGMC_OK;
}

/* Either the G vectors of pwfn.data, or a blip grid, which may follow a list that is not used. */
static int read_waves(orbital_file *f)
{
    char line[LONGEST_LINE];
    int32_t waves = 0;
    int code = find_label(f, "gvectors", "G VECTORS");
    if (!code) code = find_label(f, "numberofgvectors", "Number of G-vectors");
    if (!code) code = read_integer(f, "the number of G vectors", 0, f->bytes / 6, &waves);
    if (!code) code = find_label(f, "gxgygz", "Gx Gy Gz (au)");
    if (code) return code;
    const long long from = f->line;
    f->waves = waves;
    f->wave = take(f, (size_t)waves + 1, sizeof *f->wave);
    if (!f->wave) return PLUGMC_ERROR_MEMORY;
    for (int32_t i = 0; i < waves && !code; i++) {
        double g[3];
        code = read_vector(f, "a G vector", g);
        if (!code) code = set_wave(f, i, g);
    }
    while (!code && read_line(f, line)) {
        squeeze(line);
        if (strstr(line, "wavefunction")) {
            if (waves == 0)
                return damaged(f, "line %lld: there is neither a G vector nor a 'Blip grid'", from);
            snprintf(line, sizeof line, "lines %lld to %lld", from, from + waves - 1);
            return set_waves(f, line);
        }
        if (!strstr(line, "blipgrid")) continue;
        f->waves = 0;
        for (int d = 0; d < 3 && !code; d++)
            code = read_integer(f, "an edge of the blip grid", LEAST_GRID, MOST_GRID, &f->grid[d]);
        return code ? code : find_label(f, "wavefunction", "WAVE FUNCTION");
    }
    return code ? code : damaged(f, "there is no line 'WAVE FUNCTION' after line %lld", from);
}

/* ---- Orbitals ------------------------------------------------------------------------------ */

/* Coefficients in the order of the file, which is that of `read`; out may be NULL. */
static int read_values(orbital_file *f, int64_t count, double complex *out)
{
    int code = PLUGMC_OK, first = skip_blanks(f);
    const bool complex_values = first == '(';
    if (first != EOF) ungetc(first, f->stream);
    if (!out && f->states == 0) f->brackets = complex_values;
    if (f->brackets != complex_values)
        return damaged(f, "line %lld: some orbitals are real and others complex",
                       (long long)f->line);
    for (int64_t i = 0; i < count && !code; i++) {
        double re = 0, im = 0;
        if (complex_values) code = read_mark(f, '(');
        if (!code) code = read_real(f, "a coefficient", &re);
        if (!code && complex_values) code = read_mark(f, ',');
        if (!code && complex_values) code = read_real(f, "a coefficient", &im);
        if (!code && complex_values) code = read_mark(f, ')');
        if (out) out[i] = CMPLX(re, im);
    }
    return code;
}

static int64_t value_count(const orbital_file *f)
{
    return f->waves ? f->waves : (int64_t)f->grid[0] * f->grid[1] * f->grid[2];
}

/* Of the band that is read when the file is opened. */
typedef struct expected {
    int32_t k, spin, band;
} expected;

static int read_band(orbital_file *f, expected e)
{
    int32_t band = 0, spin = 0;
    double eigenvalue = 0;
    char line[LONGEST_LINE];
    int code = find_label(f, "bandspineigenvalue", "Band, spin, eigenvalue (au)");
    if (!code) code = read_integer(f, "the band", 1, MOST_BANDS, &band);
    if (!code) code = read_integer(f, "the spin", 1, 2, &spin);
    if (!code) code = read_real(f, "the eigenvalue", &eigenvalue);
    if (code) return code;
    if (band != e.band + 1 || spin != e.spin + 1)
        return damaged(f,
                       "line %lld: band %d of spin %d stands where k point %d should have band %d "
                       "of spin %d",
                       (long long)f->line, band, spin, e.k + 1, e.band + 1, e.spin + 1);
    const long long here = f->line;
    if (!read_line(f, line)) *line = 0; /* the rest: "F", or nothing */
    squeeze(line);
    if (*line == 't')
        return damaged(f, "line %lld: the orbital is localized, which this plugin does not read",
                       here);
    if (!read_line(f, line) || !strstr((squeeze(line), line), "coefficients"))
        return damaged(f, "line %lld: there is no heading of coefficients", (long long)f->line);
    orbital_state s = {e.k, e.spin, e.band, eigenvalue, ftello(f->stream), f->line};
    code = read_values(f, value_count(f), NULL);
    if (code) return code;
    f->state[f->states++] = s;
    return PLUGMC_OK;
}

/* Room for the states of one more k point, all of which are in the file. */
static int grow_states(orbital_file *f, int64_t bands)
{
    const int64_t wanted = f->states + bands;
    if (wanted > MOST_STATES || wanted > f->bytes / (2 * value_count(f) + 1) + 1)
        return damaged(f,
                       "line %lld: %lld orbitals of %lld numbers do not fit into a file of %lld "
                       "bytes",
                       (long long)f->line, (long long)wanted, (long long)value_count(f),
                       (long long)f->bytes);
    orbital_state *more = take(f, (size_t)wanted, sizeof *more);
    if (!more) return PLUGMC_ERROR_MEMORY;
    if (f->states) memcpy(more, f->state, (size_t)f->states * sizeof *more);
    f->state = more;
    return PLUGMC_OK;
}

static int read_k_point(orbital_file *f, int32_t k)
{
    int32_t number = 0, bands[2] = {0, 0};
    double v[3];
    int code =
        find_label(f, "kpoint", "k-point # ; # of bands (up spin/down spin); k-point coords");
    if (!code) code = read_integer(f, "the number of the k point", 1, MOST_K_POINTS, &number);
    if (!code) code = read_integer(f, "the number of bands", 1, MOST_BANDS, &bands[SPIN_UP]);
    if (!code)
        code =
            read_integer(f, "the number of bands of spin down", 0, MOST_BANDS, &bands[SPIN_DOWN]);
    if (!code) code = read_vector(f, "the k vector", v);
    if (code) return code;
    if (number != k + 1)
        return damaged(f, "line %lld: k point %d stands where k point %d should be",
                       (long long)f->line, number, k + 1);
    if ((bands[SPIN_DOWN] > 0) != (f->spins == 2))
        return damaged(f, "line %lld: k point %d has %d bands of spin down in a file that is %s",
                       (long long)f->line, number, bands[SPIN_DOWN],
                       f->spins == 2 ? "spin-polarized" : "not spin-polarized");
    set_k_point(f, k, v);
    code = grow_states(f, (int64_t)bands[SPIN_UP] + bands[SPIN_DOWN]);
    for (int32_t spin = 0; spin < 2; spin++)
        for (int32_t band = 0; band < bands[spin] && !code; band++)
            code = read_band(f, (expected){k, spin, band});
    return code;
}

static int read_orbital(orbital_file *f, const orbital_state *s, double complex *out)
{
    if (fseeko(f->stream, s->at, SEEK_SET))
        return damaged(f, "line %lld cannot be read", (long long)s->line);
    f->line = s->line;
    if (!f->waves) return read_values(f, value_count(f), out);
    double complex *values = malloc((size_t)f->waves * sizeof *values);
    if (!values)
        return f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for an orbital");
    int code = read_values(f, f->waves, values);
    if (!code) place_waves(f, (const int32_t(*)[3])f->wave, f->waves, values, out);
    free(values);
    return code;
}

int open_casino_text(orbital_file *f)
{
    f->format = "CASINO text";
    f->read = read_orbital;
    int code = read_basics(f);
    if (!code) code = read_geometry(f);
    if (!code) code = read_waves(f);
    if (!code) f->format = f->waves ? "CASINO pwfn.data" : "CASINO bwfn.data";
    if (!code && value_count(f) > f->bytes)
        code =
            damaged(f, "line %lld: orbitals of %lld numbers do not fit into a file of %lld bytes",
                    (long long)f->line, (long long)value_count(f), (long long)f->bytes);
    if (!code) code = find_label(f, "numberofkpoints", "Number of k-points");
    if (!code) code = read_integer(f, "the number of k points", 1, MOST_K_POINTS, &f->k_points);
    if (!code && f->k_points > f->bytes / 16)
        code = damaged(f, "line %lld: %d k points do not fit into the file", (long long)f->line,
                       f->k_points);
    f->k = code ? NULL : take(f, (size_t)f->k_points, sizeof *f->k);
    if (!code && !f->k) code = PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < f->k_points && !code; k++) code = read_k_point(f, k);
    f->real = f->waves ? f->half : !f->brackets;
    return code;
}

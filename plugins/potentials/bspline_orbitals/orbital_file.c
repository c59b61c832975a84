/* Opening a file of orbitals, and what is checked alike for all formats. */
#include "orbital_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const energy_names[ENERGIES] = {"total",    "kinetic",           "local",
                                            "nonlocal", "electron-electron", "ion-ion"};

static int check_all(orbital_file *);

/* ---- Which format -------------------------------------------------------------------------- */

/* CASINO's files of functions around atoms, of molecules mostly, begin like those of plane waves. */
static int refuse_functions_of_atoms(orbital_file *f)
{
    return damaged(f,
                   "it has orbitals of functions around atoms (CASINO's gwfn.data or stowfn.data), "
                   "which are not supported; here orbitals are plane waves or blips, and for "
                   "atoms and molecules there are gaussian_orbitals and slater_orbitals");
}

static bool contains(const unsigned char *head, size_t n, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++)
        if (!memcmp(head + i, word, length)) return true;
    return false;
}

/* The head of a file tells the format: the signature of HDF5, the mark of a first record of 588
 * bytes, or text with the heading of CASINO's files. */
static int (*format_of(const unsigned char *head, size_t n))(orbital_file *)
{
    static const unsigned char hdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    static const unsigned char record[] = {0x4c, 0x02, 0, 0};
    if (n >= sizeof hdf5 && !memcmp(head, hdf5, sizeof hdf5)) return open_eshdf;
    if (n >= sizeof record && !memcmp(head, record, sizeof record)) return open_casino_binary;
    for (size_t i = 0; i < n; i++)
        if (!head[i]) return NULL;
    if (!contains(head, n, "BASIC INFO") && !contains(head, n, "BASIC_INFO")) return NULL;
    return contains(head, n, "Periodicity") ? refuse_functions_of_atoms : open_casino_text;
}

/* Waits for no pipe and reads no device: NULL is reported. */
static FILE *open_regular(const orbital_file *f)
{
    struct stat info;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *stream = NULL;
    if (fd < 0 || fstat(fd, &info))
        damaged(f, "the file cannot be opened: %s", strerror(errno));
    else if (!S_ISREG(info.st_mode))
        damaged(f, "this is no file of orbitals: it is %s",
                S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    else if (!(stream = fdopen(fd, "rb")))
        damaged(f, "the file cannot be opened: %s", strerror(errno));
    if (fd >= 0 && !stream) close(fd);
    return stream;
}

static int open_any(orbital_file *f)
{
    unsigned char head[4096];
    f->stream = open_regular(f);
    if (!f->stream) return PLUGMC_ERROR_INPUT;
    size_t n = fread(head, 1, sizeof head, f->stream);
    int (*open)(orbital_file *) = format_of(head, n);
    if (fseeko(f->stream, 0, SEEK_END) == 0) f->bytes = ftello(f->stream);
    rewind(f->stream);
    int code = open ? open(f)
                    : damaged(f, "this is no file of orbitals: it begins neither like CASINO's "
                                 "bwfn.data or pwfn.data (text with BASIC INFO), nor like its "
                                 "bwfn.data.b1 (a record of 588 bytes), nor like HDF5");
    if (!code) code = check_all(f);
    if (code) orbital_file_close(f);
    return code;
}

int orbital_file_open(orbital_file *f, const plugmc_host *host, const char *path)
{
    *f = (orbital_file){.host = host, .path = path, .hdf = -1, .line = 1};
    return open_any(f);
}

int orbital_file_rehearse(const plugmc_host *host, const char *path)
{
    orbital_file f = {.host = host, .path = path, .hdf = -1, .line = 1, .rehearsing = true};
    int code = open_any(&f);
    orbital_file_close(&f);
    return code;
}

void orbital_file_close(orbital_file *f)
{
    if (f->close) f->close(f);
    if (f->stream) fclose(f->stream);
    f->stream = NULL;
    f->close = NULL;
}

size_t orbital_file_coefficients(const orbital_file *f)
{
    size_t n = 1;
    for (int d = 0; d < 3; d++) n *= (size_t)(f->waves ? 2 * f->extent[d] + 1 : f->grid[d]);
    return n;
}

/* ---- Saying what is wrong ------------------------------------------------------------------ */

int damaged(const orbital_file *f, const char *format, ...)
{
    char sentence[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return f->host->fail(f->host->context, PLUGMC_ERROR_INPUT, "%s: %s", f->path, sentence);
}

void *take(const orbital_file *f, size_t count, size_t size)
{
    void *memory = f->host->allocate(f->host->context, count * size);
    if (!memory)
        f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "%s: no memory for %zu bytes", f->path,
                      count * size);
    return memory;
}

int check_count(const orbital_file *f, const char *where, const char *what, int64_t value,
                int64_t least, int64_t most)
{
    if (value >= least && value <= most) return PLUGMC_OK;
    return damaged(f, "%s: %s is %lld, which is not between %lld and %lld", where, what,
                   (long long)value, (long long)least, (long long)most);
}

int check_finite(const orbital_file *f, const char *where, const char *what, const double *values,
                 int64_t n, double most)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(values[i]) <= most))
            return damaged(f, "%s: %s has the value %g", where, what, values[i]);
    return PLUGMC_OK;
}

/* ---- Cell, atoms, k points ----------------------------------------------------------------- */

int set_lattice(orbital_file *f, const char *where)
{
    const double(*a)[3] = (const double(*)[3])f->crystal.lattice;
    double cross[3][3], product = 1;
    int code = check_finite(f, where, "the lattice", a[0], 9, 1e4);
    if (code) return code;
    for (int d = 0; d < 3; d++) {
        const double *u = a[(d + 1) % 3], *v = a[(d + 2) % 3];
        for (int e = 0; e < 3; e++)
            cross[d][e] = u[(e + 1) % 3] * v[(e + 2) % 3] - u[(e + 2) % 3] * v[(e + 1) % 3];
        product *= sqrt(a[d][0] * a[d][0] + a[d][1] * a[d][1] + a[d][2] * a[d][2]);
    }
    double determinant = a[0][0] * cross[0][0] + a[0][1] * cross[0][1] + a[0][2] * cross[0][2];
    f->crystal.volume = fabs(determinant);
    if (!(f->crystal.volume > 1e-3 * product) || product < 1e-3)
        return damaged(f, "%s: the lattice vectors (%g %g %g), (%g %g %g), (%g %g %g) span no cell",
                       where, a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0],
                       a[2][1], a[2][2]);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) f->crystal.inverse[e][d] = cross[d][e] / determinant;
    return PLUGMC_OK;
}

int check_atoms(orbital_file *f, const char *where)
{
    int code = check_finite(f, where, "an atom's position", f->crystal.position[0],
                            3 * f->crystal.atoms, 1e5);
    for (int32_t i = 0; i < f->crystal.atoms && !code; i++) {
        /* CASINO marks atoms with a pseudopotential by adding 200 */
        if (f->crystal.atomic_number[i] > 200) f->crystal.atomic_number[i] -= 200;
        code = check_count(f, where, "an atomic number", f->crystal.atomic_number[i], 1,
                           MOST_ATOMIC_NUMBER);
    }
    return code;
}

void set_k_point(orbital_file *f, int32_t index, const double cartesian[3])
{
    for (int d = 0; d < 3; d++) {
        double phase = 0;
        for (int e = 0; e < 3; e++) phase += cartesian[e] * f->crystal.lattice[d][e];
        f->k[index][d] = phase / (2 * M_PI);
    }
}

/* Two atoms at one place: a damaged position or lattice. */
static int check_distances(const orbital_file *f)
{
    const double least = 0.1; /* bohr */
    for (int32_t i = 0; i < f->crystal.atoms && f->crystal.atoms <= 2000; i++)
        for (int32_t j = 0; j < i; j++) {
            double r2 = 0, s[3];
            for (int d = 0; d < 3; d++) {
                s[d] = 0;
                for (int e = 0; e < 3; e++)
                    s[d] += (f->crystal.position[i][e] - f->crystal.position[j][e]) *
                            f->crystal.inverse[e][d];
                s[d] -= rint(s[d]);
            }
            for (int e = 0; e < 3; e++) {
                double x = s[0] * f->crystal.lattice[0][e] + s[1] * f->crystal.lattice[1][e] +
                           s[2] * f->crystal.lattice[2][e];
                r2 += x * x;
            }
            if (r2 < least * least)
                return damaged(f, "atoms %d and %d are only %.3g bohr apart", j + 1, i + 1,
                               sqrt(r2));
        }
    return PLUGMC_OK;
}

static int check_pseudopotential(const orbital_file *f)
{
    int64_t all = 0;
    for (int32_t i = 0; i < f->crystal.atoms; i++) all += f->crystal.atomic_number[i];
    if (*f->crystal.pseudopotential || all <= f->crystal.electrons) return PLUGMC_OK;
    return damaged(f,
                   "there are %d electrons for nuclei of charge %lld, but the header names no "
                   "pseudopotential",
                   f->crystal.electrons, (long long)all);
}

static int check_k_points(const orbital_file *f)
{
    char where[64];
    for (int32_t k = 0; k < f->k_points; k++) {
        snprintf(where, sizeof where, "k point %d", k + 1);
        int code = check_finite(f, where, "it", f->k[k], 3, 1e3);
        if (code) return code;
        if (f->real && fabs(f->k[k][0]) + fabs(f->k[k][1]) + fabs(f->k[k][2]) > 1e-6)
            return damaged(f,
                           "%s: real orbitals belong to k = 0, but this is (%g %g %g) in "
                           "reciprocal vectors",
                           where, f->k[k][0], f->k[k][1], f->k[k][2]);
        for (int32_t j = 0; j < k; j++) {
            double apart = 0;
            for (int d = 0; d < 3; d++) {
                double x = f->k[k][d] - f->k[j][d];
                apart = fmax(apart, fabs(x - rint(x)));
            }
            if (apart < 1e-6) return damaged(f, "k points %d and %d are the same", j + 1, k + 1);
        }
    }
    return PLUGMC_OK;
}

static int check_states(const orbital_file *f)
{
    for (int32_t i = 0; i < f->states; i++) {
        const orbital_state *s = &f->state[i];
        if (!(fabs(s->eigenvalue) <= 1e5))
            return damaged(f, "k point %d, spin %d, band %d: the eigenvalue is %g Hartree",
                           s->k + 1, s->spin + 1, s->band + 1, s->eigenvalue);
    }
    return PLUGMC_OK;
}

/* Whether they make the electrons is asked later: the key `valence` comes first. */
static int check_valence(const orbital_file *f)
{
    for (int32_t i = 0; i < f->crystal.atoms; i++)
        if (f->crystal.valence[i] &&
            !(f->crystal.valence[i] > 0 && f->crystal.valence[i] <= f->crystal.atomic_number[i]))
            return damaged(f, "atom %d has atomic number %d and %g valence charges", i + 1,
                           f->crystal.atomic_number[i], f->crystal.valence[i]);
    return PLUGMC_OK;
}

static int check_all(orbital_file *f)
{
    int code = check_distances(f);
    if (!code) code = check_pseudopotential(f);
    if (!code) code = check_valence(f);
    if (!code) code = check_k_points(f);
    if (!code) code = check_states(f);
    if (!code)
        code = check_finite(f, "header", "an energy", f->crystal.energy, f->crystal.energies, 1e6);
    return code;
}

/* ---- Plane waves --------------------------------------------------------------------------- */

static size_t wave_index(const orbital_file *f, const int32_t g[3])
{
    size_t at = 0;
    for (int d = 0; d < 3; d++)
        at = at * (size_t)(2 * f->extent[d] + 1) + (size_t)(g[d] + f->extent[d]);
    return at;
}

int set_waves(orbital_file *f, const char *where)
{
    for (int32_t i = 0; i < f->waves; i++)
        for (int d = 0; d < 3; d++) {
            int32_t g = abs(f->wave[i][d]);
            if (f->wave[i][d] < -MOST_WAVE || g > MOST_WAVE)
                return damaged(f, "%s: G vector %d is (%d %d %d)", where, i + 1, f->wave[i][0],
                               f->wave[i][1], f->wave[i][2]);
            if (g > f->extent[d]) f->extent[d] = g;
        }
    /* a sphere fills half of the box around it, in a skewed lattice less */
    size_t box = orbital_file_coefficients(f);
    if (box > 100 * (size_t)f->waves + 1000)
        return damaged(f,
                       "%s: %d G vectors with indices up to %d, %d, %d are no sphere: one of "
                       "them is wrong",
                       where, f->waves, f->extent[0], f->extent[1], f->extent[2]);
    uint8_t *seen = calloc(box, 1);
    if (!seen)
        return f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu bytes", box);
    int32_t twice = -1, paired = 0;
    for (int32_t i = 0; i < f->waves && twice < 0; i++)
        if (seen[wave_index(f, f->wave[i])]++) twice = i;
    for (int32_t i = 0; i < f->waves; i++) {
        const int32_t *g = f->wave[i], minus[3] = {-g[0], -g[1], -g[2]};
        paired += (g[0] || g[1] || g[2]) && seen[wave_index(f, minus)];
    }
    free(seen);
    if (twice >= 0) return damaged(f, "%s: G vector %d is there twice", where, twice + 1);
    f->half = paired == 0 && f->waves > 1;
    return PLUGMC_OK;
}

void place_waves(const orbital_file *f, const int32_t (*wave)[3], int32_t waves,
                 const double complex *values, double complex *box)
{
    memset(box, 0, orbital_file_coefficients(f) * sizeof *box);
    for (int32_t i = 0; i < waves; i++) {
        const int32_t *g = wave[i], minus[3] = {-g[0], -g[1], -g[2]};
        box[wave_index(f, g)] = values[i];
        if (f->half && (g[0] || g[1] || g[2])) box[wave_index(f, minus)] = conj(values[i]);
    }
}

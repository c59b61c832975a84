/* molecule.c: reading a file of Gaussian orbitals, and what is checked alike for all formats. */
#include "molecule.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- For the readers ------------------------------------------------------------------------ */

int molecule_no_memory(const molecule *m, size_t bytes)
{
    const plugmc_host *host = m->file.host;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "%s: no memory for %zu bytes",
                      m->file.path, bytes);
}

void *molecule_take(const molecule *m, size_t count, size_t size)
{
    const plugmc_host *host = m->file.host;
    void *memory = host->allocate(host->context, (count ? count : 1) * size);
    if (!memory) molecule_no_memory(m, count * size);
    return memory;
}

int32_t functions_of_shell(int32_t l, int32_t cartesian)
{
    return cartesian ? (l + 1) * (l + 2) / 2 : 2 * l + 1;
}

double racah_factor(int32_t l, int32_t m)
{
    const int32_t n = abs(m);
    return sqrt((n ? 2 : 1) * tgamma(l - n + 1) / tgamma(l + n + 1));
}

/* The integral is Gamma(l + 3/2) / (2 (2 a)^(l + 3/2)). */
double radial_norm(int32_t l, double exponent)
{
    return sqrt(2 * pow(2 * exponent, l + 1.5) / tgamma(l + 1.5));
}

int molecule_count_functions(molecule *m)
{
    int64_t count = 0;
    for (int32_t s = 0; s < m->shells; s++) {
        m->shell[s].function = (int32_t)count;
        count += functions_of_shell(m->shell[s].l, m->shell[s].cartesian);
        if (count > MOST_FUNCTIONS)
            return hdf5_damaged(&m->file, "its shells have more than %d functions", MOST_FUNCTIONS);
    }
    m->functions = (int32_t)count;
    m->function_of = molecule_take(m, (size_t)count, sizeof *m->function_of);
    m->factor_of = molecule_take(m, (size_t)count, sizeof *m->factor_of);
    return m->function_of && m->factor_of ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

int molecule_arrange(molecule *m, const char *what, const double *raw, int32_t orbitals,
                     const int32_t *order, double **out)
{
    const size_t n = (size_t)m->functions;
    *out = molecule_take(m, (size_t)orbitals * n, sizeof **out);
    if (!*out) return PLUGMC_ERROR_MEMORY;
    for (int32_t o = 0; o < orbitals; o++)
        for (size_t i = 0; i < n; i++) {
            const double c = raw[(size_t)(order ? order[o] : o) * n + i];
            (*out)[(size_t)o * n + (size_t)m->function_of[i]] = c * m->factor_of[i];
            if (!(fabs(c) <= 1e6))
                return hdf5_damaged(&m->file,
                                    "%s: function %zu of orbital %d has the coefficient %g", what,
                                    i + 1, (order ? order[o] : o) + 1, c);
        }
    return PLUGMC_OK;
}

int molecule_coefficients(molecule *m, const char *path, int32_t orbitals, const int32_t *order,
                          double **out)
{
    const size_t count = (size_t)orbitals * (size_t)m->functions;
    if (count > MOST_COEFFICIENTS)
        return hdf5_damaged(&m->file, "%s: %d orbitals of %d functions are too many", path,
                            orbitals, m->functions);
    double *raw = malloc((count + 1) * sizeof *raw);
    int code = raw ? PLUGMC_OK : molecule_no_memory(m, count * sizeof *raw);
    if (!code) code = hdf5_reals(&m->file, path, (int64_t)count, raw);
    if (!code) code = molecule_arrange(m, path, raw, orbitals, order, out);
    free(raw);
    return code;
}

/* ---- Checks --------------------------------------------------------------------------------- */

static int check_nuclei(const molecule *m)
{
    for (int32_t i = 0; i < m->nuclei; i++) {
        for (int d = 0; d < 3; d++)
            if (!(fabs(m->position[i][d]) <= 1e5))
                return hdf5_damaged(&m->file, "nucleus %d has the coordinate %g", i + 1,
                                    m->position[i][d]);
        if (m->atomic_number[i] < 1 || m->atomic_number[i] > 118)
            return hdf5_damaged(&m->file, "nucleus %d has atomic number %d", i + 1,
                                m->atomic_number[i]);
        if (!(m->charge[i] > 0 && m->charge[i] <= m->atomic_number[i]))
            return hdf5_damaged(&m->file, "nucleus %d of atomic number %d has charge %g", i + 1,
                                m->atomic_number[i], m->charge[i]);
        for (int32_t j = 0; j < i && m->nuclei <= 2000; j++) {
            double r2 = 0;
            for (int d = 0; d < 3; d++) r2 += pow(m->position[i][d] - m->position[j][d], 2);
            if (r2 < 0.01)
                return hdf5_damaged(&m->file, "nuclei %d and %d are only %.3g bohr apart", j + 1,
                                    i + 1, sqrt(r2));
        }
    }
    return PLUGMC_OK;
}

static int check_shells(const molecule *m)
{
    for (int32_t s = 0; s < m->shells; s++) {
        const gaussian_shell *shell = &m->shell[s];
        bool none = true;
        for (int32_t k = shell->first; k < shell->first + shell->primitives; k++) {
            const double *p = m->primitive[k];
            if (!(p[0] >= 1e-6 && p[0] <= 1e10))
                return hdf5_damaged(&m->file, "shell %d has the exponent %g", s + 1, p[0]);
            if (!(fabs(p[1]) <= 1e15))
                return hdf5_damaged(&m->file, "shell %d has the coefficient %g", s + 1, p[1]);
            none = none && p[1] == 0;
        }
        if (none) return hdf5_damaged(&m->file, "all coefficients of shell %d are 0", s + 1);
    }
    return PLUGMC_OK;
}

static int check_lattice(const molecule *m)
{
    const double(*a)[3] = (const double(*)[3])m->lattice;
    double volume = 0, product = 1;
    for (int d = 0; d < 3 && m->periodic; d++) {
        double square = 0;
        for (int e = 0; e < 3; e++) {
            square += a[d][e] * a[d][e];
            if (!(fabs(a[d][e]) <= 1e4))
                return hdf5_damaged(&m->file, "a lattice vector has the component %g", a[d][e]);
        }
        product *= sqrt(square);
        volume += a[0][d] *
                  (a[1][(d + 1) % 3] * a[2][(d + 2) % 3] - a[1][(d + 2) % 3] * a[2][(d + 1) % 3]);
        if (!(fabs(m->turns[d]) <= 1e3))
            return hdf5_damaged(&m->file, "the twist has the component %g", m->turns[d]);
    }
    if (!m->periodic || fabs(volume) > 1e-3 * product) return PLUGMC_OK;
    return hdf5_damaged(&m->file, "the lattice vectors span no cell");
}

static int check_orbitals(const molecule *m)
{
    for (int s = 0; s < 2; s++) {
        const molecule_spin *spin = &m->spin[s];
        for (int32_t o = 0; o < spin->orbitals; o++) {
            double square = 0;
            for (int32_t i = 0; i < m->functions; i++) {
                const size_t at = (size_t)o * (size_t)m->functions + (size_t)i;
                square += spin->real[at] * spin->real[at] +
                          (spin->imaginary ? spin->imaginary[at] * spin->imaginary[at] : 0);
            }
            if (!(square > 0))
                return hdf5_damaged(&m->file, "orbital %d of spin %s is 0 everywhere", o + 1,
                                    s ? "down" : "up");
        }
    }
    return PLUGMC_OK;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static bool is_markup(const unsigned char head[8])
{
    int at = memcmp(head, "\xef\xbb\xbf", 3) ? 0 : 3;
    while (at < 8 && head[at] && strchr(" \t\r\n", head[at])) at++;
    return at < 8 && head[at] == '<';
}

/* Waits for no pipe and reads no device. */
static int check_kind(const molecule *m, bool *markup)
{
    static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8] = {0};
    struct stat info;
    int code = PLUGMC_OK, fd = open(m->file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info))
        code = hdf5_damaged(&m->file, "the file cannot be opened: %s", strerror(errno));
    else if (S_ISDIR(info.st_mode))
        code = hdf5_damaged(
            &m->file, "it is a folder: TREXIO's text format is not read, but `trexio convert-to` "
                      "makes an HDF5 file of it");
    else if (!S_ISREG(info.st_mode))
        code = hdf5_damaged(&m->file, "this is not a regular file");
    else if (read(fd, head, sizeof head) != (ssize_t)sizeof head ||
             (memcmp(head, signature, sizeof head) && !is_markup(head)))
        code = hdf5_damaged(&m->file, "this is no HDF5 file, as QMCPACK's converters and TREXIO "
                                      "write them, and no XML");
    if (fd >= 0) close(fd);
    *markup = !code && is_markup(head);
    return code;
}

static int check_molecule(const molecule *m)
{
    int code = check_nuclei(m);
    if (!code) code = check_shells(m);
    if (!code) code = check_lattice(m);
    return code ? code : check_orbitals(m);
}

static int read_whole(molecule *m)
{
    int code = PLUGMC_OK;
    m->file.id = H5Fopen(m->file.path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (m->file.id < 0)
        code = hdf5_damaged(&m->file, "HDF5 cannot open it: it is truncated or damaged");
    else if (hdf5_exists(&m->file, "/basisset"))
        code = read_qmcpack(m);
    else if (hdf5_exists(&m->file, "/ao"))
        code = read_trexio(m);
    else
        code = hdf5_damaged(&m->file, "it has neither /basisset, as QMCPACK's files of Gaussian "
                                      "orbitals, nor /ao, as TREXIO's");
    if (!code) code = check_molecule(m);
    if (m->file.id >= 0) H5Fclose(m->file.id);
    m->file.id = -1;
    return code;
}

int molecule_read(molecule *m, const plugmc_host *host, const char *path, int32_t order)
{
    *m = (molecule){
        .file = {.host = host, .path = path, .id = -1}, .electrons = {-1, -1}, .order = order};
    bool markup;
    int code = check_kind(m, &markup);
    if (!code && markup) {
        code = read_markup(m);
        return code ? code : check_molecule(m);
    }
    if (!code && order != ORDER_BOTH) code = host->rehearse(host->context, path);
    if (code) return code;
    const hdf5_silence quiet = hdf5_silence_begin();
    code = read_whole(m);
    hdf5_silence_end(quiet);
    return code;
}

int molecule_rehearse(const plugmc_host *host, const char *path)
{
    molecule m;
    return molecule_read(&m, host, path, ORDER_BOTH);
}

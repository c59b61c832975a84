/* Pseudopotentials of a TREXIO file in HDF5 (trex.org of TREXIO 2.6, groups nucleus and ecp): sums of Gaussian functions
 *
 *     dv_l(r) = sum_q b_q r^n_q exp(-a_q r^2),
 *
 * that of the largest l, ecp_max_ang_mom_plus_1, being the local one without -Z/r. Each element has the one of its first nucleus;
 * its other nuclei have to have the same. Functions are tabulated, as those of other files are. */
#include "pseudopotential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../files/hdf5_file.h"

enum { MOST_NUCLEI = 10000, MOST_FUNCTIONS = 100000, MOST_POINTS_OF_GRID = 400000 };

/* The groups as they are in the file. */
typedef struct ecp {
    const hdf5_file *file;
    int32_t nuclei, functions;
    double *charge;                 /* [nuclei] e */
    int32_t *core, *highest;        /* [nuclei] electrons replaced; l of the local potential */
    int32_t *nucleus, *l, *power;   /* [functions] */
    double *exponent, *coefficient; /* [functions] 1/length^2, Hartree/length^power */
} ecp;

static int read_groups(ecp *e)
{
    const hdf5_file *f = e->file;
    const plugmc_host *host = f->host;
    int code = hdf5_attribute_count(f, "/nucleus", "nucleus_num", 1, MOST_NUCLEI, &e->nuclei);
    if (!code) code = hdf5_attribute_count(f, "/ecp", "ecp_num", 1, MOST_FUNCTIONS, &e->functions);
    if (code) return code;
    const size_t n = (size_t)e->nuclei, m = (size_t)e->functions;
    double *reals = host->allocate(host->context, (n + 2 * m) * sizeof *reals);
    int32_t *whole = host->allocate(host->context, (2 * n + 3 * m) * sizeof *whole);
    if (!reals || !whole)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a pseudopotential");
    e->charge = reals, e->exponent = reals + n, e->coefficient = e->exponent + m;
    e->core = whole, e->highest = whole + n, e->nucleus = whole + 2 * n;
    e->l = e->nucleus + m, e->power = e->l + m;
    code = hdf5_reals(f, "/nucleus/nucleus_charge", e->nuclei, e->charge);
    if (!code) code = hdf5_integers(f, "/ecp/ecp_z_core", e->nuclei, e->core);
    if (!code) code = hdf5_integers(f, "/ecp/ecp_max_ang_mom_plus_1", e->nuclei, e->highest);
    if (!code) code = hdf5_integers(f, "/ecp/ecp_nucleus_index", e->functions, e->nucleus);
    if (!code) code = hdf5_integers(f, "/ecp/ecp_ang_mom", e->functions, e->l);
    if (!code) code = hdf5_integers(f, "/ecp/ecp_power", e->functions, e->power);
    if (!code) code = hdf5_reals(f, "/ecp/ecp_exponent", e->functions, e->exponent);
    if (!code) code = hdf5_reals(f, "/ecp/ecp_coefficient", e->functions, e->coefficient);
    return code;
}

static int check_groups(const ecp *e)
{
    for (int32_t i = 0; i < e->nuclei; i++)
        if (!(e->charge[i] > 0 && e->charge[i] <= MOST_ATOMIC_NUMBER) || e->core[i] < 0 ||
            e->core[i] > MOST_ATOMIC_NUMBER || e->highest[i] < 0)
            return hdf5_damaged(e->file, "/ecp: nucleus %d has charge %g and %d core electrons",
                                i + 1, e->charge[i], e->core[i]);
    for (int32_t q = 0; q < e->functions; q++) {
        if (e->nucleus[q] < 0 || e->nucleus[q] >= e->nuclei)
            return hdf5_damaged(e->file, "/ecp/ecp_nucleus_index: entry %d is %d", q + 1,
                                e->nucleus[q]);
        if (e->l[q] < 0 || e->l[q] > e->highest[e->nucleus[q]] || e->l[q] > MOST_L)
            return hdf5_damaged(e->file,
                                "/ecp/ecp_ang_mom: entry %d is %d, which is not between 0 and that "
                                "of the local potential, and at most %d",
                                q + 1, e->l[q], MOST_L);
        if (e->power[q] < -1 || e->power[q] > 10)
            return hdf5_damaged(e->file,
                                "/ecp/ecp_power: entry %d is %d; potentials that go as r^-2 and "
                                "the like at a nucleus are not supported",
                                q + 1, e->power[q]);
        if (!(e->exponent[q] > 0 && e->exponent[q] <= 1e6) || !(fabs(e->coefficient[q]) <= 1e6))
            return hdf5_damaged(e->file, "/ecp: function %d has exponent %g and coefficient %g",
                                q + 1, e->exponent[q], e->coefficient[q]);
    }
    return PLUGMC_OK;
}

static int32_t element_at(const ecp *e, int32_t nucleus)
{
    return (int32_t)rint(e->charge[nucleus]) + e->core[nucleus];
}

/* The next function of a nucleus after q, or -1. */
static int32_t next_of(const ecp *e, int32_t nucleus, int32_t q)
{
    for (q++; q < e->functions; q++)
        if (e->nucleus[q] == nucleus) return q;
    return -1;
}

static int same_potentials(const ecp *e, int32_t a, int32_t b)
{
    int32_t p = next_of(e, a, -1), q = next_of(e, b, -1);
    int same = e->core[a] == e->core[b] && e->highest[a] == e->highest[b];
    for (; p >= 0 && q >= 0 && same; p = next_of(e, a, p), q = next_of(e, b, q))
        same = e->l[p] == e->l[q] && e->power[p] == e->power[q] &&
               e->exponent[p] == e->exponent[q] && e->coefficient[p] == e->coefficient[q];
    return same && p < 0 && q < 0;
}

/* The grid: to where the widest function is below 1e-20, in steps that the narrowest one takes a hundred of. */
static int64_t find_grid(const ecp *e, int32_t nucleus, double *step)
{
    double least = INFINITY, most = 0;
    for (int32_t q = next_of(e, nucleus, -1); q >= 0; q = next_of(e, nucleus, q)) {
        least = fmin(least, e->exponent[q]);
        most = fmax(most, e->exponent[q]);
    }
    const double reach = sqrt(46 / least);
    *step = fmin(1e-3, 0.01 / sqrt(most));
    return fmin(reach / *step, MOST_POINTS_OF_GRID) + 1;
}

/* Adds r times the functions of one l. */
static void add_functions(const ecp *e, int32_t nucleus, int32_t l, int64_t n, const double *r,
                          double *r_v)
{
    for (int32_t q = next_of(e, nucleus, -1); q >= 0; q = next_of(e, nucleus, q))
        for (int64_t i = 0; i < n && e->l[q] == l; i++)
            r_v[i] +=
                e->coefficient[q] * pow(r[i], e->power[q] + 1) * exp(-e->exponent[q] * r[i] * r[i]);
}

static int make_kind(const ecp *e, int32_t nucleus, double tolerance, pseudopotential *p)
{
    const plugmc_host *host = e->file->host;
    const file_text file = {.host = host, .path = e->file->path};
    const int32_t local = e->highest[nucleus];
    double step, *r_v[MOST_L + 1];
    const int64_t n = find_grid(e, nucleus, &step);
    *p = (pseudopotential){.path = e->file->path,
                           .atomic_number = element_at(e, nucleus),
                           .valence = e->charge[nucleus]};
    if (local > MOST_L)
        return hdf5_damaged(e->file,
                            "/ecp/ecp_max_ang_mom_plus_1: nucleus %d has %d, which exceeds %d",
                            nucleus + 1, local, MOST_L);
    double *r = calloc((size_t)n * (size_t)(local + 2), sizeof *r);
    if (!r)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a pseudopotential");
    for (int32_t l = 0; l <= local; l++) r_v[l] = r + (l + 1) * n;
    for (int64_t i = 0; i < n; i++) r[i] = (double)i * step;
    add_functions(e, nucleus, local, n, r, r_v[local]);
    for (int64_t i = 0; i < n; i++) r_v[local][i] -= p->valence;
    for (int32_t l = 0; l < local; l++) {
        memcpy(r_v[l], r_v[local], (size_t)n * sizeof *r);
        add_functions(e, nucleus, l, n, r, r_v[l]);
    }
    const int code = semilocal_channels(p, &file, n, r, local + 1, r_v, local, tolerance);
    free(r);
    return code;
}

static int make_kinds(const ecp *e, double tolerance, pseudopotential *out, int most, int *count)
{
    for (int32_t i = 0; i < e->nuclei; i++) {
        int32_t first = 0;
        while (element_at(e, first) != element_at(e, i)) first++;
        if (first < i && !same_potentials(e, first, i))
            return hdf5_damaged(e->file,
                                "/ecp: nuclei %d and %d are of one element and have different "
                                "pseudopotentials",
                                first + 1, i + 1);
        if (first < i || next_of(e, i, -1) < 0) continue;
        if (*count == most)
            return hdf5_damaged(e->file, "/ecp: it has pseudopotentials of more than %d elements",
                                most);
        const int code = make_kind(e, i, tolerance, &out[(*count)++]);
        if (code) return code;
    }
    return *count ? PLUGMC_OK : hdf5_damaged(e->file, "/ecp: no nucleus has a pseudopotential");
}

static int read_all(hdf5_file *f, double tolerance, pseudopotential *out, int most, int *count)
{
    ecp e = {.file = f};
    f->id = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (f->id < 0) return hdf5_damaged(f, "HDF5 cannot open it: it is truncated or damaged");
    int code = hdf5_exists(f, "/ecp") && hdf5_has_attribute(f, "/ecp", "ecp_num")
                   ? read_groups(&e)
                   : hdf5_damaged(f, "it has no pseudopotentials, group /ecp of TREXIO");
    if (!code) code = check_groups(&e);
    if (!code) code = make_kinds(&e, tolerance, out, most, count);
    H5Fclose(f->id);
    return code;
}

int pseudopotentials_of_trexio(const plugmc_host *host, const char *path, double tolerance,
                               pseudopotential *out, int most, int *count)
{
    hdf5_file file = {.host = host, .path = path, .id = -1};
    const hdf5_silence quiet = hdf5_silence_begin();
    *count = 0;
    const int code = read_all(&file, tolerance, out, most, count);
    hdf5_silence_end(quiet);
    return code;
}

int pseudopotentials_rehearse(const plugmc_host *host, const char *path)
{
    int count;
    pseudopotential *all = host->allocate(host->context, MOST_OF_TREXIO * sizeof *all);
    return all ? pseudopotentials_of_trexio(host, path, 1e-5, all, MOST_OF_TREXIO, &count)
               : PLUGMC_ERROR_MEMORY;
}

int pseudopotential_is_hdf5(const char *path)
{
    static const char signature[8] = {'\211', 'H', 'D', 'F', '\r', '\n', '\032', '\n'};
    char head[sizeof signature];
    FILE *in = fopen(path, "rb");
    const int is = in && fread(head, 1, sizeof head, in) == sizeof head &&
                   !memcmp(head, signature, sizeof head);
    if (in) fclose(in);
    return is;
}

/* QMCPACK's lists of determinants in HDF5, as its converters write them:
 *
 *     /MultiDet/NbDet, nstate, Nbits     whole numbers: terms, orbitals, words of 64 bits for them
 *     /MultiDet/CI_0, CI_1               [NbDet][Nbits] 64-bit integers: bit b of word w is orbital 64 w + b of spin up,
 *                                        down; before 2020 CI_Alpha, CI_Beta
 *     /MultiDet/Coeff, Coeff_1, ...      [NbDet] coefficients of the ground state, of excited states
 *     /MultiDet/Coeff_imag, ...          their imaginary parts, 
 *
 * The HDF5 library may crash on damaged files, so a child process reads each file first. */
#include <hdf5.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "terms.h"

enum { BITS = 64, MOST_WORDS = MOST_ORBITALS / BITS, LONGEST_PATH = 64 };

typedef struct reader {
    const plugmc_host *host;
    const char *path;
    hid_t file;
} reader;

static int fault(const reader *r, const char *set, const char *why)
{
    return r->host->fail(r->host->context, PLUGMC_ERROR_INPUT, "%s: /MultiDet/%s: %s", r->path, set,
                         why);
}

/* Data that lie in this very file, behind filters that are part of HDF5. */
static bool is_plain(hid_t set)
{
    const hid_t creation = H5Dget_create_plist(set);
    const int filters = creation < 0 ? -1 : H5Pget_nfilters(creation);
    bool plain = filters >= 0 && H5Pget_layout(creation) != H5D_VIRTUAL &&
                 H5Pget_external_count(creation) == 0;
    for (int i = 0; plain && i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        plain = filter >= 0 && filter < H5Z_FILTER_RESERVED;
    }
    if (creation >= 0) H5Pclose(creation);
    return plain;
}

static bool exists(const reader *r, const char *name)
{
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "/MultiDet/%s", name);
    return H5Lexists(r->file, "/MultiDet", H5P_DEFAULT) > 0 &&
           H5Lexists(r->file, path, H5P_DEFAULT) > 0;
}

static bool has_class(hid_t set, H5T_class_t wanted)
{
    const hid_t type = H5Dget_type(set);
    const H5T_class_t found = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t bytes = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0) H5Tclose(type);
    return found == wanted && bytes >= 1 && bytes <= 16;
}

static int64_t size_of(hid_t set)
{
    const hid_t space = H5Dget_space(set);
    const int64_t n = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
    if (space >= 0) H5Sclose(space);
    return n;
}

/* As which integers are read: their bits may stand in unsigned ones, of which HDF5 would make no negative ones. */
static hid_t integers_of(hid_t set)
{
    const hid_t type = H5Dget_type(set);
    const bool has_sign = type < 0 || H5Tget_sign(type) != H5T_SGN_NONE;
    if (type >= 0) H5Tclose(type);
    return has_sign ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
}

/* `count` numbers of a data set that has just as many; 64-bit integers or doubles. */
static int read_set(const reader *r, const char *name, bool reals, int64_t count, void *out)
{
    char path[LONGEST_PATH], why[128];
    if (!exists(r, name)) return fault(r, name, "there is no such data set");
    snprintf(path, sizeof path, "/MultiDet/%s", name);
    const hid_t set = H5Oopen(r->file, path, H5P_DEFAULT);
    int code = PLUGMC_OK;
    if (set < 0 || H5Iget_type(set) != H5I_DATASET) {
        code = fault(r, name, "it is no data set");
    } else if (!is_plain(set)) {
        code = fault(r, name,
                     "its data lie in another place or behind a filter that is not part of HDF5");
    } else if (!has_class(set, reals ? H5T_FLOAT : H5T_INTEGER)) {
        code = fault(r, name, reals ? "it does not hold reals" : "it does not hold integers");
    } else if (size_of(set) != count) {
        snprintf(why, sizeof why, "it has %lld numbers instead of %lld", (long long)size_of(set),
                 (long long)count);
        code = fault(r, name, why);
    } else if (H5Dread(set, reals ? H5T_NATIVE_DOUBLE : integers_of(set), H5S_ALL, H5S_ALL,
                       H5P_DEFAULT, out) < 0) {
        code = fault(r, name, "it cannot be read");
    }
    if (set >= 0) H5Oclose(set);
    return code;
}

/* Some files have counts as reals. */
static bool is_real(const reader *r, const char *name)
{
    char path[LONGEST_PATH];
    if (!exists(r, name)) return false;
    snprintf(path, sizeof path, "/MultiDet/%s", name);
    const hid_t set = H5Oopen(r->file, path, H5P_DEFAULT);
    const bool real = set >= 0 && H5Iget_type(set) == H5I_DATASET && has_class(set, H5T_FLOAT);
    if (set >= 0) H5Oclose(set);
    return real;
}

static int read_count(const reader *r, const char *name, int64_t most, int64_t *out)
{
    char why[128];
    double real = 0;
    const int as_real = is_real(r, name);
    const int code = as_real ? read_set(r, name, true, 1, &real) : read_set(r, name, false, 1, out);
    if (!code && as_real && !(real == floor(real) && fabs(real) < 1e15)) {
        snprintf(why, sizeof why, "it is %g, which is not whole", real);
        return fault(r, name, why);
    }
    if (as_real) *out = (int64_t)real;
    if (code || (*out >= 1 && *out <= most)) return code;
    snprintf(why, sizeof why, "it is %lld, where 1 to %lld should be", (long long)*out,
             (long long)most);
    return fault(r, name, why);
}

static int check_numbers(const reader *r, const char *name, int64_t terms, const double *values)
{
    for (int64_t k = 0; k < terms; k++)
        if (!(fabs(values[k]) <= 1e100)) return fault(r, name, "a coefficient is no number");
    return PLUGMC_OK;
}

/* Coefficients of a state: real parts [terms], then imaginary parts, zeros where there are none. */
static int read_coefficients(const reader *r, int64_t state, int64_t terms, double *out)
{
    char name[32] = "Coeff", imaginary[48];
    if (state > 0) snprintf(name, sizeof name, "Coeff_%lld", (long long)state);
    snprintf(imaginary, sizeof imaginary, "%s_imag", name);
    memset(out + terms, 0, (size_t)terms * sizeof *out);
    int code = read_set(r, name, true, terms, out);
    if (!code) code = check_numbers(r, name, terms, out);
    if (code || !exists(r, imaginary)) return code;
    code = read_set(r, imaginary, true, terms, out + terms);
    return code ? code : check_numbers(r, imaginary, terms, out + terms);
}

static int read_state_if_there(const reader *r, int64_t state, int64_t terms, double *out)
{
    char name[32];
    snprintf(name, sizeof name, "Coeff_%lld", (long long)state);
    return exists(r, name) ? read_coefficients(r, state, terms, out) : PLUGMC_OK;
}

/* Orbitals of one term; -1: they are not as many as electrons, or beyond the orbitals. */
static int list_bits(const int64_t *words, int64_t count, int64_t orbitals, int64_t electrons,
                     int32_t *out)
{
    int64_t n = 0;
    for (int64_t o = 0; o < count * BITS; o++) {
        if (!((uint64_t)words[o / BITS] >> (o % BITS) & 1)) continue;
        if (o >= orbitals || n == electrons) return -1;
        if (out) out[n] = (int32_t)o;
        n++;
    }
    return n == electrons ? 0 : -1;
}

static int bad_term(const reader *r, const char *name, int64_t term, int64_t electrons,
                    int64_t orbitals)
{
    char why[200];
    snprintf(why, sizeof why,
             "term %lld does not occupy %lld of %lld orbitals, as many as the run has electrons of "
             "that spin",
             (long long)term + 1, (long long)electrons, (long long)orbitals);
    return fault(r, name, why);
}

/* Terms that are kept, with coefficients [2][terms], of `bits` [terms][words] of each spin; electrons NULL: only looks whether they can be read. */
static int take_terms(const reader *r, term_list *list, int64_t terms, int64_t words,
                      int64_t orbitals, double cutoff, const double *coefficients,
                      int64_t *const bits[2], const int64_t electrons[2],
                      const char *const names[2])
{
    int64_t kept = 0;
    for (int64_t k = 0; k < terms; k++)
        kept += hypot(coefficients[k], coefficients[terms + k]) >= cutoff;
    int code = term_list_make(list, r->host, kept, electrons);
    kept = 0;
    for (int64_t k = 0; k < terms && !code; k++) {
        if (!(hypot(coefficients[k], coefficients[terms + k]) >= cutoff)) continue;
        for (int spin = 0; spin < 2 && !code; spin++) {
            const int64_t n = electrons[spin];
            if (list_bits(bits[spin] + k * words, words, orbitals, n,
                          list->occupied[spin] + kept * n))
                code = bad_term(r, names[spin], k, n, orbitals);
        }
        list->imaginary[kept] = coefficients[terms + k];
        list->coefficients[kept++] = coefficients[k];
    }
    return code;
}

static int read_all(const reader *r, term_list *list, int64_t state, double cutoff,
                    const int64_t *electrons)
{
    const char *const names[2] = {exists(r, "CI_0") ? "CI_0" : "CI_Alpha",
                                  exists(r, "CI_0") ? "CI_1" : "CI_Beta"};
    int64_t terms, orbitals, words;
    if (!exists(r, "NbDet"))
        return r->host->fail(r->host->context, PLUGMC_ERROR_INPUT,
                             "%s: there is no /MultiDet/NbDet; is this a file of QMCPACK with a "
                             "list of determinants?",
                             r->path);
    int code = read_count(r, "NbDet", MOST_TERMS, &terms);
    if (!code) code = read_count(r, "nstate", MOST_ORBITALS, &orbitals);
    if (!code) code = read_count(r, "Nbits", MOST_WORDS, &words);
    if (!code && words * BITS < orbitals)
        code = fault(r, "Nbits", "so few words of 64 bits do not have a bit for each orbital");
    if (code) return code;
    double *coefficients = malloc(2 * (size_t)terms * sizeof *coefficients);
    int64_t *bits[2];
    for (int spin = 0; spin < 2; spin++)
        bits[spin] = malloc((size_t)(terms * words) * sizeof(int64_t));
    if (!coefficients || !bits[0] || !bits[1])
        code = r->host->fail(r->host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld terms",
                             (long long)terms);
    if (!code) code = read_coefficients(r, state, terms, coefficients);
    /* the child process looks at those of all states */
    for (int64_t k = 1; k <= MOST_STATES && !electrons && !code; k++)
        code = read_state_if_there(r, k, terms, coefficients);
    for (int spin = 0; spin < 2 && !code; spin++)
        code = read_set(r, names[spin], false, terms * words, bits[spin]);
    if (!code && electrons)
        code = take_terms(r, list, terms, words, orbitals, cutoff, coefficients, bits, electrons,
                          names);
    free(coefficients);
    free(bits[0]);
    free(bits[1]);
    return code;
}

/* The file, with HDF5 kept from printing. */
static int open_and_read(const plugmc_host *host, const char *path, term_list *list, int64_t state,
                         double cutoff, const int64_t *electrons)
{
    H5E_auto2_t function;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    reader r = {host, path, H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)};
    const int code = r.file < 0 ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                                             "%s: it cannot be opened as an HDF5 file", path)
                                : read_all(&r, list, state, cutoff, electrons);
    if (r.file >= 0) H5Fclose(r.file);
    H5Eset_auto2(H5E_DEFAULT, function, data);
    return code;
}

int terms_rehearse(const plugmc_host *host, const char *path)
{
    return open_and_read(host, path, NULL, 0, 0, NULL);
}

int terms_read_hdf5(term_list *list, const plugmc_host *host, const char *path, int64_t state,
                    double cutoff, const int64_t electrons[2])
{
    const int code = host->rehearse(host->context, path);
    return code ? code : open_and_read(host, path, list, state, cutoff, electrons);
}

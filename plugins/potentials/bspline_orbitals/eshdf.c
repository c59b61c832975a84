/* QMCPACK's ES-HDF: plane waves in an HDF5 file, as pw2qmcpack of Quantum ESPRESSO and others write
 * it. Every data set is read by its path, after its type and size have been compared with what the
 * file says elsewhere. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../files/hdf5_file.h"

#include "orbital_file.h"

enum { LONGEST_PATH = LONGEST_HDF5_PATH };

/* The file as its data sets are read. */
static hdf5_file sets_of(const orbital_file *f)
{
    return (hdf5_file){.host = f->host, .path = f->path, .id = (hid_t)f->hdf};
}

static bool exists(const orbital_file *f, const char *path)
{
    const hdf5_file sets = sets_of(f);
    return hdf5_exists(&sets, path);
}

static int read_integers(const orbital_file *f, const char *path, int64_t count, int32_t *out)
{
    const hdf5_file sets = sets_of(f);
    return hdf5_integers(&sets, path, count, out);
}

static int read_reals(const orbital_file *f, const char *path, int64_t count, double *out)
{
    const hdf5_file sets = sets_of(f);
    return hdf5_reals(&sets, path, count, out);
}

static int read_count(const orbital_file *f, const char *path, int64_t least, int64_t most,
                      int32_t *out)
{
    const hdf5_file sets = sets_of(f);
    return hdf5_count(&sets, path, least, most, out);
}

static int read_text(const orbital_file *f, const char *path, char *out, size_t size)
{
    const hdf5_file sets = sets_of(f);
    return hdf5_text(&sets, path, out, size);
}

/* An integer or a real: writers differ. */
static int read_charge(const orbital_file *f, const char *path, double *out)
{
    const hdf5_file sets = sets_of(f);
    int code = hdf5_number(&sets, path, out);
    return code ? code : check_finite(f, path, "it", out, 1, 1e3);
}

/* ---- Header -------------------------------------------------------------------------------- */

static int check_format(const orbital_file *f)
{
    char text[64] = "";
    if (!exists(f, "/format") && exists(f, "/basisset"))
        return damaged(
            f, "it has orbitals of functions around atoms (/basisset: QMCPACK's LCAO), which "
               "potential gaussian_orbitals reads; here orbitals are plane waves");
    if (!exists(f, "/format"))
        return damaged(f, "/format: there is no such data set; is this an ES-HDF file?");
    int code = read_text(f, "/format", text, sizeof text);
    if (!code && strncmp(text, "ES-HDF", 6) != 0)
        code = damaged(f, "/format: it does not say ES-HDF");
    return code;
}

/* The atomic number of a name that begins with the symbol of an element, as C, Si_pbe and Fe2 do; 0: it does not. */
static int32_t element_named(const char *name)
{
    static const char symbols[] =
        "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr "
        "Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm "
        "Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No "
        "Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og ";
    size_t letters = 0;
    int32_t number = 1;
    while (isalpha((unsigned char)name[letters])) letters++;
    if (letters < 1 || letters > 2) return 0;
    for (const char *s = symbols; *s; s = strchr(s, ' ') + 1, number++)
        if (!strncasecmp(s, name, letters) && s[letters] == ' ') return number;
    return 0;
}

/* Not all programs write an atomic number (then the name tells it) and a valence charge (then the key `valence`
 * does, and here it is 0). */
static int read_species(const orbital_file *f, int32_t s, int32_t *number, double *valence)
{
    char path[LONGEST_PATH], name[64] = "";
    int code = PLUGMC_OK;
    *valence = 0;
    snprintf(path, sizeof path, "/atoms/species_%d/atomic_number", s);
    if (exists(f, path)) {
        code = read_count(f, path, 1, MOST_ATOMIC_NUMBER, number);
    } else {
        snprintf(path, sizeof path, "/atoms/species_%d/name", s);
        if (exists(f, path)) code = read_text(f, path, name, sizeof name);
        *number = code ? 0 : element_named(name);
        if (!code && !*number)
            code = damaged(f,
                           "/atoms/species_%d: it has no atomic_number, and its name, '%s', does "
                           "not begin with the symbol of an element",
                           s, name);
    }
    snprintf(path, sizeof path, "/atoms/species_%d/valence_charge", s);
    if (code || !exists(f, path)) return code;
    code = read_charge(f, path, valence);
    return code || *valence > 0 ? code : damaged(f, "%s: it is %g", path, *valence);
}

static int read_atoms(orbital_file *f)
{
    int32_t species = 0;
    int code = read_count(f, "/atoms/number_of_atoms", 1, MOST_ATOMS, &f->crystal.atoms);
    if (!code) code = read_count(f, "/atoms/number_of_species", 1, MOST_ATOMIC_NUMBER, &species);
    if (!code && f->crystal.atoms > f->bytes / 28)
        code = damaged(f, "/atoms/number_of_atoms: %d atoms do not fit into the file",
                       f->crystal.atoms);
    if (code) return code;
    f->crystal.atomic_number = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.atomic_number);
    f->crystal.position = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.position);
    f->crystal.valence = take(f, (size_t)f->crystal.atoms, sizeof *f->crystal.valence);
    if (!f->crystal.atomic_number || !f->crystal.position || !f->crystal.valence)
        return PLUGMC_ERROR_MEMORY;
    code = read_reals(f, "/atoms/positions", 3 * (int64_t)f->crystal.atoms, f->crystal.position[0]);
    if (!code)
        code = read_integers(f, "/atoms/species_ids", f->crystal.atoms, f->crystal.atomic_number);
    int32_t number[MOST_ATOMIC_NUMBER];
    double valence[MOST_ATOMIC_NUMBER];
    for (int32_t s = 0; s < species && !code; s++)
        code = read_species(f, s, &number[s], &valence[s]);
    for (int32_t i = 0; i < f->crystal.atoms && !code; i++) {
        int32_t s = f->crystal.atomic_number[i];
        code = check_count(f, "/atoms/species_ids", "a species", s, 0, species - 1);
        if (code) break;
        f->crystal.atomic_number[i] = number[s];
        f->crystal.valence[i] = valence[s];
    }
    return code ? code : check_atoms(f, "/atoms/positions");
}

static int read_electrons(orbital_file *f)
{
    int32_t electrons[2] = {0, 0}, spinors = 0;
    int code = PLUGMC_OK;
    if (exists(f, "/electrons/has_spinors"))
        code = read_integers(f, "/electrons/has_spinors", 1, &spinors);
    if (!code && spinors)
        code = damaged(
            f,
            "its orbitals are spinors, of a calculation without a common axis of spins; here each "
            "electron is up or down");
    if (!code) code = read_integers(f, "/electrons/number_of_electrons", 2, electrons);
    for (int s = 0; s < 2 && !code; s++)
        code = check_count(f, "/electrons/number_of_electrons", "it", electrons[s], 0,
                           MOST_ELECTRONS / 2);
    f->crystal.electrons = code ? 0 : electrons[0] + electrons[1];
    if (!code)
        code = check_count(f, "/electrons/number_of_electrons", "the sum", f->crystal.electrons, 1,
                           MOST_ELECTRONS);
    if (!code) code = read_count(f, "/electrons/number_of_spins", 1, 2, &f->spins);
    if (!code) code = read_count(f, "/electrons/number_of_kpoints", 1, MOST_K_POINTS, &f->k_points);
    if (!code && f->k_points > f->bytes / 24)
        code = damaged(f, "/electrons/number_of_kpoints: %d k points do not fit into the file",
                       f->k_points);
    return code;
}

/* The plane waves of a k point: a list of its own, or that of the first one. */
static int count_waves(const orbital_file *f, int32_t k, int32_t *count)
{
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "/electrons/kpoint_%d/number_of_gvectors", k);
    return read_count(f, path, 1, f->bytes / 4, count);
}

static int read_waves_of(const orbital_file *f, int32_t k, int32_t count, int32_t (*wave)[3])
{
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "/electrons/kpoint_%d/gvectors", k);
    return read_integers(f, path, 3 * (int64_t)count, wave[0]);
}

static bool has_own_waves(const orbital_file *f, int32_t k)
{
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "/electrons/kpoint_%d/gvectors", k);
    return exists(f, path);
}

/* The list of the first k point; others may only make the box larger. */
static int read_waves(orbital_file *f)
{
    int code = count_waves(f, 0, &f->waves);
    if (code) return code;
    f->wave = take(f, (size_t)f->waves, sizeof *f->wave);
    if (!f->wave) return PLUGMC_ERROR_MEMORY;
    code = read_waves_of(f, 0, f->waves, f->wave);
    if (!code) code = set_waves(f, "/electrons/kpoint_0/gvectors");
    for (int32_t k = 1; k < f->k_points && !code; k++) {
        char where[LONGEST_PATH];
        int32_t count = 0;
        if (!has_own_waves(f, k)) continue;
        code = count_waves(f, k, &count);
        orbital_file own = *f;
        own.waves = count;
        own.wave = code ? NULL : malloc((size_t)count * sizeof *own.wave);
        if (!code && !own.wave) code = PLUGMC_ERROR_MEMORY;
        if (!code) code = read_waves_of(f, k, count, own.wave);
        snprintf(where, sizeof where, "/electrons/kpoint_%d/gvectors", k);
        if (!code) code = set_waves(&own, where);
        if (!code && own.half != f->half)
            code = damaged(f,
                           "%s: it has half of a sphere where kpoint_0 has a whole one, or the "
                           "other way round",
                           where);
        if (!code) memcpy(f->extent, own.extent, sizeof f->extent);
        free(own.wave);
    }
    return code;
}

static int read_states(orbital_file *f, int32_t k, int32_t spin, int32_t *room)
{
    char path[LONGEST_PATH];
    int32_t n = 0;
    snprintf(path, sizeof path, "/electrons/kpoint_%d/spin_%d/number_of_states", k, spin);
    int code = read_count(f, path, 1, f->bytes / 16, &n);
    if (code) return code;
    if (f->states + n > *room) {
        int32_t larger = 2 * *room + n;
        orbital_state *more = take(f, (size_t)larger, sizeof *more);
        if (!more) return PLUGMC_ERROR_MEMORY;
        if (f->states) memcpy(more, f->state, (size_t)f->states * sizeof *more);
        f->state = more;
        *room = larger;
    }
    double *eigenvalue = malloc((size_t)n * sizeof *eigenvalue);
    if (!eigenvalue)
        return f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for %d eigenvalues",
                             n);
    snprintf(path, sizeof path, "/electrons/kpoint_%d/spin_%d/eigenvalues", k, spin);
    code = read_reals(f, path, n, eigenvalue);
    for (int32_t band = 0; band < n && !code; band++) {
        snprintf(path, sizeof path, "/electrons/kpoint_%d/spin_%d/state_%d/psi_g", k, spin, band);
        if (!exists(f, path))
            code =
                damaged(f, "%s: there is no such data set, but there should be %d states", path, n);
        f->state[f->states++] = (orbital_state){k, spin, band, eigenvalue[band], 0, 0};
    }
    free(eigenvalue);
    return code;
}

static int read_k_points(orbital_file *f)
{
    char path[LONGEST_PATH];
    int32_t room = 0;
    int code = PLUGMC_OK;
    f->k = take(f, (size_t)f->k_points, sizeof *f->k);
    if (!f->k) return PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < f->k_points && !code; k++) {
        snprintf(path, sizeof path, "/electrons/kpoint_%d/reduced_k", k);
        code = read_reals(f, path, 3, f->k[k]);
        for (int32_t spin = 0; spin < f->spins && !code; spin++)
            code = read_states(f, k, spin, &room);
    }
    return code;
}

/* ---- Orbitals ------------------------------------------------------------------------------ */

static int read_coefficients(orbital_file *f, const orbital_state *s, double complex *out)
{
    char path[LONGEST_PATH];
    const bool own = s->k > 0 && has_own_waves(f, s->k);
    int32_t count = f->waves;
    int code = own ? count_waves(f, s->k, &count) : PLUGMC_OK;
    if (code) return code;
    int32_t(*wave)[3] = own ? malloc((size_t)count * sizeof *wave) : f->wave;
    double complex *values = malloc((size_t)count * sizeof *values);
    if (!wave || !values)
        code = f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for an orbital");
    if (!code && own) code = read_waves_of(f, s->k, count, wave);
    for (int32_t i = 0; i < count && own && !code; i++)
        for (int d = 0; d < 3; d++)
            if (abs(wave[i][d]) > f->extent[d])
                code = damaged(f, "/electrons/kpoint_%d/gvectors: it has changed", s->k);
    snprintf(path, sizeof path, "/electrons/kpoint_%d/spin_%d/state_%d/psi_g", s->k, s->spin,
             s->band);
    if (!code) code = read_reals(f, path, 2 * (int64_t)count, (double *)values);
    if (!code) place_waves(f, (const int32_t(*)[3])wave, count, values, out);
    if (own) free(wave);
    free(values);
    return code;
}

static int read_orbital(orbital_file *f, const orbital_state *s, double complex *out)
{
    hdf5_silence quiet = hdf5_silence_begin();
    int code = read_coefficients(f, s, out);
    hdf5_silence_end(quiet);
    return code;
}

static void close_file(orbital_file *f)
{
    if (f->hdf >= 0) H5Fclose((hid_t)f->hdf);
    f->hdf = -1;
}

static int open_whole(orbital_file *f)
{
    f->hdf = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    int code =
        f->hdf >= 0 ? PLUGMC_OK : damaged(f, "HDF5 cannot open it: it is truncated or damaged");
    if (!code) code = check_format(f);
    if (!code) code = read_reals(f, "/supercell/primitive_vectors", 9, f->crystal.lattice[0]);
    if (!code) code = set_lattice(f, "/supercell/primitive_vectors");
    if (!code) code = read_atoms(f);
    if (!code) code = read_electrons(f);
    if (!code) code = read_waves(f);
    if (!code) code = read_k_points(f);
    if (!code && f->half) f->real = true;
    /* valence charges stand for the pseudopotential, which ES-HDF does not name */
    snprintf(f->crystal.pseudopotential, sizeof f->crystal.pseudopotential, "of valence charges");
    return code;
}

/* All that an instance may read. */
static int read_everything(orbital_file *f)
{
    int code = open_whole(f);
    double complex *out = code ? NULL : malloc(orbital_file_coefficients(f) * sizeof *out);
    if (!code && !out)
        code = f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for an orbital");
    for (int32_t i = 0; i < f->states && !code; i++) code = read_coefficients(f, &f->state[i], out);
    free(out);
    return code;
}

/* In the child process (f->rehearsing) the file is read; in ours it is read once that went well. */
int open_eshdf(orbital_file *f)
{
    const plugmc_host *host = f->host;
    f->format = "ES-HDF";
    f->read = read_orbital;
    f->close = close_file;
    fclose(f->stream); /* HDF5 opens it itself */
    f->stream = NULL;
    if (!f->rehearsing && !PLUGMC_HAS(host, rehearse))
        return damaged(f, "this plugmc is too old to read ES-HDF files");
    int code = f->rehearsing ? PLUGMC_OK : host->rehearse(host->context, f->path);
    if (code) return code;
    hdf5_silence quiet = hdf5_silence_begin();
    code = f->rehearsing ? read_everything(f) : open_whole(f);
    hdf5_silence_end(quiet);
    return code;
}

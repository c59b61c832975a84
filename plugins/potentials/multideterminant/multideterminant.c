/* multideterminant: Psi as a sum of products of determinants, beside a potential with orbitals.
 *
 *     Psi = J sum_k c_k D_up,k D_down,k
 *
 * A term occupies orbitals of that potential, numbered from 1: the first term has the first ones, as many as there are
 * electrons, and c_1 = 1; `excitations` says which orbitals stand in the places of which in the other terms. Lists of
 * QMCPACK, in HDF5 or XML, are read as they are (qmcpack_hdf5.c, qmcpack_xml.c); the term with the largest coefficient
 * then comes first, and all are divided by it, since the norm of Psi does not matter.
 *
 * What it does is in the movers and in local_energy, which ask for the expansion (../../determinants/expansion.h). It
 * has no energy of its own. variational.c has derivatives by the coefficients. */
#include "multideterminant.h"

#include <plugmc/description.h>

#include <stdio.h>
#include <string.h>

static const expansion *get(const void *instance)
{
    return &((const multideterminant *)instance)->expansion;
}

/* ---- What the core asks a potential for ----------------------------------------------------------- */

/* Determinants enter |Psi|^2 by the movers that know them: no energy is added. */
static int energy(void *instance, const plugmc_total_request *request)
{
    (void)instance, (void)request;
    return PLUGMC_OK;
}

static int32_t describe(const void *instance, int32_t index, char *out, size_t bytes)
{
    const multideterminant *m = instance;
    const expansion *e = &m->expansion;
    if (index > 0) return 0;
    snprintf(
        out, bytes,
        "%lld terms of %d determinants of %d orbitals for spin up and %d of %d for spin down%s",
        (long long)e->terms, e->spin[0].determinants, e->spin[0].orbitals, e->spin[1].determinants,
        e->spin[1].orbitals, e->imaginary ? ", complex coefficients" : "");
    return 1;
}

/* ---- Preparation ---------------------------------------------------------------------------------- */

static int read_terms(multideterminant *m, const char **what)
{
    const plugmc_host *host = m->host;
    const plugmc_system *system = host->system;
    int64_t electrons[2] = {0};
    if (system->species_count > 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "electrons need two species, one for each spin, but there are %d",
                          system->species_count);
    for (int32_t s = 0; s < system->species_count; s++)
        electrons[s] = plugmc_species_at(system, s)->count;
    if (*m->file && *m->excitations)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file and excitations are both given: one of them has the terms");
    *what = *m->file ? m->file : "excitations";
    if (!*m->file) return terms_read_words(&m->list, host, m->excitations, electrons);
    const int code =
        terms_read_qmcpack(&m->list, host, m->file, m->state, (double)m->cutoff, electrons);
    return code ? code : term_list_put_largest_first(&m->list, host, m->file);
}

/* Coefficients of the section are those of all terms but the first. */
static int take_coefficients(multideterminant *m)
{
    const plugmc_host *host = m->host;
    const int64_t others = m->list.terms - 1, given = m->coefficients.count;
    const int zeros = given == 1 && m->coefficients.values[0] == 0;
    if (given == 0 && !*m->file && others > 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "coefficients: there are none for the %lld excitations; 0 stands for as "
                          "many zeros",
                          (long long)others);
    if (given != 0 && given != others && !zeros)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "coefficients has %lld numbers, but there are %lld terms after the "
                          "first, whose coefficient is 1",
                          (long long)given, (long long)others);
    for (int64_t k = 0; k < others && given; k++)
        m->list.coefficients[k + 1] = zeros ? 0 : (double)m->coefficients.values[k];
    m->values = host->allocate(host->context, (size_t)m->list.terms * sizeof *m->values);
    if (!m->values)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the coefficients");
    for (int64_t k = 0; k <= others; k++) m->values[k] = m->list.coefficients[k] * m->list.sign[k];
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    multideterminant *m = instance;
    const char *what = "";
    m->host = host;
    int code = read_terms(m, &what);
    if (!code) code = take_coefficients(m);
    return code ? code : terms_to_expansion(&m->list, host, what, m->values, &m->expansion);
}

static const plugmc_term *find_orbitals(const plugmc_system *system)
{
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        if (term->sampled && plugmc_orbitals_of(term->plugin)) return term;
    }
    return NULL;
}

/* The orbitals that terms occupy are there. */
static int prepare(void *instance, const plugmc_host *host)
{
    multideterminant *m = instance;
    m->host = host;
    m->orbitals = find_orbitals(host->system);
    if (!m->orbitals)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no potential has orbitals, of which determinants are made");
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(m->orbitals->plugin);
    int64_t most = 0;
    m->is_complex = orbitals->complex_valued(m->orbitals->instance) != 0;
    if (m->list.is_complex && !m->is_complex)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "%s has complex coefficients, but the orbitals of potential '%s' are real", m->file,
            m->orbitals->label);
    for (int32_t s = 0; s < host->system->species_count; s++) {
        const expansion_spin *set = &m->expansion.spin[s];
        const plugmc_species *species = plugmc_species_at(host->system, s);
        const int64_t there = orbitals->count(m->orbitals->instance, s),
                      needed = set->orbitals ? set->column[set->orbitals - 1] + 1 : 0;
        if (needed > there)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "a term occupies orbital %lld of species '%s', but potential '%s' "
                              "gives %lld: orbitals beyond those of lowest energy are given by "
                              "its key virtual, here at least %lld",
                              (long long)needed, species->name, m->orbitals->label,
                              (long long)there, (long long)(needed - species->count));
        if (there > most) most = there;
    }
    m->pitch = (most + 7) / 8 * 8;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_FILE_KEY(multideterminant, file, "",
                    "QMCPACK's list of determinants, HDF5 or XML; the term with the largest "
                    "coefficient comes first, and all are divided by it"),
    PLUGMC_TEXT_KEY(multideterminant, excitations, "",
                    "instead of a file: the terms after the first, which has the lowest orbitals, "
                    "as words UP/DOWN of substitutions, such as 2>3/2>3 or 1>4,2>5/-"),
    PLUGMC_LIST_KEY(multideterminant, coefficients, 0, "", -1e100, 1e100, "",
                    "coefficients of the terms after the first, whose own is 1; a single 0 stands "
                    "for zeros; empty: those of the file"),
    PLUGMC_REAL_KEY(multideterminant, cutoff, "0", 0, 1e100, "",
                    "terms of a file with smaller coefficients are left out; 0: what the file "
                    "says, or none"),
    PLUGMC_INTEGER_KEY(multideterminant, state, "0", 0, MOST_STATES, "",
                       "of a file in HDF5: number of the excited state whose coefficients are "
                       "taken, 0 the ground state"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .unchanged_by = PLUGMC_CHANGED_POSITION};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};
static const plugmc_expansion offered = {.size = sizeof offered, .get = get};
static const plugmc_description description = {.size = sizeof description, .line = describe};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "multideterminant",
              .summary = "wave function as a sum of determinants of the orbitals beside it",
              .reference =
                  "Clark, Morales, McMinis, Kim, Scuseria, J. Chem. Phys. 135, 244105 (2011)",
              PLUGMC_KEYS(multideterminant, table),
              PLUGMC_OFFERS({PLUGMC_EXPANSION, &offered}, {PLUGMC_DESCRIPTION, &description},
                            {PLUGMC_VARIATIONAL_PARAMETERS, &multideterminant_variational}),
              .potential = &potential, .configure = configure, .prepare = prepare,
              .rehearse = terms_rehearse)

/* local_energy: the local energy H Psi / Psi of a Slater-Jastrow wave function, and its parts.
 *
 *     E_L = -1/2 sum_i (laplace_i Psi) / Psi + sum_{i<j} 1/r_ij + sum_{iI} v_I(r_iI)
 *           + sum_{I<J} Z_I Z_J / r_IJ
 *
 * in Hartree atomic units, whose average over |Psi|^2 is the energy and whose variance is zero for an eigenfunction (W. M. C.
 * Foulkes, L. Mitas, R. J. Needs, G. Rajagopal, Rev. Mod. Phys. 73, 33 (2001)). Psi is the product of determinants of the
 * orbitals of one potential and of exp(-E/2) with the energy E of all sampled pair and field terms. In a periodic cell 1/r is
 * the Ewald sum with its Madelung term (coulomb.h). Ions have charges, or pseudopotentials (pseudopotential.h, nonlocal.c);
 * where they are the potential with the orbitals says.
 *
 * On the CPU nothing of the mover is used but the positions: the inverse matrices are made from them in double
 * precision. If the mover keeps ln |Psi|^2, the difference to what is found here is reported. On a GPU matrices M that
 * the mover lends are made better by a step M (2 - A M); the difference is then that of ln |det M|^2 to first order,
 * and it is the mover that compares ln |det A|^2 when it refreshes. request.c answers others. On the
 * GPU gpu.c does what this file does on the CPU, which is the reference; formulas.h is for both. report.c says what
 * is reported.
 *
 * If the file of the orbitals gives the energies of the calculation that they come from, the
 * differences to them are reported with errors, as long as there is no Jastrow factor: without one
 * the kinetic, local, nonlocal and ion-ion energies are those of that calculation (with nonlocal =
 * separable if that is what it used). Electron-electron energies are not comparable: a determinant
 * has exchange.
 */
#include "local_energy.h"
#include "listing.h"

#include "../../determinants/blas.h"
#include "../../determinants/spin_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Measuring ------------------------------------------------------------------------------- */

static int measure_here(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                        double *values)
{
    const plugmc_system *system = le->system;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < system->walkers && !code; w += le->group.size) {
        const int32_t left = system->walkers - w, n = left < le->group.size ? left : le->group.size;
        code = evaluate_walkers(le, host, view, NULL, 0, NULL, w, n);
        for (int32_t k = 0; k < n && !code; k++)
            write_values(le, le->group.samples[k].energy, le->group.samples[k].ln_square,
                         values + (w + k) * QUANTITIES);
    }
    return code;
}

/* A view of the same positions on the host. */
static int bring_here(const local_energy *le, const plugmc_host *host, plugmc_view *view)
{
    const size_t numbers = 3 * (size_t)le->system->walkers * (size_t)le->system->particles;
    int code = host->gpu->download(host->context, le->fetched,
                                   (plugmc_device_pointer)(uintptr_t)view->positions,
                                   numbers * sizeof *le->fetched);
    view->positions = le->fetched;
    view->on_device = 0;
    return code;
}

static int find_drift(const local_energy *le, const plugmc_host *host, const plugmc_view *view,
                      double *values)
{
    const int32_t walkers = le->system->walkers;
    const int kept = PLUGMC_HAS(view, running_energy) && view->running_energy;
    double *running = calloc((size_t)walkers, sizeof *running);
    int code = running ? PLUGMC_OK
                       : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d energies",
                                    walkers);
    if (!code && kept) code = view->running_energy(view, running);
    for (int32_t w = 0; w < walkers && !code; w++) {
        double *drift = values + w * QUANTITIES + DRIFT;
        *drift = kept ? -running[w] - *drift : 0;
    }
    free(running);
    return code;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    local_energy *le = instance;
    plugmc_view here = plugmc_view_copy(view);
    int code = PLUGMC_OK;
    if (view->on_device && le->gpu) {
        code = gpu_measure(le, host, view, values);
    } else {
        if (view->on_device) code = bring_here(le, host, &here);
        if (!code) code = measure_here(le, host, &here, values);
    }
    return code ? code : find_drift(le, host, view, values);
}

/* ---- The wave function ----------------------------------------------------------------------- */

static void sum_kinetic(const local_energy *, sample *, int spin, int32_t place, const double *lent,
                        const double *ln_lent, int lu);
static void sum_coulomb(const local_energy *, const double *positions, sample *);
static double parts_energy(const local_energy *, const sample *);

int evaluate(const local_energy *le, const plugmc_host *host, int spin, int64_t n,
             const double *points, double *values, double *gradients, double *laplacians)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = n,
                                            .positions = points,
                                            .pitch = le->wave.pitch,
                                            .values = values,
                                            .gradients = gradients,
                                            .laplacians = laplacians};
    int code = plugmc_orbitals_of(le->wave.orbitals->plugin)
                   ->evaluate(le->wave.orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             le->wave.orbitals->label)
                : PLUGMC_OK;
}

static void take_positions(const local_energy *le, const plugmc_view *view, int32_t walker,
                           sample *s)
{
    const double *r = view->positions + 3 * walker * le->system->particles;
    for (int64_t i = 0; i < le->system->particles; i++) {
        s->x[i] = r[3 * i];
        s->y[i] = r[3 * i + 1];
        s->z[i] = r[3 * i + 2];
    }
    memset(s->energy, 0, sizeof s->energy);
    s->ln_square = -parts_energy(le, s);
    s->phase = 1;
    s->singular = 0;
}

int fail_singular(const local_energy *le, const plugmc_host *host, int32_t walker, int spin)
{
    return host->fail(host->context, PLUGMC_ERROR_STATE,
                      "the orbitals of species '%s' are linearly dependent at the electrons of "
                      "walker %d: the wave function is zero there",
                      plugmc_species_at(le->system, spin)->name, walker);
}

static void gather_points(const local_energy *le, const plugmc_view *view, int spin, int32_t first,
                          int32_t n)
{
    const plugmc_system *system = le->system;
    const int64_t electrons = plugmc_species_at(system, spin)->count;
    for (int32_t k = 0; k < n; k++)
        memcpy(le->group.points + 3 * k * electrons,
               view->positions + 3 * ((first + k) * system->particles + system->first[spin]),
               3 * (size_t)electrons * sizeof *le->group.points);
}

/* Rows of an expansion for all electrons of these walkers, for which both spins have to be known. */
static int find_sums(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                     int32_t first, int32_t n)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        const int64_t electrons = plugmc_species_at(le->system, spin)->count;
        gather_points(le, view, spin, first, n);
        if (electrons)
            code = evaluate(le, host, spin, n * electrons, le->group.points, le->group.values, NULL,
                            NULL);
#pragma omp parallel for schedule(dynamic) num_threads(le->threads) if (le->threads > 1)
        for (int32_t k = 0; k < (code || !electrons ? 0 : n); k++) {
            const double *values = le->group.values + k * electrons * le->wave.numbers;
            if (!slater_invert(&le->group.samples[k].spin[spin], values, NULL))
                le->group.samples[k].singular = 1 + spin;
        }
    }
#pragma omp parallel for schedule(dynamic) num_threads(le->threads) if (le->threads > 1)
    for (int32_t k = 0; k < (code ? 0 : n); k++) {
        sample *s = &le->group.samples[k];
        if (!s->singular && !slater_settle(s->spin)) s->singular = 1 + (s->spin[0].n == 0);
        for (int spin = 0; spin < 2 && !s->singular; spin++) {
            if (s->spin[spin].n) slater_rows(&s->spin[spin]);
            s->ln_square += s->spin[spin].ln_square;
            s->phase *= s->spin[spin].phase;
        }
    }
    return code;
}

/* Kinetic energies and ln |Psi|^2. */
static int evaluate_group(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                          const plugmc_inverses *lent, int lu, int32_t first, int32_t n)
{
    const plugmc_system *system = le->system;
    int code = PLUGMC_OK;
    for (int32_t k = 0; k < n; k++) take_positions(le, view, first + k, &le->group.samples[k]);
    if (le->wave.sum) code = find_sums(le, host, view, first, n);
    for (int spin = 0; spin < system->species_count && !code; spin++) {
        const int64_t electrons = plugmc_species_at(system, spin)->count;
        gather_points(le, view, spin, first, n);
        if (electrons)
            code = evaluate(le, host, spin, n * electrons, le->group.points, le->group.values,
                            le->group.gradients, le->group.laplacians);
#pragma omp parallel for schedule(dynamic) num_threads(le->threads) if (le->threads > 1)
        for (int32_t k = 0; k < (code || !electrons ? 0 : n); k++)
            sum_kinetic(
                le, &le->group.samples[k], spin, k, lent ? lent->inverse[spin][first + k] : NULL,
                lent && lent->ln_square[spin] ? lent->ln_square[spin] + first + k : NULL, lu);
    }
    for (int32_t k = 0; k < n && !code; k++)
        if (le->group.samples[k].singular)
            code = fail_singular(le, host, first + k, le->group.samples[k].singular - 1);
    return code;
}

int evaluate_walkers(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                     const plugmc_inverses *lent, int lu, double *drift, int32_t first, int32_t n)
{
    const int64_t row = 3 * le->system->particles;
    for (int32_t k = 0; k < n; k++) le->group.samples[k].drift = drift ? drift + k * row : NULL;
    int code = evaluate_group(le, host, view, lent, lu, first, n);
#pragma omp parallel for schedule(dynamic) num_threads(le->threads) if (le->threads > 1)
    for (int32_t k = 0; k < (code ? 0 : n); k++) {
        sample *s = &le->group.samples[k];
        sum_coulomb(le, view->positions + (first + k) * row, s);
        if (s->shares) share_coulomb(le, view->positions + (first + k) * row, s);
    }
    for (int32_t k = 0; k < n && !code && le->kinds; k++)
        code = measure_nonlocal(le, host, view, first + k, &le->group.samples[k]);
    return code;
}

/* Derivatives of the energy of all pairs and fields by the position of electron e. */
static plugmc_derivatives parts_derivatives(const local_energy *le, const sample *s, int64_t e)
{
    const plugmc_box *box = &le->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int64_t n = le->system->particles;
    const plugmc_particle probe = {
        s->x[e], s->y[e], s->z[e], le->wave.charge[e], le->wave.diameter[e], le->wave.species[e]};
    const plugmc_particles before = {
        e, s->x, s->y, s->z, le->wave.charge, le->wave.diameter, le->wave.species};
    const plugmc_particles after = {n - e - 1,
                                    s->x + e + 1,
                                    s->y + e + 1,
                                    s->z + e + 1,
                                    le->wave.charge + e + 1,
                                    le->wave.diameter + e + 1,
                                    le->wave.species + e + 1};
    plugmc_derivatives out = {0};
    for (int t = 0; t < le->wave.term_count; t++) {
        const plugmc_potential *p = le->wave.terms[t]->plugin->potential;
        const void *instance = le->wave.terms[t]->instance;
        if (p->pair) p->pair->derivatives(instance, box, periodic, 1, &probe, &before, &out);
        if (p->pair) p->pair->derivatives(instance, box, periodic, 1, &probe, &after, &out);
        if (p->field) p->field->derivatives(instance, &probe, &out);
    }
    return out;
}

/* The inverse of a determinant, its ln and phase; 0: it is 0. */
static int find_determinant(const local_energy *le, sample *s, slater *det, const double *values,
                            const double *lent, const double *ln_lent, int lu)
{
    int good = 1;
    if (le->wave.sum) return !s->singular; /* find_sums has been there */
    if (!lent)
        good = slater_invert(det, values, NULL);
    else if (lu || !ln_lent)
        good = slater_determinant(det, values, &det->ln_square);
    else
        det->ln_square = *ln_lent;
    if (!good) return 0;
    if (lent) det->inverse = (double *)lent; /* nobody writes there until the next walkers come */
    s->ln_square += det->ln_square;
    s->phase *= det->phase;
    return 1;
}

/* With ln Psi = ln D - E/2: laplace Psi / Psi = laplace D / D - grad D / D . grad E - laplace E / 2
 * + |grad E|^2 / 4. */
static void sum_kinetic(const local_energy *le, sample *s, int spin, int32_t place,
                        const double *lent, const double *ln_lent, int lu)
{
    const int64_t electrons = plugmc_species_at(le->system, spin)->count, row = le->wave.numbers;
    const double *values = le->group.values + place * electrons * row;
    slater *det = &s->spin[spin];
    det->inverse = s->inverse[spin];
    if (!find_determinant(le, s, det, values, lent, ln_lent, lu)) {
        if (!s->singular) s->singular = 1 + spin;
        return;
    }
    for (int64_t e = 0; e < electrons; e++) {
        const int64_t at = place * electrons + e;
        const plugmc_derivatives parts = parts_derivatives(le, s, le->system->first[spin] + e);
        double laplacian = creal(slater_product(det, e, le->group.laplacians + at * row));
        for (int d = 0; d < 3; d++) {
            const double slope =
                creal(slater_product(det, e, le->group.gradients + (3 * at + d) * row));
            laplacian += parts.gradient[d] * (0.25 * parts.gradient[d] - slope);
            if (s->drift)
                s->drift[3 * (le->system->first[spin] + e) + d] = slope - 0.5 * parts.gradient[d];
        }
        const double kinetic = -0.5 * (laplacian - 0.5 * parts.laplacian);
        s->energy[KINETIC] += kinetic;
        if (s->shares) s->shares[2 * (le->system->first[spin] + e)] = kinetic;
    }
}

double fields_energy(const local_energy *le, int64_t e, const double r[3])
{
    double energy = 0;
    for (int t = 0; t < le->wave.term_count; t++)
        if (le->wave.terms[t]->plugin->potential->field)
            energy += wave_function_field(&le->wave, le->wave.terms[t], e, r);
    return energy;
}

static double parts_energy(const local_energy *le, const sample *s)
{
    const plugmc_box *box = &le->system->box;
    double energy = 0;
    for (int64_t e = 0; e < le->system->particles; e++) {
        const double r[3] = {s->x[e], s->y[e], s->z[e]};
        const plugmc_particle probe = {
            r[0], r[1], r[2], le->wave.charge[e], le->wave.diameter[e], le->wave.species[e]};
        const plugmc_particles before = {
            e, s->x, s->y, s->z, le->wave.charge, le->wave.diameter, le->wave.species};
        for (int t = 0; t < le->wave.term_count; t++) {
            const plugmc_potential *p = le->wave.terms[t]->plugin->potential;
            if (p->pair)
                p->pair->energy(le->wave.terms[t]->instance, box,
                                box->domain == PLUGMC_DOMAIN_PERIODIC, &probe, &before, &energy);
            if (p->field) energy += wave_function_field(&le->wave, le->wave.terms[t], e, r);
        }
    }
    return energy;
}

double parts_change(const local_energy *le, const sample *s, int64_t e, const double to[3])
{
    return wave_function_change(&le->wave, le->system, s->x, s->y, s->z, e, to);
}

/* ---- Coulomb energies ------------------------------------------------------------------------ */

static void sum_coulomb(const local_energy *le, const double *positions, sample *s)
{
    const int64_t n = le->system->particles, waves = le->sums.waves;
    double *re = s->wave, *im = s->wave + waves;
    s->energy[ION_ION] = le->constant;
    if (le->set.electron_electron)
        s->energy[ELECTRON_ELECTRON] = coulomb_self(&le->sums, n, positions, NULL, re, im);
    if (!le->set.electron_ion || !le->has_ions) return;
    double total = 0, local = 0;
    if (!le->set.electron_electron) coulomb_factors(&le->sums, n, positions, NULL, re, im);
    for (int32_t i = 0; i < le->ions.count; i++) total += le->v.charge[i];
    for (int64_t e = 0; e < n; e++) {
        const double *r = positions + 3 * e;
        for (int64_t c = 0; c < le->v.centres; c++) local += short_ranged(&le->v, c, r);
        for (int32_t i = 0; i < le->ions.count; i++) {
            const double *q = le->v.position[i], d[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
            local -= le->v.charge[i] * coulomb_near(&le->sums, d);
        }
    }
    local -= coulomb_far(&le->sums, re, im, le->ion_wave, le->ion_wave + waves) -
             le->sums.background * (double)n * total;
    s->energy[LOCAL] = local;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int prepare_wave(local_energy *, const plugmc_host *);
static int take_memory(local_energy *, const plugmc_host *);
static int choose_place(local_energy *, const plugmc_host *);

int local_energy_no_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for local energies");
}

static int prepare(void *instance, const plugmc_host *host)
{
    local_energy *le = instance;
    const plugmc_system *system = le->system = host->system;
    le->threads = system->threads > 0 ? system->threads : 1;
    blas_begin();
    if (system->box.dimension != 3 || system->species_count > 2)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "local energies need electrons with two species, one for each spin, in three "
            "dimensions, but this system has %d species and %d dimensions",
            system->species_count, system->box.dimension);
    for (int32_t s = 0; s < system->species_count; s++)
        if (plugmc_species_at(system, s)->charge != 0 && plugmc_species_at(system, s)->charge != -1)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species '%s' has charge %g, but electrons have -1",
                              plugmc_species_at(system, s)->name,
                              plugmc_species_at(system, s)->charge);
    int code = prepare_wave(le, host);
    if (!code) code = prepare_ions(le, host);
    if (!le->set.electron_ion) le->kinds = 0; /* nobody looks at pseudopotentials then */
    if (!code) code = coulomb_prepare(&le->sums, host, system->particles + le->ions.count);
    if (!code) code = prepare_centres(le, host);
    if (!code) code = take_memory(le, host);
    if (!code && le->kinds && le->set.nonlocal == SEPARABLE && !le->has_jastrow)
        code = prepare_projections(le, host);
    if (!code) code = prepare_comparison(le, host);
    if (!code) code = check_cusps(le, host);
    return code || !host->gpu ? code : choose_place(le, host);
}

/* A sampled potential without a part that runs on a GPU, or NULL. */
static const plugmc_term *bound_to_cpu(const plugmc_system *system)
{
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        const plugmc_orbitals *orbitals = plugmc_orbitals_of(term->plugin);
        if (term->sampled && ((orbitals && !orbitals->on_device) ||
                              ((p->pair || p->field) && !term->plugin->source)))
            return term;
    }
    return NULL;
}

static int choose_place(local_energy *le, const plugmc_host *host)
{
    const plugmc_term *term = bound_to_cpu(le->system);
    if (!term) return gpu_prepare(le, host);
    le->fetched =
        host->allocate(host->context, 3 * (size_t)le->system->walkers *
                                          (size_t)le->system->particles * sizeof *le->fetched);
    host->warn(host->context,
               "potential '%s' supports only the CPU, so local energies are measured there, "
               "which takes much longer than on the GPU",
               term->label);
    return le->fetched ? PLUGMC_OK : local_energy_no_memory(host);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    return bound_to_cpu(host->system) ? 0 : gpu_gpu_source(instance, host, index, out);
}

static int prepare_wave(local_energy *le, const plugmc_host *host)
{
    const plugmc_system *system = le->system;
    const int code = wave_function_terms(&le->wave, host);
    if (code) return code;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (plugmc_orbitals_of(term->plugin)) le->wave.orbitals = term;
        if ((p->pair && !p->pair->derivatives) || (p->field && !p->field->derivatives))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "the kinetic energy needs derivatives of potential '%s', which has none",
                term->label);
    }
    le->has_jastrow = le->wave.term_count > 0;
    if (!le->wave.orbitals)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no potential has orbitals, which the wave function needs");
    return wave_function_measures(&le->wave, host);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { GROUP_BYTES = 64 << 20 }; /* of orbitals and their derivatives that are evaluated together */

static int take_memory(local_energy *le, const plugmc_host *host)
{
    plugmc_context *context = host->context;
    const plugmc_system *system = le->system;
    const size_t particles = (size_t)system->particles, row = (size_t)le->wave.numbers,
                 waves = (size_t)le->sums.waves, most = (size_t)le->wave.most;
    const size_t fits = GROUP_BYTES / (5 * most * row * sizeof(double));
    le->group.size = fits < 1                         ? 1
                     : fits < (size_t)system->walkers ? (int32_t)fits
                                                      : system->walkers;
    const size_t group = (size_t)le->group.size, points = group * most;
    le->group.points = host->allocate(context, 3 * points * sizeof *le->group.points);
    le->group.values = host->allocate(context, 5 * points * row * sizeof *le->group.values);
    le->group.samples = host->allocate(context, group * sizeof *le->group.samples);
    double *each = host->allocate(context, group * (3 * particles + 4 * waves) * sizeof *each);
    size_t bytes = 0;
    if (le->wave.sum)
        bytes = spin_tables_bytes(le->wave.sum, le->wave.pitch, le->wave.is_complex, 1);
    for (int spin = 0; spin < system->species_count && !le->wave.sum; spin++)
        if (plugmc_species_at(system, spin)->count)
            bytes += slater_bytes(plugmc_species_at(system, spin)->count, le->wave.is_complex, 1);
    char *matrices = host->allocate(context, group * bytes);
    if (!matrices || !le->group.points || !le->group.values || !le->group.samples || !each)
        return local_energy_no_memory(host);
    le->group.gradients = le->group.values + points * row;
    le->group.laplacians = le->group.values + 4 * points * row;
    for (int32_t k = 0; k < le->group.size; k++, each += 3 * particles + 4 * waves) {
        sample *s = &le->group.samples[k];
        s->x = each;
        s->y = each + particles;
        s->z = each + 2 * particles;
        s->wave = each + 3 * particles;
        s->own_wave = s->wave + 2 * waves;
        if (le->wave.sum)
            spin_tables_prepare(s->spin, matrices + (size_t)k * bytes, le->wave.sum, le->wave.pitch,
                                le->wave.is_complex, 1);
        for (int spin = 0; spin < system->species_count && !le->wave.sum; spin++) {
            const int64_t n = plugmc_species_at(system, spin)->count;
            if (n)
                slater_prepare(&s->spin[spin], matrices, n, le->wave.pitch, le->wave.is_complex, 1);
            s->inverse[spin] = s->spin[spin].inverse;
            if (n) matrices += slater_bytes(n, le->wave.is_complex, 1);
        }
    }
    return wave_function_electrons(&le->wave, host);
}

static void release(void *instance)
{
    local_energy *le = instance;
    gpu_release(le);
    free(le->work.visits);
    free(le->work.places);
    free(le->work.at_places);
    free(le->asked.list);
    free(le->asked.ions);
}

/* ---- The descriptor -------------------------------------------------------------------------- */

_Static_assert(offsetof(local_energy, set) == 0, "keys are told of local_energy_settings");

static const plugmc_parameter table[] = {
    PLUGMC_FILES_KEY(
        local_energy_settings, pseudopotentials, "",
        "pseudopotential files, separated by blanks; each names its element, or, of TREXIO, its "
        "elements"),
    PLUGMC_CHOICE_KEY(local_energy_settings, nonlocal, "semilocal", "semilocal|separable",
                      "form of the nonlocal pseudopotentials"),
    PLUGMC_CHOICE_KEY(
        local_energy_settings, localisation, "wave_function", "wave_function|determinants",
        "what nonlocal pseudopotentials act on, over which they are divided: the wave "
        "function, or its determinants without Jastrow factors"),
    PLUGMC_CHOICE_KEY(local_energy_settings, quadrature, "12", "6|12|26",
                      "number of quadrature points on a sphere around an ion"),
    PLUGMC_INTEGER_KEY(local_energy_settings, radial_points, "10", 2, MOST_RADII, "",
                       "number of radii of the quadrature, for separable pseudopotentials"),
    PLUGMC_REAL_KEY(local_energy_settings, tolerance, "1e-5", 0, 1, "hartree",
                    "pseudopotentials are cut off below this value"),
    PLUGMC_FLAG_KEY(local_energy_settings, electron_electron, "yes",
                    "include the repulsion of the electrons"),
    PLUGMC_FLAG_KEY(local_energy_settings, electron_ion, "yes",
                    "include the attraction of electrons by ions"),
    PLUGMC_FLAG_KEY(local_energy_settings, ion_ion, "yes", "include the repulsion of the ions"),
    PLUGMC_CHOICE_KEY(local_energy_settings, units, "hartree", "hartree|rydberg|ev",
                      "unit of the reported energies"),
    PLUGMC_CHOICE_KEY(local_energy_settings, per, "cell", "cell|electron|primitive_cell",
                      "normalisation of the reported energies"),
};

PLUGMC_PLUGIN(.name = "local_energy",
              .summary = "local energy of a Slater-Jastrow wave function and its parts",
              .reference = "Foulkes, Mitas, Needs, Rajagopal, Rev. Mod. Phys. 73, 33 (2001)",
              PLUGMC_KEYS(local_energy, table),
              PLUGMC_OFFERS({PLUGMC_LOCAL_ENERGY, &local_energy_facet}),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = local_energy_quantity,
                                     .measure = measure, .derived = local_energy_derived,
                                     .derive = local_energy_derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare, .release = release, .gpu_source = gpu_source,
              .rehearse = pseudopotentials_rehearse)

/* Rigid molecules of hmc, free of each other: their kinetic energy and the work of forces against velocities of sites, angular
 * momentum in space, reversal bit for bit, and momenta as they are drawn. */
#include "testing.h"

#include "molecules.h"

/* The functions of a trajectory, without one. */
#include "../../plugins/movers/hmc/rigid.c"

void *hmc_cpu_take(const plugmc_host *host, size_t numbers, size_t each, int *code)
{
    (void)code;
    return bench_allocate(host->context, numbers * each);
}

static double number_in(uint64_t k, double low, double high)
{
    const plugmc_random r = plugmc_draw((plugmc_seed){78}, k, 0, 0, PLUGMC_PURPOSE_TRIAL, 0);
    return low + (high - low) * plugmc_uniform_double(r.word[0], r.word[1]);
}

/* ---- Molecules ----------------------------------------------------------------------------------- */

/* Water, a linear molecule of three sites, one that is bent out of every plane, with a different mass at each site; particles. */
static const species_of_test species[] = {{"a", 3, 0}, {"b", 0, 0}, {"c", 0, 0}};
static const double masses[] = {16, 1.5, 5};
static const kind_of_test kinds[] = {
    {"a b b", 2, {0.2, 0.1, 0, 1.2, 0.1, 0, -0.13, 1.04, 0}, 9},
    {"b a c", 2, {-1.1, 0.5, 0.2, 0, 0.5, 0.2, 1.3, 0.5, 0.2}, 9},
    {"c b a b", 2, {0, 0, 0, 1, 0, 0, 0, 1.3, 0, 0.2, 0.4, -0.9}, 12}};

static const double oblique[3][3] = {{20, 0, 0}, {4, 19, 0}, {-3, 2, 21}};

typedef struct free_ones {
    bench b;
    hmc h;
    hmc_cpu cpu;
    hmc_rung rung;
} free_ones;

static void begin(free_ones *f, const double vectors[3][3])
{
    bench *b = &f->b;
    bench_begin(b, 3, (double[3]){20, 20, 20}, 1, 5);
    bench_cube(b, 20);
    bench_molecules(b, species, 3, kinds, 3);
    if (vectors) bench_vectors(b, vectors);
    bench_masses(b, masses);
    const size_t n = (size_t)b->system.particles;
    int code;
    f->rung = (hmc_rung){.kT = 2.5, .half_step = 0, .steps = 1};
    f->cpu = (hmc_cpu){.threads = 1,
                       .species = hmc_cpu_take(&b->host, n, sizeof(int32_t), &code),
                       .place = hmc_cpu_take(&b->host, 3 * n, sizeof(uint64_t), &code),
                       .momentum = hmc_cpu_take(&b->host, 3 * n, sizeof(int64_t), &code),
                       .force = hmc_cpu_take(&b->host, 3 * n, sizeof(double), &code),
                       .positions = hmc_cpu_take(&b->host, 3 * n, sizeof(double), &code)};
    f->h = (hmc){.system = &b->system,
                 .seed = {5},
                 .dimension = 3,
                 .box = &b->system.box,
                 .mass = (double *)masses,
                 .count = 3 * b->system.particles,
                 .cpu = &f->cpu,
                 .ladder.rung = &f->rung};
    for (int32_t s = 0; s < 3; s++)
        for (int64_t i = b->first[s]; i < b->first[s + 1]; i++) f->cpu.species[i] = s;
    bench_expect(b, hmc_rigid_prepare(&f->h, &b->host));
    for (size_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) f->cpu.positions[3 * i + d] = number_in(3 * i + d, 0, 15);
        plugmc_wrap(&b->system.box, f->cpu.positions + 3 * i);
        hmc_place_of(&b->system.box, f->cpu.positions + 3 * i, f->cpu.place + 3 * i);
        hmc_position(&b->system.box, f->cpu.place + 3 * i, f->cpu.positions + 3 * i);
        f->h.rigid->turned[i] = plugmc_draw_orientation((plugmc_seed){9}, 1, 0, (uint32_t)i, 3);
    }
    hmc_rigid_place(&f->h);
}

static void end(free_ones *f) { molecules_end(&f->b); }

static void draw(free_ones *f, uint64_t sweep)
{
    for (int64_t i = 0; i < f->b.system.particles; i++)
        hmc_rigid_draw(&f->h, sweep, 0, i, f->cpu.momentum + 3 * i);
}

static void drift(free_ones *f, double time)
{
    for (int64_t i = 0; i < f->b.system.particles; i++) {
        if (f->h.rigid->role[i] == HMC_FIRST_SITE) hmc_rigid_drift(&f->h, 0, i, time);
        if (f->h.rigid->role[i] == HMC_FREE)
            hmc_drift(&f->b.system.box, time / masses[f->cpu.species[i]], f->cpu.momentum + 3 * i,
                      f->cpu.place + 3 * i);
    }
    for (int64_t i = 0; i < f->b.system.particles; i++)
        hmc_position(&f->b.system.box, f->cpu.place + 3 * i, f->cpu.positions + 3 * i);
    hmc_rigid_place(&f->h);
}

static double kinetic(const free_ones *f)
{
    double sum = 0;
    for (int64_t i = 0; i < f->b.system.particles; i++)
        sum += hmc_rigid_kinetic(&f->h, i, f->cpu.momentum + 3 * i);
    return sum;
}

/* ---- Energies and forces ------------------------------------------------------------------------- */

/* To the short vector that it is but for lattice vectors. */
static void wrap_difference(const plugmc_box *box, double v[3])
{
    double times[3];
    for (int e = 0; e < 3; e++)
        times[e] =
            rint(v[0] * box->inverse[0][e] + v[1] * box->inverse[1][e] + v[2] * box->inverse[2][e]);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) v[d] -= times[e] * box->vector[e][d];
}

/* Velocities [particles][3] by the mean of a short time before and after. */
static void find_velocities(free_ones *f, double *out)
{
    const double time = 1e-3; /* in which orientations change by 10^6 times their units */
    const int64_t n = f->b.system.particles;
    for (int side = 0; side < 2; side++) {
        drift(f, side ? 2 * time : -time);
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                out[3 * i + d] = f->cpu.positions[3 * i + d] - (side ? out[3 * i + d] : 0);
    }
    for (int64_t i = 0; i < n; i++) wrap_difference(&f->b.system.box, &out[3 * i]);
    for (int64_t k = 0; k < 3 * n; k++) out[k] /= 2 * time;
    drift(f, -time);
}

/* Power of the forces on sites, if torques were about the first sites: a fault that the comparison has to see. */
static double power_about_first_sites(const free_ones *f)
{
    double power = 0;
    for (int64_t i = 0; i < f->b.system.particles; i++) {
        const int64_t *momentum = f->cpu.momentum + 3 * i;
        double force[3], along[3];
        if (f->h.rigid->role[i] == HMC_FREE)
            for (int d = 0; d < 3; d++)
                power += f->cpu.force[3 * i + d] * (double)momentum[d] / HMC_MOMENTUM_UNIT /
                         masses[f->cpu.species[i]];
        if (f->h.rigid->role[i] != HMC_FIRST_SITE) continue;
        const hmc_kind *kind = f->h.rigid->with[i];
        const int64_t *turning = f->cpu.momentum + 3 * second_of(&f->h, i);
        hmc_kind wrong = *kind;
        memset(wrong.centre, 0, sizeof wrong.centre);
        hmc_sum_forces(&wrong, number_of(&f->h, i), &f->h.rigid->turned[i], f->cpu.force, force,
                       along);
        for (int d = 0; d < 3; d++)
            power += (force[d] * (double)momentum[d] / kind->mass +
                      along[d] * (double)turning[d] / kind->inertia[d]) /
                     HMC_MOMENTUM_UNIT;
    }
    return power;
}

/* sum m v^2 / 2 and sum f v of sites are what momenta and gathered forces say. */
static void energies_and_forces_are_those_of_sites(void **state)
{
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        free_ones f;
        double power[2] = {0}, energy = 0;
        begin(&f, shape ? oblique : NULL);
        const int64_t n = f.b.system.particles;
        double *velocity = bench_allocate(f.b.host.context, (size_t)(3 * n) * sizeof *velocity);
        draw(&f, 3);
        for (int64_t i = 0; i < n; i++) { /* nothing turns about the axis of a linear molecule */
            const hmc_kind *kind = f.h.rigid->with[i];
            if (kind != &f.h.rigid->kind[1] || f.h.rigid->role[i] != HMC_SECOND_SITE) continue;
            for (int d = 0; d < 3; d++) {
                plugmc_orientation axes = {{PLUGMC_QUATERNION_ONE, 0, 0, 0}};
                const double unit[3] = {d == 0, d == 1, d == 2};
                double axis[3];
                hmc_to_axes(kind, &axes);
                plugmc_turn_vector(&axes, unit, axis);
                if (fabs(axis[0]) > 0.5) f.cpu.momentum[3 * i + d] = 0;
            }
        }
        find_velocities(&f, velocity);
        for (int64_t k = 0; k < 3 * n; k++) {
            f.cpu.force[k] = number_in((uint64_t)k + 1000, -1, 1);
            power[0] += f.cpu.force[k] * velocity[k];
            energy += 0.5 * masses[f.cpu.species[k / 3]] * velocity[k] * velocity[k];
        }
        const double wrong = power_about_first_sites(&f);
        hmc_rigid_gather(&f.h);
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) {
                const hmc_kind *kind = f.h.rigid->with[i];
                const double inertia = !kind ? masses[f.cpu.species[i]]
                                       : f.h.rigid->role[i] == HMC_FIRST_SITE ? kind->mass
                                                                              : kind->inertia[d];
                power[1] += f.cpu.force[3 * i + d] * (double)f.cpu.momentum[3 * i + d] /
                            HMC_MOMENTUM_UNIT / inertia;
            }
        printf("kinetic energy %.9g, by velocities %.9g; power %.9g, by forces on sites %.9g, with "
               "torques about first sites %.9g\n",
               kinetic(&f), energy, power[1], power[0], wrong);
        assert_close(energy, kinetic(&f), 1e-5, 0);
        assert_close(power[1], power[0], 1e-5, 1e-5);
        assert_true(fabs(wrong - power[0]) > 1e-2 * fabs(power[0]));
        end(&f);
    }
}

/* ---- Free motion --------------------------------------------------------------------------------- */

/* Angular momentum in space, of the molecule with first site i. */
static void angular_momentum(const free_ones *f, int64_t i, double out[3])
{
    plugmc_orientation axes = f->h.rigid->turned[i];
    double own[3];
    hmc_to_axes(f->h.rigid->with[i], &axes);
    for (int d = 0; d < 3; d++)
        own[d] = (double)f->cpu.momentum[3 * second_of(&f->h, i) + d] / HMC_MOMENTUM_UNIT;
    plugmc_turn_vector(&axes, own, out);
}

/* Largest change of the kinetic energy on the way, over it; of angular momenta at the end. */
static void errors_of(double step, int steps, double *energy, double *angular)
{
    free_ones f;
    *energy = *angular = 0;
    begin(&f, NULL);
    draw(&f, 7);
    const double begun = kinetic(&f);
    for (int64_t i = 0; i < f.b.system.particles; i++) {
        double before[3], after[3];
        if (f.h.rigid->role[i] != HMC_FIRST_SITE) continue;
        angular_momentum(&f, i, before);
        for (int k = 0; k < steps; k++) {
            hmc_rigid_drift(&f.h, 0, i, step);
            *energy = fmax(*energy, fabs(kinetic(&f) - begun) / begun);
        }
        angular_momentum(&f, i, after);
        for (int d = 0; d < 3; d++) *angular = fmax(*angular, fabs(after[d] - before[d]));
    }
    end(&f);
}

static void free_motion_is_of_second_order(void **state)
{
    double energy[3], angular[3];
    (void)state;
    for (int k = 0; k < 3; k++) {
        errors_of(0.08 / (1 << k), 50 << k, &energy[k], &angular[k]);
        printf("step %g: energy to %.2e, angular momentum to %.2e\n", 0.08 / (1 << k), energy[k],
               angular[k]);
        assert_true(angular[k] < 1e-5);
    }
    for (int k = 0; k < 2; k++)
        assert_true(energy[k] / energy[k + 1] > 3.3 && energy[k] / energy[k + 1] < 4.8);
}

/* Also with steps that turn molecules by many radians. */
static void motion_leads_back(void **state)
{
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        free_ones f;
        begin(&f, shape ? oblique : NULL);
        const size_t n = (size_t)f.b.system.particles;
        const double steps[] = {0.01, 0.3, 7, 500};
        uint64_t *place = bench_allocate(f.b.host.context, 3 * n * sizeof *place);
        int64_t *momentum = bench_allocate(f.b.host.context, 3 * n * sizeof *momentum);
        plugmc_orientation *turned = bench_allocate(f.b.host.context, n * sizeof *turned);
        for (uint64_t s = 0; s < 200; s++) {
            draw(&f, s);
            memcpy(place, f.cpu.place, 3 * n * sizeof *place);
            memcpy(momentum, f.cpu.momentum, 3 * n * sizeof *momentum);
            memcpy(turned, f.h.rigid->turned, n * sizeof *turned);
            for (int k = 0; k < 5; k++) drift(&f, steps[s % 4]);
            assert_true(memcmp(turned, f.h.rigid->turned, n * sizeof *turned) != 0);
            for (size_t i = 0; i < 3 * n; i++) f.cpu.momentum[i] = -f.cpu.momentum[i];
            for (int k = 0; k < 5; k++) drift(&f, steps[s % 4]);
            for (size_t i = 0; i < 3 * n; i++) f.cpu.momentum[i] = -f.cpu.momentum[i];
            assert_memory_equal(place, f.cpu.place, 3 * n * sizeof *place);
            assert_memory_equal(momentum, f.cpu.momentum, 3 * n * sizeof *momentum);
            assert_memory_equal(turned, f.h.rigid->turned, n * sizeof *turned);
            drift(&f, 0.3);
        }
        assert_false(hmc_rigid_lost_shape(&f.h, 0));
        f.h.rigid->turned[f.b.first[0]].part[0] += 1 << 28;
        f.h.rigid->turned[f.b.first[0]].part[1] += 1 << 28;
        assert_true(hmc_rigid_lost_shape(&f.h, 0));
        end(&f);
    }
}

/* Each component has kT / 2: three of a particle, six of a molecule. */
static void momenta_share_the_energy(void **state)
{
    enum { DRAWS = 4000 };
    free_ones f;
    (void)state;
    begin(&f, NULL);
    const int64_t n = f.b.system.particles;
    double *sum = bench_allocate(f.b.host.context, (size_t)(3 * n) * sizeof *sum);
    for (uint64_t s = 0; s < DRAWS; s++) {
        draw(&f, s);
        for (int64_t k = 0; k < 3 * n; k++) {
            int64_t only[3] = {0};
            only[k % 3] = f.cpu.momentum[k];
            sum[k] += hmc_rigid_kinetic(&f.h, k / 3, only);
        }
    }
    for (int64_t k = 0; k < 3 * n; k++) {
        const double z = (sum[k] / DRAWS / (0.5 * f.rung.kT) - 1) / sqrt(2.0 / DRAWS);
        if (f.h.rigid->role[k / 3] == HMC_OTHER_SITE)
            assert_true(sum[k] == 0);
        else if (fabs(z) > 4.5)
            fail_msg("component %d of particle %d has z = %.2f", (int)k % 3, (int)k / 3, z);
    }
    end(&f);
}

TEST_MAIN(cmocka_unit_test(energies_and_forces_are_those_of_sites),
          cmocka_unit_test(free_motion_is_of_second_order), cmocka_unit_test(motion_leads_back),
          cmocka_unit_test(momenta_share_the_energy))

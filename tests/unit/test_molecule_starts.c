/* Starts of rigid molecules with soft sites, random ones and those from lattices: at the densities of liquids no two sites are closer than their cores, and no
 * molecule has an energy that a few moves do not undo. */
#include "testing.h"

#include "molecules.h"

#include "energy/molecule_trials.h"

enum { SEEDS = 10 };
static const double fraction = 0.2; /* [initial] random_fraction */
static const int64_t attempts = 1000000;

/* A liquid, energies in kT. */
typedef struct liquid {
    const char *name, *lennard_jones, *ewald; /* settings; ewald may be NULL */
    double edge;                              /* of a cube */
    int species;
    species_of_test of_species[2];
    kind_of_test kind;
    double least[2][2]; /* distance of sites, the same units as edge */
    double
        most; /* energy of a molecule with all others, kT: pairs, and the real part of an Ewald sum */
} liquid;

static const liquid liquids[] = {
    {.name = "terphenyl at T = 1",
     .lennard_jones = "epsilon=1 sigma=1 cutoff=2.612 truncation=force_shift",
     .edge = 7.2608385,
     .species = 1,
     .of_species = {{"site", 0, 0}},
     .kind =
         {"site site site", 125, {0, 0, 0, 1, 0, 0, 0.25881904510252074, 0.9659258262890683, 0}, 9},
     .least = {{0.93}},
     .most = 30},
    {.name = "SPC/E, 298 K, 997 kg/m^3",
     .lennard_jones = "epsilon=0.26241,0 sigma=3.16555789 cutoff=9",
     .ewald = "bjerrum_length=560.741 cutoff=9 tolerance=1e-4",
     .edge = 24.8586887,
     .species = 2,
     .of_species = {{"O", 0, -0.8476}, {"H", 0, 0.4238}},
     .kind = {"O H H", 512, {0, 0, 0, 1, 0, 0, -0.33331324756824, 0.942816142731718, 0}, 9},
     .least = {{2.75, 1.75}, {1.75, 0.75}},
     .most = 80},
    {.name = "TraPPE carbon dioxide, 250 K, 1,030 kg/m^3",
     .lennard_jones = "epsilon=0.108,0.316 sigma=2.80,3.05 cutoff=12",
     .ewald = "bjerrum_length=668.404 cutoff=12 tolerance=1e-4",
     .edge = 26.27,
     .species = 2,
     .of_species = {{"C", 0, 0.70}, {"O", 0, -0.35}},
     .kind = {"C O O", 256, {0, 0, 0, 1.16, 0, 0, -1.16, 0, 0}, 9},
     .least = {{2.3, 2.48}, {2.48, 2.67}},
     .most = 50}};

static void begin(bench *b, const liquid *l, double edge)
{
    bench_begin(b, 3, (double[3]){edge, edge, edge}, 1, 1);
    bench_cube(b, edge);
    bench_molecules(b, l->of_species, l->species, &l->kind, 1);
    bench_expect(b, bench_configured(b, "lennard_jones", l->lennard_jones));
    if (l->ewald) bench_expect(b, bench_configured(b, "coulomb_ewald", l->ewald));
    bench_expect(b, bench_prepare(b));
}

/* Distances of sites of different molecules, the least of each pair of species. */
static void nearest(const bench *b, const double *x, double out[2][2])
{
    const plugmc_system *system = &b->system;
    for (int k = 0; k < 4; k++) out[k / 2][k % 2] = INFINITY;
    for (int64_t i = 0; i < system->particles; i++)
        for (int64_t j = 0; j < i; j++) {
            double square = 0;
            if (in_same_molecule(system, i, j)) continue;
            for (int d = 0; d < 3; d++) {
                const double edge = system->box.length[d], u = x[3 * i + d] - x[3 * j + d],
                             r = u - edge * rint(u / edge);
                square += r * r;
            }
            const int32_t a = species_of(system, i), c = species_of(system, j);
            out[a][c] = out[c][a] = fmin(out[a][c], sqrt(square));
        }
}

/* The largest energy of a molecule with all others, kT. */
static double largest_energy(bench *b, hamiltonian *h, const double *x, const plugmc_orientation *o)
{
    double largest = -INFINITY;
    molecules_fill(b, h, x, o);
    for (int64_t i = 0; i < b->system.particles; i++)
        if (is_first_site(&b->system, i)) largest = fmax(largest, molecule_energy(h, 0, i));
    return largest;
}

/* Reference points on a lattice, then turned or grown from there. */
static int from_lattice(const bench *b, const cores *cores, double *x, plugmc_orientation *o)
{
    const int64_t n = centres_in(&b->system);
    double nearest, *centres = malloc(3 * (size_t)n * sizeof *centres);
    assert_int_equal(lattice_sites(&b->system.box, LATTICE_AUTO, n, centres, &nearest), 0);
    molecules_at(&b->system, 0, centres, x, o);
    free(centres);
    return lattice_apart(&b->system, cores, fraction, 0, x, o);
}

/* Whether a start of each seed is as it should be. With cores of no level but the hard ones it would not. */
static int good_starts(const liquid *l, bool soft, bool lattice)
{
    bench b;
    contacts hard;
    cores cores;
    int good = 0;
    begin(&b, l, l->edge);
    test_mover mover = mover_new(&b, "rigid", "");
    double *x = bench_positions(&b), least[2][2];
    plugmc_orientation *o = calloc((size_t)b.system.particles, sizeof *o);
    assert_int_equal(contacts_make(&b.system, &hard), EXIT_DONE);
    assert_int_equal(cores_make(&b.system, &hard, &cores), EXIT_DONE);
    assert_int_equal(cores.levels, CORE_LEVELS);
    const size_t pairs = (size_t)(l->species * l->species);
    if (!soft) memset(cores.at[0].between, 0, pairs * sizeof *cores.at[0].between);
    if (!soft) cores.at[0].largest = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        b.system.seed.key = seed;
        const int code =
            lattice ? from_lattice(&b, &cores, x, o)
                    : random_molecules(&b.system, &cores, fraction, attempts, 0, x, o).code;
        assert_int_equal(code, EXIT_DONE);
        nearest(&b, x, least);
        const double energy = largest_energy(&b, &mover.core->hamiltonian, x, o);
        bool apart = true;
        for (int k = 0; k < 4; k++) apart &= least[k / 2][k % 2] >= l->least[k / 2][k % 2];
        good += apart && energy < l->most;
        printf("%s, seed %llu: %.3f %.3f %.3f, %.3g kT\n", l->name, (unsigned long long)seed,
               least[0][0], least[0][1], least[1][1], energy);
    }
    contacts_free(&hard), cores_free(&cores);
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
    return good;
}

static void liquids_start_with_sites_apart(void **state)
{
    (void)state;
    for (int k = 0; k < PLUGMC_COUNT(liquids); k++)
        assert_int_equal(good_starts(&liquids[k], true, false), SEEDS);
}

static void liquids_on_lattices_start_with_sites_apart(void **state)
{
    (void)state;
    for (int k = 0; k < PLUGMC_COUNT(liquids); k++)
        assert_int_equal(good_starts(&liquids[k], true, true), SEEDS);
}

static void starts_without_cores_are_seen(void **state)
{
    (void)state;
    for (int k = 0; k < PLUGMC_COUNT(liquids); k++)
        assert_int_equal(good_starts(&liquids[k], false, false), 0);
}

/* 4 (x^2 - x) = E at x = 1 / r^6, without the shift of the force, which is 0.03 there. Charges do not count. */
static void cores_have_the_energies_of_their_levels(void **state)
{
    (void)state;
    bench b;
    contacts hard;
    cores cores;
    for (int k = 0; k < 2; k++) {
        const liquid *l = &liquids[k];
        const double epsilon = k ? 0.26241 : 1, sigma = k ? 3.16555789 : 1;
        begin(&b, l, l->edge);
        assert_int_equal(contacts_make(&b.system, &hard), EXIT_DONE);
        assert_int_equal(cores_make(&b.system, &hard, &cores), EXIT_DONE);
        for (int level = 0; level < cores.levels; level++) {
            const double x = (1 + sqrt(1 + cores.energy[level] / epsilon)) / 2;
            assert_close(cores.at[level].between[0], sigma * pow(x, -1. / 6), 3e-3, 0);
            if (k) assert_true(cores.at[level].between[1] == 0 && cores.at[level].between[3] == 0);
        }
        contacts_free(&hard), cores_free(&cores);
        molecules_end(&b);
    }
}

/* Of rungs the coldest one has the largest cores; hard ones stay as they are, and are of one level. */
static void cores_of_ladders_and_of_hard_sites(void **state)
{
    (void)state;
    const double temperatures[2] = {4, 0.5};
    bench b;
    contacts hard;
    cores cores;
    begin(&b, &liquids[0], liquids[0].edge);
    b.system.rungs = 2;
    b.system.temperatures = temperatures;
    assert_int_equal(contacts_make(&b.system, &hard), EXIT_DONE);
    assert_int_equal(cores_make(&b.system, &hard, &cores), EXIT_DONE);
    assert_close(cores.at[0].between[0], pow((1 + sqrt(2.5)) / 2, -1. / 6), 3e-3, 0);
    contacts_free(&hard), cores_free(&cores);
    molecules_end(&b);

    bench_begin(&b, 3, (double[3]){9, 9, 9}, 1, 1);
    bench_cube(&b, 9);
    bench_molecules(&b, liquids[0].of_species, 1, &liquids[0].kind, 1);
    b.species[0].diameter = 0.7;
    bench_expect(&b, bench_configured(&b, "hard_sphere", ""));
    bench_expect(&b, bench_prepare(&b));
    assert_int_equal(contacts_make(&b.system, &hard), EXIT_DONE);
    assert_int_equal(cores_make(&b.system, &hard, &cores), EXIT_DONE);
    assert_int_equal(cores.levels, 1);
    assert_true(isinf(cores.energy[0]) && cores.at[0].between[0] == hard.between[0]);
    contacts_free(&hard), cores_free(&cores);
    molecules_end(&b);
}

/* Twice as dense molecules begin with smaller cores; what fits with none is refused with the density that was reached. */
static void cores_give_way_until_molecules_fit(void **state)
{
    (void)state;
    const double edges[2] = {6.3, 4.6};
    for (int k = 0; k < 2; k++) {
        bench b;
        contacts hard;
        cores cores;
        liquid dense = liquids[0];
        double least[2][2];
        dense.lennard_jones = "epsilon=1 sigma=1 cutoff=2.2 truncation=force_shift";
        begin(&b, &dense, edges[k]);
        double *x = bench_positions(&b);
        plugmc_orientation *o = calloc((size_t)b.system.particles, sizeof *o);
        assert_int_equal(contacts_make(&b.system, &hard), EXIT_DONE);
        assert_int_equal(cores_make(&b.system, &hard, &cores), EXIT_DONE);
        const random_outcome made =
            random_molecules(&b.system, &cores, fraction, attempts, 0, x, o);
        assert_int_equal(made.code, k ? EXIT_INPUT : EXIT_DONE);
        nearest(&b, x, least);
        printf("edge %g: scale %.3f, least distance %.3f\n", edges[k], made.scale, least[0][0]);
        if (k) assert_true(made.inserted == b.system.particles && made.scale < 1);
        if (!k) assert_true(least[0][0] >= cores.at[CORE_LEVELS - 1].between[0]);
        if (!k) assert_true(least[0][0] < cores.at[0].between[0]);
        contacts_free(&hard), cores_free(&cores);
        free(x), free(o);
        molecules_end(&b);
    }
}

TEST_MAIN(cmocka_unit_test(liquids_start_with_sites_apart),
          cmocka_unit_test(liquids_on_lattices_start_with_sites_apart),
          cmocka_unit_test(starts_without_cores_are_seen),
          cmocka_unit_test(cores_have_the_energies_of_their_levels),
          cmocka_unit_test(cores_of_ladders_and_of_hard_sites),
          cmocka_unit_test(cores_give_way_until_molecules_fit))

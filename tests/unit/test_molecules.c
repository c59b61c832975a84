/* Rigid molecules: numbers of their sites, shapes that stay, energies with pairs within molecules left out, changes of energies
 * against whole energies, boxes, orientations of uniform measure, second virial coefficients. */
#include "testing.h"

#include "molecules.h"
#include "energy/insertions.h"
#include "system/system.h"

static double number_in(uint64_t k, double low, double high)
{
    const plugmc_random r = plugmc_draw((plugmc_seed){77}, k, 0, 0, PLUGMC_PURPOSE_TRIAL, 0);
    return low + (high - low) * plugmc_uniform_double(r.word[0], r.word[1]);
}

static const kind_of_test spce = {
    "O H H", 0, {0, 0, 0, 1, 0, 0, -0.33331324756824, 0.942816142731718, 0}, 9};
static const double bjerrum = 167100.9566; /* e^2 / (4 pi eps0 k_B), K Angstrom */

/* ---- Numbers ------------------------------------------------------------------------------------ */

static void sites_come_first_and_molecule_by_molecule(void **state)
{
    (void)state;
    bench b;
    const species_of_test species[] = {{"C", 2, 0}, {"H", 3, 0}, {"O", 0, 0}};
    const kind_of_test kinds[] = {{"O H H", 4, {0, 0, 0, 1, 0, 0, 0, 1, 0}, 9},
                                  {"H O C H", 2, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 12}};
    bench_begin(&b, 3, (double[3]){20, 20, 20}, 1, 1);
    bench_cube(&b, 20);
    bench_molecules(&b, species, 3, kinds, 2);
    assert_int_equal(b.system.particles, 4 * 3 + 2 * 4 + 5);
    assert_int_equal(b.species[0].count, 4);
    assert_int_equal(b.species[1].count, 15);
    assert_int_equal(b.species[2].count, 6);
    static const int32_t expected[25] = {4, 5, -1, -1,                                     /* C */
                                         0, 0, 1,  1,  2, 2, 3, 3, 4, 4, 5, 5, -1, -1, -1, /* H */
                                         0, 1, 2,  3,  4, 5};                              /* O */
    for (int i = 0; i < 25; i++) assert_int_equal(b.system.molecule[i], expected[i]);
    const plugmc_molecule *second = plugmc_kind_of_molecule(b.system.molecules, 1);
    assert_int_equal(plugmc_site_number(second, 1, 0), 14); /* H: 4 + 8 + 2 */
    assert_int_equal(plugmc_site_number(second, 1, 3), 15);
    assert_int_equal(plugmc_site_number(second, 1, 1), 24);
    assert_int_equal(plugmc_site_number(second, 1, 2), 1);
    int64_t sites[PLUGMC_MOST_SITES];
    assert_int_equal(sites_with(&b.system, 15, sites), 4);
    assert_true(sites[0] == 1 && sites[1] == 14 && sites[2] == 15 && sites[3] == 24);
    assert_true(is_first_site(&b.system, 14) && !is_first_site(&b.system, 15));
    assert_int_equal(sites_with(&b.system, 2, sites), 0);
    molecules_end(&b);
}

/* ---- Water of NIST ------------------------------------------------------------------------------ */

enum { DISPERSION, TAIL, CHARGES };

/* Equal to the six digits that are given. */
static void assert_digits(const char *what, double value, double expected)
{
    const double unit = pow(10, floor(log10(fabs(expected))) - 5);
    printf("%-10s %.9g, expected %.6g\n", what, value, expected);
    if (!(fabs(value - expected) <= 0.51 * unit))
        fail_msg("%s: %.9g is not %.6g", what, value, expected);
}

/* Of a cube of SPC/E water; K. */
static const struct water {
    const char *file;
    int molecules;
    double edge, dispersion, tail, real, fourier, self, intra;
} waters[] = {
    {"spce-1.xyz", 100, 20, 9.95387e4, -8.23715e2, -5.58889e5, 6.27009e3, -2.84469e6, 2.80999e6},
    {"spce-2.xyz", 200, 20, 1.93712e5, -3.29486e3, -1.19295e6, 6.03495e3, -5.68938e6, 5.61998e6},
    {"spce-4.xyz", 750, 30, 4.48593e5, -1.37286e4, -3.57226e6, 7.58785e3, -1.42235e7, 1.41483e7}};

static void read_water(const struct water *w, double *x)
{
    char path[4096], line[512];
    int atoms, count[2] = {0};
    snprintf(path, sizeof path, "%s/nist/%s", TEST_DATA, w->file);
    FILE *in = fopen(path, "r");
    if (!in || fscanf(in, "%d ", &atoms) != 1 || !fgets(line, sizeof line, in))
        fail_msg("cannot read %s", path);
    assert_int_equal(atoms, 3 * w->molecules);
    for (int i = 0; i < atoms; i++) {
        char element[8];
        double r[3];
        if (fscanf(in, "%7s %lf %lf %lf", element, &r[0], &r[1], &r[2]) != 4) fail_msg("%s", path);
        const int hydrogen = element[0] == 'H';
        memcpy(x + 3 * (hydrogen * w->molecules + count[hydrogen]++), r, sizeof r);
    }
    fclose(in);
}

static void begin_water_with(bench *b, double edge, int molecules, int ions, const char *lj,
                             const char *ewald)
{
    char settings[256];
    const species_of_test species[] = {
        {"O", 0, -0.84760}, {"H", 0, 0.42380}, {"Na", ions, 1}, {"Cl", ions, -1}};
    kind_of_test kind = spce;
    kind.count = molecules;
    bench_begin(b, 3, (double[3]){edge, edge, edge}, 1, 7);
    bench_cube(b, edge);
    bench_molecules(b, species, ions ? 4 : 2, &kind, 1);
    bench_expect(b, bench_configured(b, "lennard_jones", lj));
    if (!strstr(lj, "shift")) bench_expect(b, bench_configured(b, "tail_correction", ""));
    snprintf(settings, sizeof settings, "bjerrum_length=%.17g %s", bjerrum, ewald);
    bench_expect(b, bench_configured(b, "coulomb_ewald", settings));
    bench_expect(b, bench_prepare(b));
}

static void begin_water(bench *b, double edge, int molecules, int ions, const char *waves)
{
    char ewald[256];
    snprintf(ewald, sizeof ewald, "cutoff=%g alpha=%.17g %s", ions ? 5. : 10., 5.6 / edge, waves);
    begin_water_with(b, edge, molecules, ions,
                     ions ? "epsilon=78.19743111,0,50,50 sigma=3.16555789,1,2.5,4 cutoff=5"
                          : "epsilon=78.19743111,0,0 sigma=3.16555789 cutoff=10",
                     ewald);
}

static void check_water(const struct water *w)
{
    bench b;
    double parts[BENCH_TERMS], total[BENCH_TERMS], misfit;
    begin_water(&b, w->edge, w->molecules, 0, "k_max=5 n_square=26");
    test_mover mover = mover_new(&b, "rigid", "");
    hamiltonian *h = &mover.core->hamiltonian;
    double *x = bench_positions(&b);
    plugmc_orientation *o = calloc((size_t)b.system.particles, sizeof *o);
    read_water(w, x);
    assert_int_equal(fit_molecules(&b.system, &b.system.box, x, o, &misfit), -1);
    assert_true(misfit < 1e-8);
    molecules_fill(&b, h, x, o);
    molecules_energies(&b, h, parts, total);
    const double alpha = 5.6 / w->edge,
                 squares = w->molecules * (0.84760 * 0.84760 + 2 * 0.42380 * 0.42380),
                 self = -bjerrum * alpha / sqrt(M_PI) * squares,
                 far = sqrt(2 + 2 * 0.33331324756824),
                 intra = -bjerrum * w->molecules *
                         (-2 * 0.84760 * 0.42380 * erf(alpha) +
                          0.42380 * 0.42380 * erf(alpha * far) / far);
    printf("%s\n", w->file);
    assert_digits("dispersion", parts[DISPERSION], w->dispersion);
    assert_digits("tail", total[TAIL], w->tail);
    assert_digits("real", parts[CHARGES], w->real);
    assert_digits("self", self, w->self);
    assert_digits("intra", intra, w->intra);
    assert_digits("fourier", total[CHARGES] - self - intra, w->fourier);
    const plugmc_molecules *all = b.system.molecules; /* a sum that does not know of them */
    double forgotten[BENCH_TERMS];
    b.system.molecules = NULL;
    bench_expect(&b, b.terms[CHARGES].plugin->prepare(b.terms[CHARGES].instance, &b.host));
    molecules_energies(&b, h, parts, forgotten);
    b.system.molecules = all;
    assert_close(total[CHARGES] - forgotten[CHARGES], intra, 1e-11, 0);
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
}

static void water_has_the_energies_of_nist(void **state)
{
    (void)state;
    for (int k = 0; k < PLUGMC_COUNT(waters); k++) check_water(&waters[k]);
}

/* ---- Moves -------------------------------------------------------------------------------------- */

/* Waters and ions on a lattice, once all else is there. */
static void put_on_lattice(bench *b, double **x, plugmc_orientation **o)
{
    double nearest, *centres;
    const int64_t n = centres_in(&b->system);
    assert_int_equal(n, 50);
    centres = malloc(3 * (size_t)n * sizeof *centres);
    *x = bench_positions(b);
    *o = calloc((size_t)b->system.particles, sizeof **o);
    for (int64_t i = 0; i < b->system.particles; i++) (*o)[i] = plugmc_upright(3);
    assert_int_equal(lattice_sites(&b->system.box, LATTICE_AUTO, n, centres, &nearest), 0);
    molecules_at(&b->system, 0, centres, *x, *o);
    free(centres);
}

static void begin_solution(bench *b, double **x, plugmc_orientation **o)
{
    begin_water(b, 12, 40, 5, "k_max=6");
    put_on_lattice(b, x, o);
}

/* The sites are those that the first ones and the orientations give, to the bit, and all in the box. */
static void assert_shapes(const bench *b, const configuration *c)
{
    double at[PLUGMC_MOST_SITES][3], here[3];
    int64_t number[PLUGMC_MOST_SITES];
    for (int64_t i = 0; i < b->system.particles; i++) {
        configuration_place(c, i, here);
        if (isnan(here[0])) continue;
        for (int d = 0; d < 3; d++) assert_true(here[d] >= 0 && here[d] < c->box.length[d]);
        if (!is_first_site(&b->system, i)) continue;
        const int32_t n =
            place_sites(&b->system, &c->box, i, here, &c->all.orientation[i], at, number);
        for (int32_t a = 0; a < n; a++) {
            configuration_place(c, number[a], here);
            assert_memory_equal(here, at[a], sizeof here);
        }
    }
}

/* Proposes that molecule m moves and turns. */
typedef struct molecule_move {
    int32_t members[PLUGMC_MOST_SITES], forbidden, n;
    double at[PLUGMC_MOST_SITES][3], change[BENCH_TERMS], delta;
    plugmc_orientation turned;
} molecule_move;

static plugmc_changes propose(const bench *b, const configuration *c, int64_t m, uint64_t k,
                              molecule_move *move)
{
    int64_t number[PLUGMC_MOST_SITES], within;
    const plugmc_molecule *kind = plugmc_molecule_at(b->system.molecules, m, &within);
    const int64_t i = plugmc_site_number(kind, within, 0);
    double first[3];
    configuration_place(c, i, first);
    for (uint64_t d = 0; d < 3; d++) first[d] += number_in(4 * k + d, -2, 2);
    move->turned = c->all.orientation[i];
    assert_true(plugmc_draw_turn((plugmc_seed){3}, k, 0, 0, 3, 2, &move->turned));
    move->n = place_sites(&b->system, &c->box, i, first, &move->turned, move->at, number);
    for (int32_t a = 0; a < move->n; a++) move->members[a] = (int32_t)number[a];
    return (plugmc_changes){.size = sizeof(plugmc_changes),
                            .kind = PLUGMC_GROUP_DISPLACED,
                            .walkers = 1,
                            .per_walker = 1,
                            .particle = move->members,
                            .position = (const double(*)[3])move->at,
                            .change = move->change,
                            .forbidden = &move->forbidden,
                            .delta = &move->delta,
                            .group = move->n,
                            .orientation = &move->turned};
}

static void changes_are_differences_of_whole_energies(void **state)
{
    (void)state;
    bench b;
    double *x, largest = 0;
    plugmc_orientation *o;
    begin_solution(&b, &x, &o);
    test_mover mover = mover_new(&b, "rigid", "");
    hamiltonian *h = &mover.core->hamiltonian;
    molecules_fill(&b, h, x, o);
    configuration *now = &h->walkers[0].now;
    int taken = 0;
    for (uint64_t k = 0; k < 400; k++) {
        molecule_move move;
        double change[BENCH_TERMS] = {0}, delta = 0, before = molecules_energy(&b, h), sum = 0;
        int32_t forbidden = 0;
        const int64_t yes = 0, no = -1;
        const bool ion = k % 5 == 4;
        const int32_t i = (int32_t)(b.first[2] + (int64_t)(k % 10));
        double to[3];
        configuration_place(now, i, to);
        for (uint64_t d = 0; d < 3; d++) to[d] += number_in(4 * k + d, -1, 1);
        const plugmc_changes of_ion = {.size = sizeof of_ion,
                                       .kind = PLUGMC_DISPLACED,
                                       .walkers = 1,
                                       .per_walker = 1,
                                       .particle = &i,
                                       .position = (const double(*)[3])to,
                                       .change = change,
                                       .forbidden = &forbidden,
                                       .delta = &delta},
                             c = ion ? of_ion : propose(&b, now, (int64_t)(k % 40), k, &move);
        assert_int_equal(hamiltonian_changes(h, &c), PLUGMC_OK);
        for (int t = 0; t < b.system.term_count; t++) sum += c.change[t];
        const bool accepted = k % 3 != 0;
        taken += accepted;
        assert_int_equal(hamiltonian_settle(h, &b.host, &c, accepted ? &yes : &no), PLUGMC_OK);
        const double after = molecules_energy(&b, h);
        if (accepted)
            largest = fmax(largest,
                           fabs(after - before - sum) / fmax(1e5, fmax(fabs(before), fabs(after))));
        if (!accepted) assert_close(after, before, 1e-13, 0);
        assert_shapes(&b, now);
    }
    printf("%d changes differ from whole energies by up to %.1e of them\n", taken, largest);
    assert_true(taken > 200 && largest < 1e-9 && largest > 0);
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
}

/* ---- Molecules that come and leave --------------------------------------------------------------- */

/* Two kinds with room for 20 molecules each, which share no species. */
static void begin_exchanges(bench *b, double **x, plugmc_orientation **o)
{
    const species_of_test species[] = {
        {"O", 0, -0.84760}, {"H", 0, 0.42380}, {"N", 0, -0.482}, {"M", 0, 0.964}};
    kind_of_test kinds[2] = {spce, {"N M N", 20, {0, 0, 0, 0, 0, 0.55, 0, 0, 1.1}, 9, 20}};
    double nearest, *centres;
    kinds[0].count = kinds[0].max_count = 20;
    bench_begin(b, 3, (double[3]){13, 13, 13}, 1, 7);
    bench_cube(b, 13);
    bench_molecules(b, species, 4, kinds, 2);
    b->system.changes |= PLUGMC_CHANGED_COUNT;
    bench_expect(b,
                 bench_configured(b, "lennard_jones",
                                  "epsilon=78.19743111,0,36,0 sigma=3.16555789,1,3.31,1 cutoff=5"));
    bench_expect(b, bench_configured(b, "tail_correction", ""));
    bench_expect(b, bench_configured(b, "coulomb_ewald",
                                     "bjerrum_length=167100.9566 cutoff=5 alpha=0.5 k_max=6"));
    bench_expect(b, bench_prepare(b));
    const int64_t n = centres_in(&b->system);
    centres = malloc(3 * (size_t)n * sizeof *centres);
    *x = bench_positions(b);
    *o = calloc((size_t)b->system.particles, sizeof **o);
    for (int64_t i = 0; i < b->system.particles; i++) (*o)[i] = plugmc_upright(3);
    assert_int_equal(lattice_sites(&b->system.box, LATTICE_AUTO, n, centres, &nearest), 0);
    molecules_at(&b->system, 0, centres, *x, *o);
    free(centres);
}

/* Exchange number k, of a molecule that comes at random or of one that leaves, with a change of every term. */
typedef struct exchange {
    int32_t kind, particle, forbidden;
    double position[3], change[BENCH_TERMS], delta;
    plugmc_orientation orientation;
} exchange;

static plugmc_changes propose_exchange(const bench *b, const configuration *now, uint64_t k,
                                       exchange *e)
{
    const bool comes = number_in(8 * k, 0, 1) < 0.75; /* most are not taken */
    e->kind = number_in(8 * k + 1, 0, 1) < 0.5;
    const plugmc_molecule *kind = plugmc_kind_of_molecule(b->system.molecules, e->kind);
    const int64_t there = plugmc_molecules_of_kind(kind, now->counts);
    for (uint64_t d = 0; d < 3; d++) e->position[d] = number_in(8 * k + 2 + d, 0, 13);
    e->orientation = plugmc_draw_orientation((plugmc_seed){5}, k, 0, 0, 3);
    e->particle = there ? (int32_t)plugmc_site_number(
                              kind, (int64_t)(number_in(8 * k + 5, 0, 1) * (double)there), 0)
                        : -1;
    return (plugmc_changes){.size = sizeof(plugmc_changes),
                            .kind = comes ? PLUGMC_MOLECULE_INSERTED : PLUGMC_MOLECULE_REMOVED,
                            .walkers = 1,
                            .per_walker = 1,
                            .particle = &e->particle,
                            .other = &e->kind,
                            .species = &e->kind,
                            .position = (const double(*)[3])e->position,
                            .orientation = comes ? &e->orientation : NULL,
                            .change = e->change,
                            .forbidden = &e->forbidden,
                            .delta = &e->delta};
}

static void exchanges_change_energies_by_what_they_say(void **state)
{
    (void)state;
    bench b;
    double *x;
    plugmc_orientation *o;
    begin_exchanges(&b, &x, &o);
    test_mover mover = mover_new(&b, "rigid", "");
    hamiltonian *h = &mover.core->hamiltonian;
    molecules_fill(&b, h, x, o);
    configuration *now = &h->walkers[0].now;
    double running = molecules_energy(&b, h), largest = 0, farthest = fabs(running);
    int64_t taken[2][2] = {{0}}, least = 20;
    for (uint64_t k = 0; k < 60000; k++) {
        exchange e;
        const plugmc_changes c = propose_exchange(&b, now, k, &e);
        const int64_t yes = 0, no = -1;
        double sum = 0;
        assert_null(changes_refused(h, &c));
        assert_int_equal(hamiltonian_energies(h, &b.host, &c), PLUGMC_OK);
        for (int t = 0; t < b.system.term_count; t++) sum += e.change[t];
        const bool comes = c.kind == PLUGMC_MOLECULE_INSERTED,
                   accepted = hamiltonian_is_proposed(&c, 0) && !e.forbidden && sum < 3000;
        assert_int_equal(hamiltonian_settle(h, &b.host, &c, accepted ? &yes : &no), PLUGMC_OK);
        if (!accepted) continue;
        running += sum;
        taken[e.kind][comes]++;
        farthest = fmax(farthest, fabs(running));
        for (int32_t m = 0; m < 2; m++) {
            const int64_t n = plugmc_molecules_of_kind(
                plugmc_kind_of_molecule(b.system.molecules, m), now->counts);
            assert_true(n >= 0 && n <= 20);
            least = n < least ? n : least;
        }
        if ((taken[0][0] + taken[1][0]) % 20) continue;
        assert_shapes(&b, now);
        largest = fmax(largest, fabs(molecules_energy(&b, h) - running));
    }
    const int64_t all = taken[0][0] + taken[0][1] + taken[1][0] + taken[1][1];
    printf(
        "%lld exchanges (%lld and %lld came, %lld at least were there): running energies differ from whole "
        "ones by up to %.1e of the largest, %.1e\n",
        (long long)all, (long long)taken[0][1], (long long)taken[1][1], (long long)least,
        largest / farthest, farthest);
    assert_true(all > 10000 && taken[0][1] > 1000 && taken[1][1] > 1000 && least < 6);
    assert_true(largest < 1e-9 * farthest && largest > 0);
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
}

/* Change k of two kinds: a molecule becomes one of the other kind, or two of different kinds swap places as a group. */
typedef struct change_of_kinds {
    int32_t kind, particle, forbidden, members[2 * 3], n;
    double position[3], at[2 * 3][3], change[BENCH_TERMS], delta;
    plugmc_orientation orientation;
} change_of_kinds;

static int32_t any_of_kind(const bench *b, const configuration *now, int32_t kind, double share)
{
    const plugmc_molecule *of = plugmc_kind_of_molecule(b->system.molecules, kind);
    const double n = (double)plugmc_molecules_of_kind(of, now->counts);
    return (int32_t)plugmc_site_number(of, (int64_t)(share * n), 0);
}

static plugmc_changes propose_swap(const bench *b, const configuration *now, uint64_t k,
                                   change_of_kinds *e)
{
    const int32_t both[2] = {any_of_kind(b, now, 0, number_in(4 * k, 0, 1)),
                             any_of_kind(b, now, 1, number_in(4 * k + 1, 0, 1))};
    int64_t number[PLUGMC_MOST_SITES];
    for (int m = 0; m < 2; m++) {
        double to[3];
        configuration_place(now, both[!m], to);
        place_sites(&b->system, &now->box, both[m], to, &now->all.orientation[both[m]],
                    &e->at[3 * m], number);
        for (int a = 0; a < 3; a++) e->members[3 * m + a] = (int32_t)number[a];
    }
    return (plugmc_changes){.size = sizeof(plugmc_changes),
                            .kind = PLUGMC_GROUP_DISPLACED,
                            .walkers = 1,
                            .per_walker = 1,
                            .particle = e->members,
                            .position = (const double(*)[3])e->at,
                            .change = e->change,
                            .forbidden = &e->forbidden,
                            .delta = &e->delta,
                            .group = 6};
}

static plugmc_changes propose_identity(const bench *b, const configuration *now, uint64_t k,
                                       change_of_kinds *e)
{
    e->kind = (int32_t)(k / 2 % 2);
    e->particle = any_of_kind(b, now, !e->kind, number_in(4 * k, 0, 1));
    configuration_place(now, e->particle, e->position);
    e->orientation = plugmc_draw_orientation((plugmc_seed){5}, k, 0, 0, 3);
    return (plugmc_changes){.size = sizeof(plugmc_changes),
                            .kind = PLUGMC_MOLECULE_IDENTITY,
                            .walkers = 1,
                            .per_walker = 1,
                            .particle = &e->particle,
                            .species = &e->kind,
                            .position = (const double(*)[3])e->position,
                            .orientation = &e->orientation,
                            .change = e->change,
                            .forbidden = &e->forbidden,
                            .delta = &e->delta};
}

static void changes_of_kinds_change_energies_by_what_they_say(void **state)
{
    (void)state;
    bench b;
    double *x, largest = 0;
    plugmc_orientation *o;
    begin_exchanges(&b, &x, &o);
    test_mover mover = mover_new(&b, "rigid", "");
    hamiltonian *h = &mover.core->hamiltonian;
    molecules_fill(&b, h, x, o);
    configuration *now = &h->walkers[0].now;
    const int64_t yes = 0, no = -1;
    for (int k = 0; k < 16; k++) { /* room */
        exchange e = {.kind = k % 2, .particle = any_of_kind(&b, now, k % 2, 0.5)};
        const plugmc_changes c = {.size = sizeof c,
                                  .kind = PLUGMC_MOLECULE_REMOVED,
                                  .walkers = 1,
                                  .per_walker = 1,
                                  .particle = &e.particle,
                                  .change = e.change,
                                  .forbidden = &e.forbidden};
        assert_int_equal(hamiltonian_changes(h, &c), PLUGMC_OK);
        assert_int_equal(hamiltonian_settle(h, &b.host, &c, &yes), PLUGMC_OK);
    }
    for (uint64_t k = 0; k < 400; k++) {
        change_of_kinds e = {0};
        const plugmc_changes c =
            k % 2 ? propose_swap(&b, now, k, &e) : propose_identity(&b, now, k, &e);
        const double before = molecules_energy(&b, h);
        double sum = 0;
        if (k % 2 == 0) assert_null(molecule_is_wrong(h, h->walkers, &c, 0));
        assert_int_equal(hamiltonian_changes(h, &c), PLUGMC_OK);
        for (int t = 0; t < b.system.term_count; t++) sum += e.change[t];
        assert_int_equal(hamiltonian_settle(h, &b.host, &c, k % 3 ? &yes : &no), PLUGMC_OK);
        const double after = molecules_energy(&b, h),
                     size = fmax(1e5, fmax(fabs(before), fabs(after)));
        largest = fmax(largest, fabs(after - before - (k % 3 ? sum : 0)) / size);
        assert_shapes(&b, now);
    }
    printf("400 changes of kinds differ from whole energies by up to %.1e of them\n", largest);
    assert_true(largest < 1e-9 && largest > 0);
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
}

static void boxes_take_molecules_along(void **state)
{
    (void)state;
    bench b;
    double *x;
    plugmc_orientation *o;
    begin_solution(&b, &x, &o);
    b.system.changes |= PLUGMC_CHANGED_BOX;
    bench_expect(&b, bench_prepare(&b)); /* the waves follow boxes now */
    test_mover mover = mover_new(&b, "rigid", "");
    hamiltonian *h = &mover.core->hamiltonian;
    molecules_fill(&b, h, x, o);
    const double factor[3] = {1.01, 0.99, 1.02};
    double change[BENCH_TERMS], delta, sum = 0;
    int32_t forbidden;
    int64_t scaled = 0;
    const int64_t yes = 0;
    plugmc_box box = b.system.box;
    plugmc_scale_box(&box, factor);
    const plugmc_changes c = {.size = sizeof c,
                              .kind = PLUGMC_RESCALED,
                              .walkers = 1,
                              .per_walker = 1,
                              .box = &box,
                              .change = change,
                              .forbidden = &forbidden,
                              .delta = &delta,
                              .scaled = &scaled};
    const double before = molecules_energy(&b, h);
    assert_int_equal(hamiltonian_energies(h, &b.host, &c), PLUGMC_OK);
    assert_int_equal(scaled, 50); /* molecules and ions, not the 130 particles */
    assert_int_equal(hamiltonian_settle(h, &b.host, &c, &yes), PLUGMC_OK);
    for (int t = 0; t < b.system.term_count; t++) sum += change[t];
    assert_close(molecules_energy(&b, h) - before, sum, 1e-9, 1e-6);
    configuration *now = &h->walkers[0].now;
    assert_shapes(&b, now);
    for (int64_t i = 0; i < b.system.particles; i++) {
        double here[3];
        configuration_place(now, i, here);
        for (int d = 0; d < 3; d++)
            if (b.system.molecule[i] < 0 || is_first_site(&b.system, i))
                assert_close(here[d], x[3 * i + d] * factor[d], 1e-14, 1e-13);
    }
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
}

/* ---- Pressure ----------------------------------------------------------------------------------- */

static bench *viewed; /* the system that cells are made of */
static plugmc_cells held;

static int view_cells(const plugmc_view *view, double range, plugmc_cells *out)
{
    host_cells_free(&held);
    const int code = host_cells_build(&viewed->system, view->box, view->positions, range, &held);
    *out = held;
    return code;
}

/* Of virial_pressure: values [4], the mean and those along the axes. */
static void pressure_of(bench *b, const double *x, const plugmc_orientation *o, double values[4])
{
    const plugmc_plugin *plugin = open_plugin("virial_pressure");
    void *instance = bench_allocate(b->host.context, plugin->instance_size);
    plugmc_quantity q = {.size = sizeof q};
    const plugmc_view view = {.size = sizeof view,
                              .positions = x,
                              .cells = view_cells,
                              .count = numbers_of(&b->system),
                              .box = boxes_of(&b->system),
                              .orientations = o};
    viewed = b;
    set_parameters(plugin, instance, "");
    bench_expect(b, plugin->prepare(instance, &b->host));
    assert_int_equal(plugin->observable->quantity(instance, 4, &q), 0); /* there are no jumps */
    bench_expect(b, plugin->observable->measure(instance, &b->host, &view, values));
}

/* Energy by which a box differs whose edge d is exp(by) times as long. */
static double change_by_edge(bench *b, hamiltonian *h, int d, double by)
{
    double change[BENCH_TERMS], delta, sum = 0, factor[3] = {1, 1, 1};
    int32_t forbidden;
    const int64_t no = -1;
    plugmc_box box = b->system.box;
    factor[d] = exp(by);
    plugmc_scale_box(&box, factor);
    const plugmc_changes c = {.size = sizeof c,
                              .kind = PLUGMC_RESCALED,
                              .walkers = 1,
                              .per_walker = 1,
                              .box = &box,
                              .change = change,
                              .forbidden = &forbidden,
                              .delta = &delta};
    assert_int_equal(hamiltonian_energies(h, &b->host, &c), PLUGMC_OK);
    assert_int_equal(hamiltonian_settle(h, &b->host, &c, &no), PLUGMC_OK);
    for (int t = 0; t < b->system.term_count; t++) sum += change[t];
    return sum;
}

/* P V = N kT - dU / d ln V, each axis by itself: of waters and ions with all of their energies. The waves are some of all, which makes the
 * energy another one, but no less smooth. */
static void pressure_is_that_of_small_changes_of_the_box(void **state)
{
    (void)state;
    static const char *const lj[] = {
        "epsilon=78.19743111,0,50,50 sigma=3.16555789,1,2.5,4 cutoff=5 truncation=force_shift",
        "epsilon=78.19743111,0,50,50 sigma=3.16555789,1,2.5,4 cutoff=3.9 truncation=force_shift"};
    for (int k = 0; k < 2; k++) { /* cells of 5 and of 3.9: two and three along an edge */
        bench b;
        double *x, values[4], sum = 0;
        plugmc_orientation *o;
        begin_water_with(&b, 12, 40, 5, lj[k],
                         k ? "cutoff=3.9 alpha=1.3 k_max=5" : "cutoff=5 alpha=1 k_max=5");
        b.system.temperature = 300;
        b.system.changes |= PLUGMC_CHANGED_BOX;
        bench_expect(&b, bench_prepare(&b));
        put_on_lattice(&b, &x, &o);
        test_mover mover = mover_new(&b, "rigid", "");
        hamiltonian *h = &mover.core->hamiltonian;
        molecules_fill(&b, h, x, o);
        pressure_of(&b, x, o, values);
        for (int d = 0; d < 3; d++) {
            const double by = 1e-5, ideal = 50 * 300,
                         slope = (change_by_edge(&b, h, d, by) - change_by_edge(&b, h, d, -by)) /
                                 (2 * by),
                         found = values[1 + d] * b.system.box.volume;
            printf("P V along %c: %.6f K, by small changes %.6f K, of N kT = %g\n", "xyz"[d], found,
                   ideal - slope, ideal);
            assert_close(found, ideal - slope, 1e-6, 0.01);
            sum += values[1 + d] / 3;
        }
        assert_close(values[0], sum, 1e-13, 0);
        free(x), free(o);
        mover_end(&mover);
        molecules_end(&b);
    }
    host_cells_free(&held);
}

/* ---- Orientations ------------------------------------------------------------------------------- */

/* Molecules without energies turn freely: the measure of their orientations is Haar's. */
static void free_molecules_turn_uniformly(void **state)
{
    (void)state;
    enum { MOLECULES = 64, SWEEPS = 3000 };
    bench b;
    double square[4] = {0}, fourth[4] = {0}, zz[4] = {0};
    const species_of_test species[] = {{"O", 0, 0}, {"H", 0, 0}};
    kind_of_test kind = spce;
    kind.count = MOLECULES;
    bench_begin(&b, 3, (double[3]){20, 20, 20}, 1, 5);
    bench_cube(&b, 20);
    bench_molecules(&b, species, 2, &kind, 1);
    bench_expect(&b, bench_configured(&b, "lennard_jones", "epsilon=0 sigma=1 cutoff=3"));
    bench_expect(&b, bench_prepare(&b));
    test_mover mover = mover_new(&b, "rigid", "");
    hamiltonian *h = &mover.core->hamiltonian;
    double *x = bench_positions(&b);
    plugmc_orientation *o = calloc((size_t)b.system.particles, sizeof *o);
    for (int64_t i = 0; i < b.system.particles; i++) o[i] = plugmc_upright(3);
    for (int64_t m = 0; m < MOLECULES; m++) /* all upright */
        for (int32_t a = 0; a < 3; a++) {
            const plugmc_molecule *own = plugmc_kind_of_molecule(b.system.molecules, 0);
            plugmc_place_site(own, &o[0], &b.system.box, (double[3]){0.3 * (double)m, 1, 1}, a,
                              &x[3 * plugmc_site_number(own, m, a)]);
        }
    molecules_fill(&b, h, x, o);
    mover_set_step(&b, &mover, 1);
    for (uint64_t sweep = 0; sweep < SWEEPS; sweep++) {
        mover_sweep(&b, &mover, sweep, 1);
        for (int64_t m = 0; m < MOLECULES && sweep >= 200; m++) {
            const plugmc_orientation *at = &h->walkers[0].now.all.orientation[m];
            double q[4], norm = 0, z[3];
            for (int k = 0; k < 4; k++) q[k] = at->part[k] * 0x1p-30, norm += q[k] * q[k];
            plugmc_turn_vector(at, (double[3]){0, 0, 1}, z);
            for (int k = 0; k < 4; k++) {
                square[k] += q[k] * q[k] / norm / (MOLECULES * (SWEEPS - 200.));
                fourth[k] += pow(q[k] * q[k] / norm, 2) / (MOLECULES * (SWEEPS - 200.));
                zz[k] += pow(z[2], k + 1) / (MOLECULES * (SWEEPS - 200.));
            }
        }
    }
    assert_shapes(&b, &h->walkers[0].now);
    printf("q^2 %.4f, q^4 %.4f, R_zz %.4f, R_zz^2 %.4f, R_zz^4 %.4f\n", square[1], fourth[1], zz[0],
           zz[1], zz[3]);
    /* some 10 sweeps make an independent sample: errors of 0.002 */
    for (int k = 0; k < 4; k++) {
        assert_close(square[k], 0.25, 0, 0.01);
        assert_close(fourth[k], 0.125, 0, 0.01);
        assert_close(zz[k], k % 2 ? 1. / (k + 2) : 0, 0, 0.012);
    }
    free(x), free(o);
    mover_end(&mover);
    molecules_end(&b);
}

/* ---- Second virial coefficients ----------------------------------------------------------------- */

/* Points and weights of Gauss and Legendre on (-1, 1). */
static void gauss_legendre(int n, double *x, double *w)
{
    for (int i = 0; i < n; i++) {
        double z = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int step = 0; step < 100; step++) {
            double p = 1, before = 0;
            for (int k = 1; k <= n; k++) {
                const double next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
                before = p, p = next;
            }
            slope = n * (z * p - before) / (z * z - 1);
            z -= p / slope;
        }
        x[i] = z;
        w[i] = 2 / ((1 - z * z) * slope * slope);
    }
}

/* An orientation whose x axis is along (sin t cos f, sin t sin f, cos t). */
static plugmc_orientation along(double c, double f)
{
    const double s = sqrt(1 - c * c), u[3] = {s * cos(f), s * sin(f), c};
    double q[4] = {1 + u[0], 0, -u[2], u[1]}, length;
    if (q[0] < 1e-9) q[0] = 0, q[3] = 1;
    length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    plugmc_orientation o;
    for (int k = 0; k < 4; k++) o.part[k] = (int32_t)rint(q[k] / length * 0x1p30);
    return o;
}

/* Energy of two linear molecules at a distance r along z. */
static double energy_of_two(bench *b, hamiltonian *h, double r, const plugmc_orientation pair[2],
                            double *x, plugmc_orientation *o)
{
    double at[PLUGMC_MOST_SITES][3], parts[BENCH_TERMS], sum = 0;
    int64_t number[PLUGMC_MOST_SITES];
    for (int m = 0; m < 2; m++) {
        const int64_t i = plugmc_site_number(plugmc_kind_of_molecule(b->system.molecules, 0), m, 0);
        const int32_t n = place_sites(&b->system, &b->system.box, i,
                                      (double[3]){500, 500, 500 + m * r}, &pair[m], at, number);
        for (int32_t a = 0; a < n; a++) memcpy(&x[3 * number[a]], at[a], sizeof at[a]);
        o[i] = pair[m];
    }
    configuration *now = &h->walkers[0].now;
    assert_int_equal(configuration_fill(now, &b->system.box, numbers_of(&b->system), x, o), 0);
    if (whole_energy(h, now, parts)) return INFINITY;
    for (int t = 0; t < b->system.term_count; t++) sum += parts[t];
    return sum;
}

/* Mean of exp(-U / kT) - 1 over orientations of two molecules at a distance r. */
static double mean_mayer(bench *b, hamiltonian *h, double r, double kT, int angles, double *x,
                         plugmc_orientation *o)
{
    double z[16], w[16], sum = 0;
    gauss_legendre(angles, z, w);
    for (int i = 0; i < angles; i++)
        for (int j = 0; j < angles; j++)
            for (int k = 0; k < angles; k++) {
                const plugmc_orientation pair[2] = {
                    along((z[i] + 1) / 2, 0), along((z[j] + 1) / 2, M_PI * (k + 0.5) / angles)};
                const double u = energy_of_two(b, h, r, pair, x, o) / kT;
                sum += w[i] * w[j] / 4 / angles * (u < 600 ? expm1(-u) : -1);
            }
    return sum;
}

/* cm^3/mol; B2 = -2 pi int r^2 mean dr, symmetric molecules; beyond 40 A dispersion alone. */
static double second_virial(bench *b, hamiltonian *h, double kT, double beyond)
{
    static const double edges[] = {2, 2.6, 3, 3.4, 3.8, 4.4, 5, 6, 8, 12, 20, 40};
    double z[8], w[8], sum = -8. / 3, *x = bench_positions(b);
    plugmc_orientation *o = calloc((size_t)b->system.particles, sizeof *o);
    for (int64_t i = 0; i < b->system.particles; i++) o[i] = plugmc_upright(3);
    gauss_legendre(8, z, w);
    for (int k = 0; k + 1 < PLUGMC_COUNT(edges); k++)
        for (int i = 0; i < 8; i++) {
            const double half = (edges[k + 1] - edges[k]) / 2, r = edges[k] + half * (1 + z[i]);
            sum += w[i] * half * r * r * mean_mayer(b, h, r, kT, 10, x, o);
        }
    sum += beyond / kT / (3 * 40. * 40. * 40.);
    free(x), free(o);
    return -2 * M_PI * sum * 0.602214076;
}

/* TraPPE: places of the first site at the centre, along x; the coefficient of all -r^-6 together follows from epsilon and sigma. */
static void check_virial(const char *sites, const double *places, int numbers, double q0, double q1,
                         const char *lj, double beyond, const double (*known)[2], int count)
{
    bench b;
    const species_of_test species[] = {{"a", 0, q0}, {"b", 0, q1}};
    kind_of_test kind = {.sites = sites, .count = 2, .numbers = numbers};
    char settings[64];
    memcpy(kind.places, places, (size_t)numbers * sizeof *places);
    bench_begin(&b, 3, (double[3]){1000, 1000, 1000}, 1, 5);
    bench_cube(&b, 1000);
    bench_molecules(&b, species, 2, &kind, 1);
    bench_expect(&b, bench_configured(&b, "lennard_jones", lj));
    snprintf(settings, sizeof settings, "bjerrum_length=167100.96 minimum_image=yes");
    if (q0 != 0) bench_expect(&b, bench_configured(&b, "coulomb", settings));
    bench_expect(&b, bench_prepare(&b));
    test_mover mover = mover_new(&b, "rigid", "");
    for (int k = 0; k < count; k++) {
        const double found = second_virial(&b, &mover.core->hamiltonian, known[k][0], beyond);
        printf("%s, %g K: %.4f cm^3/mol, expected %.3f\n", sites, known[k][0], found, known[k][1]);
        assert_close(found, known[k][1], 1e-3, 0.02);
    }
    mover_end(&mover);
    molecules_end(&b);
}

static double sixth(double epsilon, double sigma) { return 4 * epsilon * pow(sigma, 6); }

static void second_virial_coefficients_are_those_of_quadratures(void **state)
{
    (void)state;
    check_virial("a b b", (double[]){0, 0, 0, -0.55, 0, 0, 0.55, 0, 0}, 9, 0.964, -0.482,
                 "epsilon=0,36 sigma=1,3.31 cutoff=100", 4 * sixth(36, 3.31),
                 (const double[][2]){{100, -150.061}, {200, -33.444}, {300, -3.034}}, 3);
    check_virial("a b b", (double[]){0, 0, 0, -1.16, 0, 0, 1.16, 0, 0}, 9, 0.70, -0.35,
                 "epsilon=27,79 sigma=2.80,3.05 cutoff=100",
                 sixth(27, 2.80) + 4 * sixth(79, 3.05) + 4 * sixth(sqrt(27 * 79), 2.925),
                 (const double[][2]){{250, -167.148}, {300, -110.832}}, 2);
    check_virial("a b b", (double[]){0, 0, 0, -0.77, 0, 0, 0.77, 0, 0}, 9, 0, 0,
                 "epsilon=0,98 sigma=1,3.75 cutoff=100", 4 * sixth(98, 3.75),
                 (const double[][2]){{236, -246.587}, {300, -156.417}, {400, -84.705}}, 3);
}

TEST_MAIN(cmocka_unit_test(sites_come_first_and_molecule_by_molecule),
          cmocka_unit_test(water_has_the_energies_of_nist),
          cmocka_unit_test(changes_are_differences_of_whole_energies),
          cmocka_unit_test(exchanges_change_energies_by_what_they_say),
          cmocka_unit_test(changes_of_kinds_change_energies_by_what_they_say),
          cmocka_unit_test(boxes_take_molecules_along),
          cmocka_unit_test(pressure_is_that_of_small_changes_of_the_box),
          cmocka_unit_test(free_molecules_turn_uniformly),
          cmocka_unit_test(second_virial_coefficients_are_those_of_quadratures))

/* Initial states: lattices, random states, files; and the search for overlaps. */
#include "small_system.h"

#include <omp.h>
#include <time.h>
#include <unistd.h>

#include "archive/trajectory.h"
#include "initial/initial.h"

/* Starts and checks everything that a state has to fulfil, by looking at all pairs. */
static void assert_starts(small *s)
{
    assert_int_equal(small_start(s), EXIT_DONE);
    for (int32_t w = 0; w < s->system.walkers; w++) {
        const double *positions = s->positions + 3 * s->system.particles * w;
        small_assert_inside(s, positions);
        assert_true(small_closest(s, positions) >= 1);
    }
}

/* Starts, expects failure, returns what was said. */
static const char *refused(small *s)
{
    static messages said;
    messages_begin(&said);
    int code = small_start(s);
    const char *text = messages_end(&said);
    assert_int_equal(code, EXIT_INPUT);
    return text;
}

/* ---- Lattice ---- */

static small hard(int dimension, int64_t n, int shape, double packing_fraction)
{
    small s = small_new(dimension, n);
    s.config.box.shape = shape;
    s.config.box.packing_fraction = packing_fraction;
    assert_int_equal(small_build(&s), EXIT_DONE);
    return s;
}

static void any_number_of_disks_fits_on_a_lattice_up_to_072(void **state)
{
    (void)state;
    int64_t most = 0;
    double worst = 1;
    for (int64_t n = 60; n < 1200; n += n < 300 ? 1 : 13) {
        for (int shape = SQUARE; shape <= TRIANGULAR; shape++) {
            small s = hard(2, n, shape, 0.5);
            double nearest, *sites = malloc(3 * (size_t)n * sizeof(double));
            assert_int_equal(lattice_sites(&s.system.box, LATTICE_AUTO, n, sites, &nearest), 0);
            double fits = 0.5 * nearest * nearest;
            if (fits < worst) worst = fits, most = n;
            small_assert_inside(&s, sites);
            assert_true(small_closest(&s, sites) >= nearest * (1 - 1e-12));
            free(sites);
            small_free(&s);
        }
    }
    printf("worst number of disks: %lld, up to packing fraction %.4f\n", (long long)most, worst);
    assert_true(worst > 0.72);
}

static void lattice_starts_without_overlaps(void **state)
{
    (void)state;
    const struct {
        int dimension;
        int64_t n;
        int shape;
        double fraction;
    } cases[] = {{2, 72, SQUARE, 0.72},     {2, 224, SQUARE, 0.72}, {2, 72, TRIANGULAR, 0.72},
                 {2, 16384, SQUARE, 0.72},  {3, 256, SQUARE, 0.7},  {3, 1331, SQUARE, 0.6},
                 {3, 100, TRIANGULAR, 0.5}, {3, 50, SPHERE, 0.4},   {2, 50, SPHERE, 0.6},
                 {3, 1, SPHERE, 0.1},       {2, 1, SQUARE, 0.1},    {3, 1, SQUARE, 0.1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        small s = hard(cases[k].dimension, cases[k].n, cases[k].shape, cases[k].fraction);
        small_hard_cores(&s);
        if (cases[k].n < 2000)
            assert_starts(&s);
        else
            assert_int_equal(small_start(&s), EXIT_DONE);
        small_free(&s);
    }
}

static void perfect_lattices_are_found(void **state)
{
    (void)state;
    small s = small_new(3, 4 * 5 * 5 * 5);
    s.config.box.lx = 5 * sqrt(2) * (1 + 1e-9);
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    assert_starts(&s);
    small_free(&s);

    s = hard(2, 100, TRIANGULAR, M_PI / (2 * sqrt(3)) * (1 - 1e-9));
    small_hard_cores(&s);
    assert_starts(&s);
    small_free(&s);

    s = small_new(2, 100);
    s.config.box.lx = 10 * (1 + 1e-9);
    s.config.initial.lattice = LATTICE_SQUARE;
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    assert_starts(&s);
    small_free(&s);
}

static void lattice_too_dense_says_how_dense_it_could_be(void **state)
{
    (void)state;
    small s = hard(2, 72, SQUARE, 0.88);
    small_hard_cores(&s);
    const char *said = refused(&s);
    assert_says(said, "use state = random");
    double limit;
    const char *at = strstr(said, "up to packing fraction ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "up to packing fraction %lf", &limit), 1);
    small_free(&s);
    for (int above = 0; above < 2; above++) {
        s = hard(2, 72, SQUARE, limit + (above ? 2e-4 : -2e-4));
        small_hard_cores(&s);
        if (above)
            refused(&s);
        else
            assert_starts(&s);
        small_free(&s);
    }
}

static void lattice_of_another_dimension_is_refused(void **state)
{
    (void)state;
    small s = hard(2, 72, SQUARE, 0.3);
    s.config.initial.lattice = LATTICE_FCC;
    assert_says(refused(&s), "in two dimensions auto, square or triangular");
    small_free(&s);
}

static void species_are_mixed_over_the_lattice(void **state)
{
    (void)state;
    small s = small_new(2, 200);
    s.config.box.packing_fraction = 0.3;
    s.config.run.walkers = 2;
    s.config.species_count = 2;
    s.species[1] = (species_section){.count = 200, .diameter = 1};
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    assert_starts(&s);
    /* The first species would fill the lower half; 200 sites drawn without replacement have
     * 100 +- 5 there. False alarm below 1e-6. */
    for (int w = 0; w < 2; w++) {
        int low = 0;
        for (int i = 0; i < 200; i++) {
            const double *r = &s.positions[3 * (400 * w + i)];
            low += r[1] < 0.5 * s.system.box.length[1];
        }
        assert_z("first species in the lower half", low, 5.0, 100, 5);
    }
    assert_memory_not_equal(s.positions, s.positions + 1200, 1200 * sizeof(double));
    small_free(&s);
}

/* ---- Random ---- */

static small random_hard(int dimension, int64_t n, int shape, double fraction)
{
    small s = small_new(dimension, n);
    s.config.box.shape = shape;
    s.config.box.packing_fraction = fraction;
    s.config.initial.state = STATE_RANDOM;
    return s;
}

static void random_states_reach_their_density(void **state)
{
    (void)state;
    const struct {
        int dimension;
        int64_t n;
        int shape;
        double fraction;
    } cases[] = {{2, 1000, SQUARE, 0.70}, {2, 72, TRIANGULAR, 0.72}, {3, 1000, SQUARE, 0.45},
                 {2, 100, SQUARE, 0.1},   {3, 300, SPHERE, 0.45},    {2, 200, SPHERE, 0.6},
                 {2, 3, SQUARE, 0.5},     {3, 2, SQUARE, 0.1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        small s = random_hard(cases[k].dimension, cases[k].n, cases[k].shape, cases[k].fraction);
        s.config.run.walkers = 2;
        assert_int_equal(small_build(&s), EXIT_DONE);
        small_hard_cores(&s);
        assert_starts(&s);
        small_free(&s);
    }
}

/* As dense as disks are studied, and as many as make the time grow. On one core and in one go it took
 * a minute of its time, with Metropolis moves; it takes about one second. */
static void many_disks_are_packed_soon(void **state)
{
    (void)state;
    double *first = NULL;
    for (int threads = 1; threads <= 2; threads++) {
        small s = random_hard(2, 65536, SQUARE, 0.716);
        s.config.run.threads = threads;
        assert_int_equal(small_build(&s), EXIT_DONE);
        s.system.threads = threads;
        small_hard_cores(&s);
        const clock_t begin = clock();
        assert_int_equal(small_start(&s), EXIT_DONE); /* which looks for overlaps */
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        printf("65,536 disks at 0.716 on %d threads: %.2f s of CPU time\n", threads, seconds);
        if (threads == 1) assert_true(seconds < 10);
        if (first) assert_memory_equal(first, s.positions, 3 * 65536 * sizeof(double));
        free(first);
        first = s.positions;
        s.positions = NULL;
        small_free(&s);
    }
    free(first);
}

static void mixtures_and_scaled_contacts_are_packed(void **state)
{
    (void)state;
    small s = random_hard(2, 200, SQUARE, 0.75);
    s.config.species_count = 2;
    s.species[1] = (species_section){.count = 400, .diameter = 0.4};
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    assert_starts(&s);
    small_free(&s);

    s = random_hard(3, 300, SQUARE, 0.05);
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    s.scale = 2;
    assert_int_equal(small_start(&s), EXIT_DONE);
    assert_true(small_closest(&s, s.positions) >= 2);
    small_free(&s);
}

static void walkers_differ_and_do_not_depend_on_threads(void **state)
{
    (void)state;
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads += 2) {
        small s = random_hard(2, 200, SQUARE, 0.65);
        s.config.run.walkers = 4;
        s.config.run.threads = threads;
        assert_int_equal(small_build(&s), EXIT_DONE);
        small_hard_cores(&s);
        assert_starts(&s);
        for (int w = 1; w < 4; w++)
            assert_memory_not_equal(s.positions, s.positions + 600 * w, 600 * sizeof(double));
        if (first) assert_memory_equal(first, s.positions, 2400 * sizeof(double));
        free(first);
        first = s.positions;
        s.positions = NULL;
        small_free(&s);
    }
    free(first);
}

/* Disks in a square, one after the other, each at the first of its draws that is free of those before: x
 * [n][3]. Returns how many draws that took. */
static int64_t inserted_one_by_one(const small *s, double *x)
{
    const plugmc_box *box = &s->system.box;
    const double contact = 1 + 1e-6;
    int64_t draws = 0;
    for (int64_t i = 0; i < s->system.particles; i++) {
        int is_free = 0;
        for (uint64_t attempt = 0; !is_free; attempt++, draws++) {
            const plugmc_random u =
                plugmc_draw(s->system.seed, attempt, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
            for (int d = 0; d < 2; d++)
                x[3 * i + d] =
                    0.5 * box->length[d] * ((((double)u.word[d] + 0.5) * 0x1p-31 - 1) + 1);
            x[3 * i + 2] = 0;
            is_free = 1;
            for (int64_t j = 0; j < i && is_free; j++)
                is_free = small_distance(box, x + 3 * i, x + 3 * j) >= contact;
        }
    }
    return draws;
}

/* Charged particles keep their numbers, so that their places can be compared. At 0.48 some need more
 * draws than the threads make beforehand. */
static void many_threads_insert_as_one_after_the_other_would(void **state)
{
    (void)state;
    enum { N = 1500 };
    static const double fractions[] = {0.2, 0.4, 0.48};
    for (int k = 0; k < 3; k++) {
        double *x = malloc(3 * N * sizeof *x);
        for (int threads = 1; threads <= 5; threads += 2) {
            small s = random_hard(2, N, SQUARE, fractions[k]);
            s.config.initial.random_fraction = 0.5;
            s.species[0].charge = -1;
            assert_int_equal(small_build(&s), EXIT_DONE);
            s.system.threads = threads;
            small_hard_cores(&s);
            assert_int_equal(small_start(&s), EXIT_DONE);
            if (threads == 1)
                printf("%.2f: %.1f draws a disk\n", fractions[k],
                       (double)inserted_one_by_one(&s, x) / N);
            assert_memory_equal(s.positions, x, 3 * N * sizeof *x);
            small_free(&s);
        }
        free(x);
    }
}

/* Correlation of a particle's number with coordinate d. */
static double order_in_space(const small *s, int d)
{
    const int64_t n = s->system.particles;
    double x = 0, xx = 0, ix = 0;
    for (int64_t i = 0; i < n; i++) {
        const double u = s->positions[3 * i + d], number = (double)i - 0.5 * (double)(n - 1);
        x += u, xx += u * u, ix += number * u;
    }
    x /= (double)n, xx /= (double)n, ix /= (double)n;
    return ix / sqrt(((double)n * (double)n - 1) / 12 * (xx - x * x));
}

/* Without correlation it is 0 +- 1 / sqrt(n): 12 looks at 4.5 errors, false alarm below 1e-4. */
static void numbers_follow_positions_only_where_ranges_are_short(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        const int n = 4096, charged = k == 1 || k == 3, lattice = k > 2;
        small s = random_hard(3, n, SQUARE, 0.1);
        if (lattice) s.config.initial.state = STATE_LATTICE;
        s.species[0].charge = charged ? -1 : 0;
        assert_int_equal(small_build(&s), EXIT_DONE);
        small_hard_cores(&s);
        s.system.range = k == 2 || k == 4 ? INFINITY : 1;
        assert_int_equal(small_start(&s), EXIT_DONE);
        if (k == 0)
            assert_true(fabs(order_in_space(&s, 2)) > 0.9);
        else
            for (int d = 0; d < 3; d++)
                assert_z("number and coordinate", order_in_space(&s, d), 1 / sqrt(n), 0, 4.5);
        small_free(&s);
    }
}

/* Points without any contact are uniform: mean of x / L is 1/2 +- 1/sqrt(12 n). */
static void particles_without_cores_are_put_anywhere(void **state)
{
    (void)state;
    small s = small_new(3, 10000);
    s.species[0].diameter = 0;
    s.config.box.lx = 10;
    s.config.initial.state = STATE_RANDOM;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_int_equal(small_start(&s), EXIT_DONE);
    small_assert_inside(&s, s.positions);
    for (int d = 0; d < 3; d++) {
        double mean = 0, square = 0;
        for (int i = 0; i < 10000; i++) {
            double x = s.positions[3 * i + d] / 10;
            mean += x / 10000, square += x * x / 10000;
        }
        assert_z("mean of x / L", mean, sqrt(1.0 / 12 / 10000), 0.5, 4.5);
        assert_z("mean of (x / L)^2", square, sqrt((0.2 - 1.0 / 9) / 10000), 1.0 / 3, 4.5);
    }
    small_free(&s);
}

static void insertion_that_fails_says_so(void **state)
{
    (void)state;
    small s = random_hard(2, 300, SQUARE, 0.6);
    s.config.initial.random_fraction = 0.58;
    s.config.initial.attempts = 50;
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    assert_says(refused(&s), "of 300 particles were inserted within 50 attempts each");
    small_free(&s);
}

static void compression_that_fails_says_how_far_it_came(void **state)
{
    (void)state;
    small s = random_hard(3, 60, SQUARE, 0.73);
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    const char *said = refused(&s);
    double reached;
    const char *at = strstr(said, "jammed at packing fraction ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "jammed at packing fraction %lf", &reached), 1);
    assert_true(reached > 0.45 && reached < 0.73);
    small_free(&s);
}

/* A wall: nobody below x = 2, and no centre within half a diameter of it. */
static int64_t wall_energy(const void *instance, const plugmc_particles *particles, double *energy)
{
    const double *x = particles->x, *diameter = particles->diameter;
    int64_t outside = 0;
    (void)energy;
    for (int64_t i = 0; i < particles->n; i++)
        outside += x[i] < *(const double *)instance + 0.5 * diameter[i];
    return outside;
}
static const plugmc_field wall_field = {.size = sizeof wall_field, .energy = wall_energy};
static const plugmc_potential wall_potential = {.size = sizeof wall_potential,
                                                .field = &wall_field};
static const plugmc_plugin wall = {
    .size = sizeof wall, .kind = PLUGMC_POTENTIAL, .name = "wall", .potential = &wall_potential};

static void walls_are_respected(void **state)
{
    (void)state;
    small s = random_hard(2, 150, SQUARE, 0.55);
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_hard_cores(&s);
    double at = 2;
    s.terms[1] = (plugmc_term){.label = "wall", .plugin = &wall, .instance = &at, .sampled = 1};
    s.system.term_count = 2;
    assert_starts(&s);
    for (int i = 0; i < 150; i++) assert_true(s.positions[3 * i] >= 2.5);

    s.config.initial.state = STATE_LATTICE;
    assert_says(refused(&s), "in a region that a potential forbids");
    s.terms[1].sampled = 0;
    assert_starts(&s);
    small_free(&s);
}

/* ---- Overlaps ---- */

static void the_first_overlapping_pair_is_found(void **state)
{
    (void)state;
    small s = hard(3, 500, SQUARE, 0.3);
    overlap found;
    small_hard_cores(&s);
    s.system.threads = 4;
    assert_starts(&s);
    assert_int_equal(find_overlap(&s.system, s.positions, &found), 0);
    double *x = s.positions;
    for (int d = 0; d < 3; d++) {
        x[3 * 411 + d] = x[3 * 77 + d] + (d == 0 ? 0.25 : 0) + 3 * s.system.box.length[d];
        x[3 * 300 + d] = x[3 * 301 + d];
    }
    assert_int_equal(find_overlap(&s.system, x, &found), 1);
    assert_int_equal(found.i, 77);
    assert_int_equal(found.j, 411);
    assert_close(found.distance, 0.25, 1e-12, 0);
    assert_close(found.contact, 1, 0, 0);
    x[3 * 20] = NAN;
    assert_int_equal(find_overlap(&s.system, x, &found), 1);
    assert_int_equal(found.i, 20);
    assert_int_equal(found.j, -1);
    x[3 * 20] = INFINITY;
    assert_int_equal(find_overlap(&s.system, x, &found), 1);
    assert_int_equal(found.i, 20);
    small_free(&s);
}

static void who_is_outside_of_the_sphere_is_found(void **state)
{
    (void)state;
    small s = hard(3, 20, SPHERE, 0.2);
    overlap found;
    small_hard_cores(&s);
    assert_starts(&s);
    double radius = s.system.box.radius, *last = &s.positions[3 * 19];
    last[0] = 0, last[1] = 0, last[2] = -radius * (1 + 1e-9);
    assert_int_equal(find_overlap(&s.system, s.positions, &found), 1);
    assert_int_equal(found.i, 19);
    assert_int_equal(found.j, -1);
    small_free(&s);
}

/* ---- Files ---- */

static char folder[] = "/tmp/plugmc-test-initial-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_files(void **state)
{
    (void)state;
    unlink(in_folder("state.xyz"));
    unlink(in_folder("state.h5"));
    unlink(in_folder("state.h5md"));
    return rmdir(folder);
}

/* A: 2 of diameter 1, B: 1 of charge -1, in a box of 10 x 11 x 12. */
static void from_file(small *s, int dimension, int walkers)
{
    *s = small_new(dimension, 2);
    s->config.box = (box_section){.dimension = dimension,
                                  .shape = RECTANGLE,
                                  .lx = 10,
                                  .ly = 11,
                                  .lz = dimension == 3 ? 12 : 0};
    s->config.run.walkers = walkers;
    s->config.species_count = 2;
    s->species[1] = (species_section){.count = 1, .diameter = 1, .charge = -1};
    s->config.initial.state = STATE_FILE;
    assert_int_equal(small_build(s), EXIT_DONE);
    small_hard_cores(s);
}

static void xyz_is_read_by_its_properties(void **state)
{
    (void)state;
    small s;
    from_file(&s, 3, 2);
    s.config.initial.file = write_file(
        "state.xyz", "3\r\n"
                     "Time=3 Lattice=\"10 0 0 0 11 0 0 0 12\" comment='x = \"1\"' pbc=\"T T T\" "
                     "Properties=id:I:1:pos:R:3:charge:R:1:velo:R:3:species:S:1\r\n"
                     "1  1.5 2.5 3.5  -1  0 0 0  B\r\n"
                     "2\t-1 1e0 25   0  0 0 0  A\r\n"
                     "3  5 5 5   0  0 0 0  A\r\n"
                     " \n\n");
    assert_starts(&s);
    const double expected[9] = {9, 1, 1, 5, 5, 5, 1.5, 2.5, 3.5};
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < 9; k++) assert_close(s.positions[9 * w + k], expected[k], 1e-15, 0);
    small_free(&s);
}

#define HEADER "3\nLattice=\"10 0 0 0 11 0 0 0 12\" Properties=species:S:1:pos:R:3\n"

#define THREE "A 1 1 1\nA 3 3 3\nB 5 5 5\n"

/* What https://github.com/libAtoms/extxyz lets a file say in other words, and what editors put into it. */
static void xyz_of_other_programs_is_read(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "3\nLattice={10 0 0 0 11 0 0 0 12} Properties=species:S:1:pos:R:3 pbc={T T T}\n",
        "3\nLattice=[[10,0,0],[0, 11, 0],[0,0,12]] Properties=species:S:1:pos:R:3 pbc=[T,true,TRUE]\n",
        "3\nLattice=[10 0 0 0 11 0 0 0 12] Properties = \"species:S:1:pos:R:3\"\n",
        "3\nproperties= species:S:1:pos:R:3 lattice =\"10 11 12\" pbc=\"True True True\"\n",
        "3\nLattice=\"1D1 0 0 0 1.1d+1 0 0 0 120.D-1\"\n",
        "\xef\xbb\xbf 3 \nLattice=\"10 5e-16 0 0 11 0 -5e-16 0 12\" Properties=species:S:1:pos:R:3\n",
        "3\ntext=\"with \\\"quotes\\\" and Lattice=1\" flag 'a key'=3 Lattice=\"10 0 0 0 11 0 0 0 12\"\n",
    };
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        char text[512];
        small s;
        from_file(&s, 3, 1);
        snprintf(text, sizeof text, "%sA 1.0D0 1 1\nB 5 .5D+1 5\nA 30d-1 3 3\n", heads[k]);
        s.config.initial.file = write_file("state.xyz", text);
        assert_starts(&s);
        const double expected[9] = {1, 1, 1, 3, 3, 3, 5, 5, 5};
        for (int i = 0; i < 9; i++) assert_close(s.positions[i], expected[i], 1e-15, 0);
        small_free(&s);
    }
    /* without Properties what is behind the coordinates is passed over */
    small s;
    from_file(&s, 3, 1);
    s.config.initial.file = write_file("state.xyz", "3\nLattice=\"10 0 0 0 11 0 0 0 12\"\n"
                                                    "A 1 1 1 0.5 x\nA 3 3 3\nB 5 5 5 1\n");
    assert_starts(&s);
    s.config.initial.file = write_file("state.xyz", "\xff\xfe"
                                                    "3\n");
    assert_says(refused(&s), "state.xyz:1: this is UTF-16 text");
    small_free(&s);
}

static void a_frame_is_chosen_by_its_number(void **state)
{
    (void)state;
    const struct {
        int64_t frame;
        double x;
    } cases[] = {{0, 1}, {1, 2}, {2, 4}, {-1, 4}, {-3, 1}};
    const char *text =
        HEADER THREE HEADER "A 2 1 1\nA 3 3 3\nB 5 5 5\n" HEADER "A 4 1 1\nA 3 3 3\nB 5 5 5\n";
    small s;
    from_file(&s, 3, 1);
    s.config.initial.file = write_file("state.xyz", text);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        s.config.initial.frame = cases[k].frame;
        assert_starts(&s);
        assert_true(s.positions[0] == cases[k].x);
    }
    s.config.initial.frame = 3;
    assert_says(refused(&s),
                "there is no frame 3: the file has 3, 0 to 2, or -3 to -1 from the end");
    s.config.initial.frame = -4;
    assert_says(refused(&s), "there is no frame -4");
    small_free(&s);
}

/* Masses and diameters are the run's, but what the file has is said where it differs. */
static void other_masses_and_diameters_are_warned_of(void **state)
{
    (void)state;
    small s;
    from_file(&s, 3, 1);
    s.config.initial.file = write_file(
        "state.xyz",
        "3\nLattice=\"10 0 0 0 11 0 0 0 12\" Properties=species:S:1:pos:R:3:radius:R:1:mass:R:1\n"
        "A 1 1 1 0.5 2\nA 3 3 3 0.5 2\nB 5 5 5 0.75 0\n");
    s.report.warnings = 0;
    assert_starts(&s);
    assert_int_equal(s.report.warnings, 2); /* the masses here are 0 */
    small_free(&s);
}

static void xyz_that_does_not_fit_is_refused_at_its_line(void **state)
{
    (void)state;
    const struct {
        const char *text, *says;
    } cases[] = {
        {HEADER "A 1 1 1\nA 3 3 3\nB 5 5 nan\n", "state.xyz:5: 'nan' is not a finite number"},
        {HEADER "A 1 1 1\nA 3 3 3\nB 5 5 5x\n", "state.xyz:5: '5x' is not a finite number"},
        {HEADER "A 1 1 1\nA 3 1e22 3\nB 5 5 5\n",
         "state.xyz:4: particle 1, at (3, 1e+22, 3), is too far from the box to be wrapped into it"},
        {HEADER "A 1 1 1\nA 3 inf 3\nB 5 5 5\n", "state.xyz:4: 'inf' is not a finite number"},
        {HEADER "A 1 1 1\nA 3 3 3\n", "state.xyz:5: the file ends where particle 3 of 3 should be"},
        {HEADER "A 1 1 1\nC 3 3 3\nB 5 5 5\n", "state.xyz:4: the run has no species 'C'"},
        {HEADER "A 1 1 1\nA 3 3 3\nA 5 5 5\n",
         "state.xyz:5: the file has more than the 2 particles "
         "that species A has in the run"},
        {HEADER "A 1 1 1\nA 3 3\nB 5 5 5\n", "state.xyz:4: there are 3 columns, Properties has 4"},
        {HEADER "A 1 1 1\nA 3 3 3 3\nB 5 5 5\n", "state.xyz:4: there are 5 columns"},
        {HEADER "A 1 1 1\nA 1.5 1 1\nB 5 5 5\n", "particles 0 (A) and 1 (A) of walker 0 overlap: "
                                                 "they are 0.5 apart, their contact distance is 1"},
        {"2\nLattice=\"10 0 0 0 11 0 0 0 12\"\nA 1 1 1\nA 3 3 3\n",
         "state.xyz:1: the file has 2 particles, the run has 3"},
        {"4\n", "state.xyz:2: the file ends where the line with Lattice and Properties should be"},
        {"3 x\n",
         "state.xyz:1: the first line of a frame of an XYZ file is the number of particles"},
        {HEADER "A 1 1 1\nA 3 3 3\nB 5 5 5\n\n" HEADER,
         "state.xyz:6: the first line of a frame of an XYZ file is the number of particles"},
        {HEADER "A 1 1 1\nA 3 3 3\nB 5 5 5\n3\nthe next frame\n",
         "state.xyz:8: the file ends where particle 1 of 3 should be"},
        {"", "state.xyz:1: the file ends where the number of particles should be"},
        {"3\nProperties=species:S:1:pos:R:3\n" THREE, "state.xyz:2: there is no Lattice"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\"\nA 1 1\nA 3 3 3\nB 5 5 5\n",
         "state.xyz:3: there are 3 columns, and a name and three coordinates are needed"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 13\" Properties=species:S:1:pos:R:3\n" THREE,
         "state.xyz:2: the file's box is 13 long in z, the run's 12"},
        {"3\nLattice=\"10 1 0 0 11 0 0 0 12\" Properties=species:S:1:pos:R:3\n" THREE,
         "state.xyz:2: vector a of the file's box is (10, 1, 0), the run's is (10, 0, 0)"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0\" Properties=species:S:1:pos:R:3\n" THREE,
         "not nine numbers"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\" Properties=pos:R:3\n" THREE, "has no species:S:1"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\" Properties=pos:R\n" THREE,
         "not a list of NAME:TYPE:COLUMNS"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\" pbc=\"T F T\" Properties=species:S:1:pos:R:3\n" THREE,
         "not periodic in y"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\" pbc=\"T yes T\" Properties=species:S:1:pos:R:3\n" THREE,
         "pbc=\"T yes T\" is not three of T and F"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\" Properties=species:S:1:pos:R:3:charge:R:1\n"
         "B 1 1 1 1\nA 1 1 1 0\nA 1 1 1 0\n",
         "state.xyz:3: the charge of particle 0 is 1, that of species B in the run is -1"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\" Properties=species:S:1:pos:R:3:initial_charges:R:1\n"
         "B 1 1 1 1\nA 1 1 1 0\nA 1 1 1 0\n",
         "state.xyz:3: the charge of particle 0 is 1, that of species B in the run is -1"},
        {"3\nLattice=\"10 0 0 0 11 0 0 0 12\nA 1 1 1\nA 3 3 3\nB 5 5 5\n",
         "state.xyz:2: the quotes or brackets behind Lattice= do not close"},
        {"3\nnote=\"a Lattice=[10 11 12]\nA 1 1 1\nA 3 3 3\nB 5 5 5\n",
         "state.xyz:2: the quotes or brackets behind note= do not close"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        small s;
        from_file(&s, 3, 2);
        s.config.initial.file = write_file("state.xyz", cases[k].text);
        assert_says(refused(&s), cases[k].says);
        small_free(&s);
    }
    small s;
    from_file(&s, 2, 2);
    s.config.initial.file = write_file("state.xyz", HEADER "A 1 1 0\nA 3 3 0.5\nB 5 5 0\n");
    assert_says(refused(&s),
                "state.xyz:4: z of particle 1 is 0.5, but the run is in two dimensions");
    s.config.initial.file = write_file("state.xyz", HEADER "A 1 1 0\nA 3 3 0\nB 5 5 0\n");
    assert_starts(&s);
    s.config.initial.file = in_folder("nowhere.xyz");
    assert_says(refused(&s), "nowhere.xyz: cannot be opened: No such file");
    s.config.initial.file = "state.dcd";
    assert_says(refused(&s), "must end in .xyz");
    s.config.initial.file = "";
    assert_says(refused(&s), "state = file needs file");
    small_free(&s);
}

/* The output file of one run starts another: each walker with its own positions, those beyond the
 * file's with the first again. */
static void files_of_another_run_are_read(void **state)
{
    (void)state;
    char path[256], trajectory[256];
    snprintf(path, sizeof path, "%s", in_folder("state.h5"));
    snprintf(trajectory, sizeof trajectory, "%s", in_folder("state.h5md"));
    small s;
    from_file(&s, 3, 2);
    double positions[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1};
    frame one = {1, malloc(sizeof positions)}; /* freed by output_write */
    memcpy(one.positions, positions, sizeof positions);
    output_data data = {.system = &s.system,
                        .origin.effective_ini = "",
                        .origin.user_ini = "",
                        .origin.provenance = "",
                        .trajectory = {.wanted = true,
                                       .format = TRAJECTORY_OF_H5MD,
                                       .run = "0123456789abcdef0123456789abcdef",
                                       .frames = &one,
                                       .frame_count = 1,
                                       .note = ""},
                        .sweep = 1,
                        .positions = positions,
                        .finished = true};
    assert_int_equal(output_write(path, true, &data, &s.report), 0);
    data.trajectory.frames = NULL;
    trajectory_free(&data.trajectory);
    small_free(&s);
    for (int k = 0; k < 4; k++) {
        const int walkers = 2 + k / 2;
        from_file(&s, 3, walkers);
        s.config.initial.file = k % 2 ? trajectory : path; /* the last state, and the last frame */
        assert_starts(&s);
        for (int i = 0; i < 9 * walkers; i++) assert_true(s.positions[i] == positions[i % 18]);
        small_free(&s);
    }

    s = small_new(3, 3);
    s.config.initial.state = STATE_FILE;
    s.config.initial.file = path;
    s.config.box.lx = 10;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_says(refused(&s), "the file's box is 11 long in y, the run's 10");
    small_free(&s);
    s = small_new(3, 4);
    s.config.initial.state = STATE_FILE;
    s.config.initial.file = path;
    s.config.box.lx = 10;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_says(refused(&s), "the file has 3 particles, the run has 4");
    small_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_disks_fits_on_a_lattice_up_to_072),
        cmocka_unit_test(lattice_starts_without_overlaps),
        cmocka_unit_test(perfect_lattices_are_found),
        cmocka_unit_test(lattice_too_dense_says_how_dense_it_could_be),
        cmocka_unit_test(lattice_of_another_dimension_is_refused),
        cmocka_unit_test(species_are_mixed_over_the_lattice),
        cmocka_unit_test(random_states_reach_their_density),
        cmocka_unit_test(many_disks_are_packed_soon),
        cmocka_unit_test(mixtures_and_scaled_contacts_are_packed),
        cmocka_unit_test(many_threads_insert_as_one_after_the_other_would),
        cmocka_unit_test(walkers_differ_and_do_not_depend_on_threads),
        cmocka_unit_test(numbers_follow_positions_only_where_ranges_are_short),
        cmocka_unit_test(particles_without_cores_are_put_anywhere),
        cmocka_unit_test(insertion_that_fails_says_so),
        cmocka_unit_test(compression_that_fails_says_how_far_it_came),
        cmocka_unit_test(walls_are_respected),
        cmocka_unit_test(the_first_overlapping_pair_is_found),
        cmocka_unit_test(who_is_outside_of_the_sphere_is_found),
        cmocka_unit_test(xyz_is_read_by_its_properties),
        cmocka_unit_test(xyz_of_other_programs_is_read),
        cmocka_unit_test(a_frame_is_chosen_by_its_number),
        cmocka_unit_test(other_masses_and_diameters_are_warned_of),
        cmocka_unit_test(xyz_that_does_not_fit_is_refused_at_its_line),
        cmocka_unit_test(files_of_another_run_are_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_files) != 0;
}

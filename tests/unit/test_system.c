/* The system from the configuration: box sizes, refusals, numbering of particles. */
#include "small_system.h"

static void packing_fraction_gives_the_edge(void **state)
{
    (void)state;
    small s = small_new(2, 100);
    s.config.box.packing_fraction = 0.5;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_close(s.system.box.length[0], sqrt(100 * M_PI / 4 / 0.5), 1e-15, 0);
    assert_true(s.system.box.length[1] == s.system.box.length[0]);
    assert_true(s.system.box.length[2] == 1);
    assert_close(s.system.box.volume, 100 * M_PI / 4 / 0.5, 1e-14, 0);
    small_free(&s);

    s = small_new(3, 100);
    s.config.box.packing_fraction = 0.25;
    s.species[0].diameter = 2;
    s.species[1] = (species_section){.count = 10, .diameter = 0.5};
    s.config.species_count = 2;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_close(s.system.box.volume, M_PI / 6 * (100 * 8 + 10 * 0.125) / 0.25, 1e-14, 0);
    small_free(&s);
}

static void density_gives_the_edge(void **state)
{
    (void)state;
    small s = small_new(3, 1000);
    s.config.box.density = 0.75;
    assert_int_equal(small_build(&s), EXIT_DONE);
    for (int d = 0; d < 3; d++) assert_close(s.system.box.length[d], cbrt(1000 / 0.75), 1e-15, 0);
    small_free(&s);
}

static void square_takes_an_edge(void **state)
{
    (void)state;
    small s = small_new(2, 4);
    s.config.box.lx = 7;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_true(s.system.box.length[0] == 7 && s.system.box.length[1] == 7);
    assert_true(s.system.box.volume == 49);
    small_free(&s);
}

static void triangular_has_edges_for_rows_of_touching_disks(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        small s = small_new(dimension, 72);
        s.config.box.shape = TRIANGULAR;
        s.config.box.packing_fraction = 0.3;
        assert_int_equal(small_build(&s), EXIT_DONE);
        const plugmc_box *box = &s.system.box;
        assert_close(box->length[1], box->length[0] * sqrt(3) / 2, 1e-15, 0);
        if (dimension == 3) assert_true(box->length[2] == box->length[0]);
        assert_close(box->volume, 72 * (dimension == 2 ? M_PI / 4 : M_PI / 6) / 0.3, 1e-14, 0);
        small_free(&s);
    }
}

static void rectangle_takes_every_edge(void **state)
{
    (void)state;
    small s = small_new(3, 4);
    s.config.box.shape = RECTANGLE;
    s.config.box.lx = 3, s.config.box.ly = 4, s.config.box.lz = 5;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_true(s.system.box.length[2] == 5 && s.system.box.volume == 60);
    small_free(&s);
}

static void sphere_holds_the_centres(void **state)
{
    (void)state;
    small s = small_new(3, 50);
    s.config.box.shape = SPHERE;
    s.config.box.density = 0.1;
    assert_int_equal(small_build(&s), EXIT_DONE);
    const plugmc_box *box = &s.system.box;
    assert_int_equal(box->domain, PLUGMC_DOMAIN_SPHERE);
    assert_close(4 * M_PI / 3 * pow(box->radius, 3), 500, 1e-14, 0);
    assert_close(box->volume, 500, 1e-14, 0);
    assert_true(box->length[1] == 2 * box->radius);
    small_free(&s);

    s = small_new(2, 5);
    s.config.box.shape = SPHERE;
    s.config.box.radius = 3;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_close(s.system.box.volume, 9 * M_PI, 1e-15, 0);
    small_free(&s);
}

static void particles_are_numbered_species_by_species(void **state)
{
    (void)state;
    small s = small_new(2, 3);
    s.config.box.density = 0.1;
    s.config.species_count = 3;
    s.species[1] = (species_section){.count = 0, .diameter = 1};
    s.species[2] = (species_section){.count = 5, .diameter = 2, .charge = -1};
    s.config.run.walkers = 7;
    assert_int_equal(small_build(&s), EXIT_DONE);
    assert_int_equal(s.system.particles, 8);
    assert_int_equal(s.system.walkers, 7);
    assert_int_equal(s.system.seed.key, 2024);
    assert_int_equal(s.system.threads, 2);
    assert_int_equal(s.system.first[1], 3);
    assert_int_equal(s.system.first[2], 3);
    assert_int_equal(s.system.first[3], 8);
    assert_true(plugmc_species_at(&s.system, 2)->charge == -1);
    const int32_t expected[] = {0, 0, 0, 2, 2, 2, 2, 2};
    for (int i = 0; i < 8; i++) assert_int_equal(species_of(&s.system, i), expected[i]);
    small_free(&s);
}

/* Builds, expects failure, returns what was said. */
static const char *refused(small s)
{
    static messages said;
    messages_begin(&said);
    int code = small_build(&s);
    const char *text = messages_end(&said);
    assert_int_equal(code, EXIT_INPUT);
    assert_int_equal(s.report.errors, 1);
    assert_null(s.system.species);
    return text;
}

static void box_size_is_given_in_exactly_one_way(void **state)
{
    (void)state;
    small s = small_new(2, 10);
    assert_says(refused(s), "test.ini: [box] shape square in 2 dimensions needs exactly one of "
                            "packing_fraction, density, lx; given: none of them");
    s.config.box.density = 0.5;
    s.config.box.lx = 3;
    assert_says(refused(s), "given: density, lx");
    s.config.box = (box_section){.dimension = 2, .lx = 3, .ly = 3};
    assert_says(refused(s), "given: lx, ly, which is shape = rectangle");
    s.config.box = (box_section){.dimension = 2, .shape = RECTANGLE, .lx = 3, .ly = 3, .lz = 3};
    assert_says(refused(s), "needs lx and ly, and nothing else; given: lx, ly, lz");
    s.config.box = (box_section){.dimension = 3, .lx = 3, .ly = 4, .lz = 5};
    assert_says(refused(s), "given: lx, ly, lz, which is shape = rectangle");
    s.config.box = (box_section){.dimension = 3, .shape = RECTANGLE, .lx = 3, .ly = 3};
    assert_says(refused(s), "needs lx, ly and lz");
    s.config.box = (box_section){.dimension = 3, .shape = SPHERE, .radius = 3, .density = 1};
    assert_says(refused(s), "given: density, radius");
    s.config.box = (box_section){.dimension = 2, .shape = TRIANGULAR, .lx = 3};
    assert_says(refused(s), "shape triangular");
}

static void impossible_systems_are_refused(void **state)
{
    (void)state;
    small s = small_new(2, 10);
    s.config.box.packing_fraction = 0.92;
    assert_says(refused(s), "packing fraction 0.92 exceeds the maximum pi/(2 sqrt 3) = "
                            "0.9069");
    s = small_new(3, 10);
    s.config.box.density = 1.5;
    assert_says(refused(s), "pi/(3 sqrt 2) = 0.74048");
    s = small_new(2, 0);
    s.config.box.density = 0.5;
    assert_says(refused(s), "there are no particles");
    s = small_new(2, 10);
    s.species[0].diameter = 0;
    s.config.box.packing_fraction = 0.5;
    assert_says(refused(s), "needs particles with a diameter");
    s = small_new(3, 10);
    s.config.box = (box_section){.dimension = 4, .density = 1};
    assert_says(refused(s), "dimension = 4");
    s = small_new(2, 1ll << 33);
    s.config.box.density = 0.5;
    assert_says(refused(s), "[species A] count = 8589934592");
}

/* Points may be as dense as one likes, mixtures denser than equal disks, and in a sphere only the
 * centres are confined. */
static void what_is_possible_is_not_refused(void **state)
{
    (void)state;
    small s = small_new(2, 10);
    s.species[0].diameter = 0;
    s.config.box.density = 100;
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_free(&s);
    s = small_new(2, 10);
    s.species[1] = (species_section){.count = 20, .diameter = 0.1};
    s.config.species_count = 2;
    s.config.box.packing_fraction = 0.92;
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_free(&s);
    s = small_new(3, 2);
    s.config.box.shape = SPHERE;
    s.config.box.radius = 0.5;
    assert_int_equal(small_build(&s), EXIT_DONE);
    small_free(&s);
}

/* The shortest of all differences by up to three lattice vectors each way. */
static double shortest_square(const plugmc_box *box, const double r[3])
{
    double shortest = INFINITY;
    for (int image = 0; image < 7 * 7 * 7; image++) {
        const int n[3] = {image % 7 - 3, image / 7 % 7 - 3, image / 49 - 3};
        double square = 0;
        for (int d = 0; d < 3; d++) {
            double x = r[d];
            for (int i = 0; i < 3; i++) x += n[i] * box->vector[i][d];
            square += x * x;
        }
        shortest = fmin(shortest, square);
    }
    return shortest;
}

/* Of reduced lattice vectors of several kinds: the cell of face-centred cubic crystals, whose ties are many; skewed
 * ones; a hexagonal one. What is found has to be an image, and as near as any. */
static void the_nearest_image_in_an_oblique_box_is_the_nearest(void **state)
{
    (void)state;
    static const double vectors[][9] = {{-15, 0, 15, 0, 15, 15, -15, 15, 0},
                                        {4, 0.3, 0.2, 1.1, 4.2, -0.4, -0.7, 0.9, 4.5},
                                        {9, 0.5, 0.25, -1, 8, 0, 0, 1, 10},
                                        {1, 0, 0, 0.5, 0.8660254037844386, 0, 0, 0, 1.3},
                                        {3, 0, 0, -1.4, 3, 0, 1.4, -1.4, 3}};
    enum { OBLIQUE = SPHERE + 1 };
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        small s = small_new(3, 10);
        double v[9], r[3], f[3];
        memcpy(v, vectors[k], sizeof v);
        s.species[0].diameter = 0;
        s.config.box.shape = OBLIQUE;
        s.config.box.a = (plugmc_list){v, 3};
        s.config.box.b = (plugmc_list){v + 3, 3};
        s.config.box.c = (plugmc_list){v + 6, 3};
        assert_int_equal(small_build(&s), EXIT_DONE);
        const plugmc_box *box = &s.system.box;
        plugmc_images images;
        assert_int_equal(plugmc_images_of(box, 1, &images), PLUGMC_IMAGES_OBLIQUE);
        for (uint32_t n = 0; n < 3000; n++) {
            const plugmc_random u = plugmc_draw((plugmc_seed){7}, k, n, 0, 0, 0);
            for (int d = 0; d < 3; d++) f[d] = 2 * (u.word[d] + 0.5) * 0x1p-32 - 1;
            for (int d = 0; d < 3; d++) r[d] = f[0] * v[d] + f[1] * v[3 + d] + f[2] * v[6 + d];
            const plugmc_separation found =
                plugmc_separate(r[0], r[1], r[2], &images, PLUGMC_IMAGES_OBLIQUE);
            const double by[3] = {found.x - r[0], found.y - r[1], found.z - r[2]};
            for (int d = 0; d < 3; d++) {
                double turns = 0;
                for (int e = 0; e < 3; e++) turns += by[e] * box->inverse[e][d];
                assert_close(turns, round(turns), 0, 1e-12);
            }
            assert_close(found.r2, shortest_square(box, r), 1e-12, 0);
        }
        small_free(&s);
    }
}

TEST_MAIN(cmocka_unit_test(packing_fraction_gives_the_edge),
          cmocka_unit_test(density_gives_the_edge), cmocka_unit_test(square_takes_an_edge),
          cmocka_unit_test(triangular_has_edges_for_rows_of_touching_disks),
          cmocka_unit_test(rectangle_takes_every_edge), cmocka_unit_test(sphere_holds_the_centres),
          cmocka_unit_test(particles_are_numbered_species_by_species),
          cmocka_unit_test(box_size_is_given_in_exactly_one_way),
          cmocka_unit_test(impossible_systems_are_refused),
          cmocka_unit_test(what_is_possible_is_not_refused),
          cmocka_unit_test(the_nearest_image_in_an_oblique_box_is_the_nearest))

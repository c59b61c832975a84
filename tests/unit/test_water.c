/* Water of NIST: energies of SPC/E configurations in cubes and in oblique boxes, each part to all digits that are given.
 * lennard_jones with its tail, and coulomb_ewald with waves chosen as there. */
#include "testing.h"

#include "movers.h"
#include "forces.h"

enum { MOST_ATOMS = 2250 };
enum { DISPERSION, TAIL, CHARGES };

/* The sites, oxygen first. */
typedef struct water {
    int molecules;
    double vector[3][3]; /* Angstrom */
    double r[MOST_ATOMS][3];
} water;

/* e^2 / (4 pi eps0 k_B) in K Angstrom, CODATA 2018. */
static double coulomb_constant(void)
{
    const double e = 1.602176634e-19, k = 1.380649e-23, eps = 8.8541878128e-12;
    return e * e / (4 * M_PI * eps * k) * 1e10;
}

/* The second line has the edges, or nine components of the lattice vectors. */
static void read_water(const char *name, water *w)
{
    char path[4096], line[512];
    int atoms, count[2] = {0};
    snprintf(path, sizeof path, "%s/nist/%s", TEST_DATA, name);
    FILE *in = fopen(path, "r");
    if (!in || fscanf(in, "%d ", &atoms) != 1 || !fgets(line, sizeof line, in))
        fail_msg("cannot read %s", path);
    double *v = w->vector[0];
    const int numbers = sscanf(line, "cell: %lf %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2,
                               v + 3, v + 4, v + 5, v + 6, v + 7, v + 8);
    if (numbers == 3) v[4] = v[1], v[8] = v[2], v[1] = v[2] = v[3] = v[5] = v[6] = v[7] = 0;
    assert_true(numbers == 3 || numbers == 9);
    w->molecules = atoms / 3;
    for (int i = 0; i < atoms; i++) {
        char element[8];
        double r[3];
        if (fscanf(in, "%7s %lf %lf %lf", element, &r[0], &r[1], &r[2]) != 4) fail_msg("%s", path);
        const int hydrogen = element[0] == 'H';
        const int at = hydrogen * w->molecules + count[hydrogen]++;
        memcpy(w->r[at], r, sizeof r);
    }
    fclose(in);
    assert_int_equal(count[1], 2 * count[0]);
}

/* Energy of all pairs by one term. */
static double pairs_of(const bench *b, const water *w, int term)
{
    static double column[5][MOST_ATOMS];
    static int32_t species[MOST_ATOMS];
    const plugmc_term *t = &b->terms[term];
    const int64_t n = b->system.particles;
    double energy = 0;
    for (int64_t i = 0; i < n; i++) {
        const plugmc_species *s = bench_species_of(b, i);
        plugmc_particle probe = {w->r[i][0], w->r[i][1],  w->r[i][2],
                                 s->charge,  s->diameter, (int32_t)(s - b->species)};
        plugmc_particles before = {i,         column[0], column[1], column[2],
                                   column[3], column[4], species};
        double sum = 0;
        t->plugin->potential->pair->energy(t->instance, &b->system.box, 1, &probe, &before, &sum);
        energy += sum;
        for (int d = 0; d < 3; d++) column[d][i] = w->r[i][d];
        column[3][i] = s->charge;
        species[i] = probe.species;
    }
    return energy;
}

static double total_of(const bench *b, const water *w, int term)
{
    const plugmc_term *t = &b->terms[term];
    double energy = 0;
    const plugmc_view view = {.size = sizeof view,
                              .positions = w->r[0],
                              .box = boxes_of(&b->system),
                              .count = numbers_of(&b->system)};
    plugmc_total_request ask = {.size = sizeof ask, .view = &view, .energy = &energy};
    assert_int_equal(t->plugin->potential->total->energy(t->instance, &ask), PLUGMC_OK);
    return energy;
}

/* Over the pairs inside molecules, whose sites are whole in these files up to images: of z_a z_b erfc(alpha r) / r and of
 * z_a z_b erf(alpha r) / r. */
static void inside_molecules(const bench *b, const water *w, double alpha, double *pairs,
                             double *exclusion)
{
    *pairs = *exclusion = 0;
    for (int k = 0; k < 3 * w->molecules; k++) {
        const int m = k / 3, hydrogen = w->molecules + 2 * m;
        const int i = k % 3 == 2 ? hydrogen : m, j = k % 3 == 0 ? hydrogen : hydrogen + 1;
        const double d[3] = {w->r[i][0] - w->r[j][0], w->r[i][1] - w->r[j][1],
                             w->r[i][2] - w->r[j][2]};
        double image[3] = {d[0], d[1], d[2]}, r2 = 0;
        for (int v = 2; v >= 0; v--) { /* lattice vectors are a triangle */
            const double turns = rint(image[v] / w->vector[v][v]);
            for (int e = 0; e < 3; e++) image[e] -= turns * w->vector[v][e];
        }
        for (int e = 0; e < 3; e++) r2 += image[e] * image[e];
        const double charges = bench_species_of(b, i)->charge * bench_species_of(b, j)->charge,
                     r = sqrt(r2);
        assert_true(r < 2);
        *pairs += charges * erfc(alpha * r) / r;
        *exclusion += charges * erf(alpha * r) / r;
    }
}

/* Equal to the six digits that are given. */
static void assert_digits(const char *what, double value, double expected)
{
    const double unit = pow(10, floor(log10(fabs(expected))) - 5);
    printf("%-10s %.9g, expected %.6g\n", what, value, expected);
    if (!(fabs(value - expected) <= 0.51 * unit))
        fail_msg("%s: %.9g is not %.6g", what, value, expected);
}

/* K; NAN where NIST's value is not at hand. */
static const struct expected {
    const char *file;
    double alpha; /* 1/Angstrom; 0: 5.6 / edge */
    double dispersion, tail, real, fourier, self, intra;
    double every_wave; /* the Fourier part of all waves; 0: not compared */
} expected[] = {
    {"spce-1.xyz", 0, 9.95387e4, -8.23715e2, -5.58889e5, 6.27009e3, -2.84469e6, 2.80999e6,
     6277.98288},
    {"spce-2.xyz", 0, 1.93712e5, -3.29486e3, -1.19295e6, 6.03495e3, -5.68938e6, 5.61998e6,
     6050.01595},
    {"spce-4.xyz", 0, 4.48593e5, -1.37286e4, -3.57226e6, 7.58785e3, -1.42235e7, 1.41483e7, 0},
    {"spce-noncuboid-1.xyz", 0.285, 1.11992e5, -4.10919e3, -7.27219e5, 4.46770e4, -1.15820e7,
     1.14354e7, 0},
    {"spce-noncuboid-2.xyz", 0.285, 4.32860e4, NAN, -4.76902e5, 4.44094e4, -8.68647e6, 8.57652e6,
     0},
    {"spce-noncuboid-4.xyz", 0.285, 2.50251e4, -1.63091e2, -1.71462e5, 2.23372e4, -2.89549e6,
     2.85884e6, 0},
};

/* Waves: in cubes |n|^2 < 27, in other boxes |n_d| <= 7 and k^2 < 1.00001 (14 pi / h)^2, with h the least of the heights
 * a_x, b_y and c_z. */
static void waves_of(const struct expected *e, const water *w, int all, char *out, size_t bytes)
{
    const double height = fmin(w->vector[0][0], fmin(w->vector[1][1], w->vector[2][2]));
    if (all)
        snprintf(out, bytes, "k_max=20");
    else if (e->alpha == 0)
        snprintf(out, bytes, "k_max=5 n_square=26");
    else
        snprintf(out, bytes, "k_max=7 k_cutoff=%.17g", sqrt(1.00001) * 14 * M_PI / height);
}

/* A box of water with its terms; the settings of its waves are added to those of the charges. */
static void begin_water(bench *b, const water *w, double alpha, const char *waves)
{
    char settings[256];
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 7);
    bench_vectors(b, w->vector);
    bench_species(b, "O", w->molecules, 0, -0.84760);
    bench_species(b, "H", 2 * w->molecules, 0, 0.42380);
    bench_expect(b, bench_configured(b, "lennard_jones",
                                     "epsilon=78.19743111,0,0 sigma=3.16555789 cutoff=10"));
    bench_expect(b, bench_configured(b, "tail_correction", ""));
    snprintf(settings, sizeof settings, "bjerrum_length=%.17g cutoff=10 alpha=%.17g %s",
             coulomb_constant(), alpha, waves);
    bench_expect(b, bench_configured(b, "coulomb_ewald", settings));
    bench_expect(b, bench_prepare(b));
}

/* Parts of spce-noncuboid-1.xyz in kJ/mol, as NIST gives them beside those in K. */
static void check_more_digits(const double found[6])
{
    const double expected[6] = {931.15451, -34.16569,    -6046.43627,
                                371.46525, -96297.75579, 95078.89447};
    const double unit = 6.02214076e23 * 1.380649e-26; /* kJ/mol a K */
    for (int k = 0; k < 6; k++) {
        printf("%.9g kJ/mol, expected %.9g\n", found[k] * unit, expected[k]);
        assert_close(found[k] * unit, expected[k], 2e-9, 0.6e-5);
    }
}

static void check_water(const struct expected *e)
{
    static water w;
    char waves[128];
    double bonded, excluded;
    read_water(e->file, &w);
    const double alpha = e->alpha > 0 ? e->alpha : 5.6 / w.vector[0][0];
    const double squares = w.molecules * (0.84760 * 0.84760 + 2 * 0.42380 * 0.42380);
    const double own = -coulomb_constant() * alpha / sqrt(M_PI) * squares;
    printf("%s\n", e->file);
    for (int all = 0; all < (e->every_wave != 0 ? 2 : 1); all++) {
        bench b;
        waves_of(e, &w, all, waves, sizeof waves);
        begin_water(&b, &w, alpha, waves);
        const double found = total_of(&b, &w, CHARGES) - own;
        if (all) {
            printf("%-10s %.9g, expected %.9g\n", "all k", found, e->every_wave);
            assert_close(found, e->every_wave, 2e-9, 0);
        } else {
            inside_molecules(&b, &w, alpha, &bonded, &excluded);
            const double parts[6] = {pairs_of(&b, &w, DISPERSION),
                                     total_of(&b, &w, TAIL),
                                     pairs_of(&b, &w, CHARGES) - coulomb_constant() * bonded,
                                     found,
                                     own,
                                     -coulomb_constant() * excluded};
            assert_digits("dispersion", parts[0], e->dispersion);
            if (!isnan(e->tail)) assert_digits("tail", parts[1], e->tail);
            assert_digits("real", parts[2], e->real);
            assert_digits("fourier", parts[3], e->fourier);
            assert_digits("self", parts[4], e->self);
            assert_digits("intra", parts[5], e->intra);
            if (!strcmp(e->file, "spce-noncuboid-1.xyz")) check_more_digits(parts);
        }
        bench_end(&b);
    }
}

static void water_has_the_energies_of_nist(void **state)
{
    (void)state;
    for (int k = 0; k < PLUGMC_COUNT(expected); k++) check_water(&expected[k]);
}

TEST_MAIN(cmocka_unit_test(water_has_the_energies_of_nist))

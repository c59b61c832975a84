/* Hand-made potentials and systems for the tests of fusion: GPU sources as strings, with tables
 * and contact callbacks as the plugins' own would be. Everything in both precisions. */
#ifndef FUSED_SYSTEM_H
#define FUSED_SYSTEM_H

#include <string.h>

#include "plugmc/everything.h"

static const char core_text[] = /* hard cores of the species' diameters */
    "#include <plugmc/potential.h>\n"
    "typedef struct parameters { real scale; } parameters;\n"
    "PLUGMC_FN real helper(real x) { return x * (real)0.5; }\n"
    "PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)\n"
    "{ return p->scale * helper(a.diameter + b.diameter); }\n"
    "#define PLUGMC_PAIR PLUGMC_PAIR_CONTACT\n"
    "#include <plugmc/pair.h>\n"
    "#if PLUGMC_HOST\n#error \"host text on the device\"\n#endif\n";

static const char lennard_jones_text[] = /* every optional function of a pair, and a field */
    "#include <plugmc/potential.h>\n"
    "typedef struct parameters {\n"
    "    real epsilon, sigma, cutoff, slope; int64_t power; int32_t attractive, mode;\n"
    "    const char *note;\n"
    "} parameters;\n"
    "enum { MODE_PLAIN, MODE_CHARGED };\n"
    "PLUGMC_FN real helper(const parameters *p, real r2)\n"
    "{\n"
    "    real q = p->sigma * p->sigma / r2, q3 = q * q * q;\n"
    "    for (int64_t n = 3; n < p->power; n++) q3 *= q;\n"
    "    real shape = p->attractive ? q3 * (q3 - 1) : q3 * q3;\n"
    "    return r2 < p->cutoff * p->cutoff ? 4 * p->epsilon * shape : 0;\n"
    "}\n"
    "PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a,\n"
    "                           plugmc_site b)\n"
    "{ return (p->mode == MODE_CHARGED ? b.charge : 1) * helper(p, s.r2); }\n"
    "PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }\n"
    "PLUGMC_FN real pair_change(const parameters *p, plugmc_separation from,\n"
    "                           plugmc_separation to, plugmc_site a, plugmc_site b)\n"
    "{ return pair_energy(p, to, a, b) - pair_energy(p, from, a, b); }\n"
    "PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)\n"
    "{ return p->mode == MODE_CHARGED ? a.charge : 1; }\n"
    "PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,\n"
    "                               plugmc_site b, real *first, real *second)\n"
    "{ *first = plugmc_sqrt(s.r2); *second = plugmc_fma(s.r2, s.r2, PLUGMC_NO_RANGE); }\n"
    "#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CHANGE | PLUGMC_PAIR_FACTOR | \\\n"
    "                     PLUGMC_PAIR_DERIVATIVE)\n"
    "#include <plugmc/pair.h>\n"
    "PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a,\n"
    "                            int *outside)\n"
    "{ if (r.z < 0) *outside = 1; return p->slope * r.z; }\n"
    "#include <plugmc/field.h>\n";

/* A mover that calls all that plugmc/fused.h promises. values: out, [16] */
static const char mover_text[] =
    "extern \"C\" __global__ void probe(const real *at, int sa, int sb, real *values)\n"
    "{\n"
    "    plugmc_site a = plugmc_site_of_species(sa), b = plugmc_site_of_species(sb);\n"
    "    plugmc_separation from, to;\n"
    "    to.x = at[0]; to.y = at[1]; to.z = at[2];\n"
    "    to.r2 = to.x * to.x + to.y * to.y + to.z * to.z;\n"
    "    from.x = at[3]; from.y = at[4]; from.z = at[5];\n"
    "    from.r2 = from.x * from.x + from.y * from.y + from.z * from.z;\n"
    "    plugmc_sums s;\n"
    "    plugmc_sums_clear(&s);\n"
    "    plugmc_sums_add_energy(&s, to, a, b);\n"
    "    values[0] = plugmc_sums_total(&s, a);\n"
    "    plugmc_sums_clear(&s);\n"
    "    plugmc_sums_add_change(&s, from, to, a, b);\n"
    "    values[1] = plugmc_sums_total(&s, a);\n"
    "    values[2] = plugmc_contact_square(sa, sb);\n"
    "    plugmc_position r;\n"
    "    r.x = at[0]; r.y = at[1]; r.z = at[2];\n"
    "    int outside = 0;\n"
    "    values[3] = plugmc_fields(r, a, &outside);\n"
    "    values[4] = outside;\n"
    "    values[5] = a.charge; values[6] = b.diameter; values[7] = b.species;\n"
    "    for (int d = 0; d < 3; d++) values[8 + d] = plugmc_edge[d] * plugmc_inverse_edge[d];\n"
    "    values[11] = plugmc_radius;\n"
    "    values[12] = SCALE * (PLUGMC_ENERGY_TERMS + 10 * PLUGMC_CONTACTS + 100 * PLUGMC_FIELDS);\n"
    "    values[13] = PLUGMC_DIMENSION + 10 * PLUGMC_PERIODIC + 100 * PLUGMC_IN_SPHERE;\n"
    "    values[14] = PLUGMC_SPECIES; values[15] = sizeof(real) == sizeof(PLUGMC_REAL);\n"
    "}\n";
static const char *const mover_defines[] = {"SCALE=2", NULL};

typedef struct core_double {
    double scale;
} core_double;
typedef struct core_single {
    float scale;
} core_single;
#define CORE_TABLE(type)                                                                           \
    {                                                                                              \
        PLUGMC_REAL_KEY(type, scale, "1", 0, 10, "", "factor on the diameters")                    \
    }
static const plugmc_parameter core_table_double[] = CORE_TABLE(core_double);
static const plugmc_parameter core_table_single[] = CORE_TABLE(core_single);

static double core_contact_double(const void *p, const plugmc_particle *a, const plugmc_particle *b)
{
    return ((const core_double *)p)->scale * (0.5 * (a->diameter + b->diameter));
}
static double core_contact_single(const void *p, const plugmc_particle *a, const plugmc_particle *b)
{
    float sum = (float)a->diameter + (float)b->diameter;
    return ((const core_single *)p)->scale * (0.5f * sum);
}

typedef struct lj_double {
    double epsilon, sigma, cutoff, slope;
    int64_t power;
    int32_t attractive, mode;
    const char *note;
} lj_double;
typedef struct lj_single {
    float epsilon, sigma, cutoff, slope;
    int64_t power;
    int32_t attractive, mode;
    const char *note;
} lj_single;
#define LJ_TABLE(type)                                                                             \
    {                                                                                              \
        PLUGMC_REAL_KEY(type, epsilon, "1", 0, 10, "kT", "depth"),                                 \
            PLUGMC_REAL_KEY(type, sigma, "1", 0, 10, "length", "size"),                            \
            PLUGMC_REAL_KEY(type, cutoff, "2.5", 0, 10, "length", "cutoff"),                       \
            PLUGMC_REAL_DERIVED(type, slope, "of the field"),                                      \
            PLUGMC_INTEGER_KEY(type, power, "3", 0, 10, "", "half the power of the attraction"),   \
            PLUGMC_FLAG_KEY(type, attractive, "yes", "with the attraction"),                       \
            PLUGMC_CHOICE_KEY(type, mode, "plain", "plain|charged", "with charges"),               \
            PLUGMC_TEXT_KEY(type, note, "", "of the user")                                         \
    }
static const plugmc_parameter lj_table_double[] = LJ_TABLE(lj_double);
static const plugmc_parameter lj_table_single[] = LJ_TABLE(lj_single);

static const plugmc_field some_field = {.size = sizeof some_field};
static const plugmc_pair core_pair_double = {
    .size = sizeof(plugmc_pair), .functions = PLUGMC_PAIR_CONTACT, .contact = core_contact_double};
static const plugmc_pair core_pair_single = {
    .size = sizeof(plugmc_pair), .functions = PLUGMC_PAIR_CONTACT, .contact = core_contact_single};
static const plugmc_pair lj_pair = {.size = sizeof(plugmc_pair),
                                    .functions = PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CHANGE |
                                                 PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE};
static const plugmc_potential core_potential_double = {sizeof(plugmc_potential), &core_pair_double,
                                                       NULL, NULL};
static const plugmc_potential core_potential_single = {sizeof(plugmc_potential), &core_pair_single,
                                                       NULL, NULL};
static const plugmc_potential lj_potential = {sizeof(plugmc_potential), &lj_pair, &some_field,
                                              NULL};

#define PLUGIN(type, the_name, table, the_potential)                                               \
    .kind = PLUGMC_POTENTIAL, .name = the_name, .instance_size = sizeof(type),                     \
    .parameters = table, .parameter_count = PLUGMC_COUNT(table), .potential = the_potential
static const plugmc_plugin core_plugin_single = {
    PLUGIN(core_single, "core", core_table_single, &core_potential_single)};
static const plugmc_plugin core_plugin = {
    PLUGIN(core_double, "core", core_table_double, &core_potential_double), .source = core_text,
    .source_end = core_text + sizeof core_text - 1, .source_name = "/home/author/core.c",
    .single = &core_plugin_single};
static const plugmc_plugin lj_plugin_single = {
    PLUGIN(lj_single, "lennard_jones", lj_table_single, &lj_potential)};
static const plugmc_plugin lj_plugin = {
    PLUGIN(lj_double, "lennard_jones", lj_table_double, &lj_potential),
    .source = lennard_jones_text, .source_end = lennard_jones_text + sizeof lennard_jones_text - 1,
    .source_name = "/home/author/lennard_jones.c", .single = &lj_plugin_single};

static core_double core_of_double = {1.1};
static core_single core_of_single = {1.1f};
static core_double small_core_double = {0.3};
static core_single small_core_single = {0.3f};
static lj_double lj_of_double = {0.7, 1.2, 3.0, 0.25, 4, 1, 1, "a note"};
static lj_single lj_of_single = {0.7f, 1.2f, 3.0f, 0.25f, 4, 1, 1, "a note"};

#define CORE_TERM                                                                                  \
    {                                                                                              \
        "core", &core_plugin, &core_of_double, &core_plugin_single, &core_of_single, 1             \
    }
#define SMALL_CORE_TERM                                                                            \
    {                                                                                              \
        "small", &core_plugin, &small_core_double, &core_plugin_single, &small_core_single, 1      \
    }
#define LJ_TERM                                                                                    \
    {                                                                                              \
        "lj", &lj_plugin, &lj_of_double, &lj_plugin_single, &lj_of_single, 1                       \
    }

static const plugmc_species three_species[] = {
    {"plus", 60, 1.0, 2.0}, {"minus", 40, 1.5, -1.0}, {"neutral", 20, 0.5, 0.0}};
static const int64_t three_first[] = {0, 60, 100, 120};

static inline plugmc_system make_system(int dimension, int species, enum plugmc_domain domain,
                                        const plugmc_term *terms, int term_count)
{
    plugmc_system s = {.size = sizeof s,
                       .box = {.domain = domain, .dimension = dimension, .length = {10, 11.5, 1}},
                       .particles = three_first[species],
                       .walkers = 1,
                       .species_count = species,
                       .species = three_species,
                       .species_size = sizeof(plugmc_species),
                       .term_size = sizeof(plugmc_term),
                       .first = three_first,
                       .term_count = term_count,
                       .terms = terms,
                       .seed = {1},
                       .range = 3,
                       .threads = 1};
    if (dimension == 3) s.box.length[2] = 12.25;
    if (domain == PLUGMC_DOMAIN_SPHERE) {
        s.box.radius = 6.1;
        for (int d = 0; d < dimension; d++) s.box.length[d] = 12.2;
    }
    s.box.volume = s.box.length[0] * s.box.length[1] * s.box.length[2];
    return s;
}

#endif

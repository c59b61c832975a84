/* Answers of callbacks that cannot be, each given by a plugin made up here. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_source.h"
#include "plugin/answers.h"

static char why[512];
static const sentence room = {why, sizeof why};

static void assert_said(bool good, const char *expected)
{
    assert_false(good);
    if (!strstr(why, expected)) fail_msg("'%s' instead of '%s'", why, expected);
}

/* ---- Potentials ------------------------------------------------------------------------------ */

static const plugmc_species species[2] = {{.name = "a", .count = 2}, {.name = "b", .count = 2}};
static const plugmc_system two_kinds = {.size = sizeof two_kinds,
                                        .species_count = 2,
                                        .species_size = sizeof *species,
                                        .species = species};

static int64_t count_b; /* of orbitals for species b */
static plugmc_ions ions;
static plugmc_waves waves;

static int64_t count(const void *instance, int32_t s)
{
    (void)instance;
    return s == 1 ? count_b : 4;
}

static int give_ions(const void *instance, plugmc_ions *out)
{
    (void)instance;
    assert_int_equal(out->size, sizeof *out);
    *out = ions;
    return PLUGMC_OK;
}

static int give_waves(const void *instance, plugmc_waves *out)
{
    (void)instance;
    assert_int_equal(out->size, sizeof *out);
    *out = waves;
    return PLUGMC_OK;
}

/* Two numbers of the list "knots" and the key "slope". */
static int64_t free_many, free_place[3];
static const char *free_key[3];
static double free_value[3];
static int free_code;

static int64_t variational_count(const void *instance)
{
    (void)instance;
    return free_many;
}

static int free_number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    (void)instance;
    assert_int_equal(out->size, sizeof *out);
    out->key = free_key[k];
    out->place = free_place[k];
    return PLUGMC_OK;
}

static int free_get(const void *instance, double *values)
{
    (void)instance;
    memcpy(values, free_value, (size_t)free_many * sizeof *values);
    return free_code;
}

static const char *free_tables[2]; /* ended by NULL */

static int64_t free_sum_count;

static int64_t variational_sums(const void *instance)
{
    (void)instance;
    return free_sum_count;
}

static plugmc_variational variational_parameters = {.size = sizeof variational_parameters,
                                                    .count = variational_count,
                                                    .number = free_number,
                                                    .get = free_get,
                                                    .tables = free_tables,
                                                    .sums = variational_sums};
static const plugmc_parameter keys[] = {{.name = "knots", .type = PLUGMC_TYPE_LIST},
                                        {.name = "slope", .type = PLUGMC_TYPE_REAL},
                                        {.name = "table", .type = PLUGMC_TYPE_LIST, .derived = 1}};

static const plugmc_orbitals orbitals = {
    .size = sizeof orbitals, .count = count, .ions = give_ions};
static const plugmc_total total = {.size = sizeof total, .waves = give_waves};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};
static const plugmc_plugin plugin = {
    .kind = PLUGMC_POTENTIAL,
    PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals},
                  {PLUGMC_VARIATIONAL_PARAMETERS, &variational_parameters}),
    .parameters = keys,
    .parameter_count = 3,
    .parameter_size = sizeof *keys,
    .potential = &potential};
static const plugmc_term term = {.plugin = &plugin};

static bool potential_is_sound(void) { return check_potential_answers(&two_kinds, &term, room); }

static const double place[2][3] = {{0, 0, 0}, {1, 2, 3}}, nowhere[2][3] = {{0}, {0, NAN, 0}};
static const int32_t numbers[2] = {6, 6}, negative[2] = {6, -6};
static const double valence[2] = {4, 4}, energies[1] = {-1};
static const char *const names[1] = {"total"}, *const nameless[1] = {NULL};
static const int32_t modes[2][3] = {{1, 0, 0}, {0, 1, 0}};
static const double weights[2] = {1, 2}, weights_with_nan[2] = {1, NAN};

static int sound_answers(void **state)
{
    (void)state;
    count_b = 0;
    ions = (plugmc_ions){.size = sizeof ions,
                         .count = 2,
                         .positions = place,
                         .primitive_cells = 1,
                         .atomic_number = numbers,
                         .valence = valence,
                         .energy_count = 1,
                         .energy_names = names,
                         .energies = energies};
    waves = (plugmc_waves){.size = sizeof waves, .count = 2, .n = modes, .weight = weights};
    free_many = 3;
    free_tables[0] = "knots";
    free_code = PLUGMC_OK;
    variational_parameters.functions = 0;
    free_sum_count = 0;
    for (int k = 0; k < 3; k++) {
        free_key[k] = k < 2 ? "knots" : "slope";
        free_place[k] = k < 2 ? k : -1;
        free_value[k] = k;
    }
    *why = 0;
    return 0;
}

static void sound_answers_are_taken(void **state)
{
    (void)state;
    if (!potential_is_sound()) fail_msg("%s", why);
    ions = (plugmc_ions){.size = sizeof ions}; /* none at all */
    waves = (plugmc_waves){.size = sizeof waves};
    free_many = 0;
    assert_true(potential_is_sound());
}

static void numbers_of_orbitals_are_numbers(void **state)
{
    (void)state;
    count_b = -1;
    assert_said(potential_is_sound(), "it has -1 orbitals for 'b'");
    count_b = INT64_MAX;
    assert_said(potential_is_sound(), "orbitals for 'b'");
}

static void ions_are_complete(void **state)
{
    (void)state;
    ions.count = -2;
    assert_said(potential_is_sound(), "it has -2 ions");
    sound_answers(state);
    ions.valence = NULL;
    assert_said(potential_is_sound(), "its ions have no positions, atomic numbers or valences");
    sound_answers(state);
    ions.positions = nowhere;
    assert_said(potential_is_sound(), "its ion 2 has an invalid position");
    sound_answers(state);
    ions.atomic_number = negative;
    assert_said(potential_is_sound(), "its ion 2 has an invalid position");
    sound_answers(state);
    ions.energies = NULL;
    assert_said(potential_is_sound(), "its list of 1 energies is invalid");
    sound_answers(state);
    ions.energy_names = nameless;
    assert_said(potential_is_sound(), "its energy 1 has no name");
}

static void variational_have_places_in_keys(void **state)
{
    (void)state;
    free_tables[0] = "slope"; /* a real number */
    assert_said(potential_is_sound(),
                "its variational parameters are in 'slope', which is not one of its lists");
    sound_answers(state);
    free_many = -1;
    assert_said(potential_is_sound(), "it has -1 variational parameters");
    sound_answers(state);
    free_key[2] = NULL;
    assert_said(potential_is_sound(), "its variational parameter 2 has no key");
    sound_answers(state);
    free_key[2] = "table"; /* which no INI file gives */
    assert_said(potential_is_sound(),
                "its variational parameter 2 belongs to 'table', which is not one of its keys");
    sound_answers(state);
    free_place[2] = 0;
    assert_said(potential_is_sound(), "its variational parameter 2 has index 0 in 'slope'");
    sound_answers(state);
    free_place[1] = 0; /* again */
    assert_said(potential_is_sound(), "its variational parameter 1 has index 0 in 'knots', not 1");
    sound_answers(state);
    free_value[1] = NAN;
    assert_said(potential_is_sound(), "its variational parameter 1 is nan");
    sound_answers(state);
    variational_parameters.functions = 4;
    assert_said(potential_is_sound(),
                "its variational parameters are in functions of an unknown kind (4)");
    variational_parameters.functions = PLUGMC_VARIATIONAL_PAIR;
    free_sum_count = -1;
    assert_said(potential_is_sound(), "its variational parameters are made of -1 sums");
    sound_answers(state);
    free_code = PLUGMC_ERROR_STATE;
    assert_said(potential_is_sound(), "it does not give the values of its variational parameters");
}

static void waves_are_complete(void **state)
{
    (void)state;
    waves.count = -1;
    assert_said(potential_is_sound(), "its list of -1 waves is invalid");
    sound_answers(state);
    waves.n = NULL;
    assert_said(potential_is_sound(), "its list of 2 waves is invalid");
    sound_answers(state);
    waves.weight = weights_with_nan;
    assert_said(potential_is_sound(), "its wave 1 has the weight nan");
    sound_answers(state);
    waves.constant = INFINITY;
    assert_said(potential_is_sound(), "the constant beside its waves is inf");
}

/* ---- Movers and texts ------------------------------------------------------------------------ */

typedef struct steps {
    double step, target;
} steps;

static void steps_and_targets_are_possible(void **state)
{
    (void)state;
    const plugmc_move moves[] = {{.name = "displacement",
                                  .doc = "",
                                  .step_unit = "length",
                                  .step_key = "step",
                                  .target_key = "target"}};
    const plugmc_parameter reals[] = {PLUGMC_REAL_KEY(steps, step, "1", 0, 1, "length", ""),
                                      PLUGMC_REAL_KEY(steps, target, "0", 0, 1, "", "")};
    steps s = {0.1, 0.3};
    const plugmc_mover mover = {
        .size = sizeof mover, .moves = moves, .move_count = 1, .move_size = sizeof *moves};
    const plugmc_plugin moving = {
        .kind = PLUGMC_MOVER, .mover = &mover, .parameters = reals, .parameter_count = 2};
    assert_true(check_mover_answers(&moving, &s, room));
    s.target = 1.5;
    assert_said(check_mover_answers(&moving, &s, room), "its target acceptance is 1.5");
    s.target = 0, s.step = NAN;
    assert_said(check_mover_answers(&moving, &s, room), "the size of its trial moves is nan");
    s.step = -1;
    assert_said(check_mover_answers(&moving, &s, room), "the size of its trial moves is -1");
    assert_true(check_counts(&(plugmc_counts){10, 10}, room));
    assert_said(check_counts(&(plugmc_counts){10, 11}, room), "it has accepted 11 of 10 trial "
                                                              "moves");
}

static const char *defines[1002]; /* no NULL at the end of the first 1001 */

static int endless_text(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance, (void)host, (void)index;
    out->name = "k.cu";
    out->source = "";
    return 1;
}

static void kernel_texts_are_texts(void **state)
{
    (void)state;
    plugmc_gpu_source text = {.size = sizeof text, .name = "k.cu", .source = "int k;"};
    assert_true(check_gpu_source(&text, room));
    text.fuse = 8;
    assert_said(check_gpu_source(&text, room), "requests potentials of an unknown kind (fuse = 8)");
    text.fuse = PLUGMC_FUSE_SAMPLED | PLUGMC_FUSE_VARIATIONAL;
    assert_said(check_gpu_source(&text, room), "requests variational parameters, but not sampled");
    text.fuse = 0;
    for (int i = 0; i < 1001; i++) defines[i] = "A=1";
    text.defines = defines;
    assert_said(check_gpu_source(&text, room), "the list of definitions of GPU source 'k.cu' has "
                                               "no end");
    text = (plugmc_gpu_source){.size = sizeof text, .name = "k.cu"};
    assert_said(check_gpu_source(&text, room), "GPU source 'k.cu' is empty");
    text.name = NULL;
    assert_said(check_gpu_source(&text, room), "a GPU source has no name");

    const plugmc_plugin endless = {.gpu_source = endless_text};
    int index = 0;
    while (ask_gpu_source(&endless, NULL, NULL, index, &text, room) > 0) index++;
    assert_int_equal(ask_gpu_source(&endless, NULL, NULL, index, &text, room), -1);
    assert_said(false, "the list of its GPU sources has no end");
}

static void the_first_value_that_is_no_number_is_found(void **state)
{
    (void)state;
    const double values[4] = {0, -1e308, INFINITY, NAN};
    assert_int_equal(first_not_finite(values, 2), -1);
    assert_int_equal(first_not_finite(values, 4), 2);
    assert_int_equal(first_not_finite(values + 3, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sound_answers_are_taken, sound_answers),
        cmocka_unit_test_setup(numbers_of_orbitals_are_numbers, sound_answers),
        cmocka_unit_test_setup(ions_are_complete, sound_answers),
        cmocka_unit_test_setup(waves_are_complete, sound_answers),
        cmocka_unit_test_setup(variational_have_places_in_keys, sound_answers),
        cmocka_unit_test(steps_and_targets_are_possible),
        cmocka_unit_test(kernel_texts_are_texts),
        cmocka_unit_test(the_first_value_that_is_no_number_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

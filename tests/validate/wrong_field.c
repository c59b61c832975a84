/* wrong_field: U = sum_i strength cos(2 pi x / wave) with one of many faults; `fault = none` has none. */
#include <plugmc/potential.h>

enum {
    NONE,
    NAN_PLACE,
    MINUS_INFINITY,
    OTHER_FLOAT,
    WRONG_GRADIENT,
    WRONG_SIGN,
    WRONG_LAPLACIAN,
    CALLS_BEFORE,
    UNDECLARED,
    SHORT_LIST,
    NULL_POINTER,
    ENDLESS,
    EXITS,
    BEHIND_STRUCT,
    BEHIND_ALLOCATED,
    OTHER_FORBIDDEN,
    NOT_ALONG_Y,
    NO_WHOLE_WAVES,
    FIRST_BOX,
    FIRST_BOX_A_LITTLE,
    LARGE_CONSTANT,
    NAN_AT_CORNER
};

typedef struct parameters {
    real strength, wave;
    int32_t fault;
    plugmc_list strengths;
    real hidden; /* in no table */
} parameters;

PLUGMC_FN int is(const parameters *p, int fault) { return p->fault == fault; }

#if PLUGMC_HOST
#include <stdlib.h>
static real misdeed(const parameters *p, plugmc_position r, int *outside)
{
    static int calls;
    if (is(p, CALLS_BEFORE)) return (real)1e-3 * (real)(calls++ % 7);
    if (is(p, NULL_POINTER) && r.x < (real)1)
        return *(volatile real *)(p->wave > 0 ? (size_t)16 : (size_t)p);
    if (is(p, ENDLESS))
        for (volatile int k = 1; k; k = 2) {}
    if (is(p, EXITS)) exit(0);
    (void)outside;
    return 0;
}
#else
PLUGMC_FN real misdeed(const parameters *p, plugmc_position r, int *outside)
{
    (void)p, (void)r, (void)outside;
    return 0;
}
#endif

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    float s, c;
    real strength = p->strength;
    plugmc_sincos_turn((float)(r.x / p->wave), &s, &c);
    const real angle = (real)6.283185307179586 * r.x / p->wave;
    const real cosine = sizeof(real) == 4 ? (real)c : (real)cos((double)angle);
    if (is(p, NAN_PLACE) && r.x < (real)1) return plugmc_sqrt(r.x - (real)1);
    if (is(p, MINUS_INFINITY) && r.x < (real)1) return -1 / ((real)0 * r.x);
    if (is(p, OTHER_FLOAT) && sizeof(real) == 4) strength *= (real)1.01;
    if (is(p, OTHER_FORBIDDEN) && sizeof(real) == 4 && r.x < (real)1) *outside = 1;
    if (is(p, UNDECLARED)) strength *= p->hidden;
    if (is(p, SHORT_LIST)) strength *= p->strengths.values[a.species];
    if (is(p, LARGE_CONSTANT)) return (real)1e7 + strength * cosine;
    return strength * cosine + misdeed(p, r, outside);
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    const real k = (real)6.283185307179586 / p->wave, x = k * r.x;
    (void)a;
    gradient[0] = sizeof(real) == 4 ? -p->strength * k * (real)sinf((float)x)
                                    : -p->strength * k * (real)sin((double)x);
    gradient[1] = gradient[2] = 0;
    *laplacian = sizeof(real) == 4 ? -p->strength * k * k * (real)cosf((float)x)
                                   : -p->strength * k * k * (real)cos((double)x);
    if (is(p, WRONG_GRADIENT)) gradient[0] *= (real)1.02;
    if (is(p, WRONG_SIGN)) gradient[0] = -gradient[0];
    if (is(p, WRONG_LAPLACIAN)) *laplacian *= (real)2;
    if (is(p, NAN_AT_CORNER)) gradient[1] = (real)0 * r.y / r.y; /* 0 / 0 at the corner */
    if (is(p, NOT_ALONG_Y)) gradient[1] = (real)0.2 * p->strength;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    (void)host;
    if (is(p, NO_WHOLE_WAVES)) p->wave *= (real)6.283185307179586;
    if (is(p, FIRST_BOX)) p->wave = (real)(host->system->box.length[0] / 2);
    if (is(p, FIRST_BOX_A_LITTLE)) p->strength *= (real)(1 + 0.01 * host->system->box.length[0]);
    if (is(p, UNDECLARED)) p->hidden = (real)2;
    if (is(p, BEHIND_STRUCT)) ((volatile unsigned char *)instance)[sizeof *p] = 1;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    volatile unsigned char *memory = host->allocate(host->context, 100);
    if (memory && is(p, BEHIND_ALLOCATED)) memory[100] = 1;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "2", -1e6, 1e6, "kT", "amplitude"),
    PLUGMC_REAL_KEY(parameters, wave, "3.6", 1e-6, 1e6, "length", "wave length"),
    PLUGMC_CHOICE_KEY(
        parameters, fault, "none",
        "none|nan_place|minus_infinity|other_float|wrong_gradient|wrong_sign|wrong_laplacian|calls_before|"
        "undeclared|short_list|null_pointer|endless|exits|behind_struct|behind_allocated|"
        "other_forbidden|not_along_y|no_whole_waves|first_box|"
        "first_box_a_little|large_constant|nan_at_corner",
        "what is wrong"),
    PLUGMC_LIST_KEY(parameters, strengths, 0, "1", -1e6, 1e6, "kT", "one value for each species"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "wrong_field", .summary = "a wave with a fault",
              .reference = "", PLUGMC_KEYS(parameters, table), .configure = configure,
              .prepare = prepare, .potential = &potential);
#endif

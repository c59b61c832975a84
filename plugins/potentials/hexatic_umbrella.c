/* hexatic_umbrella: an umbrella potential on |psi_6|, the order of bonds in two dimensions, as the observable
 * hexatic_order has it: from liquid to hexatic and back without waiting (umbrella_potential.h has its forms).
 *
 *     psi_6 = 1/N sum_j 1/n_j sum over the n_j neighbours k of j of exp(6 i theta_jk)
 *
 * Neighbours are all that are closer than `cutoff`. Sums are kept in fixed point, so they are those of the
 * configuration, whatever the way to it. A move looks at all particles once.
 */
#include <math.h>
#include <string.h>

#include "umbrella_potential.h"

/* Around one particle: sum of exp(6 i theta) of its bonds, in units of 2^-40, and how many they are. */
typedef struct bonds {
    int64_t re, im;
    int32_t count, touched; /* touched: 1: the trial has others */
} bonds;

typedef struct order {
    double *place;         /* [particles][3] */
    bonds *around, *trial; /* [particles] */
    int64_t re, im;        /* sum of re / count, im / count, in the same units */
    int64_t particle;      /* of the trial; -1: none */
    int64_t trial_re, trial_im;
    double to[3];
} order;

typedef struct hexatic_umbrella {
    umbrella_form form; /* first: parameters */
    real cutoff;

    const plugmc_host *host;
    const plugmc_system *system;
    double square;   /* of the range, length^2 */
    plugmc_box *box; /* [walkers] */
    order *orders;   /* [walkers] */
} hexatic_umbrella;

static const double UNIT = 0x1p-40;

/* Adds a bond between two places, or takes it away (sign -1). Returns whether there is one. */
static int add_bond(const hexatic_umbrella *u, const plugmc_box *box, const double a[3],
                    const double b[3], int sign, bonds *of_a, bonds *of_b)
{
    plugmc_images images;
    const int mode = plugmc_images_of(box, 1, &images);
    const plugmc_separation s = plugmc_separate(b[0] - a[0], b[1] - a[1], 0, &images, mode);
    if (!(s.r2 < u->square) || s.r2 == 0) return 0;
    const double x = s.x, y = s.y, c = (x * x - y * y) / s.r2, d = 2 * x * y / s.r2;
    /* (c + i d)^3 */
    const int64_t re = (int64_t)rint(c * (c * c - 3 * d * d) / UNIT) * sign,
                  im = (int64_t)rint(d * (3 * c * c - d * d) / UNIT) * sign;
    of_a->re += re, of_a->im += im, of_a->count += sign;
    of_b->re += re, of_b->im += im, of_b->count += sign;
    return 1;
}

static void add_share(const bonds *b, int sign, int64_t *re, int64_t *im)
{
    if (!b->count) return;
    *re += sign * (b->re / b->count);
    *im += sign * (b->im / b->count);
}

static double value_of(const hexatic_umbrella *u, int64_t re, int64_t im)
{
    return umbrella_energy(&u->form,
                           hypot((double)re, (double)im) * UNIT / (double)u->system->particles);
}

/* All bonds of one walker anew. */
static void find(const hexatic_umbrella *u, const plugmc_box *box, const double *place,
                 bonds *around, int64_t *re, int64_t *im)
{
    const int64_t n = u->system->particles;
    memset(around, 0, (size_t)n * sizeof *around);
    *re = *im = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1; k < n; k++)
            add_bond(u, box, place + 3 * i, place + 3 * k, 1, &around[i], &around[k]);
    for (int64_t i = 0; i < n; i++) add_share(&around[i], 1, re, im);
}

/* Scaled, a configuration has the same bonds but for those at the cutoff, where the energy jumps. */
static int energy(void *instance, const plugmc_total_request *q)
{
    const hexatic_umbrella *u = instance;
    if (q->virial)
        return u->host->fail(u->host->context, PLUGMC_ERROR_INPUT,
                             "the hexatic order has no virial, so no pressure can be "
                             "measured: its energy jumps when neighbours change");
    for (int32_t w = 0; w < u->system->walkers && q->energy; w++) {
        int64_t re, im;
        find(u, &q->view->box[w], q->view->positions + (int64_t)w * u->system->particles * 3,
             u->orders[w].trial, &re, &im);
        q->energy[w] += value_of(u, re, im);
        memcpy(u->orders[w].trial, u->orders[w].around,
               (size_t)u->system->particles * sizeof(bonds));
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    hexatic_umbrella *u = instance;
    const size_t n = (size_t)u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        order *o = &u->orders[w];
        u->box[w] = view->box[w];
        memcpy(o->place, view->positions + (size_t)w * n * 3, n * 3 * sizeof *o->place);
        find(u, &u->box[w], o->place, o->around, &o->re, &o->im);
        memcpy(o->trial, o->around, n * sizeof *o->trial);
        o->particle = -1;
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *out)
{
    hexatic_umbrella *u = instance;
    order *o = &u->orders[walker];
    const plugmc_box *box = &u->box[walker];
    o->particle = particle;
    memcpy(o->to, position, sizeof o->to);
    o->trial_re = o->re, o->trial_im = o->im;
    for (int64_t k = 0; k < u->system->particles; k++) {
        if (k == particle) continue;
        const double *other = o->place + 3 * k;
        bonds *own = &o->trial[particle], *its = &o->trial[k];
        const int left = add_bond(u, box, o->place + 3 * particle, other, -1, own, its),
                  come = add_bond(u, box, o->to, other, 1, own, its);
        its->touched = left || come;
        if (!its->touched) continue;
        add_share(&o->around[k], -1, &o->trial_re, &o->trial_im);
        add_share(its, 1, &o->trial_re, &o->trial_im);
    }
    add_share(&o->around[particle], -1, &o->trial_re, &o->trial_im);
    add_share(&o->trial[particle], 1, &o->trial_re, &o->trial_im);
    o->trial[particle].touched = 1;
    *out += value_of(u, o->trial_re, o->trial_im) - value_of(u, o->re, o->im);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t walker, int accepted)
{
    hexatic_umbrella *u = instance;
    order *o = &u->orders[walker];
    if (o->particle < 0) return PLUGMC_OK;
    for (int64_t k = 0; k < u->system->particles; k++) {
        if (!o->trial[k].touched) continue;
        o->trial[k].touched = 0;
        if (accepted)
            o->around[k] = o->trial[k];
        else
            o->trial[k] = o->around[k];
    }
    if (accepted) {
        memcpy(o->place + 3 * o->particle, o->to, sizeof o->to);
        o->re = o->trial_re, o->im = o->trial_im;
    }
    o->particle = -1;
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    (void)instance;
    if (host->system->box.dimension != 2 || host->system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "psi_6 needs two dimensions and a periodic box");
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    hexatic_umbrella *u = instance;
    const plugmc_system *system = u->system = host->system;
    u->host = host;
    const size_t n = (size_t)system->particles;
    double largest = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        largest = fmax(largest, plugmc_species_at(system, s)->diameter);
    u->square = u->cutoff * u->cutoff * largest * largest;
    u->box = host->allocate(host->context, (size_t)system->walkers * sizeof *u->box);
    u->orders = host->allocate(host->context, (size_t)system->walkers * sizeof *u->orders);
    int enough = u->box && u->orders;
    for (int32_t w = 0; w < system->walkers && enough; w++) {
        order *o = &u->orders[w];
        o->particle = -1;
        o->place = host->allocate(host->context, n * 3 * sizeof *o->place);
        o->around = host->allocate(host->context, n * sizeof *o->around);
        o->trial = host->allocate(host->context, n * sizeof *o->trial);
        enough = o->place && o->around && o->trial;
    }
    return enough ? PLUGMC_OK
                  : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for bonds");
}

static const plugmc_parameter table[] = {
    UMBRELLA_KEYS(hexatic_umbrella, form, ""),
    PLUGMC_REAL_KEY(hexatic_umbrella, cutoff, "1.45", 1e-6, 1e6, "largest diameters",
                    "largest distance of neighbours"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle,
                                   .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "hexatic_umbrella",
              .summary = "an umbrella potential on |psi_6|, the order of bonds in two dimensions",
              .reference = "Torrie, Valleau, J. Comput. Phys. 23, 187 (1977)",
              PLUGMC_KEYS(hexatic_umbrella, table), .configure = configure, .prepare = prepare,
              .potential = &potential)

/* rigid_group: several particles move together as a rigid body, the neighbours of a particle or a molecule.
 *
 * A particle i is drawn. Its group are all particles within `radius` of it, itself included, or all of its molecule. Half
 * of the trial moves displace the group by a vector uniform in the ball of radius `step`; the other half turn it about
 * particle i. Both are accepted with probability min(1, exp(-change of -ln p)).
 *
 * The way back starts from the same particle i, and has to find the same group. A turn about i changes no distance from
 * i, so it does. A displacement may bring i near others: such a move is rejected (S. Whitelam, P. L. Geissler,
 * J. Chem. Phys. 127, 154101 (2007) discuss moves of clusters). So are groups of more than 512 particles.
 *
 * In three dimensions the turn is that of the quaternion (1, b v), not normalised, where v is uniform in the ball of radius
 * 1 and b = `turn`, the tangent of half the largest angle; in two, tan(angle / 2) is b times a number uniform in
 * (-1, 1). v and -v are equally probable. Arithmetic is that of IEEE 754 alone, the same on CPU and GPU. Bodies keep their
 * orientations: their centres alone go around.
 *
 * Trial t of sweep s in walker w draws with D(k) = plugmc_draw(seed, s, w, t, PLUGMC_PURPOSE_ORDER, k): i is
 * plugmc_below(D(0).word[0], N), species by species; v is that of plugmc_draw_in_ball.
 */
#include <plugmc/proposal.h>
#include <plugmc/near.h>

#define PLUGMC_GROUPS 512

enum { NEIGHBOURS, MOLECULE };
enum { DISPLACEMENT, TURN }; /* in the table of moves */

typedef struct group {
    int32_t of, species_count;
    int64_t trials;
    real radius, step, turn, target_acceptance; /* length, length, 1, 1 */
} group;

/* Members of the group of particle i; more than 512: too many. */
PLUGMC_FN int64_t list_members(const group *g, plugmc_trial *t, int64_t i)
{
    int64_t n = 0;
    if (g->of == NEIGHBOURS) {
        const double centre[3] = {t->x[i], t->y[i], t->z[i]};
        return plugmc_list_near(t, g->species_count, centre, g->radius, t->group->members,
                                t->group->capacity);
    }
    if (t->molecule[i] < 0) { /* an atom */
        t->group->members[0] = (int32_t)i;
        return 1;
    }
    for (int64_t k = 0; k < t->particles && n < t->group->capacity; k++)
        if (t->molecule[k] == t->molecule[i]) t->group->members[n++] = (int32_t)k;
    return n;
}

/* Rows of the rotation matrix. */
PLUGMC_FN void draw_rotation(const plugmc_trial *t, double m[3][3])
{
    const double b = t->step; /* tan of half the largest angle */
    double v[3];
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    const double x = t->dimension == 3 ? b * v[0] : 0, y = t->dimension == 3 ? b * v[1] : 0,
                 z = t->dimension == 3 ? b * v[2] : b * v[0], s = 2 / (1 + x * x + y * y + z * z);
    m[0][0] = 1 - s * (y * y + z * z), m[0][1] = s * (x * y - z), m[0][2] = s * (x * z + y);
    m[1][0] = s * (x * y + z), m[1][1] = 1 - s * (x * x + z * z), m[1][2] = s * (y * z - x);
    m[2][0] = s * (x * z - y), m[2][1] = s * (y * z + x), m[2][2] = 1 - s * (x * x + y * y);
}

/* Nearest image of particle k, seen from particle i. */
PLUGMC_FN void separation(const plugmc_trial *t, int64_t k, int64_t i, double s[3])
{
    s[0] = plugmc_nearest_image(t->x[k] - t->x[i], t->box->length[0]);
    s[1] = plugmc_nearest_image(t->y[k] - t->y[i], t->box->length[1]);
    s[2] = t->dimension == 3 ? plugmc_nearest_image(t->z[k] - t->z[i], t->box->length[2]) : 0;
}

PLUGMC_FN double half_of_shortest_edge(const plugmc_trial *t)
{
    const double *length = t->box->length;
    const double xy = fmin(length[0], length[1]);
    return 0.5 * (t->dimension == 3 ? fmin(xy, length[2]) : xy);
}

/* Returns 0 if the group is so large that its nearest images would be others afterwards. */
PLUGMC_FN int turn_members(plugmc_trial *t, int64_t i)
{
    const double half = half_of_shortest_edge(t);
    double m[3][3];
    int small = 1;
    draw_rotation(t, m);
    for (int32_t k = 0; k < t->group->n; k++) {
        const double centre[3] = {t->x[i], t->y[i], t->z[i]};
        double s[3];
        separation(t, t->group->members[k], i, s);
        small &= s[0] * s[0] + s[1] * s[1] + s[2] * s[2] < half * half;
        for (int d = 0; d < 3; d++)
            t->group->positions[k][d] =
                centre[d] + m[d][0] * s[0] + m[d][1] * s[1] + m[d][2] * s[2];
    }
    return small;
}

/* Returns whether the same group would be found on the way back. */
PLUGMC_FN int displace_members(const group *g, plugmc_trial *t, int64_t i)
{
    int64_t near = 0;
    double v[3];
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    const double to[3] = {t->x[i] + t->step * v[0], t->y[i] + t->step * v[1],
                          t->z[i] + t->step * v[2]};
    for (int32_t k = 0; k < t->group->n; k++) {
        const int32_t member = t->group->members[k];
        t->group->positions[k][0] = t->x[member] + t->step * v[0];
        t->group->positions[k][1] = t->y[member] + t->step * v[1];
        t->group->positions[k][2] = t->z[member] + t->step * v[2];
    }
    for (int32_t s = 0; s < g->species_count && g->of == NEIGHBOURS; s++)
        near += plugmc_count_near(t, s, to, g->radius, t->group->members, t->group->n, -1, 0);
    return near == 0;
}

PLUGMC_FN int propose(const group *g, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    if (t->particles == 0 || (g->of == NEIGHBOURS && g->radius >= half_of_shortest_edge(t)))
        return 0;
    const int64_t i = plugmc_one_of_all(t, plugmc_below(random.word[0], (uint32_t)t->particles)),
                  n = list_members(g, t, i);
    t->kind = PLUGMC_GROUP_DISPLACED;
    t->group->n = (int32_t)n;
    if (n > t->group->capacity) return 0;
    return t->move == DISPLACEMENT ? displace_members(g, t, i) : turn_members(t, i);
}

PLUGMC_PROPOSES(group, propose)

#if PLUGMC_HOST
#include <plugmc/facets.h>
#include <plugmc/total.h>

#include <math.h>

/* As many trial moves of each kind. */
static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const group *g = instance;
    int code = PLUGMC_OK;
    for (uint64_t k = 0; k < sweeps->n && !code; k++)
        for (int32_t move = DISPLACEMENT; move <= TURN && !code; move++) {
            const int64_t half = (g->trials + 1 - move) / 2;
            const plugmc_proposal proposal = {.size = sizeof proposal,
                                              .move = move,
                                              .trials = half,
                                              .from = move == TURN ? (uint32_t)g->trials : 0,
                                              .parameters = g,
                                              .propose = plugmc_propose,
                                              .parameters_size = sizeof *g,
                                              .together = PLUGMC_GROUPS};
            if (half > 0) code = host->trials(host->context, &proposal, sweeps->first + k, 1);
        }
    return code;
}

/* Whether nothing but a mover holds the particles of a molecule together. */
static int molecules_are_loose(const plugmc_system *system)
{
    int loose = 0;
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_total *total = term->sampled ? term->plugin->potential->total : NULL;
        if (!total || !total->molecules) continue;
        const int32_t kind = total->molecules(term->instance);
        if (kind == PLUGMC_MOLECULES_BOUND) return 0;
        loose |= kind == PLUGMC_MOLECULES_LOOSE;
    }
    return loose;
}

static int prepare(void *instance, const plugmc_host *host)
{
    group *g = instance;
    const plugmc_system *system = host->system;
    const plugmc_box *box = &system->box;
    g->species_count = system->species_count;
    if (g->of == MOLECULE && !system->molecule)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "of = molecule: no potential tells molecules; see coulomb_spme");
    if (g->of == NEIGHBOURS && molecules_are_loose(system))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "of = neighbours would tear molecules apart: choose of = molecule");
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "needs a periodic, rectangular box");
    for (int d = 0; d < box->dimension && g->of == NEIGHBOURS; d++)
        if (!(g->radius < 0.5 * box->length[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "radius = %g must be less than half of each edge of the box, here %g",
                              g->radius, 0.5 * box->length[d]);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(group, of, "neighbours", "neighbours|molecule",
                      "which particles move together: all within `radius` of one, or a molecule"),
    PLUGMC_REAL_KEY(group, radius, "1.5", 0, 1e9, "length",
                    "largest distance of a neighbour from the particle that is drawn"),
    PLUGMC_INTEGER_KEY(group, trials, "100", 1, 1e8, "", "trial moves per walker and sweep"),
    PLUGMC_REAL_KEY(group, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a group, uniform in the disk or ball"),
    PLUGMC_REAL_KEY(group, turn, "0.3", 1e-12, 1e6, "",
                    "largest turn of a group: the tangent of half the angle, not in rad"),
    PLUGMC_REAL_KEY(group, target_acceptance, "0", 0, 1, "",
                    "target acceptance of the tuning of step and turn during equilibration; 0: "
                    "fixed"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "displaces a group",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"},
                                    {.name = "turn",
                                     .doc = "turns a group",
                                     .step_unit = "tan of half the angle",
                                     .step_key = "turn",
                                     .target_key = "target_acceptance",
                                     .largest = 1e3}};

PLUGMC_PLUGIN(.name = "rigid_group",
              .summary = "displaces and turns groups of particles: neighbours, or molecules",
              .reference = "Whitelam, Geissler, J. Chem. Phys. 127, 154101 (2007)",
              PLUGMC_KEYS(group, table),
              PLUGMC_MOVER_WITH(
                  moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_MOLECULES,
                  .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
                  .sweep = sweep,
                  .good_for = "pairs of ions, clusters and molecules that single moves "
                              "tear apart; combine it with a mover of single particles"),
              .prepare = prepare)
#endif

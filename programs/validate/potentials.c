/* Checks of potentials: which there are, and in which run. */
#include <math.h>
#include <string.h>

#include "base/guarded_memory.h"
#include "checks.h"

typedef struct check {
    const char *name;
    int (*work)(const target *, stand *, findings *);
    enum stand_changes changes;
    int device;
} check;

static const check checks[] = {
    {"parameters", check_inputs, STAND_POSITIONS, DEVICE_CPU},
    {"range and contact", check_ranges, STAND_POSITIONS, DEVICE_CPU},
    {"end of the range", check_end_of_range, STAND_POSITIONS, DEVICE_CPU},
    {"jumps", check_steps, STAND_POSITIONS, DEVICE_CPU},
    {"two particles", check_line, STAND_POSITIONS, DEVICE_CPU},
    {"directions", check_vectors, STAND_POSITIONS, DEVICE_CPU},
    {"neighbour loops", check_batches, STAND_POSITIONS, DEVICE_CPU},
    {"slopes of pairs", check_pair_slopes, STAND_POSITIONS, DEVICE_CPU},
    {"batches of trial moves", check_lanes, STAND_POSITIONS, DEVICE_CPU},
    {"field", check_fields, STAND_POSITIONS, DEVICE_CPU},
    {"derivatives of the field", check_field_slopes, STAND_POSITIONS, DEVICE_CPU},
    {"faces of the box", check_faces, STAND_POSITIONS, DEVICE_CPU},
    {"many-body term", check_many_body, STAND_POSITIONS, DEVICE_CPU},
    {"independent walkers", check_walkers, STAND_POSITIONS, DEVICE_CPU},
    {"particles of a species", check_alike_particles, STAND_POSITIONS, DEVICE_CPU},
    {"many-body term at faces", check_total_faces, STAND_POSITIONS, DEVICE_CPU},
    {"lists", check_lists, STAND_POSITIONS, DEVICE_CPU},
    {"another temperature", check_temperature, STAND_POSITIONS, DEVICE_CPU},
    {"displacements", check_displacements, STAND_POSITIONS, DEVICE_CPU},
    {"swaps", check_swaps, STAND_POSITIONS, DEVICE_CPU},
    {"displaced together", check_displaced_together, STAND_POSITIONS, DEVICE_CPU},
    {"forces", check_forces, STAND_POSITIONS, DEVICE_CPU},
    {"started again", check_restart, STAND_POSITIONS, DEVICE_CPU},
    {"kept sums", check_kept, STAND_POSITIONS, DEVICE_CPU},
    {"other boxes", check_boxes, STAND_BOXES, DEVICE_CPU},
    {"box of the beginning", check_first_box, STAND_BOXES, DEVICE_CPU},
    {"virials", check_virials, STAND_BOXES, DEVICE_CPU},
    {"insertions and removals", check_insertions, STAND_COUNTS, DEVICE_CPU},
    {"reserved places", check_places, STAND_COUNTS, DEVICE_CPU},
    {"orbitals", check_orbitals, STAND_POSITIONS, DEVICE_CPU},
    {"two bodies", check_bodies, STAND_POSITIONS, DEVICE_CPU},
    {"sizes of bodies", check_body_sizes, STAND_POSITIONS, DEVICE_CPU},
    {"bodies turned together", check_body_turns, STAND_POSITIONS, DEVICE_CPU},
    {"paths of bodies", check_body_paths, STAND_POSITIONS, DEVICE_CPU},
    {"memory", check_memory, STAND_POSITIONS, DEVICE_CPU},
    {"GPU source", check_source, STAND_POSITIONS, DEVICE_CPU},
    {"energies on the GPU", check_on_gpu, STAND_POSITIONS, DEVICE_GPU},
};

/* Made once more in an oblique box, if that of the run is not: the plugin itself may take images there, or the inverse
 * matrix. Faces of fields are not: a trap about the middle of the box jumps there, and is right in the box of its author. */
static int (*const leaning[])(const target *, stand *, findings *) = {
    check_total_faces, check_displacements, check_forces, check_virials};

/* What a child is asked, and its answer. */
typedef struct task {
    const check *check;
    int system;
    heard heard;
    /* The check is made in a box with these vectors. */
    bool leans;
    double vectors[3][3];
} task;

/* ---- In the child ---------------------------------------------------------------------------- */

static int try_to_open(const target *t, findings *f, void *argument)
{
    task *own = argument;
    stand s;
    check_begin(f, "opens", NAN, "the plugin can be configured and prepared in a run");
    const int code = stand_open(t, own->system, STAND_POSITIONS, DEVICE_CPU, &s);
    own->heard = s.heard;
    own->leans = !code && stand_lean(&s.session.engine.system.box, own->vectors);
    if (!code) stand_close(&s);
    if (!code) check_end(f);
    return code;
}

/* Once is enough. */
static void look_at_memory(findings *f, const char *name)
{
    char words[512];
    if (guarded_memory_intact((sentence){words, sizeof words})) return;
    for (int k = 0; k < f->count; k++)
        if (!strcmp(f->list[k].check, "memory") && f->list[k].verdict == CHECK_FAILED) return;
    check_begin(f, "memory", NAN, "bytes around the struct and around what is allocated");
    check_fail(f,
               "%s while '%s' was checked: look at indices and sizes of what the plugin writes "
               "there",
               words, name);
    check_end(f);
}

static int make_check(const target *t, findings *f, void *argument)
{
    const task *own = argument;
    const check *c = own->check;
    stand s;
    const stand_change change = {.edge = 1, .vectors = own->leans ? own->vectors : NULL};
    int code = own->leans ? stand_open_changed(t, own->system, c->changes, change, &s)
                          : stand_open(t, own->system, c->changes, c->device, &s);
    if (code) {
        check_not_covered(f, c->name, "%s", heard_or(&s.heard, "the run could not be prepared"));
        return 0;
    }
    code = c->work(t, &s, f);
    if (code) {
        if (!check_running(f)) check_begin(f, c->name, NAN, "callbacks succeed");
        check_fail(f, "a callback failed: %s",
                   heard_or(&s.heard, "without a sentence, which host->fail takes"));
    }
    check_end(f);
    look_at_memory(f, c->name);
    stand_close(&s);
    return 0;
}

/* ---- In the parent --------------------------------------------------------------------------- */

static bool is_of_bodies(const check *c)
{
    return c->work == check_bodies || c->work == check_body_sizes || c->work == check_body_turns ||
           c->work == check_body_paths;
}

/* Orbitals have no energy that could be compared, and bodies have checks of their own. */
static bool concerns(const target *t, const check *c)
{
    const plugmc_potential *p = t->loaded.plugin->potential;
    if (is_of_bodies(c)) return plugmc_body_of(t->loaded.plugin) != NULL;
    if (c->work == check_lists && plugmc_body_of(t->loaded.plugin)) return true;
    return p->pair || p->field || p->total || c->work == check_orbitals || c->work == check_source;
}

/* Of pairs the core takes the images, and a field is given no box. */
static bool uses_box(const target *t)
{
    const plugmc_potential *p = t->loaded.plugin->potential;
    return p->total || (p->pair && p->pair->functions & PLUGMC_PAIR_POSITIONS);
}

static bool is_leaning(const check *c)
{
    for (size_t k = 0; k < sizeof leaning / sizeof *leaning; k++)
        if (leaning[k] == c->work) return true;
    return false;
}

int validate_potential(const target *t, findings *f)
{
    task *own = shared_new(sizeof *own);
    int system;
    const int code = find_system(t, f, try_to_open, own, &own->system, &own->heard, &system);
    if (system < 0) return code;
    own->system = system;
    const bool leans = own->leans && uses_box(t);
    own->leans = false;
    int deaths = 0;
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        own->check = &checks[k];
        if (deaths == MOST_DEATHS)
            check_not_covered(f, checks[k].name, "the plugin has ended %d checks already", deaths);
        else if (!concerns(t, &checks[k])) {
            if (!is_of_bodies(&checks[k]) && !plugmc_body_of(t->loaded.plugin))
                check_not_covered(f, checks[k].name, "it has orbitals and no energy of its own");
        } else if (checks[k].device == DEVICE_GPU && *t->why_no_gpu)
            check_not_covered(f, checks[k].name, "no GPU: %s", t->why_no_gpu);
        else {
            deaths += apart(t, f, checks[k].name, apart_patience(t), make_check, own) == APART_DIED;
            if (leans && is_leaning(&checks[k]) && f->list[f->count - 1].verdict == CHECK_PASSED)
                deaths += apart_leaning(t, f, checks[k].name, make_check, own, &own->leans);
        }
    }
    const plugmc_potential *p = t->loaded.plugin->potential;
    if (plugmc_body_of(t->loaded.plugin) && !p->pair && !p->field && !p->total)
        check_not_covered(f, "pairs, fields, many-body terms", "it is of bodies");
    return deaths == MOST_DEATHS ? 0 : check_resumed(t, system, f);
}

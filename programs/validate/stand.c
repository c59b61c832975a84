/* See stand.h. Systems of ours are small enough for sums over all pairs, and large enough for a range of 3 diameters. */
#include "stand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/sync.h"
#include "initial/initial.h"
#include "plugin/descriptor.h"
#include "plugin/search.h"

static const struct {
    const char *box, *words;
} systems[] = {
    {"[box]\nshape = rectangle\ndimension = 3\nlx = 7.2\nly = 7.6\nlz = 8\n",
     "a periodic box in three dimensions, 7.2 x 7.6 x 8"},
    {"[box]\nshape = rectangle\ndimension = 2\nlx = 12\nly = 13\n",
     "a periodic box in two dimensions, 12 x 13"},
    {"[box]\nshape = sphere\ndimension = 3\nradius = 5\n", "a sphere of radius 5"},
};

/* Two species that differ in everything, neutral together. */
static const char species[] = "[species a]\ncount = %d\ncharge = 1\ndiameter = 1\nmass = 1\n"
                              "[species b]\ncount = %d\ncharge = -1\ndiameter = 0.8\nmass = 2\n";
/* Of each; bodies may be longer than the diameters. */
enum { PARTICLES_EACH = 36, BODIES_EACH = 6 };

const char *stand_system(int k)
{
    return k < (int)(sizeof systems / sizeof *systems) ? systems[k].words : NULL;
}

/* ---- Input ----------------------------------------------------------------------------------- */

static void drop_section(ini_file *ini, int k)
{
    ini_section_free(&ini->sections[k]);
    memmove(&ini->sections[k], &ini->sections[k + 1],
            sizeof *ini->sections * (size_t)(ini->count - k - 1));
    ini->count--;
}

/* Whether a word of the own section is the label of another one, as of a tail that is another potential's. */
static bool is_named(const ini_file *ini, const char *kind, const char *own, const char *label)
{
    const size_t n = strlen(label);
    for (int k = 0; k < ini->count; k++) {
        const ini_section *s = &ini->sections[k];
        if (strcmp(s->kind, kind) || strcmp(s->label, own)) continue;
        for (int e = 0; e < s->count; e++) {
            const char *at = strstr(s->entries[e].value, label);
            if (at && strcmp(s->entries[e].key, "plugin") && !at[n]) return true;
        }
    }
    return false;
}

/* Whether an observable has local energies, which others may ask for. */
static bool has_local_energies(const ini_section *s)
{
    const ini_entry *named = ini_get(s, "plugin");
    char *path = find_plugin(named ? named->value : s->label), why[1024];
    loaded one;
    bool has = false;
    if (path && plugin_open(path, PLUGMC_OBSERVABLE, &one, why, sizeof why)) {
        has = plugmc_local_energy_of(one.plugin) != NULL;
        plugin_unload(&one);
    }
    free(path);
    return has;
}

/* A potential is alone in its run, but for those that it names; an observable measures what the file samples, beside that
 * which has local energies. */
static void drop_others(const target *t, ini_file *ini, bool keeps_potentials)
{
    const int kind = t->loaded.plugin->kind;
    const char *name = plugin_kind_name(kind);
    for (int k = ini->count - 1; k >= 0; k--) {
        const ini_section *s = &ini->sections[k];
        const bool own = !strcmp(s->kind, name) && !strcmp(s->label, t->label);
        const bool dropped = kind == PLUGMC_POTENTIAL
                                 ? !strcmp(s->kind, "potential") || !strcmp(s->kind, "mover") ||
                                       !strcmp(s->kind, "observable") || !strcmp(s->kind, "ladder")
                                 : !strcmp(s->kind, "observable");
        const bool needed =
            kind == PLUGMC_OBSERVABLE
                ? dropped && has_local_energies(s)
                : !strcmp(s->kind, "potential") &&
                      (keeps_potentials || is_named(ini, "potential", t->label, s->label));
        if (!own && dropped && !needed) drop_section(ini, k);
    }
}

/* Without a file: what an observable measures. */
static const char *sampled_by(const target *t)
{
    return t->loaded.plugin->kind == PLUGMC_POTENTIAL
               ? ""
               : "[potential soft]\nplugin = lennard_jones\nepsilon = 0.5\nsigma = 0.9\n"
                 "cutoff = 2.2\ntruncation = shift\n"
                 "[mover serial]\nstep = 0.3\n";
}

static int read_text(const target *t, int system, ini_file *ini, report *r)
{
    char *text, both[200];
    const int each = t->loaded.plugin->kind == PLUGMC_POTENTIAL && plugmc_body_of(t->loaded.plugin)
                         ? BODIES_EACH
                         : PARTICLES_EACH;
    snprintf(both, sizeof both, species, each, each);
    checked(asprintf(&text, "[run]\nseed = 7\nsweeps = 100\nwalkers = 2\n%s%s%s[%s %s]\n",
                     systems[system].box, both, sampled_by(t),
                     plugin_kind_name(t->loaded.plugin->kind), t->label) < 0
                ? NULL
                : text);
    const int code = ini_read_text("the input of plugmc validate", text, ini, r);
    free(text);
    return code;
}

/* Without a mover that changes numbers, room for more particles and reservoirs are refused. */
static void drop_reservoirs(ini_file *ini)
{
    static const char *const keys[] = {"max_count", "activity", "mu"};
    for (int k = 0; k < ini->count; k++) {
        ini_section *s = &ini->sections[k];
        for (int e = s->count - 1; e >= 0 && !strcmp(s->kind, "species"); e--)
            for (int i = 0; i < 3; i++)
                if (!strcmp(s->entries[e].key, keys[i])) {
                    free(s->entries[e].key), free(s->entries[e].value), free(s->entries[e].origin);
                    memmove(&s->entries[e], &s->entries[e + 1],
                            sizeof *s->entries * (size_t)(s->count - e - 1));
                    s->count--;
                    break;
                }
    }
}

/* `assignment` with the label, or another word, in it. */
static int set(ini_file *ini, report *r, const char *format, const char *word, const char *value)
{
    char *assignment;
    checked(asprintf(&assignment, format, word, value) < 0 ? NULL : assignment);
    const int code = ini_set(ini, assignment, r);
    free(assignment);
    return code;
}

/* `places`: how many more particles of each species there may be, where numbers change. */
static int add_mover(ini_file *ini, enum stand_changes changes, int places, report *r)
{
    int code = 0;
    if (changes == STAND_BOXES) {
        code = ini_set(ini, "mover volume.step=0.01", r);
        if (!code) code = ini_set(ini, "run.pressure=1", r);
    }
    if (changes == STAND_COUNTS) {
        for (int k = 0; k < ini->count && !code; k++) {
            const ini_section *s = &ini->sections[k];
            if (strcmp(s->kind, "species")) continue;
            const ini_entry *count = ini_get(s, "count");
            char more[32], mover[512];
            snprintf(more, sizeof more, "%lld",
                     (count ? (long long)strtod(count->value, NULL) : 0) + 8 + places);
            snprintf(mover, sizeof mover, "mover insert_%s", s->label);
            char label[256];
            snprintf(label, sizeof label, "%s", s->label);
            code = set(ini, r, "species %s.max_count=%s", label, more);
            if (!code && !ini_get(s, "activity") && !ini_get(s, "mu"))
                code = set(ini, r, "species %s.activity=%s", label, "1");
            if (!code) code = set(ini, r, "%s.plugin=%s", mover, "insert");
            if (!code) code = set(ini, r, "%s.species=%s", mover, label);
        }
    }
    return code;
}

static int adapt(const target *t, ini_file *ini, report *r)
{
    char section[512];
    snprintf(section, sizeof section, "%s %s", plugin_kind_name(t->loaded.plugin->kind), t->label);
    return set(ini, r, "%s.plugin=%s", section, t->loaded.path);
}

static int make_input(const target *t, int system, enum stand_changes changes, int places,
                      ini_file *ini, report *r)
{
    const bool potential = t->loaded.plugin->kind == PLUGMC_POTENTIAL;
    int code = t->file ? ini_read(t->file, ini, r) : read_text(t, system, ini, r);
    if (code) return code;
    drop_others(t, ini, system > 0);
    code = adapt(t, ini, r);
    if (!code) code = ini_set(ini, "run.threads=1", r);
    if (!code && potential) code = ini_set(ini, "run.walkers=2", r);
    if (potential && changes != STAND_COUNTS) drop_reservoirs(ini);
    if (!code) code = add_mover(ini, changes, places, r);
    return code;
}

int stand_input(const target *t, int system, enum stand_changes changes, ini_file *ini, report *r)
{
    return make_input(t, system, changes, 0, ini, r);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static instance *own_instance(stand *s, const target *t)
{
    engine *engine = &s->session.engine;
    for (int i = 0; i < engine->instance_count; i++)
        if (engine->instances[i].section->kind == t->loaded.plugin->kind &&
            !strcmp(engine->instances[i].section->section->label, t->label))
            return &engine->instances[i];
    return NULL; /* stand_input makes its section */
}

static int make_hamiltonian(stand *s)
{
    engine *engine = &s->session.engine;
    hamiltonian *h = &engine->current.hamiltonian;
    int code = hamiltonian_open(h, s->host);
    if (!code) code = hamiltonian_load(h, s->host, &engine->current.state.face, ~(uint32_t)0);
    return context_exit_code(s->host->context, code, "loading the configuration");
}

const char stand_another[] = "another";

static int add_species(ini_file *ini, report *r)
{
    static const char *const keys[] = {"charge", "diameter", "mass"};
    const ini_section *last = NULL;
    for (int k = 0; k < ini->count; k++)
        if (!strcmp(ini->sections[k].kind, "species")) last = &ini->sections[k];
    char *values[3] = {0};
    for (int k = 0; k < 3 && last; k++) {
        const ini_entry *e = ini_get(last, keys[k]);
        if (e) values[k] = checked(strdup(e->value));
    }
    int code = set(ini, r, "species %s.count=%s", stand_another, "2");
    for (int k = 0; k < 3; k++) {
        char section[64];
        snprintf(section, sizeof section, "species %s.%s", stand_another, keys[k]);
        if (!code && values[k]) code = set(ini, r, "%s=%s", section, values[k]);
        free(values[k]);
    }
    return code;
}

/* What a change has of the input. */
static int change_input(ini_file *ini, const stand_change *change, report *r)
{
    int code = change->another_species ? add_species(ini, r) : 0;
    if (!code && change->assignment) code = ini_set(ini, change->assignment, r);
    for (int k = 0; change->assignments && change->assignments[k] && !code; k++)
        code = ini_set(ini, change->assignments[k], r);
    return code;
}

/* *vectors [3][3] are those of the box, if it is oblique then. */
static void change_box(box_section *box, const stand_change *change, double (*vectors)[3])
{
    const plugmc_list *own[3] = {&box->a, &box->b, &box->c};
    const bool oblique =
        change->vectors || (own[0]->count == 3 && own[1]->count == 3 && own[2]->count == 3);
    const double volume = pow(change->edge, (double)box->dimension);
    for (int k = 0; k < 9 && oblique; k++)
        vectors[k / 3][k % 3] = change->edge * (change->vectors ? change->vectors[k / 3][k % 3]
                                                                : own[k / 3]->values[k % 3]);
    box->lx *= change->edge, box->ly *= change->edge, box->lz *= change->edge;
    box->radius *= change->edge;
    box->density /= volume;
    box->packing_fraction /= volume;
    if (!oblique) return;
    box->lx = box->ly = box->lz = box->density = box->packing_fraction = 0;
    box->a = (plugmc_list){.values = vectors[0], .count = 3};
    box->b = (plugmc_list){.values = vectors[1], .count = 3};
    box->c = (plugmc_list){.values = vectors[2], .count = 3};
}

static int open_run(const target *t, int system, enum stand_changes changes, int device,
                    stand_change change, stand *s)
{
    const bool potential = t->loaded.plugin->kind == PLUGMC_POTENTIAL;
    char temperature[64];
    *s = (stand){.number = system};
    heard_begin(&s->heard);
    engine *engine = &s->session.engine;
    engine->report = &s->heard.report;
    engine->pairs_known = true;
    engine->in_child = true;
    engine->tests_plugin = potential;
    engine->config.without_mover = potential && changes == STAND_POSITIONS;
    int code = make_input(t, system, changes, change.places, &engine->config.ini, engine->report);
    if (!code) code = change_input(&engine->config.ini, &change, engine->report);
    if (!code)
        code = ini_set(&engine->config.ini,
                       device == DEVICE_GPU ? "run.device=gpu" : "run.device=cpu", engine->report);
    snprintf(temperature, sizeof temperature, "run.temperature=%.17g", change.temperature);
    if (!code && change.temperature > 0)
        code = ini_set(&engine->config.ini, temperature, engine->report);
    if (!code && change.vectors)
        code = ini_set(&engine->config.ini, "box.shape=oblique", engine->report);
    if (!code) code = config_read(&engine->config, engine->report);
    if (!code) change_box(&engine->config.box, &change, s->vectors);
    if (!code) code = session_open(&s->session);
    if (!code) code = session_prepare(&s->session);
    if (!code) code = initial_begin(engine);
    if (code) return code;
    s->own = own_instance(s, t);
    s->host = potential && engine->mover_count ? &engine->movers[0].instance->host : &s->own->host;
    const plugmc_potential *p = s->own->plugin->potential;
    s->has_energy = potential && (p->pair || p->field || p->total);
    return s->has_energy ? make_hamiltonian(s) : 0;
}

int stand_open(const target *t, int system, enum stand_changes changes, int device, stand *s)
{
    return open_run(t, system, changes, device, (stand_change){.edge = 1}, s);
}

int stand_open_changed(const target *t, int system, enum stand_changes changes, stand_change change,
                       stand *s)
{
    return open_run(t, system, changes, DEVICE_CPU, change, s);
}

void stand_close(stand *s) { session_close(&s->session); }

/* ---- Random numbers -------------------------------------------------------------------------- */

double stand_uniform(stand *s)
{
    const plugmc_random r = plugmc_draw((plugmc_seed){.key = 0x76616c6964617465}, s->draws++, 0, 0,
                                        PLUGMC_PURPOSE_TRIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

double stand_symmetric(stand *s) { return 2 * stand_uniform(s) - 1; }

double stand_clock(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int64_t stand_below(stand *s, int64_t n) { return (int64_t)(stand_uniform(s) * (double)n); }

double stand_distance(const plugmc_system *system, const plugmc_box *box)
{
    return pow(box->volume / (double)(system->particles > 0 ? system->particles : 1),
               1.0 / box->dimension);
}

double stand_reach(const plugmc_box *box)
{
    double reach = INFINITY;
    if (box->domain == PLUGMC_DOMAIN_SPHERE) return 2 * box->radius;
    for (int d = 0; d < box->dimension; d++) reach = fmin(reach, box->length[d]);
    return 0.5 * reach;
}

/* ---- Positions ------------------------------------------------------------------------------- */

void stand_fractions(const plugmc_box *box, const double r[3], double f[3])
{
    for (int d = 0; d < 3; d++) {
        f[d] = 0;
        for (int e = 0; e < 3; e++) f[d] += r[e] * box->inverse[e][d];
    }
}

void stand_at_fractions(const plugmc_box *box, const double f[3], double r[3])
{
    for (int e = 0; e < 3; e++) {
        r[e] = 0;
        for (int d = 0; d < box->dimension; d++) r[e] += f[d] * box->vector[d][e];
    }
}

void stand_position(stand *s, const plugmc_box *box, double at[3])
{
    double f[3] = {0, 0, 0};
    for (int d = 0; d < 3; d++) at[d] = 0;
    for (int d = 0; d < box->dimension; d++) f[d] = stand_uniform(s);
    if (box->domain != PLUGMC_DOMAIN_SPHERE) stand_at_fractions(box, f, at);
    for (int d = 0; d < box->dimension && box->domain == PLUGMC_DOMAIN_SPHERE; d++)
        at[d] = box->radius * (2 * f[d] - 1) / sqrt(box->dimension);
}

void stand_gather(const plugmc_system *system, const plugmc_box *box, double factor,
                  double *positions)
{
    for (int64_t k = 0; k < system->walkers * system->particles; k++) {
        const plugmc_box *own = &box[k / system->particles];
        double f[3];
        stand_fractions(own, positions + 3 * k, f);
        for (int d = 0; d < own->dimension; d++)
            if (!own->closed[d]) {
                f[d] = factor * (f[d] - rint(f[d]));
                f[d] -= floor(f[d]);
            }
        stand_at_fractions(own, f, positions + 3 * k);
    }
}

bool stand_lean(const plugmc_box *box, double vectors[3][3])
{
    /* Of edges. No two are alike, and the inverse is not symmetric; ranges of nearly half of the box still fit. */
    static const double along[3][3] = {{1, 0, 0}, {0.17, 1, 0}, {0.11, -0.13, 1}};
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->oblique || box->dimension != 3) return false;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) vectors[d][e] = along[d][e] * box->length[e];
    return true;
}

const char *stand_axis(const plugmc_box *box, int d)
{
    static const char *const words[2][3] = {
        {"x", "y", "z"}, {"lattice vector a", "lattice vector b", "lattice vector c"}};
    return words[box->oblique != 0][d];
}

const char *stand_of_prepare(const stand *s)
{
    return s->own->plugin->prepare
               ? "; does 'prepare' change a parameter? It has the struct of double precision alone, so "
                 "that belongs into 'configure'"
               : "";
}

/* Checks of observables: what they say that they measure, and what they write. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/guarded_memory.h"
#include "engine/sync.h"
#include "measuring.h"
#include "plugin/answers.h"

enum { WHY = 768 };

/* ---- Quantities ------------------------------------------------------------------------------ */

/* The word that begins there: letters alone. */
static size_t word_at(const char *at)
{
    size_t n = 0;
    while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z')) n++;
    return n;
}

/* Units are made of words that input/units.h converts, or that need no conversion. */
static void check_unit(const plugmc_quantity *q, findings *f)
{
    static const char *const known[] = {"length", "energy",  "kT",     "hartree", "bohr",
                                        "e",      "mass",    "charge", "sweep",   "sweeps",
                                        "rad",    "degrees", NULL};
    for (const char *at = q->unit ? q->unit : ""; *at;) {
        const size_t n = word_at(at);
        int k = 0;
        while (n && known[k] && (strlen(known[k]) != n || strncmp(known[k], at, n))) k++;
        if (n && !known[k]) {
            check_fail(f,
                       "the unit '%s' of '%s' has the word '%.*s', which runs with [units] cannot "
                       "convert: use length, energy, kT and powers of them, or \"\"",
                       q->unit, q->name, (int)n, at);
            return;
        }
        at += n ? n : 1;
    }
}

static void check_axes(const plugmc_quantity *q, findings *f)
{
    for (int32_t d = 0; d < q->rank; d++) {
        for (int64_t i = 0; q->abscissa[d] && i < q->shape[d]; i++) {
            if (!isfinite(q->abscissa[d][i])) {
                check_fail(f,
                           "value %lld of the axis '%s' of '%s' is %g: fill in the axis in "
                           "'prepare', before `quantity` is asked",
                           (long long)i, q->axis[d] ? q->axis[d] : "", q->name, q->abscissa[d][i]);
                return;
            }
            if (i && q->abscissa[d][i] == q->abscissa[d][i - 1]) {
                check_fail(f,
                           "values %lld and %lld of the axis '%s' of '%s' are both %g: the axis "
                           "must tell its values apart",
                           (long long)i - 1, (long long)i, q->axis[d] ? q->axis[d] : "", q->name,
                           q->abscissa[d][i]);
                return;
            }
        }
        if (q->abscissa[d] && (!q->axis[d] || !*q->axis[d]))
            check_fail(f, "axis %d of '%s' has values but no name: set axis[%d]", d, q->name, d);
    }
}

/* Of one list. Returns how many there are; -1: one is invalid. */
static int ask_all(subject *o, enum quantity_list which, plugmc_quantity *out, findings *f)
{
    char why[WHY];
    int count = 0, more = 1;
    while (count < MOST_QUANTITIES && more > 0) {
        context_calling(&o->s->own->context, which == QUANTITIES_MEASURED ? "quantity" : "derived");
        more = ask_quantity(o->observable, o->s->own->data, which, count, &out[count],
                            (sentence){why, sizeof why});
        crash_called();
        if (more < 0) check_fail(f, "%s", why);
        count += more > 0;
    }
    return more < 0 ? -1 : count;
}

int ask_again(subject *o, findings *f)
{
    o->width = 0;
    o->count = ask_all(o, QUANTITIES_MEASURED, o->quantities, f);
    for (int k = 0; k < o->count; k++) o->width += plugmc_quantity_length(&o->quantities[k]);
    return o->count > 0 ? o->count : 0;
}

static const char must_be_the_same[] =
    "`quantity` must depend on nothing but the parameters and the system";

/* Those that the run has asked for when it was prepared. */
static void compare_records(const subject *o, findings *f)
{
    const records *r = &o->s->session.records;
    for (int i = 0; i < r->measurement_count; i++) {
        const measurement *m = &r->measurements[i];
        if (m->instance != o->s->own) continue;
        if (m->quantity_count != o->count) {
            check_fail(f, "there were %d quantities, and %d when asked again: %s",
                       m->quantity_count, o->count, must_be_the_same);
            return;
        }
        for (int k = 0; k < o->count; k++) {
            const char *name = r->output.quantities[m->first_quantity + k].name;
            if (r->engine->system.rungs == 1 && strcmp(name, o->quantities[k].name))
                check_fail(f, "quantity %d was '%s', and is '%s' when asked again: %s", k, name,
                           o->quantities[k].name, must_be_the_same);
        }
    }
}

static void check_quantities(subject *o, findings *f)
{
    check_begin(f, "quantities", NAN, "names, units, shapes and axes; asked twice");
    o->count = ask_all(o, QUANTITIES_MEASURED, o->quantities, f);
    if (o->count >= 0) compare_records(o, f);
    for (int k = 0; k < o->count; k++) {
        check_unit(&o->quantities[k], f);
        check_axes(&o->quantities[k], f);
        o->width += plugmc_quantity_length(&o->quantities[k]);
    }
    if (o->count == 0 && !o->observable->writes_trajectory)
        check_fail(f, "it measures nothing: `quantity` returns 0 for index 0");
    check_end(f);
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Positions that nothing can write to. */
static double *read_only_copy(subject *o)
{
    const plugmc_system *system = &o->s->session.engine.system;
    const size_t bytes = 3 * sizeof(double) * (size_t)(system->walkers * system->particles);
    double *copy = checked(guarded_allocate(bytes, 64, "the positions of the view"));
    memcpy(copy, o->positions, bytes);
    guarded_read_only(copy);
    return copy;
}

static double *results_of(const subject *o)
{
    const size_t numbers = (size_t)(o->s->session.engine.system.walkers * o->width);
    return checked(guarded_allocate(numbers * sizeof(double), 8, "the array of results"));
}

static void check_finite(const subject *o, const double *values, findings *f)
{
    for (int64_t k = 0; k < o->s->session.engine.system.walkers * o->width; k++) {
        int64_t at;
        if (isfinite(values[k])) continue;
        const plugmc_quantity *q = quantity_at(o, k % o->width, &at);
        check_fail(f,
                   "value %lld of '%s' in walker %lld is %g: `measure` must write all values of "
                   "all walkers, and finite ones",
                   (long long)at, q->name, (long long)(k / o->width), values[k]);
        return;
    }
}

/* `floor`: a difference that says nothing, as of sums that cancel. */
static void compare_results(const subject *o, const double *a, const double *b, double tolerance,
                            double floor, const char *where, findings *f)
{
    for (int64_t k = 0; k < o->s->session.engine.system.walkers * o->width; k++) {
        int64_t at;
        const plugmc_quantity *q = quantity_at(o, k % o->width, &at);
        const double size = fmax(fabs(a[k]), fabs(b[k]));
        check_value(f, a[k] == b[k] ? 0 : fabs(a[k] - b[k]) / (tolerance * size + floor),
                    "value %lld of '%s' in walker %lld is %.12g, and %.12g %s", (long long)at,
                    q->name, (long long)(k / o->width), a[k], b[k], where);
    }
}

/* Once it has measured. */
static void check_names_again(subject *o, findings *f)
{
    char why[WHY];
    for (int k = 0; k < o->count; k++) {
        plugmc_quantity q;
        const char *before = o->quantities[k].name;
        context_calling(&o->s->own->context, "quantity");
        const int more = ask_quantity(o->observable, o->s->own->data, QUANTITIES_MEASURED, k, &q,
                                      (sentence){why, sizeof why});
        crash_called();
        if (more <= 0 || strcmp(q.name, before))
            check_fail(f, "quantity %d was '%s', and is '%s' after a measurement: %s", k, before,
                       more > 0 ? q.name : "none", must_be_the_same);
    }
}

static size_t bytes_of_positions(const subject *o)
{
    const plugmc_system *system = &o->s->session.engine.system;
    return 3 * sizeof(double) * (size_t)(system->walkers * system->particles);
}

static size_t bytes_of_results(const subject *o)
{
    return (size_t)(o->s->session.engine.system.walkers * o->width) * sizeof(double);
}

static void keep_reference(const subject *o, const double *positions, const double *values)
{
    const size_t first = bytes_of_positions(o);
    if (pwrite(o->reference, positions, first, 0) != (ssize_t)first ||
        pwrite(o->reference, values, bytes_of_results(o), (off_t)first) < 0)
        ftruncate(o->reference, 0);
}

static int check_results(subject *o, findings *f)
{
    double *positions = read_only_copy(o), *values = results_of(o);
    check_begin(
        f, "results", NAN,
        "all values of all walkers are written, are finite, and nothing else is written to");
    int code = measure(o, positions, false, 1, values);
    if (!code) check_finite(o, values, f);
    /* a sweep far away, as a long run has it */
    if (!code) code = measure(o, positions, false, (uint64_t)1 << 40, values);
    if (!code) check_finite(o, values, f);
    if (!code) check_names_again(o, f);
    if (!code) code = measure(o, positions, false, SWEEP_OF_REFERENCE, values);
    if (!code) keep_reference(o, positions, values);
    char words[WHY];
    if (!guarded_memory_intact((sentence){words, sizeof words}))
        check_fail(f, "%s: look at the order of values, [walkers][quantities one after another]",
                   words);
    check_end(f);
    guarded_free(positions), guarded_free(values);
    return code;
}

/* Two measurements of one configuration in the same sweep, the second with larger cells if `edges` are given. */
static int measure_twice(subject *o, const char *name, const char *compared, const double *edges,
                         const char *where, findings *f)
{
    if (o->observable->depends_on == PLUGMC_ON_HISTORY) {
        check_not_covered(f, name, "it depends on the history of walkers");
        return 0;
    }
    double *positions = read_only_copy(o), *a = results_of(o), *b = results_of(o);
    check_begin(f, name, 1, "%s; allowed 1e-9", compared);
    int code = measure(o, positions, false, 5, a);
    if (!code && !all_finite(o, a)) check_leave(f, "%s", not_finite);
    o->edges = edges;
    if (!code) code = measure(o, positions, false, 5, b);
    o->edges = NULL;
    if (!code && check_running(f)) compare_results(o, a, b, 1e-9, 0, where, f);
    check_end(f);
    guarded_free(positions), guarded_free(a), guarded_free(b);
    return code;
}

static int check_twice(subject *o, findings *f)
{
    return measure_twice(o, "measured twice", "one configuration, measured twice in the same sweep",
                         NULL,
                         "when it is measured again: sums must be cleared at the beginning of "
                         "`measure`, and all members that it reads be set",
                         f);
}

/* ---- Walkers and cells ------------------------------------------------------------------------- */

/* Each walker has the configuration, box and numbers of the next one. *out may be measured in their place. */
static double *turn_walkers(const subject *o, plugmc_box *boxes, int64_t *counts)
{
    const plugmc_system *system = &o->s->session.engine.system;
    const plugmc_state *state = &o->s->session.engine.current.state.face;
    const size_t walkers = (size_t)system->walkers, row = 3 * (size_t)system->particles,
                 kinds = (size_t)system->species_count;
    void *box = NULL, *count = NULL;
    if (state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &box, NULL) ||
        state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &count, NULL))
        return NULL;
    double *turned = checked(guarded_allocate(walkers * row * sizeof *turned, 64, "positions"));
    for (size_t w = 0; w < walkers; w++) {
        const size_t from = (w + 1) % walkers;
        memcpy(turned + w * row, o->positions + from * row, row * sizeof *turned);
        memcpy(counts + w * kinds, (const int64_t *)count + from * kinds, kinds * sizeof *counts);
        boxes[w] = ((const plugmc_box *)box)[from];
    }
    return turned;
}

static bool agrees(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* a [walkers][width], before, and b, after each walker has become the next one. */
static void compare_turned(const subject *o, const double *a, const double *b, findings *f)
{
    const int64_t walkers = o->s->session.engine.system.walkers;
    double size[o->width];
    for (int64_t i = 0; i < o->width; i++) size[i] = 0;
    for (int64_t k = 0; k < walkers * o->width; k++)
        size[k % o->width] = fmax(size[k % o->width], fabs(a[k]));
    for (int64_t k = 0; k < walkers * o->width; k++) {
        int64_t at;
        const int64_t w = k / o->width, i = k % o->width, from = (w + 1) % walkers;
        const plugmc_quantity *q = quantity_at(o, i, &at);
        const double before = a[from * o->width + i], away = fabs(b[k] - before);
        check_value(
            f, away == 0 ? 0 : away / (1e-9 * size[i] + 1e-300),
            "value %lld of '%s' in walker %lld is %.12g with the configuration for which it "
            "was %.12g in walker %lld: positions of walker w begin at 3 w system->particles, "
            "its box and numbers at [w]",
            (long long)at, q->name, (long long)w, b[k], before, (long long)from);
    }
}

/* Whether values depend on the sweep, as random numbers do. */
static int depends_on_sweep(subject *o, const double *positions, const double *a, double *b,
                            bool *does)
{
    const int code = measure(o, positions, false, 6, b);
    *does = false;
    for (int64_t k = 0; k < o->s->session.engine.system.walkers * o->width && !code; k++)
        *does |= !agrees(a[k], b[k]);
    return code;
}

static int check_turned(subject *o, findings *f)
{
    const plugmc_system *system = &o->s->session.engine.system;
    const char *why = system->walkers < 2 ? "there is one walker"
                      : system->bodies    ? "particles have orientations, which stay"
                      : system->rungs > 1 ? "walkers of a ladder differ"
                      : o->observable->depends_on == PLUGMC_ON_HISTORY
                          ? "it depends on the history of walkers"
                          : NULL;
    if (why) {
        check_not_covered(f, "configurations turned round", "%s", why);
        return 0;
    }
    const size_t walkers = (size_t)system->walkers;
    plugmc_box *boxes = checked(calloc(walkers, sizeof *boxes));
    int64_t *counts = checked(calloc(walkers * (size_t)system->species_count, sizeof *counts));
    double *positions = read_only_copy(o), *a = results_of(o), *b = results_of(o);
    double *turned = checked(turn_walkers(o, boxes, counts));
    bool drawn = false;
    check_begin(f, "configurations turned round", 1,
                "results of walkers after each has got the configuration of the next one; allowed "
                "1e-9");
    int code = measure(o, positions, false, 5, a);
    if (!code) code = depends_on_sweep(o, positions, a, b, &drawn);
    o->boxes = boxes, o->counts = counts;
    if (!code && !drawn) code = measure(o, turned, false, 5, b);
    o->boxes = NULL, o->counts = NULL;
    if (!code && !all_finite(o, a))
        check_leave(f, "%s", not_finite);
    else if (drawn)
        check_leave(f, "results change with the number of the sweep, as random numbers do");
    else if (!code)
        compare_turned(o, a, b, f);
    check_end(f);
    guarded_free(positions), guarded_free(turned), guarded_free(a), guarded_free(b);
    free(boxes), free(counts);
    return code;
}

/* Cells are at least as wide as is asked for; how wide depends on other boxes. */
static int check_cells(subject *o, findings *f)
{
    const plugmc_box *box = &o->s->session.engine.system.box;
    const double edges[3] = {0.55 * box->length[0], 0.55 * box->length[1], 0.55 * box->length[2]};
    return measure_twice(
        o, "larger cells",
        "one configuration, measured with cells as large as asked for and with larger "
        "ones",
        edges,
        "with larger cells: ask for cells as wide as the longest distance that is "
        "looked for, and compare distances with it",
        f);
}

static bool has_derived(const subject *o)
{
    return PLUGMC_HAS(o->observable, derived) && o->observable->derived && o->observable->derive;
}

static int check_derived(subject *o, findings *f)
{
    if (!has_derived(o)) {
        check_not_covered(f, "derived results", "there are none");
        return 0;
    }
    plugmc_quantity *derived = checked(calloc(MOST_QUANTITIES, sizeof *derived));
    double *positions = read_only_copy(o), *values = results_of(o);
    check_begin(f, "derived results", NAN, "`derive` of the same means twice, into guarded memory");
    int code = measure(o, positions, false, 5, values);
    const int count = ask_all(o, QUANTITIES_DERIVED, derived, f);
    int64_t width = 0;
    for (int k = 0; k < count; k++) width += plugmc_quantity_length(&derived[k]);
    const size_t bytes = (size_t)width * sizeof(double);
    double *out[2] = {checked(guarded_allocate(bytes, 8, "the array of derived results")),
                      checked(guarded_allocate(bytes, 8, "the array of derived results"))};
    guarded_read_only(values);
    for (int k = 0; k < 2 && !code && count > 0; k++) {
        for (int64_t i = 0; i < width; i++) out[k][i] = -1.5;
        context_calling(&o->s->own->context, "derive");
        if (o->observable->derive(o->s->own->data, values, out[k]))
            memset(out[k], 0, bytes); /* the data are not sufficient */
        crash_called();
    }
    for (int64_t i = 0; i < width && !code && count > 0; i++)
        if (memcmp(&out[0][i], &out[1][i], sizeof(double))) {
            check_fail(f,
                       "derived value %lld is %.12g, and %.12g from the same means: `derive` must "
                       "depend on the means alone",
                       (long long)i, out[0][i], out[1][i]);
            break;
        }
    check_end(f);
    guarded_free(positions), guarded_free(values), guarded_free(out[0]), guarded_free(out[1]);
    free(derived);
    return code;
}

/* ---- On a GPU -------------------------------------------------------------------------------- */

/* In a run on a GPU an observable need not be able to measure in host memory, so what it measures there is that of the
 * check of results. */
static int check_there(subject *o, findings *f)
{
    const plugmc_host *host = &o->s->own->host;
    const size_t bytes = bytes_of_positions(o);
    plugmc_device_pointer there = 0;
    double *positions = checked(malloc(bytes)), *here = results_of(o), *values = results_of(o);
    check_begin(f, "results on the GPU", 1,
                "the same configuration measured in host and in device memory; allowed 1e-6");
    const bool kept = pread(o->reference, positions, bytes, 0) == (ssize_t)bytes &&
                      pread(o->reference, here, bytes_of_results(o), (off_t)bytes) ==
                          (ssize_t)bytes_of_results(o);
    if (!kept) check_fail(f, "there are no results of the CPU to compare with");
    int code = host->gpu->allocate(host->context, bytes, &there);
    if (!code) code = host->gpu->upload(host->context, there, positions, bytes);
    if (!code)
        code = measure(o, (const double *)(uintptr_t)there, true, SWEEP_OF_REFERENCE, values);
    if (!code && kept) compare_results(o, here, values, 1e-6, 1e-6, "on the GPU", f);
    check_end(f);
    if (there) host->gpu->release(host->context, there);
    free(positions), guarded_free(here), guarded_free(values);
    return code;
}

/* ---- All of it ------------------------------------------------------------------------------- */

typedef struct task {
    int system, device, reference;
    int (*work)(subject *, findings *);
    const char *name;
    heard heard;
    /* In a box with these vectors; after `opens` whether there is one. */
    bool leans;
    double vectors[3][3];
} task;

/* Particles go a little way from the lattice, as nothing may depend on that. */
static int find_positions(subject *o)
{
    const double *now;
    int code = sync_positions(&o->s->session.engine, PLUGMC_ON_HOST, &now);
    o->positions = now;
    return code;
}

static int open_task(const target *t, task *own, stand *s, subject *o)
{
    const stand_change change = {.edge = 1, .vectors = own->leans ? own->vectors : NULL};
    int code = own->leans ? stand_open_changed(t, own->system, STAND_POSITIONS, change, s)
                          : stand_open(t, own->system, STAND_POSITIONS, own->device, s);
    own->heard = s->heard;
    *o = (subject){.target = t, .s = s, .reference = own->reference};
    if (!code) code = session_begin(&s->session);
    if (!code) code = engine_sweep(&s->session.engine, 0, 2, true);
    if (!code) code = find_positions(o);
    if (!code) o->observable = s->own->plugin->observable;
    own->heard = s->heard;
    return code;
}

static int try_to_open(const target *t, findings *f, void *argument)
{
    stand s;
    subject *o = checked(calloc(1, sizeof *o));
    check_begin(f, "opens", NAN, "the plugin can be configured and prepared in a run");
    task *own = argument;
    int code = open_task(t, own, &s, o);
    own->leans = !code && stand_lean(&s.session.engine.system.box, own->vectors);
    if (!code) check_end(f);
    if (!code) check_quantities(o, f);
    if (!code) stand_close(&s);
    return code;
}

static int do_task(const target *t, findings *f, void *argument)
{
    task *own = argument;
    stand s;
    subject *o = checked(calloc(1, sizeof *o));
    int code = open_task(t, own, &s, o);
    if (code) {
        check_not_covered(f, own->name, "%s", heard_or(&s.heard, "the run could not be prepared"));
        return 0;
    }
    if (!ask_again(o, f)) {
        check_not_covered(f, own->name, "there are no quantities that could be measured");
        return 0;
    }
    code = own->work(o, f);
    if (code) {
        if (!check_running(f)) check_begin(f, own->name, NAN, "callbacks succeed");
        check_fail(f, "a callback failed: %s",
                   heard_or(&s.heard, "without a sentence, which host->fail takes"));
        check_end(f);
    }
    stand_close(&s);
    return 0;
}

static const struct {
    const char *name;
    int (*work)(subject *, findings *);
    int device;
} checks[] = {
    {"results", check_results, DEVICE_CPU},
    {"measured twice", check_twice, DEVICE_CPU},
    {"configurations turned round", check_turned, DEVICE_CPU},
    {"larger cells", check_cells, DEVICE_CPU},
    {"across the faces", check_shifted, DEVICE_CPU},
    {"particles of a species", check_alike, DEVICE_CPU},
    {"results that are 0", check_zeros, DEVICE_CPU},
    {"box of the beginning", check_other_box, DEVICE_CPU},
    {"histories of walkers", check_histories, DEVICE_CPU},
    {"reserved places", check_reserved, DEVICE_CPU},
    {"particles on a lattice", check_on_lattice, DEVICE_CPU},
    {"few particles", check_sparse, DEVICE_CPU},
    {"derived results", check_derived, DEVICE_CPU},
    {"results on the GPU", check_there, DEVICE_GPU},
};

int validate_observable(const target *t, findings *f)
{
    task *own = shared_new(sizeof *own);
    own->device = DEVICE_CPU;
    FILE *reference = tmpfile();
    if (!reference) return EXIT_OUTPUT;
    own->reference = fileno(reference);
    int system, code = find_system(t, f, try_to_open, own, &own->system, &own->heard, &system);
    if (system < 0) {
        fclose(reference);
        return code;
    }
    own->system = system;
    const bool leans = own->leans;
    own->leans = false;
    int deaths = 0;
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        own->work = checks[k].work;
        own->name = checks[k].name;
        own->device = checks[k].device;
        if (deaths == MOST_DEATHS)
            check_not_covered(f, own->name, "the plugin has ended %d checks already", deaths);
        else if (own->device == DEVICE_GPU && *t->why_no_gpu)
            check_not_covered(f, own->name, "no GPU: %s", t->why_no_gpu);
        else if (own->device == DEVICE_GPU && !t->loaded.plugin->observable->on_device)
            check_not_covered(f, own->name, "it measures on the CPU alone");
        else {
            deaths += apart(t, f, own->name, apart_patience(t), do_task, own) == APART_DIED;
            if (leans && own->work == check_shifted &&
                f->list[f->count - 1].verdict == CHECK_PASSED)
                deaths += apart_leaning(t, f, own->name, do_task, own, &own->leans);
        }
    }
    fclose(reference);
    return deaths == MOST_DEATHS ? 0 : check_resumed(t, system, f);
}

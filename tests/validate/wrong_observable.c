/* wrong_observable: moments of the x coordinates, with one of many faults; `fault = none` has none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/archive.h>
#include <plugmc/observable.h>

enum {
    NONE,
    FIRST_WALKER_ALONE,
    LAST_VALUE_MISSING,
    NAN_RESULT,
    SUMS_NOT_CLEARED,
    FAR_BEHIND,
    ONE_BEHIND,
    WRITES_POSITIONS,
    OTHER_NAMES,
    NAN_AXIS,
    EQUAL_AXIS,
    UNKNOWN_UNIT,
    FORGETS,
    EXITS,
    ENDLESS,
    NULL_POINTER,
    RANDOM_DERIVED,
    SHAPE_0,
    FAILS_SILENTLY,
    NOTHING,
    BEHIND_DERIVED,
    LATE_EXIT,
    UNSET_MEMBER,
    FIRST_WALKER_FOR_ALL,
    NARROW_CELLS,
    NO_IMAGES,
    EVERY_SECOND,
    FIRST_BOX,
    ONE_HISTORY,
    TRANSPOSED,
    DIFFERENCE_OF_SQUARES
};
enum { MOMENTS = 3 };
#ifndef WRONG_FOLLOWS
#define WRONG_FOLLOWS 0
#endif
#ifndef WRONG_DEPENDS_ON
#define WRONG_DEPENDS_ON 0
#endif

typedef struct moments {
    int32_t fault;
    double axis[MOMENTS], sums[MOMENTS];
    int asked, measured;
    double before; /* of the walker that was measured last */
} moments;

static int is(const moments *m, int fault) { return m->fault == fault; }

static int prepare(void *instance, const plugmc_host *host)
{
    moments *m = instance;
    (void)host;
    for (int k = 0; k < MOMENTS; k++) m->axis[k] = k + 1;
    if (is(m, NAN_AXIS)) m->axis[1] = NAN;
    if (is(m, EQUAL_AXIS)) m->axis[1] = m->axis[0];
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    moments *m = instance;
    m->asked++;
    if (index > 1 || is(m, NOTHING)) return 0;
    if (index == 1)
        return plugmc_scalar(out, is(m, OTHER_NAMES) && m->measured ? "width" : "mean",
                             is(m, UNKNOWN_UNIT) ? "sigma" : "length", "mean of x");
    return plugmc_array(out, "moments", "", "moments of x", is(m, SHAPE_0) ? 0 : MOMENTS, "order",
                        m->axis);
}

static void misdeeds(moments *m, const plugmc_view *view)
{
    if (is(m, EXITS) || (is(m, LATE_EXIT) && view->sweep > 1000)) exit(0);
    if (is(m, ENDLESS))
        for (volatile int k = 1; k; k = 2) {}
    if (is(m, NULL_POINTER)) m->axis[0] = *(volatile double *)(m->asked ? (size_t)16 : (size_t)m);
    if (is(m, WRITES_POSITIONS)) ((double *)(size_t)view->positions)[0] = 0;
}

/* |S|^2 of one wave, of the vector k_e = 2 pi sum_d n_d inverse[e][d] with n = (0, 1, 0). */
static double structure_of(const moments *m, const plugmc_box *box, const double *r, int64_t n)
{
    double re = 0, im = 0;
    for (int64_t i = 0; i < n; i++) {
        double phase = 0;
        for (int e = 0; e < 3; e++)
            phase += 2 * M_PI * r[3 * i + e] *
                     (is(m, TRANSPOSED) ? box->inverse[1][e] : box->inverse[e][1]);
        re += cos(phase);
        im += sin(phase);
    }
    return is(m, DIFFERENCE_OF_SQUARES) ? re * re - im * im : re * re + im * im;
}

/* Of separations or shares alone, which do not depend on where the configuration is. */
static int measure_distances(moments *m, const plugmc_host *host, const plugmc_view *view,
                             double *values)
{
    const plugmc_system *system = host->system;
    const int64_t n = system->particles;
    for (int32_t w = 0; w < system->walkers; w++) {
        const double *r = view->positions + 3 * w * n;
        double *out = values + (MOMENTS + 1) * w, sum = 0;
        for (int64_t i = 0; i < n; i++) {
            const double apart = r[3 * i] - r[0], edge = view->box[w].length[0];
            const double part = r[3 * i] / (is(m, FIRST_BOX) ? system->box.length[0] : edge);
            if (is(m, NO_IMAGES)) sum += apart * apart;
            if (is(m, EVERY_SECOND) && 2 * r[3 * i] < edge)
                sum += i % (system->species_count > 1 ? system->species_count : 2);
            if (is(m, FIRST_BOX) || is(m, ONE_HISTORY)) sum += cos(2 * M_PI * part);
        }
        if (m->fault >= TRANSPOSED) sum = structure_of(m, &view->box[w], r, n);
        for (int k = 0; k < MOMENTS; k++) out[k] = k + 1;
        out[MOMENTS] = is(m, ONE_HISTORY) ? sum - m->before : sum;
        m->before = sum;
    }
    return PLUGMC_OK;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    moments *m = instance;
    const plugmc_system *system = host->system;
    const int64_t n = system->particles;
    plugmc_cells cells = {.size = sizeof cells};
    misdeeds(m, view);
    if (is(m, NARROW_CELLS) && view->cells(view, 1, &cells)) return PLUGMC_ERROR_STATE;
    if (is(m, FAILS_SILENTLY)) return PLUGMC_ERROR_STATE;
    m->measured++;
    if (m->fault >= NO_IMAGES) return measure_distances(m, host, view, values);
    for (int32_t w = 0; w < (is(m, FIRST_WALKER_ALONE) ? 1 : system->walkers); w++) {
        double *out = values + (MOMENTS + 1) * w, mean = 0;
        if (!is(m, SUMS_NOT_CLEARED)) memset(m->sums, 0, sizeof m->sums);
        for (int64_t i = 0; i < n; i++) {
            const double x = view->positions[3 * (is(m, FIRST_WALKER_FOR_ALL) ? i : w * n + i)];
            mean += x / (double)n;
            for (int k = 0; k < MOMENTS; k++) m->sums[k] += pow(x, k + 1) / (double)n;
        }
        for (int k = 0; k < MOMENTS - is(m, LAST_VALUE_MISSING); k++) out[k] = m->sums[k];
        out[MOMENTS] = is(m, NAN_RESULT) ? sqrt(-1 - mean)
                       : is(m, FORGETS)  ? mean + m->measured
                                         : mean;
        if (is(m, NARROW_CELLS)) out[MOMENTS] += (double)cells.cells;
        if (is(m, UNSET_MEMBER)) out[MOMENTS] += 1e-3 * m->measured;
    }
    if (is(m, FAR_BEHIND))
        for (int k = 0; k < 1000000; k++) values[k] = 1;
    if (is(m, ONE_BEHIND)) values[(MOMENTS + 1) * system->walkers] = 1;
    return PLUGMC_OK;
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index ? 0 : plugmc_scalar(out, "ratio", "", "of the first two moments");
}

static int derive(void *instance, const double *means, double *out)
{
    moments *m = instance;
    *out = means[1] / means[0];
    if (is(m, RANDOM_DERIVED)) *out += 1e-3 * m->measured++;
    if (is(m, BEHIND_DERIVED)) out[1] = 1;
    return 0;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(
        moments, fault, "none",
        "none|first_walker_alone|last_value_missing|nan_result|sums_not_cleared|far_behind|one_behind|"
        "writes_positions|other_names|nan_axis|equal_axis|unknown_unit|forgets|exits|endless|null_pointer|"
        "random_derived|shape_0|fails_silently|nothing|behind_derived|late_exit|unset_member|"
        "first_walker_for_all|narrow_cells|no_images|every_second|first_box|one_history|transposed|difference_of_squares",
        "what is wrong"),
};

static const plugmc_observable observable = {.size = sizeof observable,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .derived = derived,
                                             .derive = derive,
                                             .follows = WRONG_FOLLOWS,
                                             .depends_on = WRONG_DEPENDS_ON};

/* One that says that it depends on the history is not measured twice: then that, or that it follows boxes, is another
 * plugin (-DWRONG_FOLLOWS, -DWRONG_DEPENDS_ON). */
PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "wrong_observable",
              .summary = "moments with a fault", .reference = "", PLUGMC_KEYS(moments, table),
              .prepare = prepare, .observable = &observable)

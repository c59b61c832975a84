/* babble: an observable that answers what cannot be, as it is told. */
#include <math.h>
#include <stdio.h>

#include <plugmc/everything.h>

typedef struct babble {
    int32_t lie;
} babble;

enum {
    NONE,
    NAMELESS,
    EMPTY_NAME,
    PATH,
    NO_UNIT,
    NO_DOC,
    NEGATIVE,
    EMPTY,
    HUGE_ONE,
    ENDLESS,
    TWICE,
    AXIS,
    DERIVED,
    UNSET,
    RANK,
    NOT_A_NUMBER,
    INFINITE,
    CODE,
    UNWRITTEN
};

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static char name[16];
    static const double axis[2] = {0, NAN};
    const int lie = ((babble *)instance)->lie;
    if (index >= (lie == TWICE ? 2 : 1) && lie != ENDLESS) return 0;
    if (lie == UNSET) return 1;
    snprintf(name, sizeof name, lie == ENDLESS ? "q%d" : "q", index);
    out->name = lie == NAMELESS ? NULL : lie == EMPTY_NAME ? "" : lie == PATH ? "../../box" : name;
    if (lie == RANK) out->rank = 5;
    out->unit = lie == NO_UNIT ? NULL : "";
    out->doc = lie == NO_DOC ? NULL : "what nobody needs";
    if (lie != NEGATIVE && lie != EMPTY && lie != HUGE_ONE && lie != AXIS) return 1;
    out->rank = 1;
    out->shape[0] = lie == NEGATIVE ? -1 : lie == EMPTY ? 0 : lie == HUGE_ONE ? INT64_MAX : 2;
    out->axis[0] = "x";
    if (lie == AXIS) out->abscissa[0] = axis;
    return 1;
}

/* The same name as what is measured. */
static int derived(void *instance, int index, plugmc_quantity *out)
{
    if (((babble *)instance)->lie != DERIVED || index > 0) return 0;
    return quantity(instance, 0, out);
}

static int derive(void *instance, const double *means, double *out)
{
    (void)instance;
    out[0] = means[0];
    return PLUGMC_OK;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const int lie = ((babble *)instance)->lie;
    (void)view;
    for (int32_t w = 0; w < host->system->walkers && lie != UNWRITTEN; w++)
        values[w] = lie == NOT_A_NUMBER ? NAN : lie == INFINITE ? INFINITY : 1;
    return lie == CODE ? -7 : PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(babble, lie, "none",
                      "none|nameless|empty_name|path|no_unit|no_doc|negative|empty|huge|endless|"
                      "twice|"
                      "axis|derived|unset|rank|nan|infinite|code|unwritten",
                      "what is wrong with the answers"),
};

PLUGMC_PLUGIN(.name = "babble", .summary = "answers what cannot be", .reference = "",
              PLUGMC_KEYS(babble, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive))

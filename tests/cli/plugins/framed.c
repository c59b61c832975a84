/* framed: an observable that asks for a view of its own, with another size than a plugmc_view has today, and tells
 * what the program has written around it. */
#include <string.h>

#include <plugmc/everything.h>

enum { BEHIND = 64, PATTERN = 0xa5 };

typedef struct framed {
    int64_t more; /* parameters */
    int32_t unset;
} framed;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const all[][2] = {
        {"filled", "bytes of the view that are there, more than this plugin's headers know"},
        {"spoilt", "bytes behind them that were written to"},
        {"particles", "in the cells of the view, of the first walker"},
    };
    (void)instance;
    return index < 3 ? plugmc_scalar(out, all[index][0], "", all[index][1]) : 0;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const framed *f = instance;
    struct {
        plugmc_view view;
        unsigned char behind[BEHIND];
    } frame;
    plugmc_cells cells = {.size = sizeof cells};
    memset(&frame, PATTERN, sizeof frame);
    frame.view.size = f->unset ? 0 : (uint32_t)sizeof frame.view + (uint32_t)f->more;
    int code = host->view(host->context, view->positions, 0, &frame.view);
    if (!code) code = frame.view.cells(&frame.view, 1, &cells);
    if (code) return code;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        values[3 * w] = (double)frame.view.size - (double)sizeof frame.view;
        values[3 * w + 1] = 0;
        for (uint32_t i = frame.view.size; i < sizeof frame; i++)
            values[3 * w + 1] += ((const unsigned char *)&frame)[i] != PATTERN;
        values[3 * w + 2] = cells.start[cells.cells];
    }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(framed, more, "0", 0, BEHIND, "", "bytes that it says there are more"),
    PLUGMC_FLAG_KEY(framed, unset, "no", "it forgets to say how many there are"),
};

PLUGMC_PLUGIN(.name = "framed", .summary = "what is written around a view that it asks for",
              .reference = "", PLUGMC_KEYS(framed, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure))

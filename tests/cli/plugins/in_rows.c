/* in_rows: an observable that archives rows of walkers and of cells in pieces, and reads them in others. */
#include <plugmc/everything.h>

enum { CELLS = 10 };
enum { NOTHING, MISSING, BEYOND };

typedef struct in_rows {
    int32_t lie;
    int64_t sums[CELLS][2]; /* of sweeps that were measured */
    int64_t calls;
} in_rows;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index ? 0 : plugmc_scalar(out, "sum", "", "of sweeps, in the last cell");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    in_rows *r = instance;
    for (int c = 0; c < CELLS; c++) r->sums[c][0] += (int64_t)view->sweep * c, r->sums[c][1]++;
    for (int32_t w = 0; w < host->system->walkers; w++) values[w] = (double)r->sums[CELLS - 1][0];
    r->calls++;
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    in_rows *r = instance;
    const size_t row = sizeof r->sums[0];
    const int64_t piece = a->reading ? 3 : 4;
    int code = PLUGMC_OK;
    for (int64_t first = 0; first < CELLS && !code; first += piece) {
        int64_t n = first + piece > CELLS ? CELLS - first : piece;
        if (r->lie == MISSING && first == 4) continue;
        if (r->lie == BEYOND && first == 8) n++;
        code = a->rows(a, "sums", r->sums[first], row, first, n, CELLS);
    }
    for (int32_t w = host->system->walkers - 1; w >= 0 && !code; w--) {
        int64_t here = 100 * w + r->calls;
        code = plugmc_archive_walker(a, "calls", w, &here, sizeof here);
        if (a->reading) r->calls = here - 100 * w;
    }
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(in_rows, lie, "nothing", "nothing|missing|beyond", "what is wrong"),
};

PLUGMC_PLUGIN(.name = "in_rows", .summary = "archives rows", .reference = "",
              PLUGMC_KEYS(in_rows, table), .archive = archive,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure))

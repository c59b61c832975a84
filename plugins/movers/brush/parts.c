/* parts.c: one system over the GPUs of several processes: what shares.cu needs on the host. */
#include "sequential.h"

enum { MOST_PARTS = 32, ALIGNED = 256 };

/* Mirror brush_news and brush_mail of state.h. */
typedef struct news {
    uint64_t decided, failed;
    int64_t energy;
} news;
typedef struct mail {
    uint64_t turn, failed;
} mail;

/* What each part has in memory that the others write into, one after the other; all but the first two are used in that
 * of part 0 alone. */
enum { PLACES, NEWS, MAIL, MAIL_SUM, MAIL_HIT, ARRAYS };

/* Where each array begins [ARRAYS + 1]. */
static void divide(const sequential *me, size_t begin[ARRAYS + 1])
{
    const size_t parts = (size_t)me->spread->parts, padded = (size_t)me->d.padded;
    const size_t bytes[ARRAYS] = {[PLACES] = padded * 4 * me->real_size,
                                  [NEWS] = sizeof(news),
                                  [MAIL] = parts * (size_t)me->d.panels * sizeof(mail),
                                  [MAIL_SUM] = parts * padded * sizeof(int64_t),
                                  [MAIL_HIT] = parts * padded * sizeof(int32_t)};
    begin[0] = 0;
    for (int k = 0; k < ARRAYS; k++)
        begin[k + 1] = begin[k] + (bytes[k] + ALIGNED - 1) / ALIGNED * ALIGNED;
}

void parts_find(sequential *me, const plugmc_host *host)
{
    me->spread = plugmc_decomposition_of(host);
}

int parts_check(sequential *me, const plugmc_host *host)
{
    parts_find(me, host);
    if (!me->spread || host->gpu) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "it can divide a system only among GPUs, but this run is on the CPU: "
                      "use [run] device = gpu, or at most as many processes as walkers");
}

/* Each part has a task of every panel at least, by which the decider knows that it is there. */
static int check_number(const sequential *me, const plugmc_host *host)
{
    const int tasks = me->d.intervals + 2, most = tasks < MOST_PARTS ? tasks : MOST_PARTS;
    if (me->spread->parts <= most) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%lld particles cannot be divided among %d processes: start %d at most",
                      (long long)me->system->particles, me->spread->parts, most);
}

/* [parts], of an array that each has, as addresses in device memory. */
static int upload_addresses(const sequential *me, const plugmc_host *host,
                            const plugmc_device_pointer *of_parts, size_t begin,
                            plugmc_device_pointer *out)
{
    plugmc_device_pointer addresses[MOST_PARTS];
    const size_t bytes = (size_t)me->spread->parts * sizeof *addresses;
    for (int32_t part = 0; part < me->spread->parts; part++)
        addresses[part] = of_parts[part] + begin;
    TRY(host->gpu->allocate(host->context, bytes, out));
    return host->gpu->upload(host->context, *out, addresses, bytes);
}

int parts_prepare(sequential *me, const plugmc_host *host)
{
    device_state *d = &me->d;
    plugmc_device_pointer of_parts[MOST_PARTS];
    size_t begin[ARRAYS + 1];
    if (!me->spread) return PLUGMC_OK;
    TRY(check_number(me, host));
    if (!PLUGMC_HAS(me->spread, memory))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "this program cannot share memory among GPUs");
    divide(me, begin);
    TRY(me->spread->memory(host->context, PLUGMC_OK, begin[ARRAYS], of_parts, &d->parts.lost));
    d->part = me->spread->part;
    d->place = of_parts[d->part] + begin[PLACES];
    d->parts.mail = of_parts[0] + begin[MAIL];
    d->parts.mail_sum = of_parts[0] + begin[MAIL_SUM];
    d->parts.mail_hit = of_parts[0] + begin[MAIL_HIT];
    TRY(upload_addresses(me, host, of_parts, begin[PLACES], &d->parts.places));
    TRY(upload_addresses(me, host, of_parts, begin[NEWS], &d->parts.news));
    TRY(host->gpu->allocate(host->context, sizeof(uint64_t), &d->parts.turn));
    return host->gpu->allocate(host->context, sizeof(int32_t), &d->parts.gone);
}

/* ---- A fresh energy ------------------------------------------------------------------------------ */

static int64_t row(const sequential *me, int64_t block)
{
    const int64_t n = me->system->particles, first = block * ENERGY_BLOCK;
    return first < n ? first : n;
}

energy_share share_of_energy(const sequential *me, int part)
{
    const int64_t blocks = (me->system->particles + ENERGY_BLOCK - 1) / ENERGY_BLOCK,
                  pairs = (blocks + 1) / 2, parts = me->spread ? me->spread->parts : 1,
                  first = pairs * part / parts, end = pairs * (part + 1) / parts;
    return (energy_share){(int32_t)first,
                          (int32_t)(end - first),
                          {row(me, first), row(me, blocks - end)},
                          {row(me, end), row(me, blocks - first)}};
}

int join_rows(const sequential *me, const plugmc_host *host, int code, double *rows)
{
    const energy_share own = share_of_energy(me, me->spread->part);
    plugmc_message parcels[2 * MOST_PARTS];
    int n = 0;
    for (int32_t part = 0; part < me->spread->parts && !code; part++) {
        const energy_share of = share_of_energy(me, part);
        for (int k = 0; k < 2 && part != me->spread->part; k++)
            parcels[n++] =
                (plugmc_message){.size = sizeof *parcels,
                                 .part = part,
                                 .send = rows + own.begin[k],
                                 .receive = rows + of.begin[k],
                                 .send_bytes = (size_t)(own.end[k] - own.begin[k]) * sizeof *rows,
                                 .receive_bytes = (size_t)(of.end[k] - of.begin[k]) * sizeof *rows};
    }
    return me->spread->deliver(host->context, code, 0, parcels, n);
}

/* ---- Codes --------------------------------------------------------------------------------------- */

int parts_agree(const sequential *me, const plugmc_host *host, int code)
{
    int64_t nothing = 0;
    return me->spread ? me->spread->largest(host->context, code, &nothing, 1) : code;
}

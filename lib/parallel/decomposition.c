#include "parallel/decomposition.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/links.h"
#include "base/context.h"
#include "base/stop.h"
#include "decomposition_calls.h"
#include "parallel/team.h"

/* ---- How GPUs reach each other --------------------------------------------------------------------- */

static char way[1024]; /* in words */
static bool by_mail;

/* Whether a number is the same in all processes. */
static int is_same(int64_t own, bool *same)
{
    int64_t largest[2] = {own, -own};
    const int code = team_largest(0, largest, 2);
    *same = largest[0] == -largest[1];
    return code;
}

/* Two processes on one GPU are not what NCCL is for, nor kernels that wait for each other. */
int spread_own_gpus(const gpu *g, bool *own, char *why)
{
    const size_t ranks = (size_t)team_now()->ranks;
    unsigned char here[16], (*all)[16] = checked(calloc(ranks, sizeof *all));
    links_identity(g, here);
    const int code = team_share(0, here, sizeof here, all, ranks * sizeof *all);
    *own = true;
    for (size_t a = 0; a < ranks && !code; a++)
        for (size_t b = 0; b < a; b++) *own &= memcmp(all[a], all[b], sizeof here) != 0;
    if (!*own) strcpy(why, "processes share a GPU");
    free(all);
    return code;
}

/* Whether all have come so far; why: of the one that has not, as far as it is known here. */
static int all_have(bool *done, char why[512])
{
    int64_t lost = !*done;
    const int code = team_largest(0, &lost, 1);
    if (*done && lost) strcpy(why, "another process cannot use NCCL");
    *done = !lost;
    return code;
}

/* *joined: NCCL brings what is in GPUs from one to the other. Else each way that is begun is given up by all. */
static int join(gpu *g, bool *joined, char why[512])
{
    char id[LINKS_ID] = "";
    bool own = false;
    int code = spread_own_gpus(g, &own, why);
    *joined = own && links_open(g, why);
    if (!code) code = all_have(joined, why);
    if (code || !*joined) return code;
    if (team_leads()) *joined = links_id(g, id, why);
    if (!code) code = all_have(joined, why);
    if (!code && *joined) code = team_spread(0, id, sizeof id);
    if (code || !*joined) return code;
    *joined = links_join(g, id, team_now()->rank, team_now()->ranks, why);
    return all_have(joined, why);
}

/* A way by which parcels of device memory are delivered. */
typedef int deliver_function(plugmc_context *, int own, const plugmc_message *, int32_t n);
static deliver_function deliver_by_links;

/* Like borders of a box: SAMPLE bytes for the parts before and behind, and as many from there. The best of some
 * times, of the process that waits longest. */
static int time_way(gpu *g, report *r, deliver_function *deliver, int64_t *nanoseconds)
{
    enum { SAMPLE = 1 << 22, FIRST = 2, TRIES = 7 }; /* connections are made by the first ones */
    const team *t = team_now();
    const plugmc_gpu *gpu = gpu_services(g);
    static plugmc_context context; /* the GPU remembers whom it worked for last */
    plugmc_device_pointer memory;
    context = (plugmc_context){.report = r, .gpu = g, .section = "run"};
    int code = gpu->allocate(&context, 4 * (size_t)SAMPLE, &memory);
    char *at = (char *)(uintptr_t)memory; /* on the device */
    plugmc_message parcels[] = {{.part = (t->part + 1) % t->parts, .send = at},
                                {.part = (t->part + t->parts - 1) % t->parts, .send = at + SAMPLE}};
    for (int k = 0; k < 2; k++) {
        parcels[k].size = sizeof parcels[k];
        parcels[k].send_bytes = parcels[k].receive_bytes = SAMPLE;
        parcels[k].receive = at + (2 + k) * SAMPLE;
    }
    double best = 1e9;
    for (int k = 0; k < FIRST + TRIES; k++) {
        const double begin = stop_clock();
        code = deliver(&context, code, parcels, 2);
        if (!code) code = gpu->synchronize(&context);
        if (code) break;
        if (k >= FIRST && stop_clock() - begin < best) best = stop_clock() - begin;
    }
    if (!code) code = gpu->release(&context, memory);
    *nanoseconds = (int64_t)(1e9 * best);
    return team_largest(spread_for_all(&context, code), nanoseconds, 1);
}

/* The faster of two: *links, whether it is NCCL. */
static int choose_way(gpu *g, report *r, bool *links)
{
    int64_t by[2];
    char words[64];
    int code = time_way(g, r, deliver_by_links, &by[0]);
    if (!code) code = time_way(g, r, spread_by_mail, &by[1]);
    if (code) return code;
    *links = by[0] <= by[1];
    links_words(g, words);
    snprintf(way, sizeof way,
             *links ? "%s (4 MiB each way take %.0f us, memory of the other GPU %.0f us)"
                    : "memory of the other GPU (%s takes %.0f us for 4 MiB each way, this %.0f us)",
             words, 1e-3 * (double)by[0], 1e-3 * (double)by[1]);
    return 0;
}

/* In words: the only one, and why the others are not there. */
static void say_way(const gpu *g, bool joined, const char *no_links, const char *no_mail)
{
    char words[64];
    if (joined)
        snprintf(way, sizeof way, "%s", links_words(g, words));
    else if (by_mail)
        snprintf(way, sizeof way, "memory of the other GPU (NCCL is not used: %s)", no_links);
    else
        snprintf(
            way, sizeof way,
            "the host's memory and MPI (NCCL is not used: %s; nor is memory of the other GPU: %s)",
            no_links, no_mail);
}

int spread_begin(gpu *g, report *r)
{
    char no_links[512] = "", no_mail[512] = "";
    bool same = false, joined = false;
    if (team_now()->parts == 1 || !team_has_met()) return 0;
    int code = is_same(g != NULL, &same);
    if (!code && !same)
        return report_error(r, EXIT_DEVICE, NULL, 0,
                            "some processes have a GPU and others none: domain decomposition "
                            "needs [run] device = cpu, or = gpu");
    if (code || !g) return code;
    if (team_is_guest()) /* kernels may wait for ever where a process fails, and none may be ended */
        return report_error(r, EXIT_INPUT, NULL, 0,
                            "domain decomposition over the GPUs of several processes is "
                            "possible only in plugmc run, not in a host program: use [run] "
                            "device = cpu, or more walkers");
    code = join(g, &joined, no_links);
    if (joined) links_when_broken(g, team_fall);
    if (!code) code = spread_mail_opens(g, r, &by_mail, no_mail);
    if (!code && joined && by_mail)
        code = choose_way(g, r, &joined);
    else if (!code)
        say_way(g, joined, no_links, no_mail);
    if (joined) {
        by_mail = false;
    } else {
        links_close(g);
        links_when_broken(g, NULL);
    }
    return code;
}

const char *spread_way(void) { return way; }

/* ---- For plugins ----------------------------------------------------------------------------------- */

int spread_for_all(plugmc_context *context, int code)
{
    return code == PLUGMC_STOPPED ? TEAM_GAVE_UP
           : code                 ? context_exit_code(context, code, "sweeping")
                                  : 0;
}

int spread_for_plugin(plugmc_context *context, int own, int code)
{
    if (code)
        context_failed(
            context); /* it has been said, or there is nothing to say: the run has to end */
    if (code == TEAM_GAVE_UP) {
        stop_give_up();
        return PLUGMC_STOPPED;
    }
    return own && own != PLUGMC_STOPPED ? own : code ? PLUGMC_ERROR_STATE : PLUGMC_OK;
}

const plugmc_message *spread_parcel_at(const plugmc_message *parcels, int32_t k)
{
    return (const plugmc_message *)((const char *)parcels + (size_t)k * parcels->size);
}

int32_t spread_rank_of(int32_t part)
{
    const team *t = team_now();
    return t->rank - t->part + part;
}

static int deliver_on_host(int code, const plugmc_message *parcels, int32_t n)
{
    mpi_parcel *of_ranks = checked(calloc((size_t)n + 1, sizeof *of_ranks));
    for (int32_t k = 0; k < n; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        of_ranks[k] = (mpi_parcel){.rank = spread_rank_of(p->part),
                                   .send = p->send,
                                   .receive = p->receive,
                                   .send_bytes = p->send_bytes,
                                   .receive_bytes = p->receive_bytes};
    }
    code = team_deliver(code, of_ranks, n);
    free(of_ranks);
    return code;
}

/* All that is sent into its place in pinned memory, or all that is received out of it, where what is for one rank
 * lies together. */
static int bring(plugmc_context *context, const mpi_parcel *of_ranks, const plugmc_message *parcels,
                 int32_t n, bool to_device)
{
    size_t *filled = checked(calloc((size_t)team_now()->parts, sizeof *filled));
    int code = PLUGMC_OK;
    for (int32_t k = 0; k < n && !code; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        const mpi_parcel *of = &of_ranks[p->part];
        const void *there = to_device ? p->receive : p->send;
        char *here = (to_device ? (char *)of->receive : (char *)of->send) + filled[p->part];
        const size_t bytes = to_device ? p->receive_bytes : p->send_bytes;
        code = gpu_bring(context, (plugmc_device_pointer)(uintptr_t)there, here, bytes, to_device);
        filled[p->part] += bytes;
    }
    free(filled);
    return code;
}

/* By way of pinned memory. It is filled again only when the stream has come to what was sent next, so uploads have
 * ended by then. */
static int deliver_by_host(plugmc_context *context, int own, const plugmc_message *parcels,
                           int32_t n)
{
    const int32_t parts = team_now()->parts;
    const plugmc_gpu *gpu = gpu_services(context->gpu);
    mpi_parcel *of_ranks = checked(calloc((size_t)parts, sizeof *of_ranks));
    size_t bytes = 0;
    for (int32_t k = 0; k < n; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        of_ranks[p->part].send_bytes += p->send_bytes;
        of_ranks[p->part].receive_bytes += p->receive_bytes;
        bytes += p->send_bytes + p->receive_bytes;
    }
    char *memory = own ? NULL : gpu_pinned(context, bytes);
    if (!own && !memory) own = PLUGMC_ERROR_MEMORY;
    for (int32_t part = 0; part < parts && memory; part++) {
        of_ranks[part].rank = spread_rank_of(part);
        of_ranks[part].send = memory;
        of_ranks[part].receive = memory + of_ranks[part].send_bytes;
        memory += of_ranks[part].send_bytes + of_ranks[part].receive_bytes;
    }
    if (!own) own = bring(context, of_ranks, parcels, n, false);
    if (!own) own = gpu->synchronize(context);
    const int code = team_deliver(spread_for_all(context, own), of_ranks, parts);
    if (!code) own = bring(context, of_ranks, parcels, n, true);
    free(of_ranks);
    return code ? spread_for_plugin(context, own, code) : own;
}

/* Agreed upon before anything is launched, so that nobody's stream waits for a process that goes no further. */
static int deliver_by_links(plugmc_context *context, int own, const plugmc_message *parcels,
                            int32_t n)
{
    const int code = team_agree(spread_for_all(context, own));
    if (code) return spread_for_plugin(context, own, code);
    links_parcel *of_ranks = checked(calloc((size_t)n + 1, sizeof *of_ranks));
    for (int32_t k = 0; k < n; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        of_ranks[k] = (links_parcel){spread_rank_of(p->part), p->send, p->receive, p->send_bytes,
                                     p->receive_bytes};
    }
    own = links_deliver(context, of_ranks, n);
    free(of_ranks);
    return own;
}

static int deliver(plugmc_context *context, int code, int32_t on_device,
                   const plugmc_message *parcels, int32_t n)
{
    if (on_device)
        return (links_are_there(context->gpu) ? deliver_by_links
                : by_mail                     ? spread_by_mail
                                              : deliver_by_host)(context, code, parcels, n);
    return spread_for_plugin(context, code,
                             deliver_on_host(spread_for_all(context, code), parcels, n));
}

static int largest(plugmc_context *context, int code, int64_t *values, int32_t n)
{
    return spread_for_plugin(context, code, team_largest(spread_for_all(context, code), values, n));
}

const plugmc_decomposition *spread_services(void)
{
    static plugmc_decomposition services = {
        .size = sizeof services, .deliver = deliver, .largest = largest, .memory = spread_memory};
    services.part = team_now()->part;
    services.parts = team_now()->parts;
    return services.parts > 1 ? &services : NULL;
}

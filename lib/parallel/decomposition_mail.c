/* Parcels from GPU to GPU, among processes of one machine (gpu/mail.c). Each puts what it sends into its mailbox and
 * waits for its stream; then all agree, and letters tell where it is. What has been copied out of a half of a mailbox is
 * so by the time that its reader agrees the next time, and the half is written again only after that. */
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "base/context.h"
#include "decomposition_calls.h"
#include "parallel/team.h"

/* ---- Whether it is possible --------------------------------------------------------------------- */

bool spread_is_near(char *why)
{
    const char *wanted = getenv("PLUGMC_PEER_MEMORY");
    const bool apart = team_now()->local_ranks < team_now()->ranks,
               unwanted = wanted && !strcmp(wanted, "off");
    if (apart)
        strcpy(why, "there are several machines");
    else if (unwanted)
        strcpy(why, "PLUGMC_PEER_MEMORY = off");
    return !apart && !unwanted;
}

int spread_mail_opens(gpu *g, report *r, bool *all, char why[512])
{
    const team *t = team_now();
    gpu_letter mine = {0}, *letters = checked(calloc((size_t)t->ranks, sizeof *letters));
    int64_t lost = 1;
    *all = false;
    strcpy(why, "another process cannot open it");
    if (spread_is_near(why)) lost = !gpu_mail_is_possible(g, why);
    int code = !lost && gpu_mail_begin(g, 0, &mine) ? r->code : 0;
    code = team_largest(code, &lost, 1);
    code = team_share(code, &mine, sizeof mine, letters, (size_t)t->ranks * sizeof *letters);
    for (int32_t part = 0; part < t->parts && !code && !lost; part++)
        if (part != t->part) lost = !gpu_mail_open(g, part, &letters[spread_rank_of(part)], why);
    free(letters);
    code = team_largest(code, &lost, 1);
    *all = !code && !lost;
    return code;
}

/* ---- Letters -------------------------------------------------------------------------------------- */

/* What goes to a part and comes from there. */
typedef struct of_part {
    size_t send_bytes, receive_bytes, filled;
    gpu_letter sent, received;
} of_part;

static size_t add_up(of_part *parts, const plugmc_message *parcels, int32_t n)
{
    size_t bytes = 0;
    for (int32_t k = 0; k < n; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        parts[p->part].send_bytes += p->send_bytes;
        parts[p->part].receive_bytes += p->receive_bytes;
        bytes += p->send_bytes;
    }
    return bytes;
}

/* Into the mailbox, for one part after the other. */
static int put_all(plugmc_context *context, of_part *parts, const plugmc_message *parcels,
                   int32_t n, size_t bytes)
{
    gpu_letter letter = {0};
    int code = gpu_mail_begin(context->gpu, bytes, &letter);
    for (int32_t part = 0; part < team_now()->parts; part++) {
        parts[part].sent = letter;
        letter.at += parts[part].send_bytes;
    }
    for (int32_t k = 0; k < n && !code; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        of_part *to = &parts[p->part];
        code = gpu_mail_put(context->gpu, to->sent.at + to->filled,
                            (plugmc_device_pointer)(uintptr_t)p->send, p->send_bytes);
        to->filled += p->send_bytes;
    }
    return code;
}

static int take_all(plugmc_context *context, of_part *parts, const plugmc_message *parcels,
                    int32_t n)
{
    char why[512];
    int code = PLUGMC_OK;
    for (int32_t part = 0; part < team_now()->parts; part++) parts[part].filled = 0;
    for (int32_t k = 0; k < n && !code; k++) {
        const plugmc_message *p = spread_parcel_at(parcels, k);
        of_part *from = &parts[p->part];
        if (!p->receive_bytes) continue;
        if (!gpu_mail_open(context->gpu, p->part, &from->received, why)) {
            context_failed(context);
            report_error(context->report, EXIT_DEVICE, NULL, 0,
                         "the memory of another GPU cannot be opened any more: %s", why);
            return PLUGMC_ERROR_DEVICE;
        }
        code = gpu_mail_take(context->gpu, p->part, from->received.at + from->filled,
                             (plugmc_device_pointer)(uintptr_t)p->receive, p->receive_bytes);
        from->filled += p->receive_bytes;
    }
    return code;
}

int spread_by_mail(plugmc_context *context, int own, const plugmc_message *parcels, int32_t n)
{
    const int32_t count = team_now()->parts;
    const plugmc_gpu *gpu = gpu_services(context->gpu);
    of_part *parts = checked(calloc((size_t)count, sizeof *parts));
    mpi_parcel *letters = checked(calloc((size_t)count, sizeof *letters));
    const size_t bytes = add_up(parts, parcels, n);
    if (!own) own = put_all(context, parts, parcels, n, bytes);
    if (!own) own = gpu->synchronize(context);
    for (int32_t part = 0; part < count; part++)
        letters[part] =
            (mpi_parcel){.rank = spread_rank_of(part),
                         .send = &parts[part].sent,
                         .receive = &parts[part].received,
                         .send_bytes = parts[part].send_bytes ? sizeof(gpu_letter) : 0,
                         .receive_bytes = parts[part].receive_bytes ? sizeof(gpu_letter) : 0};
    const int code = team_deliver(spread_for_all(context, own), letters, count);
    if (!code) own = take_all(context, parts, parcels, n);
    free(letters);
    free(parts);
    return code ? spread_for_plugin(context, own, code) : own;
}

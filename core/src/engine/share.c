#include "engine/share.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/system.h"
#include "parallel/team.h"

/* Walkers that have to be in one process: the largest of the movers' numbers, of which each divides it. */
static int32_t together(const engine *engine)
{
    int32_t most = 1;
    for (int k = 0; k < engine->mover_count; k++) {
        const plugmc_mover *mover = engine->movers[k].mover;
        if (PLUGMC_HAS(mover, together) && mover->together > most) most = mover->together;
    }
    return most;
}

/* A mover that ties walkers to each other has to know that some may be elsewhere. */
static int check_movers(const engine *engine)
{
    const bool ladder =
        engine->config.ladder.values.count || engine->config.run.temperature.count > 1;
    for (int k = 0; k < engine->mover_count; k++) {
        const instance *instance = engine->movers[k].instance;
        const plugmc_mover *mover = engine->movers[k].mover;
        const bool pairs = PLUGMC_HAS(mover, together) && mover->together > 1;
        if (!mover->couples || mover->needs & PLUGMC_GLOBAL_WALKERS || (pairs && !ladder)) continue;
        return report_error(
            engine->report, EXIT_INPUT, instance->context.file, instance->context.line,
            "mover '%s' couples walkers%s, which are distributed over %d processes: start "
            "one process",
            instance->loaded.name, pairs ? " of a ladder" : "", team_now()->ranks);
    }
    return 0;
}

static bool spreads(const plugmc_mover *mover) { return mover->needs & PLUGMC_DECOMPOSES_DOMAIN; }

/* Whether all processes of a walker can make the same sweeps of it, each for itself, beside a mover that spreads:
 * what it does follows from positions, orientations and the box of that walker, which each has when its turn comes. */
static bool can_repeat(const plugmc_mover *mover)
{
    const bool together = PLUGMC_HAS(mover, together) && mover->together > 1;
    const uint32_t known =
        PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION | PLUGMC_CHANGED_BOX;
    return !(mover->changes & ~known) && !(mover->needs & PLUGMC_GLOBAL_WALKERS) &&
           !mover->couples && !together && mover->move_count > 0;
}

/* More processes than walkers: each walker is spread over several, by movers one of which can do that. */
static int spread_walkers(const engine *engine, int32_t walkers, int32_t parts)
{
    bool spread = false;
    for (int k = 0; k < engine->mover_count; k++) spread |= spreads(engine->movers[k].mover);
    for (int k = 0; k < engine->mover_count; k++) {
        const instance *instance = engine->movers[k].instance;
        const plugmc_mover *mover = engine->movers[k].mover;
        if (spreads(mover) || (spread && can_repeat(mover))) continue;
        return report_error(
            engine->report, EXIT_INPUT, instance->context.file, instance->context.line,
            "%d processes and [run] walkers = %d: mover '%s' cannot divide a walker among %d "
            "processes: start at most %d",
            team_now()->ranks, walkers, instance->loaded.name, parts, walkers);
    }
    team_divide(parts);
    return 0;
}

int share_walkers(engine *engine)
{
    const team *t = team_now();
    const config *config = &engine->config;
    const int32_t all = engine->system.walkers, unit = together(engine), units = all / unit;
    engine->processes.all_walkers = all;
    if (t->ranks == 1) return 0;
    if (unit == 1 && units < t->ranks && t->ranks % units == 0) {
        const int code = spread_walkers(engine, all, t->ranks / units);
        if (code) return code;
    } else if (all % unit || units < t->ranks) {
        return report_error(
            engine->report, EXIT_INPUT, config->ini.path, config_line(config, "run", "walkers"),
            "[run] walkers = %d%s cannot be distributed over %d processes: each needs at "
            "least %d",
            all, unit > 1 ? ", some of which stay together," : "", t->ranks, unit);
    }
    const int32_t at = t->rank / t->parts, of = t->ranks / t->parts;
    const int64_t begin = (int64_t)units * at / of * unit,
                  end = (int64_t)units * (at + 1) / of * unit;
    engine->processes.first_walker = (int32_t)begin;
    engine->system.walkers = (int32_t)(end - begin);
    engine->system.seed.first_walker = (uint32_t)(config->run.first_walker + begin);
    return check_movers(engine);
}

/* Which processors of which machine this process may run on, as a number (FNV-1a). */
static uint64_t where(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    cpu_set_t set;
    char host[256] = "";
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    gethostname(host, sizeof host - 1);
    for (const char *c = host; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    for (int k = 0; k < CPU_SETSIZE; k++)
        if (CPU_ISSET(k, &set)) hash = (hash ^ (uint64_t)k) * 0x100000001b3u;
    return hash;
}

int share_threads(engine *engine)
{
    const int32_t ranks = team_now()->ranks;
    const uint64_t own = where();
    int32_t same = 0;
    if (ranks == 1) return 0;
    uint64_t *all = checked(calloc((size_t)ranks, sizeof *all));
    const int code = team_share(0, &own, sizeof own, all, (size_t)ranks * sizeof *all);
    for (int32_t k = 0; k < ranks; k++) same += all[k] == own;
    free(all);
    if (code || engine->config.run.threads) return code;
    const int32_t most = engine->device.offer.threads / (same > 0 ? same : 1);
    if (engine->system.threads > most) engine->system.threads = most > 0 ? most : 1;
    return 0;
}

void share_system(engine *engine)
{
    engine->processes.whole = engine->system;
    engine->processes.whole.walkers = engine->processes.all_walkers;
}

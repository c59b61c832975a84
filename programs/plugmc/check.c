/* plugmc check. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "points.h"
#include "program/beside.h"
#include "cli.h"
#include "base/crash.h"
#include "plugin/search.h"
#include "engine/device_choice.h"
#include "engine/mover_offers.h"
#include "engine/on_host.h"
#include "quantum/variational_on_device.h"
#include "engine/field_table.h"
#include "engine/kernels.h"
#include "engine/pair_table.h"
#include "engine/refusals.h"
#include "engine/reservoirs.h"
#include "engine/total_check.h"
#include "engine/watchdog.h"
#include "parallel/team.h"
#include "plugmc/description.h"
#include "initial/initial.h"

static const char check_help[] =
    "usage: plugmc check FILE.ini [--set SECTION.KEY=VALUE]... [--architecture NN]...\n"
    "                    [--processes N]\n"
    "       plugmc check FILE.ini --json [--points] [--results] [--set ...]\n"
    "\n"
    "Does everything that comes before a run: reads the input, loads plugins, checks that they fit\n"
    "together, estimates memory, prints how fast each mover would be and why others do not fit, and\n"
    "compiles the kernels (for the GPU of this machine, or for sm_NN, which needs no GPU; NN = all: 75,\n"
    "80, 90, 100 and 120). With --processes N it checks the first\n"
    "of N processes that mpirun or srun would start.\n"
    "\n"
    "--json is for programs: one line of standard output, a JSON object, contains whether the run is\n"
    "possible, its size, and the progress of its output file, if there is one. It allocates no large\n"
    "memory, compiles no kernel and needs no GPU. With --points there is one object for each line of\n"
    "standard input, such as {\"run.seed\": 1, \"box.density\": 0.3}, the values of a point. --results\n"
    "adds results from the output files; with --accept-changed-plugins finished runs count even if\n"
    "plugins have changed. docs/usage.md lists all members.\n"
    "\n";

/* Where sources are compiled for an architecture, without a GPU. */
typedef struct compiling {
    session *session;
    nvrtc *nvrtc;
    int architecture;
} compiling;

static int compile_source(void *data, const plugmc_gpu_source *source)
{
    const compiling *c = data;
    const engine *engine = &c->session->engine;
    void *cubin = NULL;
    size_t bytes = 0;
    char *fused = fuse(&engine->system, source);
    const int code =
        fused ? compile(c->nvrtc, fused, source->name, c->architecture,
                        arithmetic_of(source, engine->config.run.fast_math != 0), &cubin, &bytes,
                        engine->report)
              : report_error(engine->report, EXIT_MEMORY, NULL, 0, "no memory for a GPU source");
    free(fused);
    free(cubin);
    if (!code) printf("%-24s sm_%d: %zu bytes\n", source->name, c->architecture, bytes);
    return code;
}

/* Derivatives by the variational parameters of all potentials, for plugmc optimise. */
static int compile_derivatives(compiling *c)
{
    const plugmc_system *system = &c->session->engine.system;
    plugmc_gpu_source source;
    char *joined;
    if (!fuse_variational_sums(system, system->term_count)) return 0;
    const int code = variational_device_text(&source, &joined)
                         ? report_error(c->session->engine.report, EXIT_MEMORY, NULL, 0,
                                        "no memory for a GPU source")
                         : compile_source(c, &source);
    free(joined);
    return code;
}

/* Compiles every GPU source of the run for one architecture. */
static int compile_all(session *session, nvrtc *nvrtc, int architecture)
{
    compiling c = {session, nvrtc, architecture};
    const int code = gpu_sources(&session->engine, compile_source, &c);
    return code ? code : compile_derivatives(&c);
}

/* ---- Movers ------------------------------------------------------------------------------------ */

/* Sweeps and trial moves a second. */
static void put_speed(double seconds, double trials)
{
    if (isfinite(seconds))
        printf("  %10.2g %10.2g", 1 / (seconds * trials), 1 / seconds);
    else
        printf("  %10s %10s", "-", "-");
}

/* The mover whose place another one could take: the first one that displaces; NULL: none does. */
static const mover_slot *replaceable(const engine *engine)
{
    for (int k = 0; k < engine->mover_count; k++)
        if (displaces(engine->movers[k].mover)) return &engine->movers[k];
    return NULL;
}

/* What each mover that displaces particles would give. */
static void print_movers(const engine *engine)
{
    const mover_slot *own = replaceable(engine);
    mover_offers offers = offers_of_movers(engine, own, engine->system.threads, NULL);
    int width = 0;
    for (int i = 0; i < offers.count; i++)
        if ((int)strlen(offers.all[i].name) > width) width = (int)strlen(offers.all[i].name);
    printf(
        "movers that displace particles, as fast as they say (formulas, good to a factor of two; -: unknown "
        "or not there; *: of this run)\n");
    printf("  %*s  %21s  %21s\n", width, "",
           engine->system.threads == 1 ? "CPU, 1 thread" : "CPU, all threads", "GPU");
    printf("  %*s  %10s %10s  %10s %10s\n", width, "", "sweeps/s", "trials/s", "sweeps/s",
           "trials/s");
    for (int i = 0; i < offers.count; i++) {
        const mover_offer *o = &offers.all[i];
        if (*o->why_not) continue;
        printf("%s %-*s", own && !strcmp(own->instance->loaded.name, o->name) ? "*" : " ", width,
               o->name);
        put_speed(o->on_cpu, o->trials);
        put_speed(o->on_gpu, o->trials);
        puts("");
    }
    puts("movers that do not fit");
    for (int i = 0; i < offers.count; i++)
        if (*offers.all[i].why_not)
            printf("  %-*s  %s\n", width, offers.all[i].name, offers.all[i].why_not);
    mover_offers_free(&offers);
}

/* What a run on a GPU leaves to the host. */
static void print_on_host(const engine *engine)
{
    char words[ON_HOST_WORDS];
    for (int k = 0; k < engine->mover_count; k++)
        if (made_on_host(engine, k, words))
            printf("[%s] %s\n", engine->movers[k].instance->section->section->name, words);
}

/* Totals are tried in the initial state, which a check makes for that where it is no work. A random one may be. */
static int try_totals(session *session)
{
    const int64_t most = session->engine.config.initial.state == INITIAL_RANDOM ? 2000 : 100000;
    const bool easy = session->engine.system.particles * session->engine.system.walkers <= most;
    return easy && totals_are_checked(&session->engine) ? initial_begin(&session->engine) : 0;
}

/* What plugins have found in their files and made of it. */
static void describe_instances(session *session)
{
    for (int i = 0; i < session->engine.instance_count; i++) {
        instance *one = &session->engine.instances[i];
        const plugmc_description *d = plugmc_offered(one->plugin, PLUGMC_DESCRIPTION);
        char line[1024];
        enum { MOST_LINES = 10000 };
        for (int k = 0; d && k < MOST_LINES; k++) {
            context_calling(&one->context, "line");
            const int more = d->line(one->data, k, line, sizeof line);
            crash_called();
            if (!more) break;
            line[sizeof line - 1] = 0;
            printf("[%s] %s\n", one->section->section->name, line);
        }
    }
}

/* What a check tries is little beside what `plugmc validate` compares. */
static void print_own_plugins(const engine *engine)
{
    for (int i = 0; i < engine->instance_count; i++) {
        const instance *one = &engine->instances[i];
        if (!plugin_is_own(one->loaded.path))
            printf(
                "[%s] is no plugin of this installation (%s) and is not validated here: see plugmc validate\n",
                one->section->section->name, one->loaded.path);
    }
}

int command_check(int argc, char **argv)
{
    arguments a = {0};
    int code = run_parse(argc, argv, true, &a);
    if (code) return code;
    if (a.help) {
        printf("%s%s", check_help, exit_code_help);
        return EXIT_DONE;
    }
    code = beside_check_alone("check");
    if (code) return code;
    signal(SIGPIPE, SIG_IGN); /* output that cannot be written is an error with a code of its own */
    if (a.json) return points_check(&a);
    report report = {0};
    session session = {.engine.report = &report};
    if (watchdog_begin())
        return report_error(&report, EXIT_MEMORY, NULL, 0, "no thread to watch over the plugins");
    if (a.processes) team_imagine(0, a.processes);
    code = starting_read(&session, &a.asked, &(output_data){0});
    if (!code) code = starting_probe(&session, session.engine.config.run.output, "[run] output");
    if (!code && a.architecture_count) {
        char why[512];
        nvrtc *nvrtc = nvrtc_open(why);
        if (!nvrtc)
            code = report_error(&report, EXIT_DEVICE, NULL, 0, "cannot compile kernels: %s", why);
        for (int i = 0; i < a.architecture_count && !code; i++)
            code = compile_all(&session, nvrtc, a.architectures[i]);
    }
    if (!code && session.engine.device.choice) printf("%s\n", session.engine.device.choice);
    if (!code) code = starting_prepare(&session);
    if (!code) code = try_totals(&session);
    if (!code) {
        double positions =
            24.0 * (double)session.engine.system.walkers * (double)session.engine.system.particles;
        const bool some = session.engine.system.changes & PLUGMC_CHANGED_COUNT;
        if (a.processes > 1) printf("the first of %d processes: ", a.processes);
        if (team_now()->parts > 1) printf("a share of ");
        printf("%d walker%s of %s%lld particles; ", session.engine.system.walkers,
               session.engine.system.walkers == 1 ? "" : "s", some ? "up to " : "",
               (long long)session.engine.system.particles);
        printf("positions take %.3g MiB\n", positions / 1048576);
        char gain[160];
        if (session.engine.device.gpu) gpu_describe(stdout, session.engine.device.gpu);
        if (*gain_words(&session.engine, gain)) printf("%s\n", gain + strlen("; "));
        if (!session.engine.device.gpu)
            printf("runs on the CPU (%s)\n", session.engine.device.why_no_gpu);
        print_on_host(&session.engine);
        print_movers(&session.engine);
        pair_table_write(stdout, &session.engine, "");
        field_table_write(stdout, &session.engine, "");
        reservoirs_write(stdout, &session.engine, "");
        describe_instances(&session);
        print_own_plugins(&session.engine);
        printf("%s: ready to run\n", a.asked.file);
    }
    session_close(&session);
    watchdog_end();
    return code;
}

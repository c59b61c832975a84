/* plugmc rehearse, read and write: what the program starts as its children. See rehearsal.h
 * and archive/store_apart.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "base/child.h"
#include "archive/draft.h"
#include "archive/rehearsal_child.h"
#include "archive/store_apart.h"
#include "plugin/loader.h"
#include "plugin/movers_there.h"
#include "engine/apart.h"
#include "engine/services.h"

/* ---- Limits --------------------------------------------------------------------------------- */

#ifdef PLUGMC_SANITIZED
enum { LIMITS_MEMORY = 0 }; /* they map more than any limit */
#else
enum { LIMITS_MEMORY = 1 };
#endif

/* Lowers a limit; false if a lower one was there already. */
static bool lower(int resource, rlim_t to)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_cur < to) return false;
    limit.rlim_cur = to;
    if (limit.rlim_max < to) limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

/* Of the processor and of the clock. */
static void limit_seconds(int64_t cpu, int64_t all)
{
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_CPU, (rlim_t)cpu);
    alarm((unsigned)all);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Far more than any sound file needs. True if memory is what the file is worth, and not what little
 * the user's own limits leave. */
static bool limit_to(int64_t bytes)
{
    struct rlimit address = {RLIM_INFINITY, RLIM_INFINITY};
    const rlim_t memory = (rlim_t)(((int64_t)1 << 30) + 8 * bytes);
    limit_seconds(5 + bytes / 5000000, 60 + bytes / 1000000); /* a slow disk, and no more */
    getrlimit(RLIMIT_AS, &address);
    return LIMITS_MEMORY && lower(RLIMIT_DATA, memory) && address.rlim_cur == RLIM_INFINITY;
}

/* ---- A plugin's file ------------------------------------------------------------------------ */

typedef struct words {
    const char *path;
    char *reason;
} words;

/* What the plugin says; the name of the file, with which it begins, is added by the parent. */
static int say(plugmc_context *context, int code, const char *format, ...)
{
    const words *w = (const words *)(void *)context;
    char sentence[REHEARSAL_REASON];
    const size_t n = strlen(w->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    bool named = !strncmp(sentence, w->path, n) && !strncmp(sentence + n, ": ", 2);
    if (!w->reason[0]) snprintf(w->reason, REHEARSAL_REASON, "%s", sentence + (named ? n + 2 : 0));
    return code;
}

static void keep_warning(plugmc_context *context, const char *format, ...)
{
    (void)context, (void)format; /* the parent will be warned in its turn */
}

static void *take(plugmc_context *context, size_t bytes)
{
    (void)context;
    return calloc(bytes ? bytes : 1, 1); /* until the process ends */
}

static int rehearse_plugin(const char *path, const char *plugin, char reason[REHEARSAL_REASON])
{
    loaded opened;
    words w = {path, reason};
    const plugmc_host host = {.size = sizeof host,
                              .abi_major = PLUGMC_ABI_MAJOR,
                              .abi_minor = PLUGMC_ABI_MINOR,
                              .context = (plugmc_context *)(void *)&w,
                              .fail = say,
                              .warn = keep_warning,
                              .allocate = take};
    if (!plugin_open(plugin, 0, &opened, reason, REHEARSAL_REASON)) return EXIT_PLUGIN;
    reason[0] = 0;
    if (!PLUGMC_HAS(opened.plugin, rehearse) || !opened.plugin->rehearse) {
        snprintf(reason, REHEARSAL_REASON, "plugin '%s' has no function that rehearses reading it",
                 opened.plugin->name);
        return EXIT_INTERNAL;
    }
    int code = opened.plugin->rehearse(&host, path);
    return code == PLUGMC_OK ? EXIT_DONE : code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : EXIT_INPUT;
}

/* ---- A plugin that is loaded ---------------------------------------------------------------- */

/* Whatever is wrong with it, the parent will find; a byte says that this process has lived to the end,
 * which code that is loaded may end with 0. */
static int rehearse_loading(const char *path, int out)
{
    char why[1024];
    loaded plugin;
    if (plugin_open(path, 0, &plugin, why, sizeof why)) {
        plugin_read_texts(plugin.plugin);
        plugin_unload(&plugin);
    }
    return write(out, "", 1) == 1 ? EXIT_DONE : EXIT_INTERNAL;
}

/* ---- All plugins of a run ------------------------------------------------------------------- */

/* The socket goes where no plugin looks for it. What libraries do as the program ends is part of it. */
static int rehearse_plugins(void)
{
    const int socket = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1),
              nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (socket < 0 || nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0) _exit(EXIT_INTERNAL);
    close(nowhere);
    lower(RLIMIT_CORE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    store_guard_hdf5();
    exit(apart_serve(socket));
}

/* ---- The command ---------------------------------------------------------------------------- */

static int rehearse_kind(const char *kind, const char *path, const char *detail, int out,
                         char reason[REHEARSAL_REASON])
{
    if (!strcmp(kind, "load")) return rehearse_loading(path, out);
    if (!strcmp(kind, "movers")) return movers_there_serve(out);
    if (!strcmp(kind, "checkpoint")) return rehearse_checkpoint(path, reason);
    if (!strcmp(kind, "positions")) return rehearse_positions(path, detail, out, reason);
    if (!strcmp(kind, "plugin")) return rehearse_plugin(path, detail, reason);
    snprintf(reason, REHEARSAL_REASON, "nothing is known of files of the kind '%s'", kind);
    return EXIT_INTERNAL;
}

/* OpenBLAS, with which plugins may be linked, starts a thread for each processor as it is loaded,
 * with 139 MB of memory each: on a host of many processors that is all that limit_to leaves. */
static void one_thread(void) { setenv("OPENBLAS_NUM_THREADS", "1", 1); }

/* Another descriptor in place of the standard output, into which code of others may print. */
static int hide_output(void)
{
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1),
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) _exit(EXIT_INTERNAL);
    return out;
}

int command_rehearse(int argc, char **argv)
{
    char reason[REHEARSAL_REASON] = "";
    struct stat info = {0};
    if (argc != 3) return EXIT_USAGE;
    const char *kind = argv[0], *path = argv[1];
    if (!strcmp(kind, "plugins")) return rehearse_plugins();
    child_program = NULL;
    const bool loads =
        !strcmp(kind, "load") ||
        !strcmp(kind, "movers"); /* libraries of plugins may take memory as they start */
    int64_t bytes = stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
    int out = hide_output();
    if (!loads) one_thread();
    bool generous = !loads && limit_to(bytes);
    if (loads) limit_seconds(10, 60);
    if (!loads) store_guard_hdf5();
    int code = rehearse_kind(kind, path, argv[2], out, reason);
    if (loads && !code)
        exit(
            code); /* as the parent will: memory that a damaged plugin has overwritten shows here */
    if (code == EXIT_MEMORY && generous) {
        code = strcmp(kind, "checkpoint") ? EXIT_INPUT : EXIT_CHECKPOINT;
        snprintf(reason, sizeof reason,
                 "it asks for more memory than a file of %lld bytes should need: it is damaged",
                 (long long)bytes);
    }
    /* no leave-taking of libraries: HDF5 may hold what it could not read */
    if (code && write(out, reason, strlen(reason)) < 0) _exit(EXIT_INTERNAL);
    _exit(code);
}

int command_write(int argc, char **argv)
{
    enum { FILE_TO_WRITE = 3, FILE_THAT_GROWS = 4 };
    struct stat info;
    if (argc != 1 || fstat(FILE_TO_WRITE, &info) || !S_ISREG(info.st_mode)) return EXIT_USAGE;
    child_program = NULL;
    lower(RLIMIT_CORE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(
        draft_serve(STDIN_FILENO, FILE_TO_WRITE, strcmp(argv[0], "grown") ? -1 : FILE_THAT_GROWS));
}

int command_read(int argc, char **argv)
{
    struct stat info = {0};
    if (argc != 1) return EXIT_USAGE;
    child_program = NULL;
    limit_to(stat(argv[0], &info) == 0 ? (int64_t)info.st_size : 0);
    _exit(store_serve_reader(STDIN_FILENO, argv[0]));
}

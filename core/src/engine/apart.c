/* Starting the child that tries plugins, and listening to it. See apart.h. */
#include "engine/apart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/crash.h"
#include "base/rehearsal.h"
#include "parallel/team.h"

/* Processor time for a plugin to be loaded: in the first attempt little, since nothing is decided by that. */
enum { FIRST_SECONDS = 2, MOST_SECONDS = 10 };
/* Of the clock without news, for one that waits instead of computing; in `configure` it may wait for a slow disk. */
enum { SILENCE = 120, LONGEST = 500 };

/* A file that was good, as rehearsal.h has it. */
typedef struct good_file {
    char *path, *reader; /* reader "": a plugin itself */
} good_file;

/* What was heard. */
typedef struct heard {
    const engine *engine;
    char line[4200];
    size_t length;
    int stage, section; /* APART_LOADS, _CONFIGURES, _CHECKS or _END; 0: nothing yet */
    long long limit;
    bool memory_short, silent;
    char why_short[1024]; /* "": it has not said so itself */
    int line_short;       /* of the INI file, to which that belongs */
    int code;
    good_file *files;
    int count;
} heard;

/* ---- What it is asked ------------------------------------------------------------------------ */

static char *describe(const engine *engine, bool loaded, size_t *size)
{
    const config *config = &engine->config;
    const int seconds = loaded ? MOST_SECONDS : FIRST_SECONDS;
    const int32_t numbers[] = {team_now()->rank, team_now()->ranks, config->without_mover,
                               config->species_count, engine->device.leaves_out_choice};
    char *text;
    FILE *out = checked(open_memstream(&text, size));
    fwrite(&seconds, sizeof seconds, 1, out);
    fwrite(numbers, sizeof numbers, 1, out);
    for (int s = 0; s < config->species_count; s++)
        fwrite(&config->species[s].capacity, sizeof config->species[s].capacity, 1, out);
    ini_pack(out, &config->ini);
    fclose(out);
    return checked(text);
}

/* One that has ended already does not read: that is heard later. */
static void send_all(int socket, const char *data, size_t bytes)
{
    while (bytes) {
        const ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) break;
        data += sent, bytes -= (size_t)sent;
    }
    shutdown(socket, SHUT_WR);
}

/* ---- What it tells --------------------------------------------------------------------------- */

static void keep_file(heard *h, const char *path)
{
    h->files = checked(realloc(h->files, ((size_t)h->count + 1) * sizeof *h->files));
    h->files[h->count++] = (good_file){checked(strdup(path)), checked(strdup(""))};
}

/* A signal meanwhile, and a word about what takes long, are about this plugin (watchdog.h). */
static void enter(heard *h, int stage, int section)
{
    const config *config = &h->engine->config;
    if (section < 0 || section >= config->plugin_count) return;
    h->stage = stage;
    h->section = section;
    if (stage == APART_CONFIGURES)
        crash_calling(config->plugins[section].section->name, "configure");
}

static void take_line(heard *h)
{
    const char *text = h->line + 1;
    switch (h->line[0]) {
    case APART_LIMIT: h->limit = atoll(text); break;
    case APART_LOADS:
    case APART_CONFIGURES: enter(h, h->line[0], atoi(text)); break;
    case APART_LOADED:
    case APART_READS: keep_file(h, text); break;
    case APART_READER:
        if (!h->count) break;
        free(h->files[h->count - 1].reader);
        h->files[h->count - 1].reader = checked(strdup(text));
        break;
    case APART_CHECKS:
        h->stage = APART_CHECKS;
        crash_called();
        break;
    case APART_SHORT:
        h->memory_short = true;
        h->line_short = atoi(text);
        snprintf(h->why_short, sizeof h->why_short, "%s", text + strcspn(text, " "));
        break;
    case APART_END:
        if (!h->memory_short) h->stage = APART_END;
        h->code = atoi(text);
        break;
    default: break;
    }
}

/* Whether it has more to say. */
static bool take_bytes(heard *h, const char *bytes, ssize_t count)
{
    for (ssize_t k = 0; k < count; k++) {
        if (h->length < sizeof h->line) h->line[h->length++] = bytes[k];
        if (bytes[k]) continue;
        h->line[h->length - 1] = 0;
        take_line(h);
        h->length = 0;
    }
    return count > 0;
}

/* Until it ends, or has been silent for too long. By seconds that this process sees pass, so that a job that is stopped
 * meanwhile loses none. */
static void listen_to(heard *h, int socket)
{
    char bytes[4096];
    struct pollfd wait = {.fd = socket, .events = POLLIN};
    for (int silent = 0; silent < (h->stage == APART_CONFIGURES ? LONGEST : SILENCE);) {
        const int news = poll(&wait, 1, 1000);
        if (news < 0 && errno == EINTR) continue;
        if (news == 0) {
            silent++;
            continue;
        }
        silent = 0;
        const ssize_t got = recv(socket, bytes, sizeof bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (!take_bytes(h, bytes, got)) goto over;
    }
    h->silent = true;
over:
    crash_called();
}

/* ---- What is made of it ---------------------------------------------------------------------- */

/* Of all children of this process that have ended. */
static double children_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* How the callback ended that did not return. */
static void tell_end(const heard *h, int status, double seconds, char *words, size_t size)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (h->silent)
        snprintf(words, size, "has not returned after %d s", LONGEST);
    else if (number == SIGXCPU || (number == SIGKILL && seconds > APART_SECONDS))
        snprintf(words, size, "has not returned after %.0f s of processor time", seconds);
    else if (number == SIGKILL)
        snprintf(words, size, "was killed, as the system does where memory is short");
    else if (number)
        snprintf(words, size, "crashes (%s)", strsignal(number));
    else
        snprintf(words, size, "ends the program (exit code %d) instead of returning",
                 WEXITSTATUS(status));
}

static bool is_short(const heard *h, int status)
{
    return h->memory_short || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MEMORY);
}

/* It has ended in a callback. */
static int refuse(engine *engine, const heard *h, int status, double seconds)
{
    const plugin_section *p = &engine->config.plugins[h->section];
    const char *source = ini_source(&engine->config.ini, p->section), *name = p->section->name;
    const int line = *h->why_short ? h->line_short : p->section->line;
    char words[REHEARSAL_REASON];
    if (is_short(h, status) && h->limit)
        return report_error(engine->report, EXIT_MEMORY, source, line,
                            "%s: %.3g GiB is what it may take here",
                            *h->why_short ? h->why_short + 1
                                          : "a plugin asks for too much memory as it checks its "
                                            "parameters",
                            (double)h->limit / 1073741824);
    if (is_short(h, status)) return 0; /* this process is as short of it */
    tell_end(h, status, seconds, words, sizeof words);
    return report_error(engine->report, EXIT_INTERNAL, source, line,
                        "[%s] its callback 'configure' %s: the code of plugin %s is wrong", name,
                        words, p->plugin);
}

/* It has not come to the callbacks though each plugin can be loaded. */
static int refuse_loading(engine *engine, const heard *h, int status)
{
    char words[256];
    if (is_short(h, status))
        return report_error(
            engine->report, EXIT_MEMORY, NULL, 0,
            "there is not enough memory for a child process that tries the plugins");
    child_tell_end(status, "loads all plugins for", "one of them disturbs another", words,
                   sizeof words);
    return report_error(engine->report, EXIT_PLUGIN, NULL, 0, "%s", words);
}

static void remember(const heard *h)
{
    for (int k = 0; k < h->count; k++) {
        const good_file *f = &h->files[k];
        if (!*f->reader) rehearsal_was_good("load", f->path, "");
        if (*f->reader && !h->code) rehearsal_was_good("plugin", f->path, f->reader);
    }
}

static int judge(engine *engine, const heard *h, int status, double seconds, bool loaded,
                 bool *tried)
{
    /* what the core looks at afterwards is not part of this */
    *tried = h->stage && h->stage != APART_LOADS;
    if (h->stage == APART_END && status == 0) remember(h);
    if (h->stage == APART_CONFIGURES) return refuse(engine, h, status, seconds);
    return *tried || !loaded ? 0 : refuse_loading(engine, h, status);
}

static int start(pid_t *child, int *socket)
{
    char *const arguments[] = {(char *)"plugmc", (char *)"rehearse", (char *)"plugins",
                               (char *)"",       (char *)"",         NULL};
    return child_converse(child, socket, NULL, 0, arguments);
}

int apart_try(engine *engine, bool loaded, bool *tried)
{
    struct sigaction before;
    heard h = {.engine = engine};
    pid_t child;
    int socket;
    *tried = !child_program;
    if (!child_program) return 0;
    const bool ignored = child_ends_are_known(&before);
    const double used = children_seconds();
    const int failed = start(&child, &socket);
    if (failed && ignored) sigaction(SIGCHLD, &before, NULL);
    if (failed)
        return report_error(engine->report, child_is_shortage(failed) ? EXIT_MEMORY : EXIT_INTERNAL,
                            NULL, 0, "there is no child process that tries the plugins: %s",
                            strerror(failed));
    size_t size;
    char *asked = describe(engine, loaded, &size);
    send_all(socket, asked, size);
    free(asked);
    listen_to(&h, socket);
    if (h.silent) kill(child, SIGKILL);
    close(socket);
    const int status = child_wait(child);
    if (ignored) sigaction(SIGCHLD, &before, NULL);
    const int code = judge(engine, &h, status, children_seconds() - used, loaded, tried);
    for (int k = 0; k < h.count; k++) free(h.files[k].path), free(h.files[k].reader);
    free(h.files);
    return code;
}

/* What a process says when it crashes, or when a plugin ends it. Only what is safe in a handler of signals:
 * write, _exit, process_vm_readv, and _dl_find_object, which takes no lock.
 *
 * A plugin that writes far beyond its memory overwrites that of the program. So names of plugins are kept in
 * memory that is not beside that of plugins, and others are read as if they were those of another process. */
#include "base/crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/report.h"

typedef struct record {
    _Atomic(const char *) kind, plugin, callback;
} record;

static record of_main;
static _Thread_local record own;
static _Thread_local bool is_main;
static atomic_flag crashed = ATOMIC_FLAG_INIT;
static atomic_ulong calls_of_main; /* how often its record has changed */

/* ---- Names ----------------------------------------------------------------------------------- */

enum { NAMES = 256, NAME = 192 };
static char names[NAMES][NAME]; /* each once, and never changed again */
static atomic_int names_count;
static atomic_flag adding = ATOMIC_FLAG_INIT;

static const char *find_name(const char *name, int from, int end)
{
    for (int k = from; k < end; k++)
        if (!strncmp(names[k], name, NAME - 1)) return names[k];
    return NULL;
}

/* The same words where they stay. */
static const char *keep_name(const char *name)
{
    static _Thread_local const char *last;
    if (!name) return NULL;
    if (last && !strncmp(last, name, NAME - 1)) return last;
    const int seen = names_count;
    const char *kept = find_name(name, 0, seen);
    if (!kept) {
        while (atomic_flag_test_and_set(&adding)) {}
        const int now = names_count;
        kept = find_name(name, seen, now);
        if (!kept && now < NAMES) {
            strncpy(names[now], name, NAME - 1);
            kept = names[now];
            names_count = now + 1;
        }
        atomic_flag_clear(&adding);
    }
    return last = kept ? kept : name;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* A signal may come in between: the plugin is the last. Trial moves come here, so stores wait for nothing. */
static void put(record *to, crash_record what)
{
    atomic_store_explicit(&to->plugin, NULL, memory_order_release);
    atomic_store_explicit(&to->kind, what.kind, memory_order_release);
    atomic_store_explicit(&to->callback, what.callback, memory_order_release);
    atomic_store_explicit(&to->plugin, what.plugin, memory_order_release);
}

static crash_record get(const record *from)
{
    return (crash_record){from->kind, from->plugin, from->callback};
}

void crash_called_within(crash_record outer)
{
    put(&own, outer);
    if (!is_main) return;
    put(&of_main, outer);
    const unsigned long calls = atomic_load_explicit(&calls_of_main, memory_order_relaxed);
    atomic_store_explicit(&calls_of_main, calls + 1, memory_order_release);
}

void crash_called(void) { crash_called_within((crash_record){0}); }

static crash_record call(const char *kind, const char *plugin, const char *callback)
{
    const crash_record before = get(&own);
    crash_called_within((crash_record){kind, keep_name(plugin), callback});
    return before;
}

crash_record crash_calling(const char *plugin, const char *callback)
{
    return call("", plugin, callback);
}

crash_record crash_calling_potential(const char *label, const char *callback)
{
    return call("potential ", label, callback);
}

void crash_calling_its(const char *callback)
{
    own.callback = callback;
    if (is_main) of_main.callback = callback;
}

crash_record crash_of_main(unsigned long *calls)
{
    *calls = calls_of_main;
    return get(&of_main);
}

/* ---- What is said ---------------------------------------------------------------------------- */

/* Whether these bytes of memory can be read; where the system does not tell, they are thought to be good. */
static bool fetch(void *to, const void *from, size_t bytes)
{
    const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes) return true;
    if (errno == EFAULT) return false;
    memcpy(to, from, bytes);
    return true;
}

/* As far as it can be read and printed. */
static void say(const char *word)
{
    char copy[512];
    size_t n = 0;
    while (n < sizeof copy && fetch(copy + n, word + n, 1) && copy[n]) n++;
    for (size_t k = 0; k < n; k++)
        if ((unsigned char)copy[k] < ' ' && copy[k] != '\n') copy[k] = '?';
    if (write(STDERR_FILENO, copy, n) < 0) return;
}

static void say_callback(const crash_record *in)
{
    say(in->callback);
    say("' of [");
    say(in->kind);
    say(in->plugin);
    say("]");
}

/* Where the thread was. */
static void *place_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static const char *name_of(int signal)
{
    switch (signal) {
    case SIGSEGV: return "segmentation fault, SIGSEGV";
    case SIGBUS: return "bus error, SIGBUS";
    case SIGFPE: return "arithmetic error, SIGFPE";
    case SIGILL: return "illegal instruction, SIGILL";
    default: return "abort, SIGABRT";
    }
}

/* Of a shared object; NULL of the program itself, which has no name there, and where memory is overwritten. */
static const char *file_of(const struct link_map *map)
{
    char *name, first;
    if (!fetch(&name, &map->l_name, sizeof name) || !fetch(&first, name, 1)) return NULL;
    return first == '/' || first == '.' ? name : NULL;
}

/* Threads that crash together wait for the first. Abort is always called in the C library, whoever is to blame, for
 * example for an exception of C++ that nobody catches; so no file is named. What the loader knows may be overwritten, too: then looking it up
 * crashes once more, and the file is left out. */
static void crash(int number, siginfo_t *info, void *context)
{
    static _Thread_local int times;
    static volatile int first_number;
    (void)info;
    times++;
    if (times > 2) _exit(EXIT_INTERNAL);
    if (times == 1) {
        while (atomic_flag_test_and_set(&crashed)) pause();
        first_number = number;
    }
    struct dl_find_object object;
    const crash_record in = get(own.plugin ? &own : &of_main);
    const char *file = NULL;
    void *place = place_of(context);
    if (times == 1 && number != SIGABRT && place && _dl_find_object(place, &object) == 0)
        file = file_of(object.dlfo_link_map);
    number = first_number;
    say("crashed (");
    say(name_of(number));
    say(")");
    if (file) {
        say(" in ");
        say(file);
    }
    if (in.plugin) {
        say(", in the callback '");
        say_callback(&in);
    }
    say("; an output file is that of the last checkpoint\n");
    _exit(EXIT_INTERNAL);
}

/* The program ends by leaving `main`; memory that is short ends it wherever that is. */
static void ended(int code, void *unused)
{
    (void)unused;
    const crash_record in = get(own.plugin ? &own : &of_main);
    if (!in.plugin || code == EXIT_MEMORY) return;
    say("the program was ended by the callback '");
    say_callback(&in);
    say(", which must return; an output file is that of the last checkpoint\n");
    leftovers_remove();
    _exit(EXIT_INTERNAL);
}

void crash_report(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char memory[64 << 10]; /* the stack may be what has run out */
    is_main = true;
    on_exit(ended, NULL);
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before,
            action = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
}

/* What a process says when it crashes. Only what is safe in a handler of signals: write, _exit, and
 * _dl_find_object, which takes no lock. */
#include "base/crash.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/report.h"

typedef struct record {
    _Atomic(const char *) kind, plugin, callback;
} record;

static record of_main;
static _Thread_local record own;
static _Thread_local bool is_main;
static atomic_flag crashed = ATOMIC_FLAG_INIT;

/* A signal may come in between: the plugin is the last. */
static void put(record *to, crash_record what)
{
    to->plugin = NULL;
    to->kind = what.kind;
    to->callback = what.callback;
    to->plugin = what.plugin;
}

static crash_record get(const record *from)
{
    return (crash_record){from->kind, from->plugin, from->callback};
}

void crash_called_within(crash_record outer)
{
    put(&own, outer);
    if (is_main) put(&of_main, outer);
}

void crash_called(void) { crash_called_within((crash_record){0}); }

static crash_record call(const char *kind, const char *plugin, const char *callback)
{
    const crash_record before = get(&own);
    crash_called_within((crash_record){kind, plugin, callback});
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

static void say(const char *word)
{
    if (write(STDERR_FILENO, word, strlen(word)) < 0) return;
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

/* Threads that crash together wait for the first. */
static void crash(int number, siginfo_t *info, void *context)
{
    (void)info;
    while (atomic_flag_test_and_set(&crashed)) pause();
    struct dl_find_object object;
    const crash_record in = get(own.plugin ? &own : &of_main);
    const char *file = NULL;
    void *place = place_of(context);
    if (place && _dl_find_object(place, &object) == 0) file = object.dlfo_link_map->l_name;
    say("crashed (");
    say(name_of(number));
    say(")");
    if (file && *file) { /* the program itself has no name there */
        say(" in ");
        say(file);
    }
    if (in.plugin) {
        say(", in the callback '");
        say(in.callback);
        say("' of [");
        say(in.kind);
        say(in.plugin);
        say("]");
    }
    say("; an output file is that of the last checkpoint\n");
    _exit(EXIT_INTERNAL);
}

void crash_report(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char memory[64 << 10]; /* the stack may be what has run out */
    is_main = true;
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before,
            action = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
}

/* What a process says when it crashes. Only what is safe in a handler of signals: write, _exit, and
 * _dl_find_object, which takes no lock. */
#include "crash.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "report.h"

static _Atomic(const char *) plugin_called, callback_called;
static atomic_flag crashed = ATOMIC_FLAG_INIT;

void crash_calling(const char *plugin, const char *callback)
{
    callback_called = callback;
    plugin_called = plugin;
}

void crash_called(void) { plugin_called = NULL; }

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
    const char *plugin = plugin_called, *file = NULL;
    void *place = place_of(context);
    if (place && _dl_find_object(place, &object) == 0) file = object.dlfo_link_map->l_name;
    say("crashed (");
    say(name_of(number));
    say(")");
    if (file && *file) { /* the program itself has no name there */
        say(" in ");
        say(file);
    }
    if (plugin) {
        say(", in the callback '");
        say(callback_called);
        say("' of [");
        say(plugin);
        say("]");
    }
    say("; an output file is that of the last checkpoint\n");
    _exit(EXIT_INTERNAL);
}

void crash_report(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char memory[64 << 10]; /* the stack may be what has run out */
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, action = {.sa_sigaction = crash,
                                           .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
}

/* What ways.py preloads into a program that is compiled with -finstrument-functions: it counts how often each function
 * was entered by which way, that is, with which functions on the stack. The file that WAYS_TABLE names has the
 * counts; it begins as zeros, as large as `table`, and all processes of a run share it.
 *
 * A thread, and a process that was forked, stands where whoever started it stood. A program that was executed begins
 * anew. Functions are told by their module (the program, or a plugin) and their place in it, so that they are
 * the same in all processes. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

enum { STEPS = 1 << 18, MODULES = 64, PATH = 512, KNOWN = 1 << 10, DEEPEST = 4096 };

/* A function that was entered from another step; `function` is 0 where there is none: module number + 1 above 48 bits,
 * which are the place in it. Number 0 is where programs begin. */
typedef struct step {
    _Atomic uint64_t function;
    _Atomic uint64_t count;
    uint32_t from, unused;
} step;

typedef struct table {
    _Atomic uint32_t lock, modules, full;
    uint32_t unused;
    char module[MODULES][PATH];
    step steps[STEPS];
} table;

static table *shared;
/* What was found out before; an address is never used twice, since no plugin is unloaded. */
static __thread struct known {
    void *address;
    uint64_t function;
} known[KNOWN];
static __thread uint32_t standing;
static __thread bool inside;

QUIET __attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("WAYS_TABLE");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *memory = file < 0
                       ? MAP_FAILED
                       : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) shared = memory;
    if (file >= 0) close(file);
}

QUIET static void lock(void)
{
    uint32_t free = 0;
    while (!atomic_compare_exchange_weak(&shared->lock, &free, 1)) free = 0, sched_yield();
}

QUIET static void unlock(void) { atomic_store(&shared->lock, 0); }

QUIET static uint32_t module_number(const char *path)
{
    uint32_t k = 0;
    lock();
    while (k < shared->modules && strcmp(shared->module[k], path)) k++;
    if (k == MODULES) {
        shared->full = 1;
        k = 0;
    } else if (k == shared->modules) {
        snprintf(shared->module[k], PATH, "%s", path);
        shared->modules++;
    }
    unlock();
    return k;
}

/* A program is called as whoever executed it likes, so the loader does not know its file. */
QUIET static void file_of(const Dl_info *info, char path[PATH_MAX])
{
    Dl_info program;
    const bool is_program =
        dladdr((void *)getauxval(AT_ENTRY), &program) && program.dli_fbase == info->dli_fbase;
    if (!realpath(is_program ? "/proc/self/exe" : info->dli_fname, path)) path[0] = 0;
}

QUIET static uint64_t function_at(void *address)
{
    struct known *k = &known[((uintptr_t)address >> 4) * 2654435761u % KNOWN];
    Dl_info info;
    char path[PATH_MAX];
    if (k->address == address) return k->function;
    if (!dladdr(address, &info)) return 0;
    const uint64_t place = (uint64_t)((char *)address - (char *)info.dli_fbase);
    file_of(&info, path);
    *k = (struct known){address, (uint64_t)(module_number(path) + 1) << 48 | place};
    return k->function;
}

/* The number of the step from `from` to a function. */
QUIET static uint32_t step_to(uint32_t from, uint64_t function)
{
    uint64_t hash = (function ^ (uint64_t)from << 20) * 0x9E3779B97F4A7C15u;
    for (uint32_t tried = 0; tried < STEPS; tried++) {
        const uint32_t at = (uint32_t)((hash >> 40) + tried) % (STEPS - 1) + 1;
        step *s = &shared->steps[at];
        if (!s->function) {
            lock();
            if (!s->function) {
                s->from = from;
                s->function = function;
            }
            unlock();
        }
        if (s->function == function && s->from == from) return at;
    }
    shared->full = 1;
    return from;
}

QUIET void __cyg_profile_func_enter(void *address, void *caller)
{
    (void)caller;
    if (!shared || inside) return;
    inside = true;
    const uint64_t function = function_at(address);
    standing = step_to(standing, function);
    shared->steps[standing].count++;
    inside = false;
}

/* Functions that a jump has left go with the one that it came to. */
QUIET void __cyg_profile_func_exit(void *address, void *caller)
{
    (void)caller;
    if (!shared || inside || !standing) return;
    inside = true;
    const uint64_t function = function_at(address);
    uint32_t at = standing;
    for (int k = 0; k < DEEPEST && at && shared->steps[at].function != function; k++)
        at = shared->steps[at].from;
    if (at) standing = shared->steps[at].from;
    inside = false;
}

/* ---- Threads begin where they were started -------------------------------------------------------- */

typedef struct beginning {
    void *(*function)(void *);
    void *argument;
    uint32_t standing;
} beginning;

QUIET static void *stand(void *argument)
{
    const beginning b = *(beginning *)argument;
    free(argument);
    standing = b.standing;
    return b.function(b.argument);
}

QUIET int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*function)(void *), void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    beginning *b = malloc(sizeof *b);
    if (!b) return create(thread, attributes, function, argument);
    *b = (beginning){function, argument, standing};
    return create(thread, attributes, stand, b);
}

/* Else another plugin might come to the same place. */
QUIET int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

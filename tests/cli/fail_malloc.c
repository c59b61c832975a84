/* Preloaded into the program: allocation number $FAIL_ALLOCATION of a process fails. With
 * $COUNT_ALLOCATIONS, the name of a file, it is written there how many there were. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static long count, failing = -1;

static int fails(void)
{
    if (failing < 0) {
        const char *text = getenv("FAIL_ALLOCATION");
        failing = text ? atol(text) : 0;
    }
    if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != failing) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return fails() ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *old, size_t bytes) { return fails() ? NULL : __libc_realloc(old, bytes); }
void *aligned_alloc(size_t a, size_t bytes) { return fails() ? NULL : __libc_memalign(a, bytes); }

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *memory = fails() ? NULL : __libc_memalign(alignment, bytes);
    if (memory) *out = memory;
    return memory ? 0 : ENOMEM;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("COUNT_ALLOCATIONS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out) return;
    fprintf(out, "%ld\n", count);
    fclose(out);
}

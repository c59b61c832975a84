#include "base/leftovers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char **paths;
static int count;

void leftovers_hold(void) { pthread_mutex_lock(&mutex); }
void leftovers_let_go(void) { pthread_mutex_unlock(&mutex); }

bool leftovers_add(const char *path)
{
    char *copy = strdup(path);
    char **longer = copy ? realloc(paths, (size_t)(count + 1) * sizeof *paths) : NULL;
    if (!longer) {
        free(copy);
        return false;
    }
    paths = longer;
    paths[count++] = copy;
    return true;
}

void leftovers_forget(const char *path)
{
    int i = 0;
    while (i < count && strcmp(paths[i], path)) i++;
    if (i == count) return;
    free(paths[i]);
    paths[i] = paths[--count];
    if (count) return;
    free(paths);
    paths = NULL;
}

void leftovers_remove(void)
{
    leftovers_hold();
    for (int i = 0; i < count; i++) unlink(paths[i]);
}

void leftovers_clear(void)
{
    leftovers_hold();
    while (count) {
        unlink(paths[--count]);
        free(paths[count]);
    }
    free(paths);
    paths = NULL;
    leftovers_let_go();
}

#include "leftovers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char **paths;
static int count;

void leftovers_hold(void) { pthread_mutex_lock(&mutex); }
void leftovers_let_go(void) { pthread_mutex_unlock(&mutex); }

void leftovers_add(const char *path)
{
    paths = checked(realloc(paths, (size_t)(count + 1) * sizeof *paths));
    paths[count++] = checked(strdup(path));
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

#include "input/lists.h"

#include <math.h>
#include <stdlib.h>

#include "input/ini.h"

/* Kept in a list, so that a checker of leaks finds them. */
typedef struct kept {
    struct kept *next;
    int64_t count;
    size_t real_size;
    double values[]; /* [count + LIST_BEHIND] reals */
} kept;

static kept *all;

static void put_behind(kept *k, int64_t many, double number)
{
    for (int64_t i = 0; i < LIST_BEHIND; i++) {
        const double here = i < many ? number : 1;
        if (k->real_size == sizeof(float))
            ((float *)(void *)k->values)[k->count + i] = (float)here;
        else
            k->values[k->count + i] = here;
    }
}

void *list_keep(int64_t count, size_t real_size)
{
    if (!count) return NULL;
    kept *k = checked(calloc(1, sizeof *k + (size_t)(count + LIST_BEHIND) * sizeof(double)));
    k->next = all;
    k->count = count;
    k->real_size = real_size;
    all = k;
    put_behind(k, LIST_BEHIND, NAN);
    return k->values;
}

bool list_put_behind(const plugmc_list *list, double number)
{
    return list_put_first_behind(list, LIST_BEHIND, number);
}

bool list_put_first_behind(const plugmc_list *list, int64_t many, double number)
{
    for (kept *k = all; k; k = k->next) {
        if ((const void *)k->values != (const void *)list->values || k->count != list->count)
            continue;
        put_behind(k, many, number);
        return true;
    }
    return false;
}

void lists_forget(void)
{
    while (all) {
        kept *next = all->next;
        free(all);
        all = next;
    }
}

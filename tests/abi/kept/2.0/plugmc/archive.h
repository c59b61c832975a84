/* Data of plugins in the checkpoint. */
#ifndef PLUGMC_ARCHIVE_H
#define PLUGMC_ARCHIVE_H

#include "plugmc/plugin.h"

/* Saves a plugin's own state to the checkpoint, or restores it. */
typedef struct plugmc_archive {
    uint32_t size;
    int32_t reading; /* 1: restores */
    /* Saves or restores `bytes` bytes under a name; they are the same in every process. Fails if the size differs. */
    int (*bytes)(struct plugmc_archive *, const char *name, void *data, size_t bytes);
    /* The same for rows first ... first + n - 1 of `all` rows of `row` bytes, e.g. one per walker, or per cell of a
     * system. All rows have to be saved, in any number of pieces; they may be restored in other pieces. */
    int (*rows)(struct plugmc_archive *, const char *name, void *data, size_t row, int64_t first,
                int64_t n, int64_t all);
    /* Rows of walkers in the file of this run: first walker of this process, their number, and the number of all.
     * The file begins with the first walker of the run, whatever its number is. */
    int64_t first_walker, walkers, all_walkers;
    /* Reading, for movers: what other movers have changed after it, PLUGMC_CHANGED_*. The mover is asked to load
     * that before it sweeps again, so its own copy of it is of no use. */
    uint32_t changed;
    /* Whether the checkpoint has something of the plugin under this name: for a plugin that reads what an earlier
     * version of it has saved. 1 while saving if it has been saved. */
    int (*has)(struct plugmc_archive *, const char *name);
    /* The state that the checkpoint belongs to, for movers that save only how they hold it. */
    const struct plugmc_state *state;
} plugmc_archive;

/* Rows of all walkers of this process, and of its walker w. */
static inline int plugmc_archive_walkers(plugmc_archive *a, const char *name, void *data,
                                         size_t row)
{
    return a->rows(a, name, data, row, a->first_walker, a->walkers, a->all_walkers);
}

static inline int plugmc_archive_walker(plugmc_archive *a, const char *name, int32_t w, void *data,
                                        size_t row)
{
    return a->rows(a, name, data, row, a->first_walker + w, 1, a->all_walkers);
}

#endif

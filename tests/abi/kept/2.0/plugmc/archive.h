/* What a plugin saves in the checkpoint. */
#ifndef PLUGMC_ARCHIVE_H
#define PLUGMC_ARCHIVE_H

#include "plugmc/plugin.h"

/* A place for a mover's own state in the checkpoint, or one to read it from. */
typedef struct plugmc_archive {
    uint32_t size;
    int32_t reading;
    /* Saves, or restores, `bytes` bytes under a name, the same in every process. Fails if the size differs. */
    int (*bytes)(struct plugmc_archive *, const char *name, void *data, size_t bytes);
    /* The same for rows first ... first + n - 1 of `all` rows of `row` bytes: what belongs to walkers, or to cells
     * of one system. All of them are to be saved, in as many pieces as you like; whoever reads may ask for other
     * pieces than were saved. */
    int (*rows)(struct plugmc_archive *, const char *name, void *data, size_t row, int64_t first,
                int64_t n, int64_t all);
    /* Rows of walkers in the file of this run: the first one here, how many, and all. The file begins with the
     * first walker of the run, whatever its number is. */
    int64_t first_walker, walkers, all_walkers;
    /* Of a mover that reads: what others had changed after it, PLUGMC_CHANGED_*. It is asked to take that before it
     * sweeps again, so that where it was itself is of no use. */
    uint32_t changed;
} plugmc_archive;

/* Rows of all walkers that are here, and of walker w of them. */
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

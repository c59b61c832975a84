/* The shape of what an observable measures or derives, and what stands along its axes. */
#ifndef PLUGMC_OUTPUT_AXES_H
#define PLUGMC_OUTPUT_AXES_H

#include "archive/draft.h"
#include "plugmc/everything.h"

typedef struct axes {
    int rank;                         /* 0: a scalar */
    int64_t shape[PLUGMC_MOST_RANK];  /* [rank] */
    char *names[PLUGMC_MOST_RANK];    /* [rank], NULL where there is none */
    double *values[PLUGMC_MOST_RANK]; /* [rank][shape], NULL where there are none */
} axes;

/* A copy of what a plugin gave; 0, or -1 without memory (free it all the same). */
int axes_copy(axes *, const plugmc_quantity *);
int64_t axes_length(const axes *);
/* What the numbers stand against, in words: "r", "q, k"; "index" without names. */
const char *axes_words(const axes *, char *words, size_t size);
void axes_free(axes *);

/* In a group of the output file. Axis 1 is "axis" (its name) and "abscissa" (its values), axis k is
 * "axis_k" and "abscissa_k"; "shape" is there for more than one. Reading checks lengths. */
void axes_write(draft *, const axes *);
void axes_read(store *, hid_t group, int64_t length, axes *);
/* An array of that shape. */
void axes_write_array(draft *, const char *name, enum store_type type, const axes *,
                      const void *data);
/* All its numbers in a row; fails if they are not as many. */
void *axes_read_array(store *, hid_t group, const char *name, enum store_type type, const axes *);
#endif

/* What the parts of plugmc ladder share. */
#ifndef PLUGMC_LADDERS_H
#define PLUGMC_LADDERS_H

#include <stdbool.h>
#include <stdint.h>

/* A ladder in one variable, or one of two, and how walkers have travelled along it. */
typedef struct travelled {
    const char *key; /* "run.temperature", ... */
    int rungs;
    double *values;   /* [rungs], rising or falling */
    double *accepted; /* [rungs - 1]: acceptance of a rung with the next; NaN: never tried */
    double *trials;   /* [rungs - 1] */
    double *upward;   /* [rungs]: share of walkers on their way up; NULL: not measured */
    double *error;    /* [rungs]: of upward */
    double round_trips;
    double
        current; /* of walkers on their way up: twice the round trips in a turn of exchanges over the
                       walkers on a rung; 1 where every exchange is accepted */
} travelled;

typedef struct proposal {
    int rungs;
    double *values;    /* [rungs] */
    double acceptance; /* expected of each pair; NaN: not known */
    double gain;       /* expected round trips over those of now; NaN: not known */
    bool bounded;      /* pairs without an exchange: distances are lower bounds */
} proposal;

/* Each pair of `rungs` rungs exchanges as often as any other. */
void propose_equal(const travelled *, int rungs, proposal *);
/* Walkers make as many round trips as they can; upward has to be there. */
void propose_by_flow(const travelled *, int rungs, proposal *);
#endif

/* What the files of this observable share. */
#ifndef PLUGMC_WIDOM_H
#define PLUGMC_WIDOM_H

#include <plugmc/everything.h>

#include <plugmc/body_facet.h>

#include "places.h"

enum { WIDOM_UNIFORM, WIDOM_CELLS }; /* placement */

/* As much totals may lower -ln p by where WIDOM_HOPELESS holds. */
enum { WIDOM_ALLOWANCE = 20 };

/* A potential that is sampled, and what of it a test particle meets. */
typedef struct widom_term {
    const plugmc_term *of;
    int32_t index;             /* in system->terms, and of its multiplier */
    const plugmc_pair *near;   /* of finite range */
    const plugmc_pair *far;    /* of none */
    const plugmc_field *field; /* NULL without, as the others */
    const plugmc_body *body;
    const plugmc_total *total; /* that follows from counts */
} widom_term;

struct widom_room;   /* cpu.c */
struct widom_device; /* gpu.c */

typedef struct widom {
    /* parameters */
    const char *species;
    int64_t insertions;
    int32_t placement;

    const plugmc_system *system;
    int32_t inserted; /* number of the species */
    widom_term *terms;
    int32_t term_count, far_count, field_count;
    double reach;                  /* of all that is near: ranges and hard cores, length */
    double *square[WIDOM_SQUARES]; /* [species] length^2, squares of distances from the inserted */
    int64_t most_near;             /* WIDOM_HOPELESS holds where no more are near; -1: nowhere */
    int64_t near_limit;            /* the same, for the configurations at hand */
    double *constant;              /* [walkers]: growth of -ln p by totals */
    double *found;                 /* [walkers]: mean of exp(-dU/kT) */
    double *on_host;               /* [walkers][particles][3]: of bodies in a run on a GPU */
    int64_t *counts;               /* [species]: room */
    char unit[32];                 /* of a volume */
    char unit_of_fugacity[24];
    struct widom_room *rooms; /* [threads] */
    struct widom_device *device;
} widom;

/* Finds w->square and w->most_near. */
int widom_find_hopeless(widom *, const plugmc_host *host);

/* What multiplies the terms of -ln p in a walker: [multipliers]; NULL where all have 1 / temperature. */
int widom_multipliers(const widom *, const plugmc_host *, int side, const double **out,
                      size_t *row);
/* The cells of a view, and where places are in them. */
int widom_lay_out(const widom *, const plugmc_host *, const plugmc_view *, plugmc_cells *,
                  widom_places *);

/* Both find w->found, without the factor of the totals. */
int widom_prepare_cpu(widom *, const plugmc_host *);
int widom_insert_cpu(widom *, const plugmc_host *, const plugmc_view *);
int widom_prepare_gpu(widom *, const plugmc_host *);
int widom_insert_gpu(widom *, const plugmc_host *, const plugmc_view *);
int widom_gpu_source(const plugmc_host *, int index, plugmc_gpu_source *out);

static inline double widom_multiplier(const widom *w, const double *multipliers, int32_t index)
{
    return multipliers ? multipliers[index] : 1 / w->system->temperature;
}

#endif

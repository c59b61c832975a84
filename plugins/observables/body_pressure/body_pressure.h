/* body_pressure.h: what the files of body_pressure share. */
#ifndef PLUGMC_BODY_PRESSURE_H
#define PLUGMC_BODY_PRESSURE_H

#include <plugmc/everything.h>

#include "../energy_line.h"

typedef struct body_pressure {
    const plugmc_system *system;
    int32_t dimension, scalars;
    double range;    /* largest distance of two centres at contact, or with an energy, length */
    double energies; /* largest distance of two centres with an energy; 0: there is none */
    double *reach;   /* [species] of bodies; 0: not a body */
    double *contact; /* [species][species] of hard cores, length */
    double *near; /* [species][species] no contact beyond this distance, length; 0: none at all */
    double (*share)[3];       /* [walkers][particles] of the sum, along each axis */
    plugmc_particle *kinds;   /* [species] at the origin */
    int32_t *terms;           /* [bodies] sampled terms of bodies */
    const plugmc_body **body; /* [bodies] */
    int32_t bodies;
} body_pressure;

/* One walker. */
typedef struct task {
    const body_pressure *p;
    const plugmc_box *box;
    const plugmc_orientation *orientations; /* [particles] */
    const uint32_t *start, *order;
    const double *positions; /* [entries][3] */
    const int32_t *count;    /* of cells */
} task;

/* How far a body goes, and the component of the separation from it to the one that it then touches. */
typedef struct stop {
    double path, separation;
} stop;

/* Another body in the cells around one. Lengths. */
typedef struct neighbour {
    uint32_t entry;
    int32_t kind;
    double near;       /* no contact beyond this distance */
    double nearest[3]; /* to its nearest image */
    double aside[3];   /* square of its distance across each axis */
    int32_t box[3];    /* where the cell was looked at: 0, or 1 or -1 across an edge of the box */
    double
        slab; /* width of an empty slab between the two, if it is the nearest image; 0: not known */
    double normal[3]; /* of the slab, towards the neighbour */
    double bound;     /* the path is at least so long */
    int32_t image;    /* in which box ahead it is that the path is to */
    double ahead;     /* how far it is ahead there */
    int32_t looks;    /* how often the path was bounded better */
} neighbour;

/* Paths are bounded better so often before they are followed. */
enum { CLOSER = 1 };

/* What a thread needs. */
typedef struct workspace {
    energy_line line;
    neighbour *of;                    /* of one body */
    int32_t *column[3], in_column[3]; /* those that it can meet along each axis */
    neighbour **open;                 /* those whose paths may be the shortest */
    int32_t count, room;
    int lost; /* there was no memory */
} workspace;

/* The species of a particle. */
static inline int32_t kind_of(const plugmc_system *system, uint32_t particle)
{
    int32_t s = 0;
    while (particle >= system->first[s + 1]) s++;
    return s;
}

/* ---- paths.c ---- */

/* The cell of the body at entry k. */
void body_pressure_own_cell(const task *t, uint32_t k, int32_t own[3]);
/* Cells beside one along a direction, three at most, and in which box each is seen: 0, or 1 or -1 across an edge. With fewer
 * than three all of them, in the box. */
int32_t body_pressure_beside(const task *t, int32_t cell, int d, int32_t cells[3], int32_t box[3]);
/* The neighbours of the body at entry k. */
void body_pressure_find_neighbours(const task *t, uint32_t k, workspace *w);
/* Where the body at entry k, whose neighbours are known, is stopped along an axis. up: 1 or -1. */
stop body_pressure_find_stop(const task *t, uint32_t k, int axis, int up, workspace *w);

/* ---- steps.c ---- */

/* The share of the body at entry k, stopped like this; NAN without memory. */
double body_pressure_with_energies(const task *t, uint32_t k, int axis, stop down, stop up,
                                   energy_line *line);

#endif

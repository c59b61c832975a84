/* event_chain.h: what the files of event_chain share.
 *
 *   event_chain.c   the mover: draws, sweeps, the state, the pressure
 *   plain.c         chains among particles of any sizes, straight and reflected, in double
 *   disks.c         straight chains of equal disks, fast
 */
#ifndef EVENT_CHAIN_H
#define EVENT_CHAIN_H

#include <math.h>
#include <plugmc/everything.h>

enum { STRAIGHT, REFLECTED }; /* kind */

/* What chains have met. */
typedef struct met {
    double sum
        [3]; /* length: of the distances between centres at contact, along the chain; of reflected ones shared
                      out by axis: see measure */
    int64_t events;
} met;

/* Equal disks in small cells: see disks.c. */
typedef struct disks {
    int32_t ready;       /* 1: the walker's disks are here */
    int32_t axis;        /* along which chains go at the moment */
    uint32_t columns[2]; /* cells along the chains, and rows of them: of chains along x, and y */
    uint32_t rows[2];
    uint32_t safe[2];  /* quanta, likewise: nobody outside of the window is met before */
    float square[2];   /* contact distance with its margin, in quanta along the chain, squared */
    float ratio[2];    /* quantum across the chain over that along it */
    double quantum[2]; /* length, of x and y */
    struct disk_cell *cells,
        *spare;             /* [rows][columns + copies]; memory for those of the other axis */
    int32_t *id, *spare_id; /* [rows][columns + copies][2]: number of the disk there */
    uint32_t *where;        /* [capacity]: of disk i, its place in `id` */
    uint64_t room;          /* cells that there is memory for */
} disks;

/* A walker. */
typedef struct flock {
    plugmc_box box;
    int64_t count;   /* particles that are there */
    int32_t *number; /* [count]: of these */
    double *r[3];    /* [capacity] each */
    int32_t cells[3];
    double width[3];          /* of a cell, length */
    double hair;              /* see plain.c */
    int32_t *cell;            /* [capacity] */
    int32_t *head;            /* [cells]: first particle, -1: none */
    int32_t *next, *previous; /* [capacity] */
    disks disks;
    int64_t chains; /* of this call */
    /* since the last measurement: by axis sum of density (1 + sum / length) and chains; contacts, and chains */
    double pressure[3], along[3], events, measured;
} flock;

typedef struct event_chain {
    real length; /* parameters */
    int64_t chains;
    int32_t kind;
    const plugmc_system *system;
    double *contact;  /* [species][species], length */
    double largest;   /* of these */
    int32_t equal;    /* 1: all of these are one distance */
    int32_t asked;    /* 1: measured before */
    int32_t *species; /* [capacity] */
    int64_t rooms;    /* cells that there is room for */
    flock *flocks;
    int32_t *rung;
    plugmc_counts *counts; /* [rungs] */
    char unit[32];
} event_chain;

/* ---- plain.c --------------------------------------------------------------------------------------- */

/* Particles of a walker into cells. */
void lay_out(const event_chain *e, flock *f);

/* Particle i sets off along an axis, or along v. */
void run_straight(const event_chain *e, flock *f, int32_t i, int axis, met *m);
void run_reflected(const event_chain *e, flock *f, int32_t i, double v[3], met *m);

/* ---- disks.c --------------------------------------------------------------------------------------- */

/* Whether disks.c is for this walker, in its box of the moment. */
int are_disks(const event_chain *e, const flock *f);

/* From f->r, and back. Return a code; the first fails with a sentence. */
int disks_take(const event_chain *e, const plugmc_host *host, flock *f, int32_t walker);
void disks_give(flock *f);

/* The disks turned so that chains go along an axis; then disk i sets off. */
void disks_turn(flock *f, int axis);
void disks_chain(const event_chain *e, flock *f, int32_t i, met *m);

void disks_free(disks *d);

#endif

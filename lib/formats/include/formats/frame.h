/* A state of particles as a file has it: what the readers of formats give, each in its file. They know of no run;
 * whether a state fits one is found out in from_file.c. */
#ifndef PLUGMC_FRAME_H
#define PLUGMC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"

/* What particles may have beside a place. */
enum { FRAME_CHARGE, FRAME_MASS, FRAME_DIAMETER, FRAME_PROPERTIES };

typedef struct file_frame {
    int32_t walkers; /* copies of the system, each with its own places */
    int64_t count;   /* rows of each; some may stand for nobody */
    /* [walkers][count][3] length; NaN: nobody is there. z = 0 in two dimensions. */
    double *positions;
    /* [walkers][count]: an index into `name`, or whatever numbers the file has where it has no names; NULL: the file
     * does not say of which species they are */
    int32_t *species;
    int32_t names;
    char **name; /* [names]; NULL: there are none */
    /* [walkers][count] each; NULL: the file does not say */
    double *property[FRAME_PROPERTIES];
    /* [walkers][count][4] quaternions w, x, y, z (formats/orientations.h); NULL: the file does not say */
    double *orientations;
    int32_t boxes;       /* that it has: 0, 1 for all walkers, or one each */
    double (*box)[3][3]; /* [boxes]: their vectors as rows */
    int32_t dimension;   /* of space, where the file says it; else 0 */
    bool open[3];        /* directions that the file says are not periodic */
    /* The axes of positions: as HOOMD has them, with the origin in the middle of the box, whose first vector is along
     * x and whose second one is in the plane of x and y. `box` may have others. */
    bool centred;
    /* Positions are from `origin`, a corner of the box, and `box` is as HOOMD has it; if not centred. */
    bool from_corner;
    double origin[3]; /* length; taken off positions where the run has that direction */
    double metre;     /* unit of length; 0: that of the run */
    double box_error; /* length: what the printed digits of the box leave open */
    int32_t types;    /* of a file that numbers its types without names, from 0; else 0 */
    double *
        exact; /* [count][3]: the same places in the axes of `box`, from its corner; NULL: not there */
    uint32_t *number;  /* [count] that particles have in a run; NULL: not there */
    int64_t *line;     /* [count] of a text; NULL: it is none */
    int64_t head_line; /* of a text, with the box; 0 */
    /* Of the run whose state it is, with the random numbers of which it was made. */
    bool has_seed;
    uint64_t seed;
} file_frame;

void frame_free(file_frame *);

/* Number of a frame of a file that has `count`: itself from 0 on, or counted from the end, -1 being the last. -1: there
 * is none, and `why` says so. */
enum { FRAME_WHY = 160 };
int64_t frame_number(int64_t which, int64_t count, char why[FRAME_WHY]);

/* As bytes, malloc'ed, and back: from a process that has read the file for another one. What texts and GSD alone have
 * does not travel. NULL and false: memory is short. */
void *frame_pack(const file_frame *, size_t *bytes);
bool frame_unpack(file_frame *, const void *packed, size_t bytes);

/* Frame `which` of a file in each format. An exit code, after a sentence; then there is nothing to free. */
int xyz_read(const char *path, int64_t which, file_frame *, report *);
int gsd_read(const char *path, int64_t which, file_frame *, report *);
int pdb_read(const char *path, int64_t which, file_frame *, report *);
int gro_read(const char *path, int64_t which, file_frame *, report *);

/* Columns of the section Atoms, where the file itself may say it. */
typedef enum lammps_style {
    LAMMPS_UNKNOWN,
    LAMMPS_ATOMIC,
    LAMMPS_CHARGE,
    LAMMPS_MOLECULAR,
    LAMMPS_FULL
} lammps_style;
lammps_style lammps_style_named(const char *name);
int lammps_read(const char *path, int64_t which, lammps_style, file_frame *, report *);

#endif

/* Reading the trajectory of a run: from GSD files, an H5MD file, or from the output file itself, as in its
 * format 3. One walker at a time, some frames at once. */
#ifndef PLUGMC_FRAMES_H
#define PLUGMC_FRAMES_H

#include <stdbool.h>

#include "archive/output.h"
#include "archive/store.h"
#include "formats/gsd.h"

/* A configuration of one walker: those that are there, by species, in the order of their numbers. */
typedef struct read_frame {
    uint64_t sweep;
    plugmc_box box; /* length and vector; volume and inverse are not those of this frame */
    int64_t count;
    int64_t *number;                  /* [count] in the run */
    int32_t *species;                 /* [count] */
    double *positions;                /* [count][3], as the run has them; length */
    plugmc_orientation *orientations; /* [count]; meaningless without `turned` */
    bool turned;                      /* particles have orientations */
} read_frame;

/* With room for all particles of a system. False: no memory; to be freed all the same. */
bool read_frame_make(read_frame *, const plugmc_system *);
/* From positions [particles][3] and orientations [particles], NULL if there are none, as a run has them; a position of NaN
 * for who is not there. */
void read_frame_take(read_frame *, const plugmc_system *, const double *positions,
                     const plugmc_orientation *orientations);
void read_frame_free(read_frame *);

/* What is read of an HDF5 file: `rows` frames from `first` on are in memory. */
typedef struct h5md_rows {
    store store;
    bool reading;
    int64_t first, rows, particles; /* particles: of a row */
    double *places, *edges;
    double *orientations; /* [rows][particles][4] quaternions; NULL: there are none */
    int32_t *ids, *kinds; /* [rows][particles] where numbers change; else NULL */
    int64_t one_by_one;   /* frames before this one are read alone, as some of them are damaged */
} h5md_rows;

typedef struct run_frames {
    const char *path; /* of the output file */
    const plugmc_system *system;
    const output_trajectory *trajectory;
    int64_t *sweeps; /* [trajectory->written] */
    read_frame now;  /* of the last call */
    int walker;      /* that frames are in memory of, or whose file is open; -1: none */
    char why[256];   /* a frame cannot be read */
    char *file;      /* that is open */
    gsd_reader *gsd; /* one of these two */
    h5md_rows h5md;
} run_frames;

/* Opens the trajectory of the output file at `path`, which has data->trajectory.written frames. `held`: where the
 * output file is read, if it has the frames itself. Exit code, with a sentence. */
int frames_open(run_frames *, const char *path, const char *held, output_data *data,
                const plugmc_system *system, report *);
/* Frame k of a walker into `now`. `every`: only each of so many will be asked for. *lost: this frame is damaged, as
 * `why` says, and others may be read. */
int frames_read(run_frames *, int walker, int64_t k, int64_t every, bool *lost, report *);
void frames_close(run_frames *);
#endif

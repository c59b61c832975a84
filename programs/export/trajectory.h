/* The frames of a run's output file, one walker at a time, and what a frame is for the formats. */
#ifndef PLUGMC_EXPORT_TRAJECTORY_H
#define PLUGMC_EXPORT_TRAJECTORY_H

#include "input/config.h"
#include "archive/frames.h"
#include "archive/output.h"

/* A configuration of one walker, and what was measured in it. */
typedef struct snapshot {
    const plugmc_system *system;
    int64_t frame; /* number in the file that is written, from 0 */
    int walker;
    const read_frame *state;
    double *scalars; /* [scalar_count] of run_file; NaN if it was not measured after this sweep */
} snapshot;

/* An output file that is open for export. */
typedef struct run_file {
    const char *path;
    int fd; /* of the file, which a run may replace meanwhile; -1: it is not open */
    config config;
    plugmc_system system;
    output_data data;
    int scalar_count;
    const quantity_record **scalars; /* [scalar_count] measured in each walker */
    double largest_diameter;
    bool turned;        /* particles have orientations */
    const char *shapes; /* of bodies, a line for each species; NULL: not known */
    snapshot now;       /* of the last call */
    read_frame last;    /* the state at the end, once it was read */
    run_frames frames;  /* of the trajectory, once it is open */
} run_file;

/* Reads the file but for its frames. An exit code, with what is wrong in the report. */
int run_open(run_file *, const char *path, report *);
/* Opens its trajectory: data.trajectory.written frames and the sweeps that they were taken after. */
int run_open_trajectory(run_file *, report *);
/* Frame k of a walker into `now`. `every`: only each of so many will be asked for. *lost: this frame is damaged, as
 * run_file.why says, and others may be read. */
int run_read_frame(run_file *, int walker, int64_t k, int64_t every, bool *lost, report *);
/* The state that a resumed run goes on from. */
int run_read_last(run_file *, int walker, report *);
void run_close(run_file *);

#endif

/* GSD files that grow, for programs that read them meanwhile: the trajectory of a run, and plugmc export.
 *
 * Data come first and their entries of the index behind them, so that a file whose writer is killed at any moment has
 * whole frames alone; what it has more than it should is cut by gsd_writer_open. Where data lie follows from the numbers
 * of the frames: the index grows at fixed ones.
 *
 * A frame has what is not the same as in frame 0, as HOOMD's schema wants it, but always what is logged, since readers
 * would take that of frame 0 where it is missing. */
#ifndef PLUGMC_GSD_WRITER_H
#define PLUGMC_GSD_WRITER_H

#include <stdbool.h>

#include "formats/gsd.h"

/* What is the same for all frames of a file. */
typedef struct gsd_content {
    const plugmc_system *system;
    double largest_diameter;
    /* Positions and boxes also in double precision, as the run has them. */
    bool exact;
    /* The number that each particle has in the run: where particles come and go. */
    bool numbered;
    /* Particles have orientations; exact ones are written with `exact`. */
    bool turned;
    /* A line for each species: its shape (archive/shapes.h); NULL: none are known. */
    const char *shapes;
    /* Numbers that are logged: log/NAME. */
    int logged;
    const char *const *names; /* [logged] */
} gsd_content;

/* A configuration of one walker, by species and in the order of the particles' numbers. */
typedef struct gsd_frame {
    uint64_t sweep;
    const plugmc_box *box;
    int64_t count;
    const int64_t *number;                  /* [count] */
    const int32_t *species;                 /* [count] */
    const double *positions;                /* [count][3], length */
    const plugmc_orientation *orientations; /* [count]; if `turned` */
    const double *logged;                   /* [logged]; NaN: not measured */
} gsd_frame;

typedef struct gsd_writer gsd_writer;

/* NULL: no memory. `content` and what it points to must outlive the writer. */
gsd_writer *gsd_writer_new(const gsd_content *content);
void gsd_writer_free(gsd_writer *);
/* What follows returns 0 or an errno, and works on a file descriptor that may be read and written.
 *
 * Begins a file, which is empty. `application`: who writes it, at most 63 characters. */
int gsd_writer_begin(gsd_writer *, int fd, const char *application);
/* Goes on with a file of gsd_writer_begin. Keeps its first `frames` frames at most and cuts off what it has behind them.
 * *kept: how many it has then. EEXIST: it is not of this application, and is left as it is; EBADMSG: it is damaged. */
int gsd_writer_open(gsd_writer *, int fd, const char *application, int64_t frames, int64_t *kept);
/* Adds a frame. Readers see it after gsd_writer_flush. */
int gsd_writer_put(gsd_writer *, int fd, const gsd_frame *);
int gsd_writer_flush(gsd_writer *, int fd);
/* Bytes that the file has, should nobody else have changed it. */
uint64_t gsd_writer_bytes(const gsd_writer *);
#endif

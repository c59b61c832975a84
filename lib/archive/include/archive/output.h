/* The HDF5 file of a run: what observables have given, configuration, checkpoint. Positions on the way are in files of
 * their own (archive/trajectory.h).
 *
 * The file is only ever replaced whole: the new one is written beside it, flushed to disk and renamed over it, so that
 * a run killed at any moment leaves the last one intact. Between checkpoints samples and frames are kept in memory.
 */
#ifndef PLUGMC_OUTPUT_H
#define PLUGMC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "archive/axes.h"
#include "archive/lock.h"
#include "plugmc/everything.h"
#include "base/move_record.h"
#include "base/report.h"
#include "statistics/statistics.h"
#include "formats/frame.h"

/* What its samples say; filled by averages_find (archive/averages.h). */
typedef struct quantity_result {
    estimate scalar;
    autocorrelation correlation;
    double halves; /* scalars: see difference_of_halves */
    int32_t still; /* scalars: walkers that keep the value they began with (archive/frozen.h) */
    double *means, *errors; /* arrays: [length] */
    bool *each_converged;   /* [length] */
} quantity_result;

/* Samples of one quantity of one observable. */
typedef struct quantity_record {
    char *observable, *name, *unit, *doc; /* observable: label of its section */
    axes axes;
    int64_t length;  /* of all its axes; 1: a scalar */
    int32_t walkers; /* that it is measured in: those of a rung, or all */
    int64_t period;  /* sweeps; sample k (from 0) is from after production sweep (k + 1) period */
    double *series;  /* scalars: [samples][walkers] since the start of production */
    int64_t samples, capacity; /* capacity: numbers that series has room for */
    block_average blocks; /* arrays, averaged over walkers; with weights sums of these times them */
    bool
        weighs; /* a scalar: the weights of all samples of its observable; the others' series are then weighted
                    means over walkers, as of one */
    quantity_result found;
} quantity_record;

typedef struct derived_record {
    char *observable, *name, *unit, *doc;
    double value, error;
    bool valid;
    int64_t length; /* 0 or 1: a scalar; else an array, which has no value and error: */
    axes axes;
    double *values, *errors; /* [length] */
    /* Is the error known, or a lower bound as the run is too short? */
    bool converged, *each_converged; /* each: [length] */
} derived_record;

/* Wall seconds of the run after some sweeps, resumed parts included: points some time apart, of which every
 * second one goes when there are too many. */
enum { SPEED_POINTS = 256 };
typedef struct speed_record {
    int count;
    double interval; /* seconds from one point to the next, at least */
    uint64_t sweep[SPEED_POINTS];
    double seconds[SPEED_POINTS];
} speed_record;

/* Unless the last point is less than the interval ago, and `anyway` is false. */
void speed_add(speed_record *, uint64_t sweep, double seconds, bool anyway);
/* Points behind this sweep are forgotten. */
void speed_go_back(speed_record *, uint64_t sweep);

typedef struct frame {
    uint64_t sweep;
    double *positions;                /* [walkers][particles][3] */
    plugmc_box *boxes;                /* [walkers]; NULL: the system's, which nobody changes */
    plugmc_orientation *orientations; /* [walkers][particles]; NULL: there are none */
    double *weights;                  /* [walkers] of averages; NULL: all are alike */
} frame;

enum { STAMP_SIZE = 64 };

/* Where a run comes from, as texts. */
typedef struct output_origin {
    const char *effective_ini; /* with origins as comments */
    const char *user_ini;      /* that resume reads again: the INI with --set applied */
    /* Version, compiler, plugins with hashes, machine, GPU, driver: "key: value" lines. */
    const char *provenance;
    /* The provenance of each part of the run that was resumed, an empty line between them. */
    const char *history;
    const char *author; /* "NAME" or "NAME <MAIL>"; "" or NULL: not given */
} output_origin;

/* The file that was written or read last. */
typedef struct output_file {
    char identity
        [IDENTITY_SIZE];    /* of the process that writes; made by the first write if it is "" */
    char stamp[STAMP_SIZE]; /* who wrote what is in the file, and which of its writes that was */
    uint64_t writes;        /* of this process */
    int error;              /* of the last write that failed, where that was the reason; else 0 */
    dev_t device;
    ino_t inode;
    struct stat left; /* as this process wrote it last; st_nlink 0: it has not */
} output_file;

enum { TRAJECTORY_OF_GSD, TRAJECTORY_OF_H5MD };

/* Positions on the way: archive/trajectory.h. */
typedef struct output_trajectory {
    bool wanted;
    int format;              /* TRAJECTORY_OF_* */
    bool single;             /* GSD without positions in double precision */
    char run[IDENTITY_SIZE]; /* of the run, which its files carry, too */
    char *base;              /* path of its files without their endings; malloc'ed */
    const char *note;
    frame *frames; /* since the last write */
    int frame_count;
    int lent;                       /* frames that somebody is about to write */
    int64_t written;                /* that are in the files */
    uint64_t from, until;           /* sweeps of the first and the last of them */
    bool cut;                       /* the files may have more than `written` */
    bool inside;                    /* frames are in the output file, as in its format 3 */
    struct trajectory_files *files; /* open ones; NULL: none */
} output_trajectory;

/* Everything that goes into the file. Filled by the loop. */
typedef struct output_data {
    const plugmc_system *system;
    output_origin origin;
    output_file file;
    quantity_record *quantities;
    int quantity_count;
    bool joined;    /* walkers hang together: their means are the samples */
    int64_t blocks; /* errors are from so many; 0: by the rule (statistics/blocking.h) */
    const quantity_record *slowest; /* scalar of the longest correlation time; NULL: none is slow */
    uint64_t equilibrate;           /* production starts after this many sweeps */
    derived_record *derived;
    int derived_count;
    output_trajectory trajectory;
    /* checkpoint */
    uint64_t sweep; /* sweeps done, equilibration included */
    move_record *moves;
    int move_count;
    const double *positions;  /* [walkers][particles][3] */
    const struct blob *blobs; /* the plugins' own states */
    int blob_count;
    double seconds; /* of wall time so far */
    speed_record speed;
    bool finished;
    /* set by output_read */
    int32_t walkers;
    int64_t particles;
} output_data;

typedef struct blob {
    char *name;
    void *data;
    size_t bytes;
    size_t row;    /* bytes of each of its rows, 0 if it has none */
    int64_t have;  /* rows that were saved */
    int64_t first; /* of these */
} blob;

/* Two quantities that would have the same place in the file. */
bool output_names_clash(const output_data *, const char **observable, const char **name);
/* Can a file be made at `path`? Tried before a run begins, without touching what is there. `key` is
 * the one that names another place, NULL if there is none. */
int output_probe(const char *path, const char *key, report *);
/* Writes the file that a run would write now, beside `path`, and removes it again: what would fail
 * after hours fails before them. EXIT_MEMORY or EXIT_OUTPUT. */
int output_rehearse(const char *path, output_data *, report *);
/* Appends the frames to the trajectory, writes everything, with what averages_find has found, and replaces `path`.
 * `fresh`: there must be no such file. Else the file must be the one that was written (or read) last, as its stamp
 * shows. On failure the old file is as it was, and the sentence says what to do; the call can be repeated. Frames that
 * are in the trajectory are freed, and trajectory.written says how many there are. */
int output_write(const char *path, bool fresh, output_data *, report *);
/* The same without a report: why it failed goes into `why`. *lost: frames that were in files that are gone. */
enum { OUTPUT_WHY = 1152 };
struct lost_frames;
int output_try(const char *path, bool fresh, output_data *, struct lost_frames *lost,
               char why[OUTPUT_WHY]);
/* What stands at `path`, where `data` was last written to or read from. All that a resumed run reads is read. */
enum output_found {
    FOUND_WHOLE, /* that file */
    FOUND_NOTHING,
    FOUND_DAMAGED, /* that file, and why says what is wrong with it */
    FOUND_OTHER,   /* another one */
    FOUND_UNKNOWN  /* it could not be looked at, and why says what was missing */
};
enum output_found output_look(const char *path, const output_data *data, char why[OUTPUT_WHY]);
bool output_is_intact(const char *path, const output_data *data);
/* The same in words, after a write that failed. */
const char *output_state(bool fresh, enum output_found, const char *why, char words[OUTPUT_WHY]);

/* Reads back what a resumed run needs: user_ini first. The series of scalars, block averages of
 * arrays, counts and steps of moves, positions, blobs. Truncated, foreign or damaged files are refused with
 * what is wrong (EXIT_CHECKPOINT). Payload is protected by a checksum.
 *
 * `data` may be all zero. If it has a system, walkers and particles must agree with it. If it has
 * quantities (observable, name, length, walkers of a system), they must be those of the file in
 * any order, and their samples are filled in; otherwise they are made from the file; moves likewise,
 * in this order. Texts and
 * derived values are read where they are NULL. Positions and blobs are always new. */
int output_read_ini(const char *path, char **user_ini, report *);
int output_read(const char *path, output_data *, report *);
/* What lists and tables of many files need, in a fraction of the time: how far the run has come, its configuration and
 * history; `numbers`: scalars and derived numbers as they were found when the file was written, with no series. `data` is
 * all zero. Nothing is rehearsed: a damaged file may end this process. EXIT_CHECKPOINT, without a sentence, where it is
 * better read whole. */
int output_read_found(const char *path, bool numbers, output_data *data);
/* The same of a file that is open already, whatever `path` leads to by now. */
int output_read_open(int fd, const char *path, output_data *, report *);
/* A path to the file that is open in this process, for it and its children. */
enum { OUTPUT_PATH = 48 };
void output_path_of(int fd, char path[OUTPUT_PATH]);
/* Frees what output_read has put into data that was all zero. */
void output_free(output_data *);

/* Frame `which` of walkers (formats/frame.h), for initial states: the first is particles/trajectory (or the only group
 * below particles), walker w > 0 is particles/trajectory_w. As many as the file has, at most `most`. Elements beside the
 * places that were written at other times have to be those of the last frame. An exit code, after a sentence. */
int h5md_read_frame(const char *path, int most, int64_t which, file_frame *, report *);

/* CSV of the scalars: sweep, then one column a quantity (mean over walkers). Atomic too. */
int output_csv(const char *path, const output_data *, report *);
int output_csv_try(const char *path, const output_data *, char why[OUTPUT_WHY]);

/* Whether the table at `path` is not there, or is this one and ends before it does: a process that was killed between
 * the two files wrote one of them. */
bool output_csv_is_short(const char *path, const output_data *);
#endif

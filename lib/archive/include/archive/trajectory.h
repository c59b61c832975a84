/* The trajectory of a run: files of their own beside the output file, to which frames are appended.
 *
 * They are made for trajectories: other programs open them while the run goes on. A checkpoint counts the frames that it
 * stands for. It is written after these are on the disk, so that a run that is resumed cuts off what came later and goes
 * on. Files carry the identity of the run; those of others are never written to. */
#ifndef PLUGMC_TRAJECTORY_H
#define PLUGMC_TRAJECTORY_H

#include "archive/output.h"

/* Where trajectories of the output file `output` are: its path without .h5 or .hdf5. malloc'ed; NULL: no memory. */
char *trajectory_base(const char *output);
/* The file that has the frames of a walker: BASE.gsd, with several walkers BASE_3.gsd; BASE.h5md for all of them.
 * malloc'ed; NULL: no memory. */
char *trajectory_path(const output_trajectory *, int walker, int walkers);

/* The same path as a checkpoint has it: seen from the folder of the output file if it is in that folder, so that both can
 * be moved together, else absolute; "": none. malloc'ed; NULL: no memory. */
char *trajectory_seen_from(const output_trajectory *, const char *output);

/* Files in the way of a new run's are given other names. `output`: the name that the output file in the way has now, which
 * gives them theirs; "": there was none. *base: what comes before their endings, malloc'ed; NULL: none was in the way. An
 * exit code, and `why`. */
int trajectory_move_aside(output_data *, const char *output, char **base, char why[OUTPUT_WHY]);
/* They get their names back. */
void trajectory_put_back(const output_data *, const char *base);
/* Whether its files are found: where the checkpoint says, or beside the output file, if both have been given another name
 * together. */
bool trajectory_find(output_trajectory *, const char *output, int walkers);
/* Appends the frames that are in memory and has them written to the disk; they are then freed. 0 or an exit code, and
 * `why`. *lost: frames that were in files that are gone, so that these begin anew. */
typedef struct lost_frames {
    int64_t count;
    uint64_t from, until;
} lost_frames;
int trajectory_append(output_data *, lost_frames *lost, char why[OUTPUT_WHY]);
/* Frames behind the first `frames` are forgotten: by the files with the next one that is appended. */
void trajectory_go_back(output_trajectory *, int64_t frames);
/* The frames go on in other files, beginning with the next one. */
void trajectory_move(output_trajectory *, const char *output);
void trajectory_free(output_trajectory *);

/* ---- By format -------------------------------------------------------------------------------- */

/* Says what happened to a file: an errno (EEXIST: it is that of another run; EBADMSG: it is damaged) or
 * REPLACEMENT_CHANGED. An exit code. */
int trajectory_failed(int error, const char *path, char why[OUTPUT_WHY]);

/* Each returns 0 or an exit code with a reason in `why`, and works on all files of the trajectory.
 *
 * What stands at the place of the trajectory. */
enum trajectory_found { TRAJECTORY_NONE, TRAJECTORY_OWN, TRAJECTORY_OTHER };
int trajectory_open(output_data *, enum trajectory_found *, int64_t *frames, char why[OUTPUT_WHY]);
/* Has as many frames as `written` says, or fewer: cuts them to the smallest number that all walkers have. */
int gsd_trajectory_open(output_data *, enum trajectory_found *, int64_t *frames,
                        char why[OUTPUT_WHY]);
bool gsd_trajectory_is_of(const char *path, const char *run);
bool h5md_trajectory_is_of(const char *path, const char *run);
int gsd_trajectory_append(output_data *, char why[OUTPUT_WHY]);
void gsd_trajectory_close(output_trajectory *);
int h5md_trajectory_open(output_data *, enum trajectory_found *, int64_t *frames,
                         char why[OUTPUT_WHY]);
int h5md_trajectory_append(output_data *, char why[OUTPUT_WHY]);
#endif

/* The parts of the output file, each written by a file of its own. */
#ifndef PLUGMC_OUTPUT_PARTS_H
#define PLUGMC_OUTPUT_PARTS_H

#include "archive/draft.h"
#include "archive/output.h"

/* /h5md and /particles of a trajectory: the layout of H5MD 1.1. `before`: frames that the file has already. */
#define ORIENTATION_COMPONENTS "w x y z" /* of quaternions */
void h5md_write_header(draft *, const output_data *);
void h5md_write_frames(draft *, const output_data *, int64_t before);
/* Below particles/. */
enum { H5MD_NAME = 32 };
void h5md_walker_name(int walker, char name[H5MD_NAME]);
/* h5md_read_frame without a rehearsal; opens and closes the store, which has failed if nothing was read. */
void h5md_read(store *, const char *path, int most, int64_t which, file_frame *);

/* The same for the state of a checkpoint in an open file. */
void last_state_read(store *, int most, int64_t which, file_frame *);

/* The format that is written. Format 3, which has the frames of the trajectory in the output file, is read, too. Rows:
 * of sums of blocks. */
enum { CHECKPOINT_FORMAT = 4, CHECKPOINT_FORMAT_WITH_FRAMES = 3, CHECKPOINT_ROWS = 129 };
/* /plugmc: observables, checkpoint, what may differ between equal runs. `trajectory`: its base, as seen from the folder
 * of the output file. */
void checkpoint_write(draft *, const output_data *, const char *stamp, const char *trajectory);
/* Reads all of it into data that is all zero. */
void checkpoint_read(store *, output_data *);

/* Enters a group OBSERVABLE/NAME, with both as attributes, the first one called `what`. */
void record_enter(draft *, const char *what, const char *label, const char *name);
void record_leave(draft *);
/* /plugmc/movers: trial moves. */
void move_records_write(draft *, const output_data *);
void move_records_read(store *, hid_t plugmc, output_data *);

/* How fast the run was, in /plugmc/volatile; absent in files of earlier versions. */
void speed_write(draft *, const speed_record *);
void speed_read(store *, hid_t group, speed_record *);

/* /parameters: texts of the configuration, of what made the run and of its resumes; the stamp. */
void origin_write(draft *, const output_data *, const char *stamp, const char *trajectory);
void origin_read(store *, output_data *);
/* Whether the file has the stamp that data has. */
bool origin_has_stamp(store *, const output_data *);
/* Fails unless it has. */
void origin_check_stamp(store *, const output_data *);

/* "label/name" with what a path may not hold as %XX; to be freed, NULL without memory. */
char *record_path(const char *observable, const char *name);

/* Attributes, which are numbers; 0 where the store has failed. */
static inline int64_t read_integer(store *s, hid_t group, const char *name)
{
    int64_t value = 0;
    store_get_attribute(s, group, name, STORE_INT64, &value);
    return value;
}

static inline double read_real(store *s, hid_t group, const char *name)
{
    double value = 0;
    store_get_attribute(s, group, name, STORE_DOUBLE, &value);
    return value;
}
#endif

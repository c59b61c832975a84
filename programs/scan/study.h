/* A study: an INI file of a run with a section more,
 *
 *     [scan]
 *     box.packing_fraction = 0.698 0.702 0.706
 *     run.seed = 1 2
 *
 * Its points are all combinations of the values, numbered from 0, the last key fastest; keys that `zip`
 * names go together, one list beside the other. Each point is a run of its own with files of its own,
 * FOLDER/NAME.ini, .h5 and .log. With a section [twists] (twists.h) all of these are made with every twist,
 * which is the fastest, and joined again. */
#ifndef PLUGMC_SCAN_STUDY_H
#define PLUGMC_SCAN_STUDY_H

#include <stdint.h>

#include "input/ini.h"

/* Keys of one group go together. */
enum key_group { GROUP_NONE, GROUP_ZIP, GROUP_TWISTS };

/* A key that is scanned. Point k has values[k / stride % count]. */
typedef struct scanned_key {
    const char *name; /* SECTION.KEY, as written */
    char *label;      /* in names of points */
    char *unit;       /* of its values, once there has been a survey; NULL or "": none */
    int line;
    enum key_group group;
    bool unnamed; /* names of points do without it */
    char **values;
    int64_t count, stride;
} scanned_key;

enum point_state { POINT_TO_DO, POINT_INTERRUPTED, POINT_FINISHED, POINT_FAILED, POINT_RUNNING };

/* A column of the tables at one point: a scalar quantity or a derived number. */
typedef struct result {
    char *column, *unit; /* column: LABEL.NAME */
    bool there;          /* false: too few data */
    double value, error;
    bool converged; /* false: the error is a lower bound */
} result;

/* A key that names files, and their paths, one a line. */
typedef struct key_files {
    char *key, *paths;
} key_files;

/* What a survey (survey.h) finds out is behind `name`. */
typedef struct point {
    char *name;
    key_files *files;
    int file_count;
    enum point_state state;
    unsigned long long sweep, sweeps; /* made; asked for, equilibration included */
    char *sentence;                   /* why it failed; NULL: nothing is known */
    bool wants_gpu, own_gpu;          /* own_gpu: [run] gpu is given */
    bool own_threads;                 /* [run] threads is given */
    int64_t particles;                /* of a walker */
    result *results;
    int result_count;
} point;

/* What [twists] says. Point k has twist k % count. */
typedef struct twist_list {
    int64_t count;   /* 0: there is no such section */
    double *weights; /* [count], as given, or 1 and 2 of a grid */
    double sum_of_weights;
    bool leave_out; /* join the others where one is missing */
    char **names;   /* of the keys that it makes, NULL at the end */
} twist_list;

typedef struct study {
    const char *path;
    ini_file ini; /* without [scan] and [twists], whose texts are in the next two */
    ini_section scan, twist_section;
    twist_list twists;
    char *folder;        /* as seen from the working directory */
    int jobs;            /* runs at a time; 0: not given */
    bool accept_changes; /* of plugins, and of the files that they read */
    scanned_key *keys;
    int key_count;
    point *points;
    int64_t point_count;
    int gpus, threads; /* of the machine, once there has been a survey */
} study;

enum { MOST_POINTS = 100000 };

/* Reads a study and names its points. Every error is reported: 0, or the code of the first one. */
int study_read(const char *path, study *, report *);
const char *study_value(const study *, int64_t point, const scanned_key *);
/* Twists are chains of their own: twist t of seed s has the seed s + 2^32 t. False: the point has the seed that its INI
 * says. *line: of the study, where that comes from. */
enum { SEED_TEXT = 32 };
bool study_seed(const study *, int64_t point, char seed[SEED_TEXT], int *line);
/* Frees what a survey has found. */
void point_forget(point *);
/* The INI of a study with the values of a point, which have the lines of [scan] that they come from, and the seed of its
 * twist, without a place for its output. */
int study_assign(const study *, int64_t point, ini_file *out, report *);
/* That INI as a text for FOLDER/NAME.ini, once a survey has found out which keys name files: their
 * names are relative to the study's folder if they lie in it or below the INI file, else absolute.
 * malloc'ed; NULL after an error. */
char *study_text(const study *, int64_t point, report *);
/* Whether points have a section [run]. */
bool study_has_run(const study *);
/* FOLDER/NAME.END, malloc'ed; FOLDER/END without a point (below 0). */
char *study_file(const study *, int64_t point, const char *end);
/* "box.packing_fraction = 0.7, run.seed = 1"; malloc'ed. */
char *study_words(const study *, int64_t point);
void study_free(study *);
/* The keys of [scan] for people, and a block to paste. */
void study_describe(FILE *, bool markdown);
#endif

/* The INI file: sections, keys and values with their lines, nothing interpreted yet.
 *
 * Read through inih's ini_parse_stream with a reader of ours (Debian's inih cuts lines after 199
 * bytes, cuts names, joins indented keys to the one above and counts no lines: the reader keeps
 * values of long lines itself, and refuses the rest, with the line, before inih sees it). */
#ifndef PLUGMC_INI_H
#define PLUGMC_INI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/report.h"

typedef struct ini_entry {
    char *key, *value;
    char *before;  /* the former name under which it stood there (former_keys.h); NULL: none */
    char *origin;  /* "sim.ini:12" or "--set" */
    int line;      /* 0 if it comes from the command line */
    bool used;     /* set by whoever knows the key */
    bool named;    /* by the user, for a plugin with PLUGMC_TYPE_NUMBERS */
    bool assigned; /* by ini_set: replaces what the file says */
    bool here;     /* a file name in it is relative to the working directory: it comes from --set */
    char *file;    /* of a key that names files, once it is known to: their paths, one a line */
} ini_entry;

/* [kind label], e.g. [potential NAME]; label is "" in [run]. */
typedef struct ini_section {
    char *name;         /* as written, without brackets */
    char *kind, *label; /* first word; rest */
    int line;           /* 0 if it comes from the command line */
    ini_entry *entries;
    int count;
    const char *folder; /* that file names are relative to; of the ini_file */
    bool archived;      /* tabs are between several names, since blanks may be in them */
} ini_section;

typedef struct ini_file {
    char *path;    /* which messages name */
    char *archive; /* the output file it was read from; NULL: none */
    char *folder;  /* of that file, or of path */
    ini_section *sections;
    int count;
} ini_file;

/* Reads `path`; every error of the file is reported. 0, or the exit code of the first error.
 * What could be read is in `out` even then. */
int ini_read(const char *path, ini_file *out, report *);
/* The same for a text in memory; `name` is shown in messages. */
int ini_read_text(const char *name, const char *text, ini_file *out, report *);
/* The same for what ini_write wrote, kept in the output file `archive`: sections and keys have the
 * origins that they had then, as far as they were written. */
int ini_read_archived(const char *archive, const char *text, ini_file *out, report *);
/* Applies one --set: "section.key=value", section as written in the file, e.g.
 * "mover NAME.trials=4"; the section's label may be left out where the kind is unique.
 * Makes the section or key if it is not there. */
int ini_set(ini_file *, const char *assignment, report *);
/* The same for a value that stands in this line of the file, in a form of another program: messages name it. */
int ini_set_at(ini_file *, const char *assignment, int line, report *);
/* What an assignment to SECTION.KEY would change; NULL: it is not there. */
ini_entry *ini_at(const ini_file *, const char *name);
/* Leaves out all sections of this kind. */
void ini_drop(ini_file *, const char *kind);
/* Writes it so that ini_read_archived reads the same sections, keys and values back, with origins
 * as comments. Known file names (ini_entry.file) are written relative to the folder of `archive`
 * if they lie there or below, else as absolute paths; all as they are if that is NULL. */
void ini_write(FILE *, const ini_file *, const char *archive);
ini_section *ini_find(const ini_file *, const char *kind); /* first of that kind, or NULL */
ini_entry *ini_get(const ini_section *, const char *key);
/* What messages about a section (or NULL) name before its line: the file, or "--set". */
const char *ini_source(const ini_file *, const ini_section *);
void ini_free(ini_file *);
#endif

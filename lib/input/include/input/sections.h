/* Sections, keys and values of an INI file in memory. */
#ifndef PLUGMC_SECTIONS_H
#define PLUGMC_SECTIONS_H

#include <stdbool.h>
#include <stdio.h>

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

ini_section *ini_find(const ini_file *, const char *kind); /* first of that kind, or NULL */
ini_entry *ini_get(const ini_section *, const char *key);
/* Gives a key that the user has left to the program its value; the value, which the section keeps. */
const char *ini_decide(ini_section *, const char *key, const char *value);
/* What messages about a section (or NULL) name before its line: the file, or "--set". */
const char *ini_source(const ini_file *, const ini_section *);
/* Leaves out all sections of this kind. */
void ini_drop(ini_file *, const char *kind);
void ini_free(ini_file *);
/* For a process of the same program: writes it as it is, with the origins of all values, and reads that back. False: the
 * file ends before, or memory is short. */
void ini_pack(FILE *, const ini_file *);
bool ini_unpack(FILE *, ini_file *);
void ini_section_free(ini_section *);
#endif

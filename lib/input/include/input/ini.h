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
#include "input/sections.h"

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
/* Writes it so that ini_read_archived reads the same sections, keys and values back, with origins
 * as comments. Known file names (ini_entry.file) are written relative to the folder of `archive`
 * if they lie there or below, else as absolute paths; all as they are if that is NULL. */
void ini_write(FILE *, const ini_file *, const char *archive);
#endif

/* Tables of parameters against INI sections: the one place where text becomes numbers. */
#ifndef PLUGMC_PARAMETERS_H
#define PLUGMC_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "input/ini.h"
#include "plugmc/everything.h"

/* Fills `instance` from `section` (NULL: all defaults) by `table`. real_size is 4 or 8. Marks
 * the entries it used. Reports every bad value: not a number, out of range (with the range and
 * unit), not one of the choices, missing though it has no default. Numbers: C notation, whole
 * string; integers also as 1e6; reals also as simple fractions "1/3". Flags: yes/no/true/false/
 * on/off/1/0. Texts are copied into memory that lives as long as the program; names of files
 * become paths, see parameters_path. Returns 0, or the exit code of the first error, as does the
 * next. */
int parameters_fill(const plugmc_parameter *table, int count, size_t real_size, void *instance,
                    const char *path, ini_section *section, report *);

/* The path of the file that an entry names: a relative name is relative to the folder of the INI
 * file (of the output file for a resumed run), or to the working directory after --set. Kept in
 * entry->file. */
const char *parameters_path(const ini_section *, ini_entry *);

/* Bytes of the field of a parameter. */
size_t parameter_bytes(const plugmc_parameter *, size_t real_size);

/* A copy that lives as long as the program, or until nobody has any of them any more. Main thread only. */
const char *keep_text(const char *);
void texts_forget(void);

/* Reports every entry of `section` that nobody used: "sim.ini:12: [potential] unknown key
 * 'diametr'; did you mean 'diameter'?". `extra` are further known keys, NULL at the end. */
int parameters_unused(const plugmc_parameter *table, int count, const char *const *extra,
                      const char *path, const ini_section *section, report *);

/* Is a table that comes from a plugin sound: names, types, fields inside the struct, ranges and
 * readable defaults? If not, `why` says what is wrong with it. */
bool parameters_sane(const plugmc_parameter *table, int count, size_t real_size,
                     size_t instance_size, char *why, size_t size);

/* Writes "key = value  ; origin" lines of the effective values. */
void parameters_echo(FILE *, const plugmc_parameter *table, int count, size_t real_size,
                     const void *instance, const ini_section *section);

/* Writes a table for people: key, default, range, unit, doc; as text for `plugmc info` or as
 * Markdown rows for the reference manual. */
void parameters_describe(FILE *, const plugmc_parameter *table, int count, int markdown);

/* A paste-ready INI block: one commented line of doc and one "key = default" line each. */
void parameters_ini_block(FILE *, const char *section, const plugmc_parameter *table, int count);
#endif

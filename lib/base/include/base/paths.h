/* Names of files: what they are relative to, and what they name. Strings that are returned are malloc'ed. */
#ifndef PLUGMC_PATHS_H
#define PLUGMC_PATHS_H

#include <stdbool.h>

/* The folder that a path names something in: "a" of "a/b", "" (the working directory) of "b", "/"
 * of "/b". */
char *path_folder(const char *path);
/* `name` in `folder`; `name` as it is if it is absolute or empty, or the folder is "". */
char *path_join(const char *folder, const char *name);
/* The same file seen from `folder` if it lies there or below, else its absolute path. What has a
 * '/' keeps one: "./b". */
char *path_beside(const char *folder, const char *path);
/* Whether both are there and one file, by whatever names. */
bool path_is_same_file(const char *one, const char *other);
/* The same of files that need not be there yet: in one folder by whatever name, and of one name in it. */
bool path_will_be_same_file(const char *one, const char *other);
#endif

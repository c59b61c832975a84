/* Files of a study, each written as a whole: a program that reads one finds the old or the new. */
#ifndef PLUGMC_SCAN_FILES_H
#define PLUGMC_SCAN_FILES_H

enum { FILES_WHY = 1024 };

/* An exit code, with the reason in `why`. A file that has this text already is left alone. */
int files_write_text(const char *path, const char *text, char why[FILES_WHY]);
/* A folder with those that it lies in, unless it is there. */
int files_make_folder(const char *path, char why[FILES_WHY]);
#endif

/* Where plugmc is: what belongs to it is found from there. */
#ifndef PLUGMC_OWN_FOLDER_H
#define PLUGMC_OWN_FOLDER_H

/* The folder of the file that this code has been loaded from, a program or a shared library; absolute, without links.
 * NULL: it cannot be found. */
const char *own_folder(void);
/* The first of these places that is there, each a path relative to own_folder(); malloc'ed, NULL: none is.
 * places: NULL at the end. */
char *own_place(const char *const *places);
#endif

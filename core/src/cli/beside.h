/* Programs beside the program (programs/): `plugmc NAME ...` becomes plugmc-NAME ... of the same folder. */
#ifndef PLUGMC_BESIDE_H
#define PLUGMC_BESIDE_H

/* The path of a program in the folder of the one that runs; to be freed. NULL: no memory, or no /proc. */
char *beside_path(const char *name);
/* Replaces this process by plugmc-NAME with `arguments` (argv[0] is set here). Returns only if that fails:
 * an exit code, after a sentence. */
int beside_run(const char *name, int count, char **arguments);
/* What each of those programs does first: its children are those of plugmc itself (child.h), and its
 * standard streams are there. An exit code, after a sentence if it is not EXIT_DONE. */
int beside_begin(void);
#endif

/* Programs beside the program (programs/): `plugmc NAME ...` becomes plugmc-NAME ... of the same folder. */
#ifndef PLUGMC_BESIDE_H
#define PLUGMC_BESIDE_H

/* The path of a program in the folder of the one that runs; to be freed. NULL: no memory, or no /proc. */
char *beside_path(const char *name);
/* Replaces this process by plugmc-NAME with `arguments` (argv[0] is set here). Returns only if that fails:
 * an exit code, after a sentence. */
int beside_run(const char *name, int count, char **arguments);
/* The main of each of those programs: what `command` makes of the arguments behind the program's name, or, where one of
 * them is --help, `help`. Standard streams are there, crashes are told, and its children are those of plugmc itself
 * (child.h). Returns the exit code. */
int beside_main(int argc, char **argv, const char *help, int (*command)(int argc, char **argv));
#endif

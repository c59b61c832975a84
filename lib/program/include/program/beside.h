/* Programs beside the program (programs/): `plugmc NAME ...` becomes plugmc-NAME ... of the same folder. */
#ifndef PLUGMC_BESIDE_H
#define PLUGMC_BESIDE_H

/* The path of a program in the folder of the one that runs; to be freed. NULL: no memory, or no /proc. */
char *beside_path(const char *name);
/* Replaces this process by plugmc-NAME with `arguments` (argv[0] is set here). Returns only if that fails:
 * an exit code, after a sentence. */
int beside_run(const char *name, int count, char **arguments);
/* Of a command that does not divide its work: EXIT_USAGE if a launcher has started several processes of it, after a
 * sentence of the first one, as each would do all of the work and write the same files. */
int beside_check_alone(const char *name);
/* The main of each of those programs: what `command` makes of the arguments behind the program's name, or, where one of
 * them is --help, `help`. They run as one process. Standard streams are there, crashes are told, and its children are those of plugmc itself
 * (child.h). Returns the exit code. */
int beside_main(int argc, char **argv, const char *help, int (*command)(int argc, char **argv));
#endif

/* The commands of the program. Each takes what follows its name and returns an exit code. */
#ifndef PLUGMC_CLI_H
#define PLUGMC_CLI_H

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_list(int argc, char **argv);
int command_info(int argc, char **argv);
int command_manual(int argc, char **argv);
int command_doctor(int argc, char **argv);
/* What the program starts as its children (child.h); not for users, hence in no list of
 * commands. rehearse KIND FILE DETAIL: rehearsal.h. write new | grown: archive/draft.h, with
 * the files to write as descriptors 3 and 4. read FILE: archive/store_apart.h. Both have a socket as standard input. */
int command_rehearse(int argc, char **argv);
int command_write(int argc, char **argv);
int command_read(int argc, char **argv);

/* Tells the exit codes; part of every --help that runs something. */
extern const char exit_code_help[];
#endif

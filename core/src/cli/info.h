/* `plugmc list`, `plugmc info` and `plugmc manual`: what there is, from the tables of the core and
 * of the plugins. Like all commands they take the arguments from the command's own name on
 * (argv[0] is "list") and return an exit code. */
#ifndef PLUGMC_INFO_H
#define PLUGMC_INFO_H

int command_list(int argc, char **argv);
int command_info(int argc, char **argv);
/* The whole of docs/ini-reference.md on stdout. */
int command_manual(int argc, char **argv);
#endif

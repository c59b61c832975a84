/* plugmc doctor: what this machine has of what plugmc can use. */
#ifndef PLUGMC_DOCTOR_H
#define PLUGMC_DOCTOR_H

/* EXIT_DONE, also on a machine without a GPU; EXIT_USAGE for arguments. */
int command_doctor(int argc, char **argv);
#endif

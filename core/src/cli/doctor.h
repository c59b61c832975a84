/* plugmc doctor: what this machine has of what plugmc can use. */
#ifndef PLUGMC_DOCTOR_H
#define PLUGMC_DOCTOR_H

/* Always 0: a machine without a GPU is no error. */
int command_doctor(int argc, char **argv);
#endif

/* Standard input, output and error as the program finds and leaves them. */
#ifndef PLUGMC_CLI_STANDARD_STREAMS_H
#define PLUGMC_CLI_STANDARD_STREAMS_H

/* First of all: where one of the three is closed, the next file to be opened would take its place,
 * and messages would end up in it. Something that cannot be written to takes it instead. */
void standard_streams_begin(void);
/* Last of all: the exit code, EXIT_OUTPUT if what was done is done but could not be printed. */
int standard_streams_end(int code);
#endif

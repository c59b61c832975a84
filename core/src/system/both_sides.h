/* Access to an array of the state, beside PLUGMC_READ and PLUGMC_WRITE: what is written on one side is written on the other one as
 * well, by whoever asks, so neither is copied to the other. */
#ifndef PLUGMC_BOTH_SIDES_H
#define PLUGMC_BOTH_SIDES_H
enum { ON_BOTH_SIDES = 1 << 30 };
#endif

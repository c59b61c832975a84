/* faulty.c as a pair potential, for movers that take no field. */
#define FAULTY_PAIR
#include "faulty.c"

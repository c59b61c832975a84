/* What to do about what the linker says. */
#ifndef PLUGMC_BUILD_ADVICE_H
#define PLUGMC_BUILD_ADVICE_H

#include <stdio.h>

#include "compiler.h"

/* `said`: what the linker has said. Notes about functions that nothing defines: they may be C++ or Fortran in one of the
 * libraries, or a library is missing; and about libraries that are not compiled for shared objects. */
void advise_on_linking(FILE *said, const order *, report *);
#endif

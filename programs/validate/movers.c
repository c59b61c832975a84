/* Checks of movers. */
#include "validate.h"

int validate_mover(const target *t, findings *f)
{
    (void)t;
    check_not_covered(f, "mover", "this version validates potentials and observables only");
    return 0;
}

/* What PDB, GRO and LAMMPS data have in common: boxes whose first vector is along x and whose second one is in the plane of
 * x and y, from a corner; one unit of length; names of limited length. */
#ifndef PLUGMC_EXPORT_STANDARD_AXES_H
#define PLUGMC_EXPORT_STANDARD_AXES_H

#include "formats.h"
#include "formats/gsd.h"

typedef struct standard_axes {
    bool periodic, leaning; /* leaning: some angle is not right */
    double scale;           /* from the run's unit of length to that of the file */
    double vector[3][3];    /* of the box, in the unit of the file */
    gsd_box axes;           /* of a leaning box */
} standard_axes;

/* metre: unit of the file. Without [units] numbers stay as they are. The third vector of a plane box is one unit long. */
standard_axes standard_axes_of(const exported *, const snapshot *, double metre);
/* Where particle i is in the file. */
void standard_position(const standard_axes *, const snapshot *, int64_t i, double out[3]);
/* What particle i belongs to: a rigid molecule, or itself alone. *name is that of the molecule or of the species. Returns its number,
 * from 1: molecules are numbered by the room that there is for them, free particles behind them. */
int64_t residue_of(const snapshot *, int64_t i, const char **name);
/* Whether the format can hold the run: sets e->why if it has bodies, or a name longer than `longest`. */
bool standard_holds(exported *, const char *format, size_t longest);

#endif

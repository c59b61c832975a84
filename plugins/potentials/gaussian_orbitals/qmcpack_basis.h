/* Sets of basis functions as QMCPACK has them, in HDF5 and in XML: element by element, from where they go to all atoms. The
 * conventions are told in read_qmcpack.c. */
#ifndef GAUSSIAN_QMCPACK_BASIS_H
#define GAUSSIAN_QMCPACK_BASIS_H

#include "molecule.h"

enum { BASIS_NAME = 32 };

/* Of the atoms of one element. */
typedef struct basis_element {
    char name[BASIS_NAME];
    int32_t atomic_number;
    double charge;
    int32_t first, shells; /* in a list of shells; shells 0: not yet read */
    int32_t cartesian, has_norm;
    char expansion[BASIS_NAME];
} basis_element;

/* Memory of its own, to be freed. */
typedef struct basis_shells {
    int32_t count, room, primitives, primitive_room;
    gaussian_shell *shell;
    double (*primitive)[2];
} basis_shells;

/* Makes room for one more shell and one more primitive function. */
int basis_grow(const molecule *, basis_shells *);
/* Whether functions are cartesian, from `angular` and the element's expandYlm; others than are known are refused, by the
 * name `group` of the place. */
int basis_check_expansion(const molecule *, const char *group, const char *angular,
                          basis_element *);
/* The shells of all atoms, of which element_of says which they are of, and where their functions go. */
int basis_copy_shells(molecule *, const basis_element *, const int32_t *element_of,
                      const basis_shells *);
#endif

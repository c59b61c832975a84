/* QMCPACK's files of what stands in place of s functions near bare nuclei. */
#ifndef GAUSSIAN_CUSP_FILE_H
#define GAUSSIAN_CUSP_FILE_H

#include "gaussian_orbitals.h"

/* Which functions of a file are read. */
typedef struct cusp_wanted {
    int32_t nuclei;
    const int32_t *nucleus;       /* [nuclei] from 0 */
    const double *largest_radius; /* [nuclei] that rc may have, bohr */
    int64_t orbitals;
    const int32_t *orbital; /* [orbitals] from 0 */
} cusp_wanted;

/* out: [nuclei][orbitals]. A code of plugmc after a message where the file lacks one of them or is damaged. */
int cusp_file_read(const plugmc_host *, const char *path, const cusp_wanted *, gaussian_cusp *out);
#endif

/* Twist averages. A wave function in a periodic box may gain a phase 2 pi theta_d over each edge, and the mean over
 * theta takes away most of what a small box does to the kinetic energy (C. Lin, F. H. Zong, D. M. Ceperley, Phys. Rev.
 * E 64, 016702 (2001)). The section
 *
 *     [twists]
 *     of = plane_waves          ; [potential plane_waves] has the key `twist`
 *     grid = 4 4 4              ; or list = "0 0 0" "0.5 0 0" with weights = 1 3
 *     fermi_energy = 1.84       ; Hartree; if given, each twist has its own numbers of electrons
 *
 * makes keys of the study: the twist, and with a Fermi energy the count of every species, which go together and are
 * the fastest of all. */
#ifndef PLUGMC_SCAN_TWISTS_H
#define PLUGMC_SCAN_TWISTS_H

#include "study.h"

/* From s->twist_section, behind the keys of [scan]. Every error is reported: 0, or the code of the first one. */
int twists_read(study *, report *);
void twists_free(study *);
/* The keys of [twists] for people, and a block to paste. */
void twists_describe(FILE *, bool markdown);
#endif

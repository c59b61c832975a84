/* Rigid molecules of a system: plugmc_system.molecules. */
#ifndef PLUGMC_MOLECULE_KINDS_H
#define PLUGMC_MOLECULE_KINDS_H

#include <stdbool.h>

#include "input/config.h"
#include "plugmc/everything.h"

/* Room for a number that nobody has limited, at first or, with a capacity above 0, as it has come to be
 * (session/enlarging.h). */
int64_t room_for(int64_t count, int64_t capacity);

/* Reads [molecule NAME]. Species have to be counted without sites; sites of the molecules that a run begins with are added to
 * `sites` [species], those of the molecules that there is room for to `room` [species]. Sets system->molecules, or leaves it
 * NULL. Returns 0 or an exit code. */
int molecule_kinds_read(const config *, plugmc_system *, int64_t *sites, int64_t *room, report *);
/* Whether a species is that of the first sites of molecules whose number nobody has limited. */
bool molecule_kinds_grow(const plugmc_system *, int32_t species);
/* Numbers the sites, once the blocks of species are known (system->first), and sets system->molecule. */
int molecule_kinds_number(plugmc_system *, report *);
/* Whether the box is one for molecules, and larger than twice each of them. */
int molecule_kinds_check_box(const config *, const plugmc_system *, report *);
void molecule_kinds_free(plugmc_system *);
/* Gives `packed`, a copy of a system with other blocks of species (packed->first), molecules of its own: as many of each kind as
 * there are among `count` [species] particles, without room for more. Where there are none it does nothing. Returns EXIT_DONE or
 * EXIT_MEMORY; molecule_kinds_free follows in either case. */
int molecule_kinds_pack(plugmc_system *packed, const int64_t *count);

/* Largest distance of a site from the first site of its molecule, length. 0: no molecules. */
double molecules_extent(const plugmc_system *);
/* Whether particles i and j are sites of the same rigid molecule. */
static inline bool in_same_molecule(const plugmc_system *system, int64_t i, int64_t j)
{
    return system->molecules && system->molecule[i] >= 0 &&
           system->molecule[i] == system->molecule[j];
}
/* Numbers of all sites of the molecule of particle i in ascending order, particle i among them; out
 * [PLUGMC_MOST_SITES]. Returns how many there are; 0: it is in no molecule. */
int32_t sites_with(const plugmc_system *, int64_t i, int64_t *out);
/* Whether particle i is the first site of a molecule. */
bool is_first_site(const plugmc_system *, int64_t i);
/* The kind of the molecule of particle i, whose number within it becomes *m; NULL: it is in none. */
const plugmc_molecule *molecule_with(const plugmc_system *, int64_t i, int64_t *m);
/* Positions at [sites][3], wrapped, of the sites of a molecule with its first one at `first`. */
void place_kind(const plugmc_molecule *, const plugmc_box *, const double first[3],
                const plugmc_orientation *, double (*at)[3]);
/* Positions of all sites of the molecule of first site i, from the position of that and the orientation. at [sites][3],
 * wrapped; number [sites]: of these particles. Returns how many there are. */
int32_t place_sites(const plugmc_system *, const plugmc_box *, int64_t i, const double first[3],
                    const plugmc_orientation *, double (*at)[3], int64_t *number);
/* How many sites of a species a run begins with; they come first in its block. */
int64_t sites_of_species(const plugmc_system *, int32_t species);
/* How many sites of a species there is room for. */
int64_t room_of_sites(const plugmc_system *, int32_t species);
/* Whether molecules have sites of a species. */
bool has_sites(const plugmc_system *, int32_t species);
#endif

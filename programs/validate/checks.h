/* Checks of potentials, by what they look at. Each gets a run of its own, in a child process. They return exit codes,
 * reported, where a check could not be finished; what they find is in the findings. */
#ifndef PLUGMC_VALIDATE_CHECKS_H
#define PLUGMC_VALIDATE_CHECKS_H

#include "stand.h"

/* Parameters, range and two particles, by tests that every run makes at its start. */
int check_inputs(const target *, stand *, findings *);
int check_ranges(const target *, stand *, findings *);
int check_line(const target *, stand *, findings *);
int check_vectors(const target *, stand *, findings *);
/* Loops over neighbours against single pairs. */
int check_batches(const target *, stand *, findings *);
int check_lanes(const target *, stand *, findings *);
int check_pair_slopes(const target *, stand *, findings *);
/* Energies of single particles. */
int check_fields(const target *, stand *, findings *);
int check_field_slopes(const target *, stand *, findings *);
/* Changes that the core computes against energies of whole configurations. */
int check_displacements(const target *, stand *, findings *);
int check_swaps(const target *, stand *, findings *);
int check_displaced_together(const target *, stand *, findings *);
int check_restart(const target *, stand *, findings *);
int check_kept(const target *, stand *, findings *);
int check_boxes(const target *, stand *, findings *);
int check_insertions(const target *, stand *, findings *);
/* Forces and virials against differences of energies. */
int check_forces(const target *, stand *, findings *);
int check_virials(const target *, stand *, findings *);
/* Many-body terms: tests that runs make, and walkers that must not know of each other. */
int check_many_body(const target *, stand *, findings *);
int check_walkers(const target *, stand *, findings *);
int check_alike_particles(const target *, stand *, findings *);
/* Orbitals, of potentials that offer them. */
int check_orbitals(const target *, stand *, findings *);
/* Bodies: two of them, their sizes, and how far one goes before it touches another one. */
int check_bodies(const target *, stand *, findings *);
int check_body_sizes(const target *, stand *, findings *);
int check_body_turns(const target *, stand *, findings *);
int check_body_paths(const target *, stand *, findings *);
/* Callbacks that may not write to their struct, and memory around it. */
int check_memory(const target *, stand *, findings *);
/* What follows from the run around the potential. */
int check_temperature(const target *, stand *, findings *);
int check_first_box(const target *, stand *, findings *);
int check_places(const target *, stand *, findings *);
int check_end_of_range(const target *, stand *, findings *);
int check_steps(const target *, stand *, findings *);
int check_faces(const target *, stand *, findings *);
int check_total_faces(const target *, stand *, findings *);
int check_lists(const target *, stand *, findings *);
/* GPU source: compiled, and on a GPU compared with the CPU. */
int check_source(const target *, stand *, findings *);
int check_on_gpu(const target *, stand *, findings *);
/* A run that is resumed, against one that is not. Of potentials and observables. */
int check_resumed(const target *, int system, findings *);

/* A check that is made once more, in an oblique box: *leans is true meanwhile, which `work` has in its task. Returns whether
 * the plugin has ended it. */
bool apart_leaning(const target *, findings *, const char *name, apart_work *work, void *task,
                   bool *leans);
/* Moves particles from where a run begins, so that symmetries of a lattice hide nothing. Returns a PLUGMC_* code. */
int scramble(stand *);
/* Differences of an energy to both sides of a position, of growing widths. */
enum { WIDTHS = 7 };
typedef struct two_sides {
    double left[WIDTHS], right[WIDTHS];
} two_sides;
/* Widths relative to the mean distance of particles. */
extern const double slope_widths[WIDTHS];
/* Whether a derivative departs from all slopes that neighbouring widths agree about. Where none agree (a kink, a jump,
 * rounding) it does not. *found: the slope that is nearest to it. */
bool slope_is_wrong(const two_sides *, double derivative, double tolerance, double *found,
                    bool *settled);
/* The first of our systems in which the plugin opens, or 0 for FILE.ini. `open` is given `task`, and makes findings;
 * *number is the system that it is to try, and `heard` what it has heard, both in memory that is shared. *system is -1
 * if there is none: then the exit code is that of input that is needed, or 0 and there is a finding. */
int find_system(const target *, findings *, apart_work *open, void *task, int *number,
                const heard *heard, int *system);
#endif

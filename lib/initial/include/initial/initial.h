/* Initial states: the one that [initial] asks for, and, one function each, where it comes from. */
#ifndef PLUGMC_INITIAL_H
#define PLUGMC_INITIAL_H

#include "input/config.h"
#include "engine/engine.h"
#include "system/geometry.h"

/* The configuration by [initial], which all movers take. An exit code. */
int initial_begin(engine *);

/* Initial positions [walkers][particles][3] (double, wrapped into the box, z = 0 in 2D) of every
 * walker, by config->initial. system->terms must be complete and their parameters filled.
 *   lattice  the species are mixed at random over the sites (seeded)
 *   random   random insertion without overlaps at random_fraction in an enlarged box, then
 *            particles of full size are pushed apart, or, if they cannot be, compressed with
 *            Metropolis moves as by J. A. Anderson et al., J. Comput. Phys. 254, 27 (2013);
 *            walkers differ
 *   file     the frame [initial] frame, the last one by default, of each walker of an H5MD file, or of a GSD or an
 *            extended XYZ file, which have one; walkers beyond those of the file begin with its first again; species
 *            by name, or by number where there are no names
 * boxes: [walkers], as the system's, where boxes change; a file's are then theirs. NULL: a file's has to be the
 * system's within 1e-6. first: walkers of the run that belong to other processes and come before those here.
 * orientations: [walkers][particles] if there are bodies, else NULL.
 * Ends in an error naming the first overlapping pair if there is one. */
int initial_state(const config *, const plugmc_system *, int32_t first, double *positions,
                  plugmc_orientation *orientations, plugmc_box *boxes, report *);

/* Positions [walkers][particles][3] that somebody gives for those there are, in boxes [walkers]: wrapped, and checked as
 * initial states are. NaN where nobody is. `orientations` are those of bodies. */
int initial_check(const config *, const plugmc_system *, int32_t first, double *positions,
                  const plugmc_orientation *orientations, plugmc_box *boxes, report *);
/* All movers take these from here on, once they are found good; the run's stay if they are not. An exit code. */
int initial_replace(engine *, const double *positions);
/* Other boxes, of lattice vectors [walkers][3][3], into which particles go along with their fractional coordinates. */
int initial_replace_boxes(engine *, const double *vectors);

enum { LATTICE_AUTO, LATTICE_SQUARE, LATTICE_TRIANGULAR, LATTICE_SC, LATTICE_FCC };

/* `n` sites [n][3] of a lattice in the box, as far apart as such a lattice allows; where it has
 * more sites, the vacancies are spread evenly. *nearest is the smallest distance between two
 * sites. The kind fits the dimension. EXIT_DONE or EXIT_MEMORY. */
int lattice_sites(const plugmc_box *, int kind, int64_t n, double *sites, double *nearest);

/* Where upright bodies would overlap on these sites of a lattice, whose neighbours are that far apart: the sites of another one
 * instead, cubic or square, but stretched along each axis as the bodies are. They may overlap there, too. upright
 * [particles]; sites [particles][3]. EXIT_DONE or EXIT_MEMORY. */
int body_lattice(const plugmc_system *, const plugmc_orientation *upright, double *sites,
                 double nearest);

/* A random state of one walker without overlaps. */
typedef struct random_outcome {
    int code;         /* EXIT_DONE, EXIT_INPUT or EXIT_MEMORY */
    int64_t inserted; /* particles that found a place; fewer than N: insertion failed */
    double scale;     /* contact distances reached, over those wanted; below 1: compression
                            came to rest */
    double
        fraction; /* packing fraction at which particles were inserted; of bodies, that of the spheres around them */
} random_outcome;
random_outcome random_state(const plugmc_system *, const contacts *, double random_fraction,
                            int64_t attempts, uint32_t walker, double *positions);

/* As random_state, with orientations [particles]: bodies grow, and orientations are random. random_fraction is that of the
 * spheres around the bodies when they are inserted. */
random_outcome random_bodies(const plugmc_system *, double random_fraction, int64_t attempts,
                             uint32_t walker, double *positions, plugmc_orientation *orientations);
/* Finds the first pair of bodies of a walker that overlap, by all sampled terms. 1: pair[0] and pair[1] do; 0: none do;
 * -1: without memory. */
int find_bodies_overlap(const plugmc_system *, const double *positions,
                        const plugmc_orientation *orientations, int64_t pair[2]);

/* Molecules and free particles, each of which has one place. */
int64_t centres_in(const plugmc_system *);
/* First sites of molecules at `centres` [centres_in][3], then free particles; orientations are random. positions
 * [particles][3], orientations [particles] of one walker. */
void molecules_at(const plugmc_system *, uint32_t walker, const double *centres, double *positions,
                  plugmc_orientation *orientations);
/* Cores: distances that sites of different molecules, and free particles, keep in a random start. At each level the core of a pair
 * is the largest distance at which its energy without charges is above that of the level, or the hard core if that is larger.
 * Smaller cores have larger energies. */
enum { CORE_LEVELS = 4 };
typedef struct cores {
    int levels; /* 1: no soft cores, at[0] are the hard ones */
    double energy
        [CORE_LEVELS]; /* of a pair, kT of the lowest temperature; INFINITY without soft cores */
    contacts at[CORE_LEVELS];
} cores;
/* `hard` are the contact distances of the system. EXIT_DONE or EXIT_MEMORY; cores_free follows in either case. */
int cores_make(const plugmc_system *, const contacts *hard, cores *);
void cores_free(cores *);

/* As random_state, of molecules: first sites and free particles at random, not too near to each other, orientations at random,
 * no cores overlap. Molecules grow as bodies do, by the first level of cores at which they fit; `scale` is that of the last. */
random_outcome random_molecules(const plugmc_system *, const cores *, double random_fraction,
                                int64_t attempts, uint32_t walker, double *positions,
                                plugmc_orientation *orientations);
/* Turns molecules on a lattice until no cores overlap, by the first level at which that can be. If there is none, those with soft cores
 * grow from there as from random places, and those with hard cores stay as they are. EXIT_DONE or EXIT_MEMORY. */
int lattice_apart(const plugmc_system *, const cores *, double random_fraction, uint32_t walker,
                  double *positions, plugmc_orientation *orientations);
/* Finds orientations [particles] from the positions [particles][3] of all sites, which then become those of the molecules at
 * rest, turned. Returns -1, or the number of the first molecule that has another shape, with the distance of a site
 * from its place in *misfit. */
int64_t fit_molecules(const plugmc_system *, const plugmc_box *, double *positions,
                      plugmc_orientation *orientations, double *misfit);

/* Takes the overlapping particles of one walker apart, by pushing; in parallel, and the same whatever
 * the number of threads. *apart: whether none is left; positions are wrapped into the box.
 * EXIT_DONE or EXIT_MEMORY. */
int relax(const plugmc_system *, const contacts *, double *positions, int *apart);

/* Whether particles may feel others far away: with a charge, or a potential without range. Their
 * numbers are then not to follow their positions: a mover that takes them by their numbers, all on
 * one side first, drives a current through the system, and a sphere of 131,072 ions takes 300
 * sweeps to spread again instead of 20. */
int long_ranged(const plugmc_system *);

/* A frame of a file, see initial_state. */
int state_from_file(const config *, const plugmc_system *, int32_t first, double *positions,
                    plugmc_orientation *orientations, plugmc_box *boxes, report *);

#endif

/* A small run with the plugin in it: its section of FILE.ini, with species and box, or a system of ours. */
#ifndef PLUGMC_VALIDATE_STAND_H
#define PLUGMC_VALIDATE_STAND_H

#include "apart.h"
#include "session/session.h"

/* What a mover of the run changes, so that potentials prepare for it. */
enum stand_changes { STAND_POSITIONS, STAND_BOXES, STAND_COUNTS };

typedef struct stand {
    session session;
    /* Of the system (stand_system). */
    int number;
    heard heard;
    /* The plugin under test. */
    instance *own;
    /* Whom services of the core are called for. */
    const plugmc_host *host;
    /* The potential has an energy: then the Hamiltonian has the configuration. Else it has orbitals. */
    bool has_energy;
    /* State of our random numbers. */
    uint64_t draws;
    /* Of an oblique box, which its input refers to. */
    double vectors[3][3];
} stand;

/* The boxes that are tried where there is no FILE.ini, from 0, in words. NULL after the last one. */
const char *stand_system(int k);
/* The input of a run of the plugin: `system` is a number of stand_system. Movers are left out, where the plugin is a
 * potential; of FILE.ini other potentials too if `system` is 0, and none of them if it is 1, as ions may need a core.
 * Returns an exit code, reported. */
int stand_input(const target *, int system, enum stand_changes, ini_file *, report *);
/* Opens the run, up to its initial state, without tests of pairs. `device`: DEVICE_CPU or DEVICE_GPU. Returns an exit
 * code; stand.heard has the sentences. Call stand_close in any case. */
int stand_open(const target *, int system, enum stand_changes, int device, stand *);
/* What is otherwise in the run, on the CPU. */
typedef struct stand_change {
    /* 0: the same. */
    double temperature;
    /* Edges are multiplied by it. */
    double edge;
    /* So many more places for particles of each species. */
    int places;
    /* A key with another value. NULL: none. */
    const char *assignment;
    /* More of them, ended by NULL. NULL: none. */
    char *const *assignments;
    /* Two particles of one more species, which has the charge and the diameter of the last one. */
    bool another_species;
    /* Vectors [3][3] of an oblique box instead of the box of the run. NULL: its own box. */
    const double (*vectors)[3];
} stand_change;
/* The name of that species. */
extern const char stand_another[];
int stand_open_changed(const target *, int system, enum stand_changes, stand_change, stand *);
void stand_close(stand *);

/* The term of a potential under test. */
const plugmc_term *stand_term(const stand *);
/* Uniform in [0, 1), and in [-1, 1). Always the same sequence. */
double stand_uniform(stand *);
double stand_symmetric(stand *);
int64_t stand_below(stand *, int64_t n);
/* Seconds of CPU time, which budgets are in: what is checked then does not depend on what else a machine does. */
double stand_clock(void);
/* Mean distance of particles of walker w, length. */
double stand_distance(const plugmc_system *, const plugmc_box *);
/* Anywhere in the box; in a sphere anywhere in the cube within it. */
void stand_position(stand *, const plugmc_box *, double at[3]);
/* Fractional coordinates of a position in a periodic box, and the way back. */
void stand_fractions(const plugmc_box *, const double r[3], double f[3]);
void stand_at_fractions(const plugmc_box *, const double f[3], double r[3]);
/* Positions [walkers][particles][3] drawn together by `factor` about the corner of the periodic box, box [walkers], so that
 * pairs of few particles, too, meet across its faces; not along a closed direction. */
void stand_gather(const plugmc_system *, const plugmc_box *, double factor, double *positions);
/* What to look at if only one precision is wrong; "": nothing. */
const char *stand_of_prepare(const stand *);
/* "x", or "lattice vector a" of an oblique box. */
const char *stand_axis(const plugmc_box *, int d);
/* Lattice vectors of an oblique box as large as this one, with edges nearly as long. False: there is none, since this one
 * is not rectangular, or not in three dimensions. */
bool stand_lean(const plugmc_box *, double vectors[3][3]);
/* How far two particles may be apart: half of the shortest edge, or the diameter of a sphere; length. */
double stand_reach(const plugmc_box *);

/* Particles as arrays in both precisions: positions, charge, diameter. */
enum { MOST_PARTICLES = 32 };
typedef struct particles {
    double x[5][MOST_PARTICLES];
    float y[5][MOST_PARTICLES];
    int32_t species[MOST_PARTICLES];
} particles;
void particles_put(particles *, int k, const plugmc_particle *);
/* `count` of them from `first` on. */
plugmc_particles particles_list(const particles *, bool single, int first, int count);
/* A particle of a species. */
plugmc_particle particle_of(const plugmc_system *, int32_t species, const double at[3]);

/* The energy of whole configurations, put together from single pairs, single particles and many-body terms of the
 * potential under test; in its own unit. `view` is on the host. */
typedef struct whole {
    /* +infinity: hard cores overlap, or a particle is at a forbidden position. */
    double energy;
    /* Sum of the sizes of its parts: what rounding refers to. */
    double size;
} whole;
/* Returns a PLUGMC_* code. out [walkers]. */
int whole_energies(const stand *, const plugmc_view *view, whole *out);
/* Of one particle with all others, and its field: pairs and fields alone. */
whole energy_of_one(const stand *, const plugmc_view *, int32_t walker, int64_t particle,
                    const double at[3]);
/* Of two particles at distance r along x; +infinity: they overlap. */
double pair_energy_at(const stand *, int32_t a, int32_t b, double r);
/* The field of a single particle; +infinity: it may not be there. */
double field_energy_at(const stand *, int32_t species, const double at[3]);
/* Derivatives of that energy; false: the potential has none. Of pairs the virial is that of the particle. */
bool derivatives_of_one(const stand *, const plugmc_view *, int32_t walker, int64_t particle,
                        plugmc_derivatives *);
/* Whether the many-body term is part of the energy, beside the pairs or instead of them. */
const plugmc_total *stand_total(const stand *);
const plugmc_pair *stand_pair(const stand *);
const plugmc_field *stand_field(const stand *);
#endif

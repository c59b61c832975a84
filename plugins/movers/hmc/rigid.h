/* Rigid molecules in trajectories (plugmc/molecule.h). The motion of one of them is in rigid_step.h, for the CPU and the GPU.
 *
 * A molecule has the momentum of its centre of mass and the angular momentum in its own frame, along its principal axes. A
 * time step turns it about these axes one after the other, about 2, 1, 0, 1, 2 by the angles dt/2, dt/2, dt, dt/2, dt/2 times
 * L_k / I_k: each is the exact motion of one term of the kinetic energy, so the sequence is symplectic and runs back over
 * itself (A. Dullweber, B. Leimkuhler, R. McLachlan, J. Chem. Phys. 107, 5840 (1997); T. F. Miller et al., J. Chem. Phys.
 * 116, 8649 (2002), with quaternions).
 *
 * Orientations and angular momenta are integers, and a turn is made of shears that map integers to integers one to one: it is
 * undone to the last bit by the turn of the opposite angle. So trajectories are reversible and keep the measure exactly, as
 * those of particles are (integers.h). Turns about the principal axes are those about the axes of a frame that is turned
 * into them, again by shears, which are undone afterwards: what is stored is always the orientation as the core has it,
 * and energies are those of sites where the core would put them.
 *
 * The numbers of a molecule are kept at those of its sites: at the first one its place, momentum and force, at the second
 * one its angular momentum and torque; other sites have zeros. Places of sites other than the first follow from it. On a GPU
 * forces stay those on sites, from which each step sums anew. */
#ifndef PLUGMC_HMC_RIGID_H
#define PLUGMC_HMC_RIGID_H

#include "hmc.h"

typedef struct hmc_rigid {
    hmc_kind *kind;        /* [kinds] */
    int8_t *role;          /* [particles] */
    const hmc_kind **with; /* [particles] the kind of the molecule; NULL: it is in none */
    /* [walkers][particles] at the numbers of first sites: now, before the trajectory, before it was reversed */
    plugmc_orientation *turned, *before, *checked;
} hmc_rigid;

/* Makes h->rigid, or leaves it NULL where there are no molecules. Masses are known. */
int hmc_rigid_prepare(hmc *, const plugmc_host *);
/* What a site takes from the molecule that it is in: the mass of all of it. Of the lightest particle or molecule. */
double hmc_rigid_mass(const hmc *, int32_t species);
/* Least time in which a molecule turns by a radian at its thermal velocity, about its axis of least inertia; INFINITY
 * without molecules. */
double hmc_rigid_period(const hmc *, double kT);
/* Whether particles i and j are sites of one molecule. */
static inline int hmc_together(const hmc *h, int64_t i, int64_t j)
{
    const int32_t *molecule = h->system->molecule;
    return molecule[i] >= 0 && molecule[i] == molecule[j];
}

/* Momenta of particle i of a walker: of the molecule, if it is the first or second site of one. */
void hmc_rigid_draw(const hmc *, uint64_t sweep, int32_t walker, int64_t i, int64_t momentum[3]);
/* Kinetic energy that is kept at particle i, with its momenta. */
double hmc_rigid_kinetic(const hmc *, int64_t i, const int64_t momentum[3]);
/* A step of the molecule of first site i of a walker. */
void hmc_rigid_drift(hmc *, int32_t walker, int64_t i, double time);
/* Positions and places of all sites but the first ones, and of all walkers. */
void hmc_rigid_place(const hmc *);
/* From forces on sites to those on molecules and their torques, of all walkers. */
void hmc_rigid_gather(const hmc *);
/* Whether an orientation of a walker has left the shell in which they may be; see plugmc_turn_in_space. */
int hmc_rigid_lost_shape(const hmc *, int32_t walker);

/* Orientations from the state, and to it. */
int hmc_rigid_load(hmc *, const plugmc_state *);
int hmc_rigid_store(const hmc *, const plugmc_state *, double *positions);

#endif

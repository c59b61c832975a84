/* plugmc/fused.h: what a device text may use when it asks for fusion (plugmc_kernel_text.fuse).
 * The core writes these definitions in front of the text; this file documents them and is compiled
 * into no program. What is here keeps its meaning within a major version of the plugin interface;
 * what is added raises PLUGMC_FUSED, which a text may compare.
 *
 * Macros: PLUGMC_FUSED (1), PLUGMC_DIMENSION (2 or 3), PLUGMC_PERIODIC (1 or 0),
 * PLUGMC_OBLIQUE (1: the box is not rectangular), PLUGMC_IN_SPHERE (0 or 1), PLUGMC_SPECIES,
 * PLUGMC_ENERGY_TERMS (number of pair terms with an energy), PLUGMC_PLACES (how many of them have
 * PLUGMC_PAIR_PLACES), PLUGMC_CONTACTS (1 if any pair term
 * has a hard core), PLUGMC_FIELDS (number of field terms), PLUGMC_REAL (float or double), PLUGMC_KT
 * and PLUGMC_OVER_KT (double: k_B T in the unit of energy, and 1 over that), PLUGMC_BOX_CHANGES (1: a
 * mover of the run changes boxes), PLUGMC_TERMS (number of all terms), PLUGMC_WEIGHTED (1: a term counts
 * by a factor of its own, which may be another in each walker: PLUGMC_STATE_MULTIPLIER; 0: all count by
 * PLUGMC_OVER_KT).
 *
 * Constants: plugmc_radius (sphere); plugmc_edge[3], plugmc_inverse_edge[3] (box edges), unless the box
 * changes.
 */

/* A separation, the minimum image in the box of walker w: boxes [walkers], device memory. Where nobody
 * changes boxes its numbers are constants, `boxes` is not looked at, and texts that follow no box may
 * leave out the last argument. */
PLUGMC_FN plugmc_images plugmc_images_of_walker(const plugmc_box *boxes, int w);
PLUGMC_FN plugmc_separation plugmc_separated(real x, real y, real z, plugmc_images);

/* A separation a - b with the place of a. It goes wherever a separation goes below, and has to where PLUGMC_PLACES
 * is not 0: only movers with PLUGMC_USES_PLACES, and observables that are known to, are in such runs. */
struct plugmc_placed : plugmc_separation {
    plugmc_position at;
};
PLUGMC_FN plugmc_placed plugmc_place(real x, real y, real z, plugmc_separation);

/* Properties of a species; a constant if there is one species. */
PLUGMC_FN plugmc_site plugmc_site_of_species(int species);

/* Square of the distance below which species a and b overlap: largest of all terms. */
PLUGMC_FN real plugmc_contact_square(int a, int b);

/* Sums of pair energies, one for each pair term, so that a factor of the probe is applied once
 * and the order of additions is that of the CPU. */
typedef struct plugmc_sums {
    real term[PLUGMC_ENERGY_TERMS > 0 ? PLUGMC_ENERGY_TERMS : 1];
} plugmc_sums;
PLUGMC_FN void plugmc_sums_clear(plugmc_sums *);
PLUGMC_FN void plugmc_sums_add_energy(plugmc_sums *, plugmc_separation, plugmc_site a,
                                      plugmc_site b);
PLUGMC_FN void plugmc_sums_add_change(plugmc_sums *, plugmc_separation from, plugmc_separation to,
                                      plugmc_site a, plugmc_site b);
/* Sum over terms, each times its probe factor. */
PLUGMC_FN real plugmc_sums_total(const plugmc_sums *, plugmc_site a);
/* The same, each term times its multiplier too: [PLUGMC_TERMS], a row of the state. */
PLUGMC_FN real plugmc_sums_weighted(const plugmc_sums *, plugmc_site a, const double *multipliers);

/* Sums of many pairs: `from` is added to `to` and cleared. */
typedef struct plugmc_double_sums {
    double term[PLUGMC_ENERGY_TERMS > 0 ? PLUGMC_ENERGY_TERMS : 1];
} plugmc_double_sums;
PLUGMC_FN void plugmc_sums_empty(plugmc_sums *from, plugmc_double_sums *to);
PLUGMC_FN double plugmc_double_sums_total(const plugmc_double_sums *, plugmc_site a);
/* The same, term by term: each is added to its entry of energy [PLUGMC_TERMS]. */
PLUGMC_FN void plugmc_double_sums_by_term(const plugmc_double_sums *, plugmc_site a,
                                          double *energy);

/* Energy u of one pair, all terms, and its derivatives: du/dr / r and d2u/dr2. 0 for terms without
 * PLUGMC_PAIR_DERIVATIVE, so a mover has to ask for them (PLUGMC_NEEDS_FORCES). */
PLUGMC_FN void plugmc_pair_derivatives(plugmc_separation, plugmc_site a, plugmc_site b,
                                       real *energy, real *first, real *second);
/* The same, each term times its multiplier. */
PLUGMC_FN void plugmc_pair_derivatives_weighted(plugmc_separation, plugmc_site a, plugmc_site b,
                                                const double *multipliers, real *energy,
                                                real *first, real *second);

/* What both leave out, terms with PLUGMC_PAIR_PLACES: gradient by the place of a, and Laplacian. */
PLUGMC_FN void plugmc_placed_derivatives(plugmc_placed, plugmc_site a, plugmc_site b,
                                         real gradient[3], real *laplacian);

/* Derivatives of plugmc_fields, likewise. */
PLUGMC_FN void plugmc_fields_derivatives(plugmc_position, plugmc_site, real gradient[3],
                                         real *laplacian);
PLUGMC_FN void plugmc_fields_derivatives_weighted(plugmc_position, plugmc_site,
                                                  const double *multipliers, real gradient[3],
                                                  real *laplacian);

/* One-body energy of all field terms. *outside becomes 1 where the particle may not be, and is left
 * alone elsewhere; the sphere's own surface is not looked at. */
PLUGMC_FN real plugmc_fields(plugmc_position, plugmc_site, int *outside);
/* The same, each term times its multiplier; and term by term, added to energy [PLUGMC_TERMS]. */
PLUGMC_FN real plugmc_fields_weighted(plugmc_position, plugmc_site, int *outside,
                                      const double *multipliers);
PLUGMC_FN void plugmc_fields_by_term(plugmc_position, plugmc_site, int *outside, double *energy);

/* With PLUGMC_FUSE_FREE: what a pair, or one electron, adds to sums of free numbers (plugmc/free.h), those of one
 * potential behind those of another. */
PLUGMC_FN void plugmc_pair_numbers(plugmc_placed, plugmc_site a, plugmc_site b,
                                   const plugmc_tally &);
PLUGMC_FN void plugmc_field_numbers(plugmc_position, plugmc_site, const plugmc_tally &);

/* pair_histogram: how many pairs of each two species are at which distance; what rdf,
 * charge_density and dressed_ion have in common.
 *
 * Counted are ordered pairs of a reference and another particle. In a periodic box all particles
 * are references. In a sphere the surroundings of a particle near the wall are not those of the
 * bulk, so references are only those farther from the wall than `margin` (Y. Liang, X. Xing, Y.
 * Li, "A GPU-based large-scale Monte Carlo simulation method for systems with long-range
 * interactions", section 5.2), and the density of the bulk is theirs: N_a references of species a
 * in the volume V that is left. With n_ab pairs in a shell of volume v,
 *
 *     g_ab = n_ab V / (2 N_a N_b v)   a != b, references of either species
 *     g_aa = n_aa V / (N_a^2 v)
 *
 * In a sphere N_a fluctuates, so that g is a quotient of averages: such observables record n and N
 * and derive g from their means.
 *
 * Where a mover changes the box, V is that of each sample; shells do not change. V is not in what
 * charge_density makes of these numbers: n_b g_ab = n_ab / (2 N_a v).
 *
 * Where particles come and go, places without anybody have a species of their own, of which no pair
 * counts; and all pairs are looked at, since cells hold only those that are there.
 *
 * That a particle is not its own neighbour is left to those who ask. Independent particles lack
 * one of their own species. Around an ion, though, the cloud that screens it has just the opposite
 * charge, so that beyond the cloud all species lack the same: one of all N particles, and less of
 * it the less compressible the system is. A factor M / (M - 1) for the M ions of its own species
 * alone would leave a density of charge that does not decay.
 */
#ifndef PLUGMC_PAIR_HISTOGRAM_H
#define PLUGMC_PAIR_HISTOGRAM_H

#include <plugmc/everything.h>

enum { PAIR_AUTO, PAIR_CELLS, PAIR_ALL }; /* method */

/* Entries of a table for the fields r_max, bins, margin and method of an instance; how many bins
 * are usual, and what 0 means for r_max and margin, differs. */
#define PAIR_HISTOGRAM_KEYS(type, r_max_0, usual_bins, margin_0)                                   \
    PLUGMC_REAL_KEY(type, r_max, "0", 0, 1e300, "length", "largest distance; 0: " r_max_0),        \
        PLUGMC_INTEGER_KEY(type, bins, usual_bins, 1, 100000, "",                                  \
                           "number of bins of each function"),                                     \
        PLUGMC_REAL_KEY(type, margin, "0", 0, 1e300, "length", "sphere: " margin_0),               \
        PLUGMC_CHOICE_KEY(type, method, "auto", "auto|cells|all_pairs",                            \
                          "search for pairs; auto: by cells if r_max is small, else all pairs")
/* What pair_histogram_prepare makes of 0. */
#define PAIR_HISTOGRAM_R_MAX                                                                       \
    "half the smallest height of a fixed box, or a third of the radius of a sphere"
#define PAIR_HISTOGRAM_MARGIN                                                                      \
    "particles closer than this to its surface are not reference particles; 0: r_max, and "        \
    "the width that walls exclude"

/* On the device. */
typedef struct pair_histogram_gpu {
    plugmc_kernel *place_points, *in_cells, *all_pairs;
    plugmc_device_pointer row, species, fixed, counts;
    plugmc_device_pointer scales; /* 0 where nobody changes boxes */
} pair_histogram_gpu;

typedef struct pair_histogram {
    const plugmc_system *system;
    double range, margin; /* length */
    double volume;        /* of the references' region; where boxes change that at the start */
    int64_t bins, rows;   /* a row is one pair of species */
    int64_t width;        /* of raw values: rows bins + species */
    int32_t in_cells;     /* method in use */
    double *radius;       /* [bins] middle of the bin, length */
    double *shell;        /* [bins] its volume */
    char **names;         /* [rows] "cation-anion" */
    char **pair_names, **reference_names; /* [rows], [species]: of raw quantities */
    int32_t *first, *second;              /* [rows] species of a row, first <= second */
    int32_t *row;      /* [species + 1][species + 1]; pairs that are not wanted or cannot be (of one
                          particle with itself, and those with nobody, the last) have number `rows` */
    uint16_t *species; /* [particles] */
    uint32_t *fixed;   /* [walkers][FIXED_PARTS][particles], on the CPU */
    unsigned long long *counts; /* [walkers][rows + 1][bins], then references [walkers][species] */
    size_t count_bytes;         /* of both */
    struct pair_scale *scales;  /* [walkers], of the moment */
    pair_histogram_gpu gpu;
} pair_histogram;

/* wanted [species][species], symmetric: the pairs that are counted; NULL: all.
 * r_max = 0: half the smallest distance of opposite faces of a periodic box, a third of the radius of a sphere.
 * margin = 0: r_max, and how far in from the surface walls keep somebody's centre. Refuses, in words, what would cut
 * shells, and r_max = 0 in a box that changes. */
int pair_histogram_prepare(pair_histogram *, const plugmc_host *, double r_max, int64_t bins,
                           double margin, int32_t method, const unsigned char *wanted);

/* Raw values of all walkers, [walkers][width]: n [rows][bins], then N [species]. Ends the run if a box
 * has become too small for r_max. */
int pair_histogram_measure(pair_histogram *, const plugmc_host *, const plugmc_view *,
                           double *values);
/* How far from a share of the particles counting looks, length; INFINITY: all pairs are looked at. Counts of shares
 * add up to those of all. */
double pair_histogram_reach(const pair_histogram *);
/* These as quantities of an observable; returns 0 past the last. */
int pair_histogram_quantity(const pair_histogram *, int index, plugmc_quantity *out);

/* From raw values or their means. */
double pair_histogram_density(const pair_histogram *, const double *raw, int32_t species);
/* g of a row as above, [bins], where the references have this volume; non-zero if there are no
 * references. */
int pair_histogram_g(const pair_histogram *, const double *raw, int64_t row, double volume,
                     double *g);
/* The same between ions, times N / (N - 1). */
int pair_histogram_g_of_ions(const pair_histogram *, const double *raw, int64_t row, double *g);
/* sum_b q_b n_b g_ab(r) around a particle of species a, [bins], g as of ions, elementary
 * charges / volume; non-zero if there are no references. */
int pair_histogram_charge(const pair_histogram *, const double *raw, int32_t species, double *rho);

/* For plugmc_plugin.gpu_source. */
int pair_histogram_gpu_source(void *instance, const plugmc_host *, int index,
                              plugmc_gpu_source *out);

#endif

/* The mesh of coulomb_spme: everything but its pairs, in double precision on the host and in the
 * precision asked for on a device.
 *
 * Notation: K points along an edge L, h = L / K; splines of order n; cell c = floor(u) of a charge
 * at u = K x / L, f = u - c. The charge reaches the n points c - n + 1 ... c along an edge, point
 * c - j with the weight M_n(f + j). With the discrete Fourier transform q(k) of the spread charges
 *
 *     E = 1/2 sum_k G(k) |q(k)|^2,   potential on the grid = inverse transform of G(k) q(k),
 *     G(k) = 4 pi l_B / V * prod_d weight_d(k_d) / sum_d square_d(k_d).
 *
 * For Essmann's influence function square_d = k_d^2 and weight_d = exp(-k_d^2 / 4 alpha^2) b_d^2.
 * That of the smallest error (spme_fill_table) has the same form.
 *
 * Where particles come and go the tolerance is that of as many as there can be, and nobody is where the position
 * is NaN.
 *
 * Where movers change boxes, K, alpha, n and the cutoff stay as they are at the start. With
 * x = (L at the start / L)^2 along an edge, square_d and k_d^2 then are x times as large. */
#ifndef PLUGMC_SPME_H
#define PLUGMC_SPME_H

#include <plugmc/everything.h>

enum { SPME_MOST_ORDER = 8 };
enum { SPME_ESSMANN, SPME_OPTIMAL };
enum { SPME_SORTED, SPME_GATHER };
enum { SPME_SINGLE, SPME_DOUBLE };

typedef struct spme_settings {
    double bjerrum_length, cutoff, alpha, tolerance;
    int32_t order, grid[3];
    int32_t influence, spreading, precision, balance_forces;
    const double *molecule; /* [molecule_species] */
    int32_t molecule_species;
    const char *molecules, *exclusions; /* paths, or "" */
} spme_settings;

typedef struct spme spme;

int spme_configure(const plugmc_host *, const spme_settings *, spme **out);
int spme_prepare(spme *, const plugmc_host *);
int spme_energy(spme *, const plugmc_total_request *);
int spme_recordable(const spme *); /* see plugmc_total */
/* The text of the kernels, in memory of the host; returns the code. */
int spme_gpu_source(spme *, const plugmc_host *, plugmc_gpu_source *out);
void spme_release(spme *);
/* One particle at a time, as in plugmc_total (spme_moves.c). */
int spme_start(spme *, const plugmc_view *);
int spme_change(spme *, int32_t walker, int64_t particle, const double position[3], double *change);
int spme_insert_remove(spme *, int32_t walker, const plugmc_insert_remove *, double *change);
int spme_displace(spme *, int32_t walker, const plugmc_displacements *, double *change);
int spme_settle(spme *, int32_t walker, int accepted);

/* ---- Errors and what follows from them (spme_tune.c) ------------------------------------- */

/* What errors depend on. */
typedef struct spme_charges {
    double count, square, fourth; /* charged particles; sums of z^2 and z^4 */
    double net;                   /* sum of z */
    double length[3], volume;
} spme_charges;

spme_charges spme_charges_of(const plugmc_system *);
/* Rms errors of the forces, averaged over uncorrelated charges, over the force between two charges
 * of mean square at the distance (N/V)^(-1/3): from pairs that are cut, and from the grid. */
double spme_pair_error(const spme_charges *, double cutoff, double alpha);
double spme_grid_error(const spme_charges *, double alpha, int order, int influence,
                       const int32_t grid[3]);
/* Fills in what is 0 of alpha and grid, so that both errors together are the tolerance; points of
 * the grid are even numbers with factors 2, 3, 5, 7. 0 if more than 4096 points would be needed. */
int spme_tune(const spme_charges *, double cutoff, double tolerance, int order, int influence,
              double *alpha, int32_t grid[3]);

/* Factors of G(k) along one edge, [points] each: weight, square (1/length^2), and k^2 / (2 alpha^2)
 * for the virial. */
typedef struct spme_table {
    double *weight, *square, *strain;
} spme_table;
void spme_fill_table(const spme_table *, int points, double length, double alpha, int order,
                     int influence);
/* The same for another length: x = (length of `from` / length)^2. */
void spme_stretch_table(const spme_table *from, int points, double x, const spme_table *to);

/* How wrong forces may get in boxes that have changed. */
typedef struct spme_limit {
    double allowed; /* relative error: the tolerance, or what it is at the start, if that is more */
    double stretch; /* by which all edges may be longer than at the start, and the error is not
                       twice that; 0: movers change no box */
} spme_limit;

/* ---- Exclusions (spme_exclusions.c) ------------------------------------------------------ */

/* Partners of every particle, in order: partner[first[i]] ... partner[first[i + 1] - 1]. */
typedef struct spme_exclusions {
    uint32_t *first;   /* [particles + 1]; NULL: there are none */
    uint32_t *partner; /* [first[particles]] */
} spme_exclusions;
/* The molecule [particles] of each particle, less than 0: none. */
int spme_molecules(const spme *, int32_t *out);
int spme_read_exclusions(const plugmc_host *, const spme_settings *, spme_exclusions *out);
/* Pairs within rigid molecules: movers leave their real part out, and what the waves have of them is a constant of each molecule,
 * sum of z z' erf(alpha r) / r, that is taken off here. Fills in spme.excluded, which is NULL without molecules. */
int spme_exclude_rigid(spme *);
/* That of all molecules of a walker with so many of each species [species], energy; NULL: as at the start. */
double spme_rigid_energy(const spme *, const int64_t *count);

/* ---- The mesh ---------------------------------------------------------------------------- */

struct spme_host_mesh;
struct spme_device_mesh;

/* What depends on the box. */
typedef struct spme_box {
    double length[3];
    double factor; /* 4 pi l_B / V */
    double volume;
    double constant;        /* energy of charges with themselves, and with the background */
    double constant_virial; /* of the background, each axis */
    spme_table table[3];
} spme_box;

struct spme {
    const plugmc_host *host;
    spme_settings set;
    spme_charges charges;
    double *charge; /* [particles] valences */
    spme_box start; /* at the start of the run */
    spme_limit limit;
    int counts_change; /* particles come and go */
    spme_exclusions exclusions;
    double *excluded; /* [kinds of rigid molecules] 1/length: spme_exclude_rigid */
    char defines[8][32];
    const char *define_list[9];
    struct spme_host_mesh *on_host; /* NULL until first asked for */
    struct spme_device_mesh *on_device;
    struct spme_moves *moves; /* NULL until a mover starts single moves */
};

/* Fails, and says so, where a walker's box has become too large for the mesh. */
int spme_check_box(const spme *, const plugmc_box *, int64_t walker);
/* What depends on a box that is not that of the start. */
void spme_fill_box(const spme *, const plugmc_box *, spme_box *out);
/* Energy and virial that do not depend on places, of a walker with so many of each species [species]; NULL: of all. */
void spme_constants(const spme *, double volume, const int64_t *count, double *energy,
                    double *virial);
/* Those of walker w, of a request's counts where they change. */
static inline const int64_t *spme_counts_of(const spme *m, const plugmc_view *view, int64_t w)
{
    return m->counts_change ? view->count + w * m->host->system->species_count : NULL;
}
/* Memory for its tables; 0 if short. */
int spme_new_tables(const spme *, spme_box *out);

int spme_host_energy(spme *, const plugmc_total_request *);
/* Of one walker alone, number `walker` of the request. */
int spme_host_walker(spme *, const plugmc_total_request *, int64_t walker);
void spme_host_release(spme *);
int spme_device_prepare(spme *);
int spme_device_energy(spme *, const plugmc_total_request *);
void spme_device_release(spme *);

#endif

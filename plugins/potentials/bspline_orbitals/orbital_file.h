/* Files of one-electron orbitals of a solid: what the readers of the formats give, and what the
 * rest of the plugin knows of a file. Atomic units: bohr, Hartree.
 *
 * A reader fills in the description when the file is opened and then gives single orbitals, either
 * as coefficients of cubic B-splines ("blips") on a grid or as plane waves. Counts in a file are
 * held against its size before memory is taken for them, and everything wrong with it is said with
 * its place (damaged).
 */
#ifndef ORBITAL_FILE_H
#define ORBITAL_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <plugmc/everything.h>

#include "../../determinants/complex_numbers.h"

/* Limits on what is believed; far beyond any calculation, and small enough to multiply. */
enum {
    MOST_ATOMS = 100000,
    MOST_K_POINTS = 100000,
    MOST_BANDS = 100000,
    MOST_STATES = 10000000,
    MOST_GRID = 2048, /* points of the blip grid along one edge */
    LEAST_GRID = 4,   /* a point has four neighbours along an edge */
    MOST_GRID_POINTS = 1 << 27,
    MOST_WAVE = 512,          /* index of a reciprocal vector */
    MOST_ELECTRONS = 1000000, /* a primitive cell */
    MOST_ATOMIC_NUMBER = 118
};

enum { SPIN_UP, SPIN_DOWN };

/* One orbital of the file. */
typedef struct orbital_state {
    int32_t k, spin, band; /* from 0 */
    double eigenvalue;     /* Hartree */
    int64_t at, line;      /* where a reader finds it: byte, and line of a text */
} orbital_state;

/* The primitive cell, and what was calculated of it. */
typedef struct file_crystal {
    char pseudopotential[81]; /* as the header names it; "" if it does not */
    double cutoff;            /* of the plane waves, Hartree; 0: not given */
    int32_t electrons;        /* a primitive cell */
    double lattice[3][3];     /* primitive vectors as rows */
    double inverse[3][3];     /* fractional coordinate d of r is sum_e r_e inverse[e][d] */
    double volume;
    int32_t atoms;
    int32_t *atomic_number; /* [atoms] */
    double (*position)[3];  /* [atoms] */
    double *valence;        /* [atoms]; 0: the file does not say */
    int32_t energies;       /* 0, or ENERGIES */
    double energy[6];       /* a primitive cell: energy_names */
} file_crystal;

typedef struct orbital_file {
    const plugmc_host *host;
    const char *path, *format;
    FILE *stream;    /* of the CASINO formats */
    int64_t hdf;     /* hid_t of an ES-HDF file, or -1 */
    bool rehearsing; /* in a child process: all is read once and nothing kept */
    int64_t bytes;   /* size of the file */
    int64_t line;    /* of a text, where the reader is */

    file_crystal crystal;

    int32_t spins; /* 2: up and down have orbitals of their own */
    int32_t k_points;
    double (
        *k)[3]; /* [k_points], in reciprocal vectors: the phase of a primitive vector in turns */
    int32_t states;
    orbital_state *state; /* [states] in the order of the file */

    bool real;          /* coefficients are real (k = 0) */
    bool single;        /* binary: in single precision */
    int32_t grid[3];    /* of blips; 0 if there are plane waves */
    int32_t extent[3];  /* of plane waves: largest index of each direction */
    int32_t waves;      /* number of them in the list of the file; 0: blips */
    int32_t (*wave)[3]; /* [waves] */
    bool half;          /* the list has one of each pair G, -G: u is real */
    bool brackets;      /* text: numbers are complex, (re,im) */

    /* Coefficients of a state: blips [grid 0][1][2], or plane waves
     * [2 extent 0 + 1][2 extent 1 + 1][2 extent 2 + 1] with index 0 in the middle. */
    int (*read)(struct orbital_file *, const orbital_state *, double complex *out);
    void (*close)(struct orbital_file *);
} orbital_file;

enum { ENERGIES = 6 };
extern const char *const energy_names[ENERGIES];

/* Opens a file of any format, told by its content. On failure it is closed again. */
int orbital_file_open(orbital_file *, const plugmc_host *, const char *path);
/* plugmc_plugin.rehearse: reads all of the file. */
int orbital_file_rehearse(const plugmc_host *, const char *path);
void orbital_file_close(orbital_file *);
/* Number of complex coefficients that `read` writes. */
size_t orbital_file_coefficients(const orbital_file *);

/* ---- For the readers ----------------------------------------------------------------------- */

int open_casino_binary(orbital_file *);
int open_casino_text(orbital_file *);
int open_eshdf(orbital_file *);

/* Says what is wrong: "PATH: " and the sentence. Returns the code. */
int damaged(const orbital_file *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeroed memory of the run; NULL is reported. */
void *take(const orbital_file *, size_t count, size_t size);

/* A count or index of the file within limits; `where` begins the sentence. */
int check_count(const orbital_file *, const char *where, const char *what, int64_t value,
                int64_t least, int64_t most);
int check_finite(const orbital_file *, const char *where, const char *what, const double *values,
                 int64_t n, double most);
/* The lattice is there: its inverse and volume. */
int set_lattice(orbital_file *, const char *where);
int check_atoms(orbital_file *, const char *where);
/* Cartesian k vector, 1/bohr, into `k`. */
void set_k_point(orbital_file *, int32_t index, const double cartesian[3]);
/* The list of plane waves is there: extent, half, and that none occurs twice. */
int set_waves(orbital_file *, const char *where);
/* Adds coefficients in the order of the list to the box of `read`. */
void place_waves(const orbital_file *, const int32_t (*wave)[3], int32_t waves,
                 const double complex *values, double complex *box);
#endif

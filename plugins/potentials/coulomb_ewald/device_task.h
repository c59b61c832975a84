/* device_task.h: sizes of blocks, and what a launch is given; for device.c and the kernels alike. */
enum {
    EWALD_THREADS = 128,
    EWALD_SHORTEST = 128, /* particles whose waves a thread adds up, at least, */
    EWALD_PARTS = 32,     /* in so many parts of all particles, at most */
    EWALD_SUMS = 4,       /* energy and virial along three axes */
    EWALD_ROOM = 1 << 28, /* bytes for walkers that are found at a time, */
    EWALD_WALKERS = 65535 /* of which there are so many at most */
};

/* One vector n of the waves. */
typedef struct ewald_wave {
    int32_t x, y, z, unused;
} ewald_wave;

/* All that kernels need of some walkers. Pointers are those of the device, shapes begin with [walkers] unless said otherwise; a complex
 * number is two doubles. */
typedef struct ewald_task {
    double bjerrum_length, alpha; /* length, 1/length */
    int32_t most[3];              /* largest |n_d| */
    uint32_t particles, waves;
    uint32_t phases;                  /* of a particle: sum over d of most[d] + 1 */
    uint32_t parts, length;           /* parts of all particles, and how many are in one */
    uint32_t wave_blocks;             /* blocks that have a thread for each wave */
    int32_t own_boxes;                /* 1: boxes of the walkers; 0: one for all */
    int32_t numbers_change;           /* 1: whose x and y are NaN is not there */
    const double *positions;          /* [particles][3] length */
    double *energy, *forces, *virial; /* as in plugmc_total_request */
    const double *charge;             /* [particles], of all walkers */
    const ewald_wave *wave;           /* [waves], of all walkers */
    const plugmc_box *box;
    const double
        *constant;   /* [2] energy, and virial along each axis, that do not depend on positions */
    double *phase;   /* [particles][phases] complex: exp(2 pi i m f_d), d by d, m = 0 ... most[d] */
    double *share;   /* [parts][waves] complex: of S, by the particles of a part */
    double *pull;    /* [waves] complex: 2 weight S */
    double *partial; /* [wave_blocks][EWALD_SUMS] */
} ewald_task;

/* spme_task.h: sizes of blocks, and what a launch is given; for spme_device.c and the kernels alike. */
enum {
    SPME_TILE_X = 16, /* cells along the edges of a tile, at most 16 */
    SPME_TILE_Y = 8,
    SPME_TILE_Z = 8,
    SPME_BIN_THREADS = 128,
    SPME_SORT_THREADS = 256,
    SPME_SPREAD_THREADS = 256,
    SPME_FORCE_THREADS = 128,
    /* With fewer tiles than a large GPU has multiprocessors a block has several times as many threads: factors for
     * forces, and for spreading in single and double precision, where shared memory is the limit. */
    SPME_FEW_TILES = 132,
    SPME_MORE_FORCE = 4,
    SPME_MORE_SPREAD = 4,
    SPME_MORE_SPREAD_DOUBLE = 2,
    SPME_SOLVE_THREADS = 256,
    SPME_SOLVE_BLOCKS = 528, /* a walker, at most: four for each multiprocessor of a large GPU */
    SPME_EXCLUDE_THREADS = 128,
    SPME_BALANCE_BLOCKS = 64,
    SPME_PARTIAL = 4, /* sums of energy and three strains */
    SPME_TABLE_THREADS = 256
};

#ifdef __CUDACC_RTC__
typedef real spme_real;
typedef unsigned long long spme_u64;
#else
typedef void spme_real; /* float or double: only the device looks at them */
typedef uint64_t spme_u64;
#endif

/* All that kernels need. Device pointers; the shapes are [walkers]... What depends on the box is that
 * of the start: with SPME_BOXES walkers have boxes of their own. */
typedef struct spme_task {
    double inverse_length[3];
    double length[3];
    double volume;
    double factor;                    /* 4 pi l_B / V */
    double constant, constant_virial; /* see spme.h */
    double bjerrum_length, alpha, cutoff;
    double largest; /* of one charge at one point, in absolute value */
    double unit;    /* of the fixed point of spreading = gather */
    uint32_t particles, tiles, solve_blocks, exclude_blocks;
    uint32_t page, pages; /* records of a page; pages to be claimed, of a walker */
    int32_t balance;
    const double *positions;          /* [particles][3] */
    double *energy, *forces, *virial; /* as in plugmc_total_request */
    const double *charge;             /* [particles], of all walkers */
    const uint32_t *first, *partner;  /* exclusions, as in spme.h */
    const spme_real *table;     /* [x + y + z][2] weight, square; [x + y + z] strain; of all */
    const plugmc_box *box;      /* SPME_BOXES: those of the walkers, */
    spme_real *own_table;       /* and as `table` in them, padded to an even length */
    const double *own_constant; /* SPME_COUNTS: [2] of energy and virial, of as many as there are */
    uint32_t *count;            /* [tiles] charges in a bin; 0 before */
    spme_u64 *owner;            /* [pages] whose page it is; 0, nobody's, before */
    void *records;              /* [tiles + pages][page] spme_record */
    uint32_t *index;            /* [tiles + pages][page] particle of a record, for forces */
    uint32_t *ticket;           /* one number */
    spme_real *grid;            /* [z][y][x]: charges, then potential */
    spme_real *waves;           /* [z][y][x / 2 + 1] complex */
    double *partial;            /* [solve_blocks][SPME_PARTIAL] */
    double *excluded;           /* [exclude_blocks][SPME_PARTIAL] */
    double *unbalanced;         /* [particles][3] */
    double *mean;               /* [SPME_BALANCE_BLOCKS][3] */
    uint32_t *occupant;         /* [z][y][x] of spreading = gather: particle + 1, or 0 */
    uint32_t *overflow;         /* [1 + particles]: how many, and which */
    uint32_t *not_finite;       /* one number: whether a position is none */
    spme_u64 *fixed;            /* [z][y][x] charges in units of `unit` */
} spme_task;

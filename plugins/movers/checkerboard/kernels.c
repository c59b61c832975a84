/* kernels.c: the text of the kernels, and how cells are shared out among threads of the device. */
#include <stdarg.h>

#include "checkerboard.h"

#include "../../join_texts.h"

PLUGMC_EMBED(checkerboard_choices, CHECKERBOARD_CHOICES_FILE);
PLUGMC_EMBED(checkerboard_kernels, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(checkerboard_trial, CHECKERBOARD_TRIAL_FILE);
PLUGMC_EMBED(checkerboard_subsweep, CHECKERBOARD_SUBSWEEP_FILE);
#if CB_BODIES
PLUGMC_EMBED(checkerboard_moves, CHECKERBOARD_MOVES_FILE);
PLUGMC_EMBED(checkerboard_bodies, CHECKERBOARD_BODIES_FILE);
PLUGMC_EMBED(checkerboard_crowd, CHECKERBOARD_CROWD_FILE);
PLUGMC_EMBED(checkerboard_round, CHECKERBOARD_ROUND_FILE);
#else
#define checkerboard_moves NULL
#define checkerboard_bodies NULL
#define checkerboard_crowd NULL
#define checkerboard_round NULL
#endif
PLUGMC_EMBED(checkerboard_wide, CHECKERBOARD_WIDE_FILE);
PLUGMC_EMBED(checkerboard_load, CHECKERBOARD_LOAD_FILE);
PLUGMC_EMBED(checkerboard_lend, CHECKERBOARD_LEND_FILE);
PLUGMC_EMBED(checkerboard_disks, CHECKERBOARD_DISKS_FILE);

static void define(checkerboard *me, int *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void define(checkerboard *me, int *n, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(me->source.defines_text[*n], sizeof me->source.defines_text[*n], format, arguments);
    va_end(arguments);
    me->source.defines[*n] = me->source.defines_text[*n];
    (*n)++;
}

/* "NAME={a,b,...}" in memory of the core's. */
static const char *table_define(const plugmc_host *host, const char *name, int n,
                                const char *(*item)(const checkerboard *, int, char[48]),
                                const checkerboard *me)
{
    size_t room = strlen(name) + 8 + (size_t)n * 48;
    char *text = (char *)host->allocate(host->context, room), one[48];
    if (!text) return NULL;
    size_t used = (size_t)snprintf(text, room, "%s={", name);
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? "," : "", item(me, i, one));
    snprintf(text + used, room - used, "}");
    return text;
}

static const char *contact_item(const checkerboard *me, int i, char text[48])
{
    snprintf(text, 48, "%af", (double)me->each.of[0].contact[i]);
    return text;
}

static const char *first_item(const checkerboard *me, int i, char text[48])
{
    snprintf(text, 48, "%lluu", (unsigned long long)me->system->first[i]);
    return text;
}

/* The layout on the device, see checkerboard.cu. */
int pitch(const checkerboard *me)
{
    const int line = me->cells.dimension == 3 ? 8 : 32; /* coordinates of 128 bytes, or of a warp */
    return (me->cells.half + line - 1) / line * line;
}

uint32_t blocks_for(int64_t threads, int block)
{
    return (uint32_t)((threads + block - 1) / block);
}

/* One kind of hard disks, at most four a cell, has a kernel of its own, which is worth while if a
 * block finds enough cells in a row. */
int tiled(const checkerboard *me)
{
    return !CB_BODIES && me->cells.dimension == 2 && me->cells.capacity == 4 &&
           me->cells.species == 1 && !me->cells.energies && me->cells.half >= 24 &&
           me->set.trials <= 8; /* trials are unrolled */
}

int64_t active_cells(const checkerboard *me)
{
    const int64_t cells =
        (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2] * me->cells.walkers;
    return (cells >> me->cells.dimension) / (me->others.spread ? me->others.spread->parts : 1);
}

/* Whether all cells of a set run at the same time, so that latencies count more than throughput. */
static int at_once(const checkerboard *me) { return active_cells(me) < 1 << 16; }

/* Cells of a set that a patch sweeps, at most: its own, and those around that matter, which the
 * shift makes one more on its axis. */
static int most_tasks(int x, int y)
{
    const int a = (x / 2 + 4) * (y / 2 + 3), b = (x / 2 + 3) * (y / 2 + 4);
    return a > b ? a : b;
}

/* Of a block: cells and what is around them, and beside them what is chosen or made by a thread. */
static int shared_bytes(const checkerboard *me, const patch *p)
{
    enum { WORD = 4, DISK = 8, ALIGNMENT = 8 };
    const int places = 2 * ((p->x + CB_AROUND + 1) / 2) * (p->y + CB_AROUND);
    const int made = 4 * DISK + (me->cells.ids ? 4 : 1) * WORD;
    const int chosen = p->chosen ? 4 * (2 * (int)me->set.trials + 1) * WORD : 0;
    return places * (4 * DISK + 1) + ALIGNMENT + p->threads * (chosen > made ? chosen : made);
}

/* Whether there are no more such patches than `blocks`, and each fits into a multiprocessor. */
static int suits(const checkerboard *me, const patch *p, int64_t blocks)
{
    const int64_t count = (int64_t)blocks_for(me->cells.m[0], p->x) *
                          blocks_for(me->cells.m[1], p->y) * me->cells.walkers;
    return count <= blocks && shared_bytes(me, p) <= 48 << 10;
}

/* The patches of the smallest systems are as small as leaves one for each multiprocessor, and random
 * numbers are drawn before the sweep before has ended. In larger ones a multiprocessor has one of
 * 24 x 24 cells or up to four of 18 x 18, which is what it has registers for. Beyond, sub-sweeps of all
 * cells are faster, which sweep none twice. Measured: bench/results/2026-11-22-hard-disk-h200.md. */
static patch choose_patch(const checkerboard *me, int multiprocessors)
{
    enum {
        LEAST_ROWS = 6
    }; /* so that cells around a patch are not beyond the next image of the box */
    const patch none = {0, 0, 0, 0, 0}, one = {24, 24, 192, 2, 0}, four = {18, 18, 128, 4, 0};
    if (!tiled(me) || !me->set.shift_cells || me->cells.m[1] < LEAST_ROWS || me->others.spread)
        return none;
    for (patch p = {8, 8, 0, 2, 1}; p.y <= four.y; *(p.x > p.y ? &p.y : &p.x) += 2) {
        p.threads = (most_tasks(p.x, p.y) + WARP - 1) / WARP * WARP;
        if (p.threads < 128) p.threads = 128; /* which read the cells sooner */
        if (suits(me, &p, multiprocessors)) return p;
    }
    if (suits(me, &one, multiprocessors)) return one;
    return suits(me, &four, 4 * multiprocessors) ? four : none;
}

/* Whether spheres inside bodies are so nearly as large as those around them that hardly ever two have to be looked at: disks and
 * spheres. */
static int thin(const checkerboard *me)
{
    const conditions *of = &me->each.of[0];
    int all = 1;
    for (int i = 0; i < me->cells.species * me->cells.species; i++)
        all &= of->contact[i] > 0.99f * of->reach;
    return all;
}

/* Disks and spheres that are written as bodies, without an energy: a thread takes a cell. */
static int has_round_bodies(const checkerboard *me)
{
    return CB_BODIES && !me->cells.energies && thin(me);
}

/* Of a particle near a cell, in shared memory. */
static int near_bytes(const checkerboard *me)
{
    const int bytes = me->cells.wide ? 4 : 0; /* its coordinates, once more */
    if (has_round_bodies(me)) return 4 * (me->cells.dimension + 1) + (me->cells.species > 1);
    const int parts = !CB_BODIES ? 0 : me->cells.dimension == 2 ? 1 : 4; /* of an orientation */
    const int listed = CB_BODIES ? 2 : 0;        /* once more, where it is in reach */
    const int ends = me->cells.energies ? 2 : 1; /* of a trial move, of which each has a list */
    return 4 * (me->cells.dimension + parts) + bytes + listed * ends + (me->cells.species > 1);
}

enum {
    SHARED = 48 << 10, /* bytes of shared memory that any block can have */
    BESIDE = 8 << 10   /* those of wide.cu beside the list of particles near a cell, at most */
};

static int rounds(int n) { return (n + WARP - 1) / WARP * WARP; }

/* All that can be there, as far as a list of them fits into shared memory. A thread's column of
 * NARROW slots a cell fits always. */
int most_near(const checkerboard *me)
{
    const int all = 27 * most_slots(me) + 1;
    const int room = (SHARED - BESIDE) / near_bytes(me) - rounds(MOST);
    return me->cells.wide && room / WARP * WARP < all ? room / WARP * WARP : all;
}

/* Of a block that takes a cell: as many as leave all of them together some 2,000 warps, where there are few cells. Warps share
 * a cell's trial moves until these are decided, so more are of no use where cells alone keep the device busy. */
static int warps_a_cell(const checkerboard *me)
{
    enum { WANTED = 2048, MOST_WARPS = 8 };
    const int64_t cells = active_cells(me);
    int warps = MOST_WARPS;
    while (warps > 1 && (warps * cells > WANTED || warps > me->set.trials)) warps /= 2;
    return warps;
}

/* Blocks of cells for which a multiprocessor has to have room: registers for 20 warps where all cells run at the same time, or
 * nearly, else for 32. */
static int resident_cells(const checkerboard *me)
{
    const int warps = active_cells(me) > 1 << 12 ? 32 : 20;
    return warps / warps_a_cell(me);
}

static int has_long_bodies(const checkerboard *me)
{
    enum { MANY_BODIES = 128 }; /* near a cell */
    return me->cells.near > MANY_BODIES;
}

/* Hard bodies in three dimensions, with fewer cells at a time than a large GPU has room for. */
static int few_solids(const checkerboard *me)
{
    enum { FEW = 1 << 15 };
    return me->cells.dimension == 3 && active_cells(me) < FEW && !has_long_bodies(me);
}

/* Warps of a block that takes a cell of crowded_bodies.cu: more where there are so few cells that all run at the same time. */
static int warps_of_crowd(const checkerboard *me)
{
    enum { FEW = 1 << 10 };
    return active_cells(me) < FEW ? 8 : 4;
}

/* Hard bodies of which so many are near a cell that a block takes it, if shared memory holds them. */
static int crowded(const checkerboard *me)
{
    enum { MOVES = 16, AXIS = 12, BESIDE_PAIRS = 2 << 10, PAIRS = (32 * (MOVES + 1) + 64) * 2 };
    return CB_BODIES && !me->cells.energies && has_long_bodies(me) && !thin(me) &&
           (me->cells.near + MOVES) * (near_bytes(me) + AXIS) + BESIDE_PAIRS +
                   PAIRS * warps_of_crowd(me) <=
               SHARED;
}

/* Threads that take a cell of bodies. Those with energies have a fixed number of sums; of hard ones a block looks at the
 * many bodies around a long rod, or a warp. Measured on an H200: bench/results/2026-11-30-bodies-h200.md. */
static int lanes_a_cell(const checkerboard *me)
{
    if (me->cells.energies) return CB_LANES_IN(me->cells.dimension);
    if (has_round_bodies(me)) return 1;
    if (crowded(me)) return WARP * warps_of_crowd(me);
    if (has_long_bodies(me)) return WARP;
    return me->cells.dimension == 2 ? 2 : few_solids(me) ? 8 : 4;
}

/* Whether the cells of a warp look at bodies together. */
static int pooled(const checkerboard *me)
{
    enum { MOST_ENTRIES = 1 << 11 }; /* which an entry of the list has bits for */
    return !me->cells.energies && !few_solids(me) && me->cells.near < MOST_ENTRIES;
}

/* Threads a block: fewer where the particles near a cell take much shared memory, and where
 * large blocks would leave multiprocessors or threads idle. */
int block_size(const checkerboard *me)
{
    const int bytes = me->cells.near * near_bytes(me);
    if (me->patch.x) return me->patch.threads;
    if (crowded(me)) return WARP * warps_of_crowd(me);
    if (CB_BODIES && !has_round_bodies(me)) return active_cells(me) < 1 << 15 ? WARP : 2 * WARP;
    if (me->cells.wide) return WARP * warps_a_cell(me);
    if (active_cells(me) < 1 << 17 || me->cells.half <= 32) return 32;
    if (tiled(
            me)) { /* Few threads beyond the ends of rows; five blocks of 96 leave a warp's room. */
        static const struct {
            int block, warps; /* warps: of a multiprocessor at a time, which has registers for 16 */
        } choice[] = {{128, 16}, {64, 16}, {96, 15}};
        int best = 0;
        for (int i = 1; i < PLUGMC_COUNT(choice); i++)
            if (blocks_for(me->cells.half, choice[i].block) * choice[i].block * choice[best].warps <
                blocks_for(me->cells.half, choice[best].block) * choice[best].block *
                    choice[i].warps)
                best = i;
        return choice[best].block;
    }
    return bytes * 128 <= SHARED ? 128 : bytes * 64 <= SHARED ? 64 : 32;
}

/* Blocks of disks for which a multiprocessor has to have room, as the kernel is compiled. Sub-sweeps
 * are best with the registers of 16 warps; but if 20 warps, with a fifth of them in memory, are one
 * round of blocks instead of two, that is faster by 8 %. */
static int resident(const checkerboard *me, int multiprocessors)
{
    const int rows = own_domain(me).layers / 2;
    const int64_t warps = (int64_t)blocks_for(me->cells.half, WARP) * rows * me->cells.walkers;
    if (me->patch.x) return me->patch.resident;
    if (me->cells.wide) return resident_cells(me);
    if (crowded(me)) return 24 / warps_of_crowd(me);
    const int at_a_time = warps > 16 * multiprocessors && warps <= 20 * multiprocessors ? 20 : 16;
    return at_a_time * WARP / block_size(me);
}

/* Threads of a block that take a cell, where a thread does. All, unless so many particles have come
 * near one cell that shared memory does not hold 32 columns of them, as when a gas condenses: slow, but
 * the chain goes on as it was begun. 64 a cell and two columns fit always. */
static int columns(const checkerboard *me)
{
    int n = block_size(me) / (CB_BODIES ? lanes_a_cell(me) : 1);
    while (n > 1 && me->cells.near * near_bytes(me) * n > 48 << 10) n /= 2;
    return n;
}

/* Cells that a block takes. */
int cells_a_block(const checkerboard *me)
{
    return me->cells.wide ? 1 : tiled(me) ? block_size(me) : columns(me);
}

/* Of the box of all walkers. */
static void define_box(checkerboard *me, int *n)
{
    const conditions *of = &me->each.of[0];
    define(me, n, "CB_SCALE=%af", (double)of->scale);
    define(me, n, "CB_RATIO_Y=%af", (double)of->ratio[1]);
    define(me, n, "CB_RATIO_Z=%af", (double)of->ratio[2]);
    define(me, n, "CB_REACH=%af", (double)of->reach);
}

/* Once, however often kernels are described. */
static int describe_tables(checkerboard *me, const plugmc_host *host)
{
    if (!me->source.first_table) {
        me->source.contact_table = table_define(
            host, "CB_CONTACTS", me->cells.species * me->cells.species, contact_item, me);
        me->source.first_table = table_define(host, "CB_FIRST", me->cells.species, first_item, me);
    }
    return me->source.contact_table && me->source.first_table
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY,
                            "no memory for the kernel's tables");
}

int cores(const checkerboard *me)
{
    int any = 0;
    for (int i = 0; i < me->cells.species * me->cells.species; i++)
        any |= me->each.of[0].contact[i] > 0;
    return any;
}

/* Everything that is fixed for the run becomes a constant of the kernels. */
static int describe_constants(checkerboard *me, const plugmc_host *host)
{
    const int multiprocessors = host->gpu ? host->gpu->multiprocessors : 132; /* H100, H200 */
    int n = 0;
    me->patch = choose_patch(me, multiprocessors);
    define(me, &n, "CB_MX=%d", me->cells.m[0]);
    define(me, &n, "CB_MY=%d", me->cells.m[1]);
    define(me, &n, "CB_MZ=%d", me->cells.m[2]);
    define(me, &n, "CB_PITCH=%d", pitch(me));
    define(me, &n, "CB_CAP=%d", me->cells.capacity);
    define(me, &n, "CB_TRIALS=%lld", (long long)me->set.trials);
    define(me, &n, "CB_WALKERS=%d", me->cells.walkers);
    define(me, &n, "CB_SHUFFLE=%d", me->set.shuffle_particles);
    define(me, &n, "CB_SHUFFLE_SETS=%d", me->set.shuffle_sets);
    define(me, &n, "CB_SHIFT=%d", me->set.shift_cells);
    define(me, &n, "CB_IDS=%d", me->cells.ids);
    if (!me->each.boxes_change) define_box(me, &n);
    define(me, &n, "CB_BLOCK=%d", block_size(me));
    define(me, &n, "CB_AT_ONCE=%d", at_once(me));
    define(me, &n, "CB_PATCH=%d", me->patch.x > 0);
    define(me, &n, "CB_PATCH_X=%d", me->patch.x);
    define(me, &n, "CB_PATCH_Y=%d", me->patch.y);
    define(me, &n, "CB_CHOSEN=%d", me->patch.chosen);
    define(me, &n, "CB_RESIDENT=%d", resident(me, multiprocessors));
    define(me, &n, "CB_NEAR=%d", me->cells.near);
    define(me, &n, "CB_COLUMNS=%d", columns(me));
    define(me, &n, "CB_CORES=%d", cores(me));
    define(me, &n, "CB_ALIKE=%d", me->each.alike);
    define(me, &n, "CB_RUNGS=%d", me->system->rungs);
    define(me, &n, "CB_SPREAD=%d", me->others.spread != NULL);
    if (CB_BODIES) {
        define(me, &n, "CB_BODIES=1");
        define(me, &n, "CB_LANES=%d", lanes_a_cell(me));
        define(me, &n, "CB_POOLED=%d", pooled(me));
        define(me, &n, "CB_PARTICLES=%lld", (long long)me->system->particles);
        define(me, &n, "CB_ROTATIONS=%lluull", (unsigned long long)rotations_threshold(me));
    }
    TRY(describe_tables(me, host));
    me->source.defines[n++] = me->source.first_table;
    if (!me->each.boxes_change) me->source.defines[n++] = me->source.contact_table;
    me->source.defines[n] = NULL;
    return PLUGMC_OK;
}

/* What of the text comes last. */
enum { ANY, DISKS, LOAD };

static int describe(checkerboard *me, const plugmc_host *host, int which, plugmc_gpu_source *out)
{
    const char *of_a_cell = me->cells.wide ? checkerboard_wide : checkerboard_subsweep;
    const char *of_bodies = has_round_bodies(me) ? checkerboard_round
                            : crowded(me)        ? checkerboard_crowd
                                                 : checkerboard_bodies;
    const char *const parts[][6] = {
        [ANY] = {checkerboard_choices, checkerboard_kernels, checkerboard_trial,
                 CB_BODIES ? checkerboard_moves : of_a_cell, CB_BODIES ? of_bodies : NULL},
        [DISKS] = {checkerboard_choices, checkerboard_kernels, checkerboard_disks},
        [LOAD] = {checkerboard_choices, checkerboard_kernels, checkerboard_load,
                  checkerboard_lend}};
    const char **text = &me->source.text[which];
    TRY(describe_constants(me, host));
    if (!*text) *text = join_texts(host, parts[which]);
    if (!*text) return PLUGMC_ERROR_MEMORY;
    plugmc_set_gpu_source(
        out, &(plugmc_gpu_source){.name = which == LOAD ? CB_NAME "_load.cu" : CB_NAME ".cu",
                                  .source = *text,
                                  .defines = me->source.defines,
                                  .fuse = 1,
                                  .overlap = 1});
    return PLUGMC_OK;
}

int describe_kernels(checkerboard *me, const plugmc_host *host, plugmc_gpu_source *out)
{
    return describe(me, host, tiled(me) ? DISKS : ANY, out);
}

int describe_load(checkerboard *me, const plugmc_host *host, plugmc_gpu_source *out)
{
    return describe(me, host, LOAD, out);
}

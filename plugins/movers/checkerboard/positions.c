/* positions.c: positions into cells, and out of them. */
#include "checkerboard.h"

static int species_of(const checkerboard *me, uint32_t id)
{
    int s = 0;
    while (s + 1 < me->cells.species && id >= me->system->first[s + 1]) s++;
    return s;
}

/* How many particles overlap with particle k of a cell, if it were at `at`, as the sweep sees it;
 * away is the separation from one of them. */
static int cell_overlaps(const checkerboard *me, const conditions *of, int walker, int x, int y,
                         int z, int k, const float at[3], float away[3])
{
    const store *s = &me->now;
    int64_t own = word_of(me, x, y, z);
    int kind = species_of(me, s->id[walker * me->cells.axis + place_of(me, own, k)]);
    int cells = me->cells.dimension == 3 ? 27 : 9, overlaps = 0;
    for (int c = 0; c < cells; c++) {
        int d[3] = {c % 3 - 1, c / 3 % 3 - 1, me->cells.dimension == 3 ? c / 9 - 1 : 0};
        int64_t word = word_of(me, (x + d[0] + me->cells.m[0]) % me->cells.m[0],
                               (y + d[1] + me->cells.m[1]) % me->cells.m[1],
                               (z + d[2] + me->cells.m[2]) % me->cells.m[2]);
        for (int j = 0; j < s->count[walker * me->cells.plane + word]; j++) {
            if (c == cells / 2 && j == k) continue;
            float u[3] = {0}, r2 = 0;
            for (int a = 0; a < me->cells.dimension; a++) {
                u[a] = ((at[a] - (float)d[a]) -
                        s->coordinate[walker * me->cells.walker + a * me->cells.axis +
                                      place_of(me, word, j)]) *
                       of->ratio[a];
                r2 = a ? fmaf(u[a], u[a], r2) : u[a] * u[a];
            }
            int other = species_of(me, s->id[walker * me->cells.axis + place_of(me, word, j)]);
            if (r2 < of->contact[kind * me->cells.species + other]) {
                overlaps++;
                for (int a = 0; a < me->cells.dimension; a++) away[a] = u[a];
            }
        }
    }
    return overlaps;
}

/* Pushes particles of a walker that overlap apart by a quantum; returns how many there were. */
static int64_t part_once(checkerboard *me, int w)
{
    int64_t touching = 0;
    for (int z = 0; z < me->cells.m[2]; z++)
        for (int y = 0; y < me->cells.m[1]; y++)
            for (int x = 0; x < me->cells.m[0]; x++) {
                int64_t word = word_of(me, x, y, z);
                for (int k = 0; k < me->now.count[w * me->cells.plane + word]; k++) {
                    float at[3] = {0}, away[3] = {0}, *v[3];
                    for (int a = 0; a < me->cells.dimension; a++) {
                        v[a] = me->now.coordinate + w * me->cells.walker + a * me->cells.axis +
                               place_of(me, word, k);
                        at[a] = *v[a];
                    }
                    if (!cell_overlaps(me, &me->each.of[w], w, x, y, z, k, at, away)) continue;
                    touching++;
                    for (int a = 0; a < me->cells.dimension; a++) {
                        float moved =
                            at[a] + (away[a] > 0) * CB_QUANTUM - (away[a] < 0) * CB_QUANTUM;
                        if (moved >= -0.5f && moved < 0.5f) *v[a] = moved;
                    }
                }
            }
    return touching;
}

/* Rounding to quanta may bring touching particles to overlap by 1e-7: they are pushed apart by
 * single quanta.
 *
 * Not where boxes or numbers of particles change. There, as soon as a box has become a little smaller or
 * somebody has come, some of many particles are closer to contact than float can tell, and places in cells
 * have to stay what they are, or it would not be a change of the box, or of that particle, alone. Such
 * particles are left: trial moves to where they overlap are rejected as ever, and they part with the first
 * that one of them makes. */
static int part_touching(checkerboard *me, const plugmc_host *host)
{
    int first = me->cells.walkers; /* that cannot be parted */
    int64_t left = 0;
#pragma omp parallel for schedule(dynamic) num_threads(me->system->threads)
    for (int w = 0; w < me->cells.walkers; w++) {
        int64_t touching = 1;
        for (int pass = 0; touching && pass < 1000; pass++) touching = part_once(me, w);
        if (!touching) continue;
#pragma omp critical
        if (w < first) {
            first = w;
            left = touching;
        }
    }
    if (!left) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "the starting positions of walker %d are so dense that rounding to "
                      "%.1e of a cell makes %lld particles overlap",
                      first, (double)CB_QUANTUM, (long long)left);
}

int any_overlap(const checkerboard *me, int w, const conditions *of)
{
    const int rows = me->cells.m[1] * me->cells.m[2];
    int found = 0;
#pragma omp parallel for schedule(static) num_threads(me->system->threads)
    for (int row = 0; row < rows; row++) {
        const int y = row % me->cells.m[1], z = row / me->cells.m[1];
        int enough;
#pragma omp atomic read
        enough = found;
        for (int x = 0; x < me->cells.m[0] && !enough; x++) {
            const int64_t word = word_of(me, x, y, z);
            for (int k = 0; k < me->now.count[w * me->cells.plane + word] && !enough; k++) {
                float at[3] = {0}, away[3];
                for (int a = 0; a < me->cells.dimension; a++)
                    at[a] = me->now.coordinate[w * me->cells.walker + a * me->cells.axis +
                                               place_of(me, word, k)];
                enough = cell_overlaps(me, of, w, x, y, z, k, at, away);
            }
        }
        if (enough) {
#pragma omp atomic write
            found = 1;
        }
    }
    return found;
}

/* The cell of a position and where in it, in units of cells from its centre; returns the word of the cell in a slot. */
static int64_t find_cell(const checkerboard *me, int w, const double *position, float local[3])
{
    int cell[3] = {0};
    for (int a = 0; a < me->cells.dimension; a++) {
        int64_t edge = (int64_t)CB_QUANTA * me->cells.m[a];
        int64_t at = llrint(position[a] / me->each.of[w].width[a] * CB_QUANTA);
        at = ((at - me->origin[3 * w + a]) % edge + edge) % edge;
        cell[a] = (int)(at / CB_QUANTA);
        local[a] = (float)(at % CB_QUANTA - CB_QUANTA / 2) * CB_QUANTUM;
    }
    return word_of(me, cell[0], cell[1], cell[2]);
}

static void put_into(const checkerboard *me, int w, int64_t word, int slot, const float local[3],
                     uint32_t id)
{
    for (int a = 0; a < me->cells.dimension; a++)
        me->now.coordinate[w * me->cells.walker + a * me->cells.axis + place_of(me, word, slot)] =
            local[a];
    me->now.id[w * me->cells.axis + place_of(me, word, slot)] = id;
}

static int is_there(const checkerboard *me, const double *position)
{
    return !me->each.counts_change || !isnan(position[0]);
}

/* Puts positions into cells; returns the largest number in one, which may exceed the capacity. */
static int fill_cells(checkerboard *me, const double *positions)
{
    const int64_t particles = me->system->particles;
    int largest = 0;
    memset(me->now.count, 0, count_bytes(me));
#pragma omp parallel for schedule(static) num_threads(me->system->threads) reduction(max : largest)
    for (int w = 0; w < me->cells.walkers; w++) {
        for (int64_t i = 0; i < particles; i++) {
            const double *position = &positions[3 * (w * particles + i)];
            float local[3] = {0};
            if (!is_there(me, position)) continue;
            const int64_t word = find_cell(me, w, position, local);
            const int k = me->now.count[w * me->cells.plane + word]++;
            largest = k + 1 > largest ? k + 1 : largest;
            if (k < me->cells.capacity) put_into(me, w, word, k, local, (uint32_t)i);
        }
    }
    return largest;
}

/* The order of the particles of a cell is its history, which positions do not tell. */
void find_slots(const checkerboard *me, uint8_t *slots)
{
    const int64_t particles = me->system->particles;
    const int rows = me->cells.m[1] * me->cells.m[2];
    memset(slots, 0, (size_t)(me->cells.walkers * particles));
    for (int w = 0; w < me->cells.walkers; w++)
        for (int64_t c = 0; c < (int64_t)rows * me->cells.m[0]; c++) {
            const int64_t row = c / me->cells.m[0],
                          word = word_of(me, (int)(c % me->cells.m[0]), (int)(row % me->cells.m[1]),
                                         (int)(row / me->cells.m[1]));
            for (int k = 0; k < me->now.count[w * me->cells.plane + word]; k++)
                slots[w * particles + me->now.id[w * me->cells.axis + place_of(me, word, k)]] =
                    (uint8_t)k;
        }
}

/* Each slot of a cell up to its number of particles has one of them, if each particle is found in its own. */
static int slots_hold(const checkerboard *me, const double *positions, const uint8_t *slots)
{
    const int64_t particles = me->system->particles;
    for (int64_t i = 0; i < me->cells.walkers * particles; i++) {
        const int w = (int)(i / particles);
        float local[3];
        if (!is_there(me, &positions[3 * i])) continue;
        const int64_t word = find_cell(me, w, &positions[3 * i], local);
        if (slots[i] >= me->now.count[w * me->cells.plane + word] ||
            me->now.id[w * me->cells.axis + place_of(me, word, slots[i])] !=
                (uint32_t)(i % particles))
            return 0;
    }
    return 1;
}

int fill_slots(checkerboard *me, const double *positions, const uint8_t *slots)
{
    const int64_t particles = me->system->particles;
    if (!slots) return fill_cells(me, positions) <= me->cells.capacity;
    memset(me->now.count, 0, count_bytes(me));
    for (int64_t i = 0; i < me->cells.walkers * particles; i++) {
        const int w = (int)(i / particles);
        float local[3] = {0};
        if (!is_there(me, &positions[3 * i])) continue;
        const int64_t word = find_cell(me, w, &positions[3 * i], local);
        if (slots[i] >= me->cells.capacity || me->now.count[w * me->cells.plane + word] == 255)
            return 0;
        me->now.count[w * me->cells.plane + word]++;
        put_into(me, w, word, slots[i], local, (uint32_t)(i % particles));
    }
    return slots_hold(me, positions, slots);
}

int load_cells(checkerboard *me, const plugmc_host *host, const double *positions)
{
    int largest;
    while ((largest = fill_cells(me, positions)) > me->cells.capacity) {
        int code = largest > 255 ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                                              "%d particles start in one cell", largest)
                                 : grow(me, host);
        if (code) return code;
    }
    if (parts_touching(me)) TRY(part_touching(me, host));
    normalise(me, &me->now);
    return PLUGMC_OK;
}

/* Whether a cell, in row-major order, is in one of these layers. */
static int is_among(const checkerboard *me, domain which, int64_t cell)
{
    const int m = me->cells.m[me->cells.dimension - 1];
    const int layer =
        (int)(cell / ((int64_t)me->cells.m[0] * (me->cells.dimension == 3 ? me->cells.m[1] : 1)));
    return (layer - which.first + m) % m < which.layers;
}

/* Number of the first particle of every cell of these layers, in row-major order of cells, for runs that do not
 * keep identities. */
static void number_cells(const checkerboard *me, domain which, const uint8_t *count,
                         uint32_t *offset)
{
    int64_t cells = (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2];
    for (int w = 0; w < me->cells.walkers; w++) {
        uint32_t sum = 0;
        for (int64_t c = 0; c < cells; c++) {
            int x = (int)(c % me->cells.m[0]), y = (int)(c / me->cells.m[0] % me->cells.m[1]);
            offset[w * cells + c] = sum;
            if (is_among(me, which, c))
                sum += count[w * me->cells.plane +
                             word_of(me, x, y, (int)(c / me->cells.m[0] / me->cells.m[1]))];
        }
    }
}

/* What the positions of a walker are made of: the origin of its cells within the box, in quanta, and a quantum, length. */
typedef struct frame_of_cells {
    int walker;
    int64_t origin[3], edge[3];
    double quantum[3];
} frame_of_cells;

static frame_of_cells frame_of(const checkerboard *me, int walker)
{
    frame_of_cells f = {.walker = walker};
    for (int a = 0; a < me->cells.dimension; a++) {
        f.edge[a] = (int64_t)CB_QUANTA * me->cells.m[a];
        f.origin[a] = (me->origin[3 * walker + a] % f.edge[a] + f.edge[a]) % f.edge[a];
        f.quantum[a] = me->each.of[walker].width[a] / CB_QUANTA;
    }
    return f;
}

/* Cell number c of a walker, in row-major order. */
static void place_cell(const checkerboard *me, const frame_of_cells *f, int64_t c,
                       const uint32_t *offset, double *positions)
{
    const int64_t particles = me->system->particles;
    const int at[3] = {(int)(c % me->cells.m[0]), (int)(c / me->cells.m[0] % me->cells.m[1]),
                       (int)(c / me->cells.m[0] / me->cells.m[1])};
    const int64_t word = word_of(me, at[0], at[1], at[2]);
    for (int k = 0; k < me->now.count[f->walker * me->cells.plane + word]; k++) {
        const int64_t place = place_of(me, word, k);
        const int64_t number =
            me->cells.ids ? me->now.id[f->walker * me->cells.axis + place] : *offset + k;
        double *out = positions + 3 * (f->walker * particles + number);
        out[2] = 0;
        for (int a = 0; a < me->cells.dimension; a++) {
            int64_t q = (int64_t)CB_QUANTA * at[a] + CB_QUANTA / 2 +
                        (int64_t)(me->now.coordinate[f->walker * me->cells.walker +
                                                     a * me->cells.axis + place] *
                                  (float)CB_QUANTA) +
                        f->origin[a];
            /* a remainder without divisions, as it is less than an edge away */
            while (q >= f->edge[a]) q -= f->edge[a];
            while (q < 0) q += f->edge[a];
            out[a] = (double)q * f->quantum[a];
        }
    }
}

static void place_particles(const checkerboard *me, domain which, const uint32_t *offset,
                            double *positions)
{
    const int64_t cells = (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2];
#pragma omp parallel num_threads(me->system->threads)
    {
        frame_of_cells f = {.walker = -1};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < cells * me->cells.walkers; i++) {
            if (!is_among(me, which, i % cells)) continue;
            if (i / cells != f.walker) f = frame_of(me, (int)(i / cells));
            place_cell(me, &f, i % cells, offset ? &offset[i] : NULL, positions);
        }
    }
}

int store_on_host(const checkerboard *me, const plugmc_host *host, domain which, double *positions)
{
    uint32_t *offset = NULL;
    if (!me->cells.ids) {
        offset = (uint32_t *)malloc(sizeof(uint32_t) * me->cells.walkers * me->cells.m[0] *
                                    me->cells.m[1] * me->cells.m[2]);
        if (!offset)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cell offsets");
        number_cells(me, which, me->now.count, offset);
    }
    place_particles(me, which, offset, positions);
    free(offset);
    return PLUGMC_OK;
}

/* hard_pressure.cu: what one particle gives to the pressure. The same text is compiled by the C
 * compiler, as part of hard_pressure.c, and for the GPU: IEEE operations only, integer sums, so
 * the result is the same number on both.
 *
 * "Entry" k is a particle by its place in the order of cells. Cell (x, y, z) has the number
 * (z count[1] + y) count[0] + x.
 */
enum { PRESSURE_SHARE_BITS = 24, PRESSURE_BLOCK = 256 };

/* What should not be: pairs that overlap, and paths that may end where this process has no particles. */
enum { OVERLAPS, UNSEEN, TROUBLES };

/* What is counted. There are copies of it, `stride` bytes apart: if all blocks added to the same numbers, they would
 * wait for one another longer than they compute. Device pointers. */
typedef struct pressure_counters {
    unsigned long long *shares; /* [walkers][3], fixed point */
    uint32_t *histogram;        /* [walkers][bins] */
    uint32_t *troubles;         /* [TROUBLES] */
    uint32_t stride, copies;
} pressure_counters;

/* Entries that one kernel leaves to the next. Device pointers. */
typedef struct pressure_left {
    uint32_t *count; /* one */
    uint64_t *of;    /* [walkers * particles]: walker, entry (32 bits), what is left (3 bits) */
} pressure_left;

/* Configurations sorted by cells, and contact distances. Host or device pointers. */
typedef struct pressure_task {
    double largest; /* contact distance */
    double reach;   /* end of the histogram, length */
    double bins_per_length;
    double overlap; /* fraction of the contact distance that no pair may be closer than */
    walker_frames frames;
    const uint32_t *start;   /* [walkers][cells + 1] */
    const uint32_t *order;   /* [walkers][particles] */
    const double *positions; /* [walkers][particles][3] */
    const uint16_t *species; /* [particles] */
    const double *contact;   /* [species][species], length */
    uint32_t particles, cells;
    int32_t count[3]; /* cells in each direction */
    int32_t species_count, bins;
    int32_t near;   /* cells each way that are looked at first, in a plane: 1 or 2 */
    double around;  /* and how far, length: whoever is farther away is seldom touched first */
    int32_t seldom; /* 1: so seldom that few paths have to be searched for by themselves */
    cell_strips strips;
    uint32_t strip_bytes; /* shared memory of a block for them, without lists and pairs */
    plugmc_share share;
    double seen; /* how long a path along the axis of the share may be, so that its end is here */
} pressure_task;

/* One walker's part of a task. */
typedef struct pressure_walker {
    const walker_frame *frame;
    const uint32_t *start, *order;
    const double *positions;
} pressure_walker;

/* How far a particle can go, and its separation from what it then touches, along the axis. */
typedef struct free_path {
    double gap, reach;
} free_path;

PLUGMC_FN pressure_walker pressure_walker_of(const pressure_task *t, uint32_t walker)
{
    pressure_walker w;
    w.frame = frame_of(&t->frames, walker);
    w.start = t->start + (uint64_t)walker * (t->cells + 1);
    w.order = t->order + (uint64_t)walker * t->particles;
    w.positions = t->positions + (uint64_t)walker * t->particles * 3;
    return w;
}

/* How many entries there are, and whether the rifts of entry k, and its pairs with those after it, are this
 * process's to find. */
PLUGMC_FN uint32_t pressure_present(const pressure_task *t, pressure_walker w)
{
    return w.start[t->cells];
}

PLUGMC_FN int pressure_is_yours(const pressure_task *t, pressure_walker w, uint32_t k)
{
    return plugmc_is_yours(&t->share, w.positions + 3 * (uint64_t)k);
}

/* Difference between the numbers of two cells that are neighbours along `axis`. */
PLUGMC_FN int32_t cell_stride(const pressure_task *t, int32_t axis)
{
    return axis == 0 ? 1 : (axis == 1 ? t->count[0] : t->count[0] * t->count[1]);
}

PLUGMC_FN double contact_of(const pressure_task *t, pressure_walker w, uint32_t k, uint32_t m)
{
    if (t->species_count == 1) return t->largest;
    return t->contact[t->species[w.order[k]] * t->species_count + t->species[w.order[m]]];
}

/* Of two that are touched at once the one farther ahead counts, whatever the order in which they are met. */
PLUGMC_FN int32_t is_sooner(free_path a, free_path b)
{
    return a.gap < b.gap || (a.gap == b.gap && a.reach > b.reach);
}

/* Whom entry k meets of cell c on its way along `axis`, upwards (sign 1) or downwards (-1). */
PLUGMC_FN void look_in_cell(const pressure_task *t, pressure_walker w, uint32_t k, int32_t axis,
                            int32_t sign, int32_t c, free_path *path, uint32_t *troubles)
{
    const int32_t u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
    const double *here = w.positions + 3 * (uint64_t)k, *edge = w.frame->length;
    const double x = here[axis], y = here[u], z = here[v], length = edge[axis];
    for (uint32_t m = w.start[c]; m < w.start[c + 1]; m++) {
        if (m == k) continue;
        const double *there = w.positions + 3 * (uint64_t)m;
        double dy = plugmc_nearest_image(there[u] - y, edge[u]);
        double dz = plugmc_nearest_image(there[v] - z, edge[v]);
        double contact = contact_of(t, w, k, m);
        double squared = contact * contact - (dy * dy + dz * dz);
        if (!(squared > 0)) continue;
        double ahead = (there[axis] - x) * sign;
        double dx = plugmc_nearest_image(ahead, length);
        double least = t->overlap * contact;
        troubles[OVERLAPS] += dx * dx + dy * dy + dz * dz < least * least;
        if (ahead < 0) ahead += length;
        double reach = sqrt(squared);
        double gap = ahead > reach ? ahead - reach : 0;
        const free_path to = {gap, reach};
        if (is_sooner(to, *path)) *path = to;
    }
}

/* How far along the axis everybody is known once the columns up to `steps` cells from that of a particle at x have
 * been looked at, less what rounding may be. */
PLUGMC_FN double seen_after(int32_t steps, int32_t cell, double x, int32_t sign, double width,
                            double length)
{
    return (sign > 0 ? (cell + steps) * width - x : x - (cell + 1 - steps) * width) -
           1e-12 * length;
}

/* The free path of entry k along `axis`, upwards (sign 1) or downwards (-1), others fixed.
 *
 * Columns of cells are searched one after another until no particle beyond can be touched sooner,
 * or all were: then the particle is back where it was (its images move with it), the path is the
 * edge of the box and it touches nothing, reach 0. Of the images of another particle across the
 * axis the nearest stands farthest out, so it alone counts; along the axis the first one ahead. */
PLUGMC_FN free_path free_path_of(const pressure_task *t, pressure_walker w, uint32_t k,
                                 int32_t axis, int32_t sign, uint32_t *troubles)
{
    const int32_t u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
    const int32_t stride = cell_stride(t, axis), stride_u = cell_stride(t, u),
                  stride_v = cell_stride(t, v);
    const double *here = w.positions + 3 * (uint64_t)k, *width = w.frame->width;
    const double length = w.frame->length[axis];
    const int32_t cell = plugmc_cell_along(here[axis], width[axis], t->count[axis]);
    const int32_t cell_u = plugmc_cell_along(here[u], width[u], t->count[u]);
    const int32_t cell_v = plugmc_cell_along(here[v], width[v], t->count[v]);
    const int32_t across_u = plugmc_cells_around(t->count[u]),
                  across_v = plugmc_cells_around(t->count[v]);
    free_path path = {length, 0};
    int32_t column = cell;
    for (int32_t step = 0; step < t->count[axis]; step++) {
        for (int32_t i = 0; i < across_u * across_v; i++)
            look_in_cell(t, w, k, axis, sign,
                         column * stride +
                             plugmc_cell_around(cell_u, i % across_u, t->count[u]) * stride_u +
                             plugmc_cell_around(cell_v, i / across_u, t->count[v]) * stride_v,
                         &path, troubles);
        if (path.gap <=
            seen_after(step + 1, cell, here[axis], sign, width[axis], length) - t->largest)
            break;
        column += sign;
        if (column < 0) column = t->count[axis] - 1;
        if (column == t->count[axis]) column = 0;
    }
    return path;
}

/* (reach on both sides) / rift in fixed point. Rifts shorter than the rounding of positions are taken as
 * that long. */
PLUGMC_FN int64_t share_of(const pressure_task *t, free_path up, free_path down)
{
    double rift = up.gap + down.gap, shortest = 1e-9 * t->largest;
    double share = (up.reach + down.reach) / (rift > shortest ? rift : shortest);
    return (int64_t)(share * (double)(1 << PRESSURE_SHARE_BITS) + 0.5);
}

/* Notes if one of two paths along an axis is too long for a share. */
PLUGMC_FN void look_at_length(const pressure_task *t, int32_t axis, free_path up, free_path down,
                              uint32_t *troubles)
{
    const int shared = axis == t->share.axis && t->share.begin != t->share.end;
    troubles[UNSEEN] += shared && (up.gap > t->seen || down.gap > t->seen);
}

/* That of entry k along `axis`. */
PLUGMC_FN int64_t rift_share(const pressure_task *t, pressure_walker w, uint32_t k, int32_t axis,
                             uint32_t *troubles)
{
    free_path up = free_path_of(t, w, k, axis, 1, troubles), down = up;
    if (up.reach > 0) down = free_path_of(t, w, k, axis, -1, troubles);
    look_at_length(t, axis, up, down, troubles);
    return up.reach > 0 ? share_of(t, up, down) : 0;
}

/* ---- All four free paths in the plane at once ------------------------------------------------------- */

/* Those around an entry that it may touch first, or that are within reach. The memory lies side by side for the
 * threads of a block. PAIR_ROW: pairs that a warp puts in a row. */
enum { AROUND = 12, SLOT_BITS = 15, NOBODY = 0x7f000000, PAIR_ROW = 64 };

typedef struct around {
    uint32_t *who;           /* a number among `places`; there is room for one more than AROUND */
    uint32_t stride, count;  /* count > AROUND: there was no room for all */
    const double *places;    /* [][step], x and y first */
    const uint32_t *entries; /* who is at these places; NULL: those are all entries */
    uint32_t step, own;      /* own: the place of the entry itself */
    int32_t inside;          /* 1: nobody in the list is across an edge of the box */
    int32_t alike;           /* 1: all contact distances are the largest */
} around;

PLUGMC_FN uint32_t entry_of(const around *list, uint32_t place)
{
    return list->entries ? list->entries[place] : place;
}

/* From the entry at `here` to whoever is at a place of the list, along an axis. */
PLUGMC_FN double separation(const around *list, uint32_t place, int32_t axis, const double *here,
                            const double *length)
{
    const double x = list->places[list->step * (uint64_t)place + axis] - here[axis];
    return list->inside ? x : plugmc_nearest_image(x, length[axis]);
}

/* Contact distance with whoever is at a place of the list. */
PLUGMC_FN double contact_with(const pressure_task *t, pressure_walker w, const around *list,
                              uint32_t k, uint32_t place)
{
    return list->alike ? t->largest : contact_of(t, w, k, entry_of(list, place));
}

/* Is whoever is at this place behind entry k in the order of entries? */
PLUGMC_FN int is_behind(const around *list, uint32_t k, uint32_t place)
{
    return list->inside ? place > list->own : entry_of(list, place) > k;
}

/* Who is touched first on one of the ways, and next: the least that they are ahead by, as the bits of a positive
 * float, the last four of which are the place in the list. So the nearer of two is the smaller number. */
typedef struct nearest {
    uint32_t first, second;
} nearest;

PLUGMC_FN void take_nearer(nearest *n, uint32_t key)
{
    const uint32_t loser = key < n->first ? n->first : key;
    n->first = key < n->first ? key : n->first;
    n->second = loser < n->second ? loser : n->second;
}

/* Of bounds, whose last bits may depend on the machine. x is not denormal. */
#ifdef __CUDACC_RTC__
static __device__ float inverse_root(float x)
{
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}
static __device__ float product_and_sum(float a, float b, float c) { return __fmaf_rn(a, b, c); }
static __device__ float larger(float a, float b) { return fmaxf(a, b); }
#else
static inline float inverse_root(float x) { return 1 / sqrtf(x); }
static inline float product_and_sum(float a, float b, float c) { return a * b + c; }
static inline float larger(float a, float b) { return a > b ? a : b; }
#endif

/* Entry `slot` of the list, `ahead` along an axis and at a distance across it whose square is less than the
 * contact distance's by `squared`: into the path up or that down. Squares are good to a millionth of the contact
 * distance's, so it touches not sooner than if there were that much more of the reach; all is moved by the
 * largest contact distance, which makes it positive. (Beside whoever is not ahead at all the path up is 0, and not
 * sure.) */
PLUGMC_FN void look_along(nearest *up, nearest *down, uint32_t slot, float ahead, float squared,
                          float unsure, float largest)
{
    const float left = larger(squared, 5 * unsure), reach = (left + unsure) * inverse_root(left),
                least = larger(0, product_and_sum(fabsf(ahead) + largest, 1 - 1e-6f, -reach));
    const uint32_t bits = plugmc_bits(least) & ~(uint32_t)SLOT_BITS,
                   key = squared > -unsure ? bits | slot : NOBODY;
    take_nearer(up, ahead >= 0 ? key : NOBODY);
    take_nearer(down, ahead >= 0 ? NOBODY : key);
}

/* The path of entry k, at `here`, along `axis` that ends at whoever is at a place of the list, in double precision. */
PLUGMC_FN free_path path_to(const pressure_task *t, pressure_walker w, const around *list,
                            uint32_t k, const double *here, uint32_t place, int32_t axis,
                            int32_t sign)
{
    const double *there = list->places + list->step * (uint64_t)place, *length = w.frame->length;
    const double across = separation(list, place, 1 - axis, here, length);
    const double contact = contact_with(t, w, list, k, place);
    const double squared = contact * contact - across * across;
    double ahead = (there[axis] - here[axis]) * sign;
    if (ahead < 0) ahead += length[axis];
    free_path path;
    path.reach = squared > 0 ? sqrt(squared) : 0;
    path.gap = ahead > path.reach ? ahead - path.reach : 0;
    return path;
}

/* The path to whoever is first, and whether it is the right one for sure: the next one is farther, and so is all that
 * is not in the list, which is not touched before `seen`. */
PLUGMC_FN free_path likely_path(const pressure_task *t, pressure_walker w, uint32_t k,
                                const double *here, int32_t axis, int32_t sign, const around *list,
                                nearest n, double seen, uint32_t *sure)
{
    const int32_t known = list->count <= AROUND && n.first < NOBODY;
    const uint32_t place = known ? list->who[(n.first & SLOT_BITS) * list->stride] : 0;
    const free_path path = path_to(t, w, list, k, here, place, axis, sign);
    const double next = (double)plugmc_float_of_bits(n.second & ~(uint32_t)SLOT_BITS) - t->largest;
    *sure = known && path.reach > 0 && path.gap > 0 && path.gap < next && path.gap <= seen;
    return path;
}

/* What an entry gives along both axes of a plane. */
typedef struct plane_shares {
    int64_t along[2];
    uint32_t
        unsure; /* a bit for each axis along which paths have to be searched for by themselves */
} plane_shares;

enum {
    MANY_AROUND = 4
}; /* another one: the list had no room for all, and pairs have to be looked for, too */

/* Along an axis, with the entry in this cell of it. */
PLUGMC_FN void add_likely(const pressure_task *t, pressure_walker w, uint32_t k, const double *here,
                          int32_t axis, const around *list, nearest ahead, nearest behind,
                          int32_t cell, plane_shares *shares)
{
    const double at = here[axis], width = w.frame->width[axis];
    const double seen_up = (cell + t->near + 1) * width - at,
                 seen_down = at - (cell - t->near) * width;
    const double far = t->largest + 1e-12 * w.frame->length[axis], most = t->around - t->largest;
    uint32_t sure_up, sure_down;
    const free_path up =
        likely_path(t, w, k, here, axis, 1, list, ahead, fmin(seen_up - far, most), &sure_up);
    const free_path down =
        likely_path(t, w, k, here, axis, -1, list, behind, fmin(seen_down - far, most), &sure_down);
    const uint32_t sure = sure_up & sure_down;
    shares->along[axis] = sure ? share_of(t, up, down) : 0;
    shares->unsure |= (sure ? 0u : 1u) << axis;
}

PLUGMC_FN void count_one(uint32_t *counter)
{
#ifdef __CUDACC_RTC__
    atomicAdd(counter, 1u);
#else
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

/* A distance that rounding has put below contact belongs into the first bin: left out, g at contact would come
 * out low. histogram NULL: looks for overlaps alone. */
PLUGMC_FN void count_distance(const pressure_task *t, double squared, double contact,
                              uint32_t *histogram, uint32_t *troubles)
{
    if (squared >= t->reach * t->reach) return;
    const double least = t->overlap * contact;
    troubles[OVERLAPS] += squared < least * least;
    double beyond = sqrt(squared) - t->largest;
    int32_t bin = beyond > 0 ? (int32_t)(beyond * t->bins_per_length) : 0;
    if (histogram && bin < t->bins) count_one(histogram + bin);
}

PLUGMC_FN void count_pair(const pressure_task *t, pressure_walker w, uint32_t k, uint32_t m,
                          uint32_t *histogram, uint32_t *troubles)
{
    const double *here = w.positions + 3 * (uint64_t)k, *there = w.positions + 3 * (uint64_t)m;
    double dx = plugmc_nearest_image(there[0] - here[0], w.frame->length[0]);
    double dy = plugmc_nearest_image(there[1] - here[1], w.frame->length[1]);
    double dz = plugmc_nearest_image(there[2] - here[2], w.frame->length[2]);
    count_distance(t, dx * dx + dy * dy + dz * dz, contact_of(t, w, k, m), histogram, troubles);
}

/* Whoever is in one of the strips along the axes that entry k sweeps, and not farther than t->around. */
PLUGMC_FN void look_around(const pressure_task *t, pressure_walker w, uint32_t k, int32_t cell_x,
                           int32_t cell_y, around *list)
{
    const walker_frame *frame = w.frame;
    const double *here = w.positions + 3 * (uint64_t)k;
    const float strip = (float)t->largest * (1 + 1e-6f), far = (float)t->around * (1 + 1e-6f);
    const int32_t near = t->near;
    list->count = 0;
    list->places = w.positions;
    list->step = 3;
    list->entries = NULL;
    list->own = k;
    list->inside = list->alike = 0;
    for (int32_t i = -near; i <= near; i++) {
        int32_t row = cell_y + i;
        const double up = row < 0 ? -frame->length[1] : (row >= t->count[1] ? frame->length[1] : 0);
        row += row < 0 ? t->count[1] : (row >= t->count[1] ? -t->count[1] : 0);
        const int32_t reach = near == 2 && (i == -2 || i == 2) ? 1 : near;
        const plugmc_runs runs =
            plugmc_cells_in_row(w.start, row * t->count[0], cell_x, reach, t->count[0]);
        const double y = here[1] - up;
        double x = here[0];
        for (int32_t r = 0; r < 2; r++) {
            for (uint32_t m = runs.begin[r]; m < runs.end[r]; m++) {
                const double *there = w.positions + 3 * (uint64_t)m;
                const float dx = (float)(there[0] - x), dy = (float)(there[1] - y);
                const float wide = fabsf(dx), high = fabsf(dy), least = wide < high ? wide : high;
                if (least > strip || dx * dx + dy * dy > far * far || m == k) continue;
                if (list->count < AROUND) list->who[list->count * list->stride] = m;
                list->count++;
            }
            x += cell_x < reach ? frame->length[0] : -frame->length[0]; /* across an edge */
        }
    }
}

/* Distances of entry k from the entries after it. */
PLUGMC_FN void count_pairs(const pressure_task *t, pressure_walker w, uint32_t k,
                           uint32_t *histogram, uint32_t *troubles)
{
    const double *here = w.positions + 3 * (uint64_t)k;
    const double x = here[0], y = here[1], z = here[2];
    const walker_frame *frame = w.frame;
    const int32_t cell_x = plugmc_cell_along(x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(y, frame->width[1], t->count[1]);
    const int32_t cell_z = plugmc_cell_along(z, frame->width[2], t->count[2]);
    const int32_t ny = plugmc_cells_around(t->count[1]), nz = plugmc_cells_around(t->count[2]);
    for (int32_t i = 0; i < ny * nz; i++) {
        const int32_t row = (plugmc_cell_around(cell_z, i / ny, t->count[2]) * t->count[1] +
                             plugmc_cell_around(cell_y, i % ny, t->count[1])) *
                            t->count[0];
        const plugmc_runs runs = plugmc_cells_in_row(w.start, row, cell_x, 1, t->count[0]);
        for (int32_t r = 0; r < 2; r++)
            for (uint32_t m = runs.begin[r] > k ? runs.begin[r] : k + 1; m < runs.end[r]; m++)
                count_pair(t, w, k, m, histogram, troubles);
    }
}

/* The pair of entry k, at `here`, with whoever is at a place of the list. */
PLUGMC_FN void count_with(const pressure_task *t, pressure_walker w, uint32_t k, const double *here,
                          const around *list, uint32_t place, uint32_t *histogram,
                          uint32_t *troubles)
{
    const double dx = separation(list, place, 0, here, w.frame->length),
                 dy = separation(list, place, 1, here, w.frame->length);
    count_distance(t, dx * dx + dy * dy, contact_with(t, w, list, k, place), histogram, troubles);
}

/* What is to be seen in the list of an entry. */
typedef struct survey {
    nearest right, left, up, down;
    uint32_t pairs; /* with those behind it and within reach: a bit for each place in the list */
} survey;

/* `rounds`: as many as the list has entries, or more, so that threads with lists of several lengths stay together. */
PLUGMC_FN survey survey_of(const pressure_task *t, pressure_walker w, uint32_t k,
                           const double *here, const around *list, uint32_t rounds)
{
    const float largest = (float)t->largest, within = (float)t->reach * (1 + 1e-5f);
    const float unsure = 1e-6f * largest * largest;
    const nearest nobody = {NOBODY, NOBODY};
    survey s = {nobody, nobody, nobody, nobody, 0};
    const uint32_t *next = list->who;
    ONE_AT_A_TIME
    for (uint32_t i = 0; i < rounds; i++, next += list->stride) {
        const uint32_t listed = *next, there = i < list->count, m = there ? listed : list->own;
        const float x = (float)separation(list, m, 0, here, w.frame->length),
                    y = (float)separation(list, m, 1, here, w.frame->length);
        const float contact = (float)contact_with(t, w, list, k, m),
                    c2 = there ? contact * contact : -1;
        look_along(&s.right, &s.left, i, x, c2 - y * y, unsure, largest);
        look_along(&s.up, &s.down, i, y, c2 - x * x, unsure, largest);
        const int32_t near = x * x + y * y < within * within;
        s.pairs |= (uint32_t)(near && is_behind(list, k, m)) << i; /* nobody is behind himself */
    }
    return s;
}

/* Shares of entry k, at `here` in this cell, along both axes of a plane with enough cells each way: whoever it can
 * touch first is nearly always in the cells up to t->near from its own, of which those at the corners, if that is
 * 2, are too far from either axis; they are in the list. What is left to be done is in `unsure`. */
PLUGMC_FN plane_shares likely_shares(const pressure_task *t, pressure_walker w, uint32_t k,
                                     const double *here, int32_t cell_x, int32_t cell_y,
                                     const around *list, const survey *s)
{
    plane_shares shares = {{0, 0}, list->count > AROUND ? MANY_AROUND : 0u};
    add_likely(t, w, k, here, 0, list, s->right, s->left, cell_x, &shares);
    add_likely(t, w, k, here, 1, list, s->up, s->down, cell_y, &shares);
    return shares;
}

/* Are cells around one another's nearest images, whichever way they are met? */
PLUGMC_FN int32_t in_a_plane(const pressure_task *t)
{
    return t->count[0] >= 7 && t->count[1] >= 7 && t->count[2] == 1;
}

typedef struct settled_shares {
    int64_t along[2];
    uint32_t troubles[TROUBLES];
} settled_shares;

/* Shares of entry k along both axes of such a plane, all by one thread; pairs are counted on the way. */
PLUGMC_FN settled_shares shares_in_plane(const pressure_task *t, pressure_walker w, uint32_t k,
                                         uint32_t *histogram)
{
    uint32_t who[AROUND];
    around list = {who, 1, 0, NULL, NULL, 0, 0, 0, 0};
    settled_shares s = {{0, 0}, {0}};
    const double *here = w.positions + 3 * (uint64_t)k;
    const int32_t cell_x = plugmc_cell_along(here[0], w.frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(here[1], w.frame->width[1], t->count[1]);
    look_around(t, w, k, cell_x, cell_y, &list);
    const uint32_t listed = list.count < AROUND ? list.count : AROUND;
    const survey seen = survey_of(t, w, k, here, &list, listed);
    for (uint32_t i = 0; i < listed && list.count == listed; i++)
        if (seen.pairs >> i & 1)
            count_with(t, w, k, here, &list, list.who[i * list.stride], histogram, s.troubles);
    const plane_shares likely = likely_shares(t, w, k, here, cell_x, cell_y, &list, &seen);
    for (int32_t axis = 0; axis < 2; axis++)
        s.along[axis] =
            likely.unsure >> axis & 1 ? rift_share(t, w, k, axis, s.troubles) : likely.along[axis];
    if (likely.unsure & MANY_AROUND) count_pairs(t, w, k, histogram, s.troubles);
    return s;
}

#ifdef __CUDACC_RTC__
/* The copy of a block, by its number, for a walker. */
static __device__ pressure_counters copy_for(pressure_counters c, uint32_t block, uint32_t walker)
{
    const size_t on = (size_t)(block & (c.copies - 1)) * c.stride;
    c.shares = (unsigned long long *)((char *)c.shares + on) + 3 * walker;
    c.histogram = (uint32_t *)((char *)c.histogram + on);
    c.troubles = (uint32_t *)((char *)c.troubles + on);
    return c;
}

static __device__ void add_troubles(uint32_t *to, const uint32_t troubles[TROUBLES])
{
    for (int i = 0; i < TROUBLES; i++)
        if (troubles[i] > 0) atomicAdd(to + i, troubles[i]);
}

static __device__ void add_share(unsigned long long *shares, int64_t share)
{
    const unsigned long long all = sum_of_warp((unsigned long long)share);
    if (threadIdx.x % 32 == 0) atomicAdd(shares, all);
}

/* The histogram of a block, in shared memory [bins], from 0 and into that of its walker. */
static __device__ void begin_histogram(uint32_t *local, int32_t bins)
{
    for (int32_t b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
}

static __device__ void add_histogram(const uint32_t *local, int32_t bins, uint32_t walker,
                                     uint32_t *histogram)
{
    __syncthreads();
    for (int32_t b = threadIdx.x; b < bins; b += blockDim.x)
        if (local[b] > 0) atomicAdd(histogram + (uint64_t)walker * bins + b, local[b]);
}

/* One thread an entry; blocks of PRESSURE_BLOCK: x entries, y walkers, z axes. Adds shares and overlaps. */
extern "C" __global__ void rifts(const __grid_constant__ pressure_task task,
                                 const pressure_counters first)
{
    plugmc_wait();
    const uint32_t k = blockIdx.x * PRESSURE_BLOCK + threadIdx.x;
    const pressure_counters to = copy_for(first, blockIdx.x, blockIdx.y);
    const pressure_walker w = pressure_walker_of(&task, blockIdx.y);
    uint32_t troubles[TROUBLES] = {0};
    int64_t share = 0;
    if (k < pressure_present(&task, w) && pressure_is_yours(&task, w, k))
        share = rift_share(&task, w, k, (int32_t)blockIdx.z, troubles);
    add_share(to.shares + blockIdx.z, share);
    add_troubles(to.troubles, troubles);
}

/* The same as `rifts` and `pairs` for planes of few cells or particles: one thread an entry; blocks of PRESSURE_BLOCK:
 * x entries, y walkers. Dynamic shared memory: [bins]. */
extern "C" __global__ void rifts_and_pairs_alone(const __grid_constant__ pressure_task task,
                                                 const pressure_counters first)
{
    plugmc_wait();
    extern __shared__ uint32_t local[];
    const uint32_t k = blockIdx.x * PRESSURE_BLOCK + threadIdx.x;
    const pressure_counters to = copy_for(first, blockIdx.x, blockIdx.y);
    const pressure_walker w = pressure_walker_of(&task, blockIdx.y);
    settled_shares own = {{0, 0}, {0}};
    begin_histogram(local, task.bins);
    if (k < pressure_present(&task, w) && pressure_is_yours(&task, w, k))
        own = shares_in_plane(&task, w, k, task.bins > 0 ? local : NULL);
    add_share(to.shares, own.along[0]);
    add_share(to.shares + 1, own.along[1]);
    add_troubles(to.troubles, own.troubles);
    add_histogram(local, task.bins, blockIdx.y, to.histogram);
}

/* One thread an entry; blocks of PRESSURE_BLOCK: x entries, y walkers. Dynamic shared memory:
 * [bins]. Overlaps are counted by `rifts`. */
extern "C" __global__ void pairs(const __grid_constant__ pressure_task task,
                                 const pressure_counters first)
{
    plugmc_wait();
    extern __shared__ uint32_t local[];
    const uint32_t k = blockIdx.x * PRESSURE_BLOCK + threadIdx.x;
    const pressure_walker w = pressure_walker_of(&task, blockIdx.y);
    uint32_t troubles[TROUBLES] = {0};
    begin_histogram(local, task.bins);
    if (k < pressure_present(&task, w) && pressure_is_yours(&task, w, k))
        count_pairs(&task, w, k, local, troubles);
    add_histogram(local, task.bins, blockIdx.y, copy_for(first, blockIdx.x, blockIdx.y).histogram);
}
#endif

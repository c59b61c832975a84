/* pairs.cu: pairs of a particle that tries to move, and energies in fixed point; its text stands
 * between state.h and that of a sweep. */
#ifdef BRUSH_DOUBLE
#define BRUSH_UNIT 68719476736.0 /* fixed-point units of a kT: 2^36 */
#define BRUSH_HUGE 67108864.0    /* kT: beyond fixed point */
#else
#define BRUSH_UNIT 4294967296.0 /* 2^32 */
#define BRUSH_HUGE 1073741824.0
#endif

/* A particle with its trial move. */
typedef struct brush_probe {
    brush_place old, moved;
    plugmc_site site;
#if PLUGMC_BOX_CHANGES
    plugmc_images images;
    real margin;
#endif
#if PLUGMC_WEIGHTED
    const double *weight;
#endif
} brush_probe;

/* What it has of its walker. */
PLUGMC_FN void brush_know_walker(const brush_state *s, int w, brush_probe *p)
{
#if PLUGMC_BOX_CHANGES
    p->images = plugmc_images_of_walker(s->boxes, w);
    p->margin = (real)s->margin[w];
#endif
#if PLUGMC_WEIGHTED
    p->weight = s->weight + (size_t)w * PLUGMC_TERMS;
#endif
}

#if PLUGMC_BOX_CHANGES
#define BRUSH_SEPARATED(i, x, y, z) plugmc_separated(x, y, z, (i)->images)
#define BRUSH_MARGIN_OF(i) ((i)->margin)
#else
#define BRUSH_SEPARATED(i, x, y, z) plugmc_separated(x, y, z)
#define BRUSH_MARGIN_OF(i) ((real)BRUSH_MARGIN)
#endif

PLUGMC_FN real brush_total(const plugmc_sums *sums, const brush_probe *i)
{
#if PLUGMC_WEIGHTED
    return plugmc_sums_weighted(sums, i->site, i->weight);
#else
    return plugmc_sums_total(sums, i->site);
#endif
}

/* Sums over a chunk. */
typedef struct brush_chunk {
    plugmc_sums sums;
    int overlaps;
} brush_chunk;

PLUGMC_FN void brush_add_pair(brush_chunk *c, const brush_probe *i, const brush_place *j,
                              plugmc_site b)
{
    plugmc_separation to =
        BRUSH_SEPARATED(i, i->moved.x - j->x, i->moved.y - j->y, i->moved.z - j->z);
#if PLUGMC_ENERGY_TERMS
    plugmc_separation from = BRUSH_SEPARATED(i, i->old.x - j->x, i->old.y - j->y, i->old.z - j->z);
    plugmc_sums_add_change(&c->sums, from, to, i->site, b);
#endif
#if PLUGMC_CONTACTS
    c->overlaps |= to.r2 < plugmc_contact_square(i->site.species, b.species) * BRUSH_MARGIN_OF(i);
#endif
}

/* An energy of the particle at `place` in fixed point. Infinite, or far too large, is as good as an
 * overlap: it cannot be accepted. */
PLUGMC_FN long long brush_fixed(const brush_state *s, size_t place, real change, int *overlaps)
{
    if (change < (real)BRUSH_HUGE && change > -(real)BRUSH_HUGE)
#ifdef BRUSH_DOUBLE
        return __double2ll_rn(change * BRUSH_UNIT);
#else
        return __float2ll_rn(change * (float)BRUSH_UNIT);
#endif
    if (!*overlaps && !(change >= (real)BRUSH_HUGE)) brush_lose(s, place);
    *overlaps = 1;
    return 0;
}

/* The term of one pair, infinite where the new place overlaps. */
PLUGMC_FN real brush_pair_change(const brush_probe *i, const brush_place *j, plugmc_site b)
{
    brush_chunk c;
    plugmc_sums_clear(&c.sums);
    c.overlaps = 0;
    brush_add_pair(&c, i, j, b);
    const real change = brush_total(&c.sums, i);
    return c.overlaps ? (real)__int_as_float(0x7f800000) : change;
}

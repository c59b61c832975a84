/* trial.cu: a trial move, for the kernels where a thread takes a cell (subsweep.cu) and where a block
 * does (wide.cu). Its text follows that of checkerboard.cu. */

/* Word number k of a block, modulo 4, without an index that the compiler does not know. */
PLUGMC_FN uint32_t cb_word(plugmc_random random, int k)
{
    k &= 3;
    return k == 0   ? random.word[0]
           : k == 1 ? random.word[1]
           : k == 2 ? random.word[2]
                    : random.word[3];
}

PLUGMC_FN float cb_z(cb_vector v)
{
#if DIM == 3
    return v.z;
#else
    return 0.0f;
#endif
}

/* A trial move, relative to the centre of its cell, and what it has met so far. */
typedef struct cb_trial {
    float old_x, old_y, old_z, new_x, new_y, new_z;
    int species;
    float nearest; /* smallest square of a distance, with one species */
    bool overlap;  /* with several */
    plugmc_sums sums;
} cb_trial;

/* As if it had met nobody. */
PLUGMC_FN void cb_forget(cb_trial *t)
{
    t->nearest = PLUGMC_NOWHERE;
    t->overlap = false;
    plugmc_sums_clear(&t->sums);
}

/* Of the particle at x, y, z; z is not used in two dimensions. */
PLUGMC_FN cb_trial cb_begin_trial(float x, float y, float z, float dx, float dy, float dz,
                                  int species)
{
    cb_trial t;
    t.old_x = x;
    t.old_y = y;
    t.old_z = z;
    t.new_x = x + dx;
    t.new_y = y + dy;
    t.new_z = z + dz;
    t.species = species;
    cb_forget(&t);
    return t;
}

PLUGMC_FN bool cb_stays(const cb_trial *t)
{
    const bool stays = t->new_x >= -0.5f && t->new_x < 0.5f && t->new_y >= -0.5f && t->new_y < 0.5f;
    return DIM == 3 ? stays && t->new_z >= -0.5f && t->new_z < 0.5f : stays;
}

/* A particle of species b at jx, jy, jz. */
PLUGMC_FN void cb_meet_one(cb_trial *t, cb_walls walls, float jx, float jy, float jz, int b)
{
    const float ux = t->new_x - jx, uy = (t->new_y - jy) * walls.ratio_y;
    float r2 = fmaf(uy, uy, ux * ux);
#if DIM == 3
    const float uz = (t->new_z - jz) * walls.ratio_z;
    r2 = fmaf(uz, uz, r2);
#endif
#if CB_CORES && PLUGMC_SPECIES > 1
    t->overlap = t->overlap || r2 < cb_contact_of(walls, t->species * PLUGMC_SPECIES + b);
#elif CB_CORES
    t->nearest = fminf(t->nearest, r2);
#endif
#if PLUGMC_ENERGY_TERMS > 0
    plugmc_separation to, from;
    to.x = ux * walls.scale;
    to.y = uy * walls.scale;
    from.x = (t->old_x - jx) * walls.scale;
    from.y = (t->old_y - jy) * walls.ratio_y * walls.scale;
    to.r2 = fmaf(to.y, to.y, to.x * to.x);
    from.r2 = fmaf(from.y, from.y, from.x * from.x);
    to.z = from.z = 0.0f;
#if DIM == 3
    to.z = uz * walls.scale;
    from.z = (t->old_z - jz) * walls.ratio_z * walls.scale;
    to.r2 = fmaf(to.z, to.z, to.r2);
    from.r2 = fmaf(from.z, from.z, from.r2);
#endif
    plugmc_sums_add_change(&t->sums, from, to, plugmc_site_of_species(t->species),
                           plugmc_site_of_species(b));
#endif
}

/* The same; PLUGMC_NOWHERE in jx if there is none, who is far from all cores. */
PLUGMC_FN void cb_meet(cb_trial *t, cb_walls walls, float jx, float jy, float jz, int b)
{
    if (PLUGMC_ENERGY_TERMS == 0 || jx < PLUGMC_NOWHERE) cb_meet_one(t, walls, jx, jy, jz, b);
}

/* Whether it has overlapped with one of those that it has met. */
PLUGMC_FN bool cb_overlaps(const cb_trial *t, cb_walls walls)
{
    return CB_CORES && (PLUGMC_SPECIES == 1 ? t->nearest < cb_contact_of(walls, 0) : t->overlap);
}

/* Change of the energy by those that it has met; with multipliers, of -ln p. */
PLUGMC_FN float cb_change(const cb_trial *t, const cb_walker *walkers, int walker)
{
#if PLUGMC_WEIGHTED
    return plugmc_sums_weighted(&t->sums, plugmc_site_of_species(t->species),
                                walkers[walker].multiplier);
#else
    return plugmc_sums_total(&t->sums, plugmc_site_of_species(t->species));
#endif
}

PLUGMC_FN float cb_probability(float change)
{
#if PLUGMC_WEIGHTED
    return plugmc_exp(-change);
#elif PLUGMC_ENERGY_TERMS > 0 || PLUGMC_BODY_ENERGIES > 0
    return plugmc_exp(-change * (float)PLUGMC_OVER_KT);
#else
    return 1.0f; /* there may be temperatures, and no one kT */
#endif
}

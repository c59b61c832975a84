/* walk_waves.cu: the energy of a sum over waves (plugmc_waves), from structure factors that are kept for each walker.
 *
 * Stands between walk_molecules.cu and walk_proposals.cu. */
#if WALK_WAVES

/* [WALK_PHASED][2][orders] in shared memory, behind the coarse places: exp(2 pi i m f) of the fractional coordinates f
 * where a particle goes from, and where it goes to, m = 0 ... most along each axis. Those of the first axis times
 * -charge, and times charge. */
PLUGMC_FN double2 *walk_phases(const walk_task *t)
{
    return (double2 *)(walk_coarse_places() +
                       (isfinite(t->reach) ? WALK_BOXES * walk_coarse_row(t) : 0));
}

PLUGMC_FN uint32_t walk_orders(const walk_waves *w)
{
    return w->most[0] + w->most[1] + w->most[2] + 3;
}

PLUGMC_FN walk_part walk_changed(const plugmc_trial *trial, const walk_around *a,
                                 const walk_part part[2], int32_t k)
{
    return walk_is_group(trial) ? walk_member(trial, a, k) : part[k];
}

/* exp(2 pi i turns) */
PLUGMC_FN double2 walk_turned(double turns)
{
    double2 out;
    sincospi(2 * (turns - rint(turns)), &out.y, &out.x);
    return out;
}

PLUGMC_FN double2 walk_product(double2 a, double2 b)
{
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

PLUGMC_FN double walk_charge(int32_t species)
{
    return species < 0 ? 0 : plugmc_site_of_species(species).charge;
}

/* Of n particles that a trial changes, from number `begin` on. Each thread finds some of the phases. */
PLUGMC_FN void walk_find_phases(const walk_task *t, const plugmc_trial *trial, const walk_around *a,
                                const walk_part part[2], int32_t begin, int32_t n)
{
    const uint32_t *most = t->waves.most, orders = walk_orders(&t->waves);
    for (uint32_t k = threadIdx.x; k < (uint32_t)n * 2 * orders; k += blockDim.x) {
        const uint32_t place = k / orders;
        uint32_t m = k % orders, d = 0;
        while (m > most[d]) m -= most[d++] + 1;
        const walk_part p = walk_changed(trial, a, part, begin + (int32_t)(place / 2));
        const double *r = place % 2 ? p.to : p.from, f = r[0] * trial->box->inverse[0][d] +
                                                         r[1] * trial->box->inverse[1][d] +
                                                         r[2] * trial->box->inverse[2][d];
        double2 phase = walk_turned((double)m * f);
        const double charge = place % 2 ? walk_charge(p.comes) : -walk_charge(p.was);
        if (d == 0) phase.x *= charge, phase.y *= charge;
        walk_phases(t)[k] = phase;
    }
}

/* What n particles of a trial add to the structure factor of a wave. */
PLUGMC_FN double2 walk_shift(const walk_task *t, int32_t n, short4 wave)
{
    const int x = abs(wave.x), y = (int)t->waves.most[0] + 1 + abs(wave.y),
              z = (int)(t->waves.most[0] + t->waves.most[1]) + 2 + abs(wave.z);
    const double2 *phases = walk_phases(t);
    double2 sum = {0, 0};
    PLUGMC_UNROLL
    for (int32_t k = 0; k < 2 * WALK_PHASED; k++) {
        if (k >= 2 * n) continue;
        double2 along_y = phases[y], along_z = phases[z];
        double2 product = phases[x];
        /* the conjugate of the phase, but not of the charge, which is real */
        if (wave.x < 0) product.y = -product.y;
        if (wave.y < 0) along_y.y = -along_y.y;
        if (wave.z < 0) along_z.y = -along_z.y;
        product = walk_product(walk_product(product, along_y), along_z);
        sum.x += product.x, sum.y += product.y;
        phases += walk_orders(&t->waves);
    }
    return sum;
}

/* Structure factors of the positions at hand, at the beginning of each sweep, so that they do not depend on how sweeps
 * are divided into calls. Each thread has waves of its own. */
PLUGMC_FN void walk_find_structure(const walk_task *t, const walk_around *a)
{
    const walk_waves *w = &t->waves;
    const plugmc_box *box = t->boxes + a->walker;
    double *structure = w->structure + 2 * (uint64_t)a->walker * w->count;
    for (uint32_t k = threadIdx.x; k < w->count; k += blockDim.x) {
        const short4 n = w->n[k];
        double along[3], re = 0, im = 0; /* n.f = along.r */
        for (int d = 0; d < 3; d++)
            along[d] =
                n.x * box->inverse[d][0] + n.y * box->inverse[d][1] + n.z * box->inverse[d][2];
        for (int s = 0; s < PLUGMC_SPECIES; s++) {
            const double charge = walk_charge(s);
            const int64_t end = a->first[s] + a->count[s];
            for (int64_t i = a->first[s]; i < end && charge != 0; i++) {
                const double2 phase =
                    walk_turned(a->x[i] * along[0] + a->y[i] * along[1] + a->z[i] * along[2]);
                re += charge * phase.x, im += charge * phase.y;
            }
        }
        structure[k] = re, structure[w->count + k] = im;
    }
}

/* The change of -ln p by the waves, weight (|S + shift|^2 - |S|^2). Keeps the shift. */
PLUGMC_FN double walk_wave_delta(const walk_task *t, const plugmc_trial *trial,
                                 const walk_around *a, const walk_part part[2], int32_t n,
                                 double multiplier, double *room)
{
    const walk_waves *w = &t->waves;
    const double *re = w->structure + 2 * (uint64_t)a->walker * w->count, *im = re + w->count,
                 *weight = w->weight + a->walker * w->weight_row;
    double *shift_re = w->shift + 2 * (uint64_t)a->walker * w->count,
           *shift_im = shift_re + w->count, change = 0;
    for (int32_t begin = 0; begin < n; begin += WALK_PHASED) {
        const int32_t some = n - begin < WALK_PHASED ? n - begin : WALK_PHASED;
        __syncthreads(); /* all have read the phases before */
        walk_find_phases(t, trial, a, part, begin, some);
        __syncthreads();
        for (uint32_t k = threadIdx.x; k < w->count; k += blockDim.x) {
            double2 shift = walk_shift(t, some, w->n[k]);
            if (begin) shift.x += shift_re[k], shift.y += shift_im[k];
            shift_re[k] = shift.x, shift_im[k] = shift.y;
            if (begin + some == n)
                change +=
                    weight[k] * (shift.x * (2 * re[k] + shift.x) + shift.y * (2 * im[k] + shift.y));
        }
    }
    return walk_sum(a, multiplier * change, room);
}

/* Each thread has the waves whose shift it has found. */
PLUGMC_FN void walk_take_waves(const walk_task *t, const walk_around *a)
{
    const walk_waves *w = &t->waves;
    double *structure = w->structure + 2 * (uint64_t)a->walker * w->count;
    const double *shift = w->shift + 2 * (uint64_t)a->walker * w->count;
    for (uint32_t k = threadIdx.x; k < w->count; k += blockDim.x) {
        structure[k] += shift[k];
        structure[w->count + k] += shift[w->count + k];
    }
}

#endif

/* How near particles come, and what a formula is there: included by expression.c. */
#ifndef PLUGMC_EXPRESSION_NEAREST_H
#define PLUGMC_EXPRESSION_NEAREST_H

/* Where the cutoff, or what there is of the box, ends. */
static double largest_distance(const work *w)
{
    const plugmc_box *box = &w->host->system->box;
    if (w->p->cutoff > 0) return (double)w->p->cutoff;
    return box->domain == PLUGMC_DOMAIN_SPHERE ? 2 * box->radius : 0.5 * box->length[0];
}

static int no_energy(const work *w, const char *what, double r, int32_t pair)
{
    const plugmc_system *system = w->host->system;
    return w->host->fail(w->host->context, PLUGMC_ERROR_INPUT,
                         "energy: the formula is %s at r = %g of '%s' and '%s'", what, r,
                         plugmc_species_at(system, pair / w->kinds)->name,
                         plugmc_species_at(system, pair % w->kinds)->name);
}

/* The first distance, from the cutoff inwards, at which something is not finite or too large; the one before
 * it is the last that is evaluated. Where energies are not large outside of it, and at a distance that is
 * met, the formula has no energy there. Within the guard nobody looks. */
static int find_core(const work *w, int32_t pair)
{
    machine *m = w->p->machine;
    const int32_t turned = pair % w->kinds * w->kinds + pair / w->kinds;
    const double end = largest_distance(w), least = end * exp2(-HALVINGS);
    const double guard =
        plugmc_species_pair_value(&w->p->guard, w->kinds, pair / w->kinds, pair % w->kinds);
    double last = 0, before = end, r = end;
    m->core[pair] = (real)fmax(least * least, guard * guard);
    for (int k = 0; k < HALVINGS * POINTS_A_HALVING && r > guard; k++) {
        r = fmax(end * exp2(-(k + 0.5) / POINTS_A_HALVING), guard);
        real out[PROGRAM_MOST_OUTPUTS], back[PROGRAM_MOST_OUTPUTS];
        evaluate_at(m, pair, (real)(r * r), out);
        evaluate_at(m, turned, (real)(r * r), back);
        const double u = (double)out[0], v = (double)back[0], size = fmax(fabs(u), fabs(last));
        if (fabs(u) < most_energy && isfinite(out[1]) && isfinite(out[2])) {
            if (!(fabs(u - v) <= 1e-3 * size))
                return no_energy(w, "another one when the particles change places", r, pair);
            last = u;
            before = r;
            continue;
        }
        if (isnan(u) && fabs(last) < 1e10 && r > 1e-3 * end)
            return no_energy(w, "not a number", r, pair);
        m->core[pair] = (real)(before * before);
        return PLUGMC_OK;
    }
    return PLUGMC_OK;
}

static const double no_end = -1e4; /* kT */

/* Whether the formula falls without end as r goes to 0, which cannot be normalised: a logarithm does not, nor does what
 * is deep and flat. */
static int falls(const parameters *p, int32_t pair)
{
    const real r2 = p->machine->core[pair];
    real near[PROGRAM_MOST_OUTPUTS], far[PROGRAM_MOST_OUTPUTS];
    evaluate_at(p->machine, pair, r2, near);
    evaluate_at(p->machine, pair, 4 * r2, far);
    return (double)near[0] < no_end && (double)near[0] < 1.02 * (double)far[0];
}

/* Whether others make up for it: a core, or energies that rise faster, on each rung. On the way in the sum of all has to
 * become as large as the energies of a core in fact are before it falls. They must be configured. */
static int others_keep_apart(const plugmc_system *system, int32_t a, int32_t b, double far,
                             double near)
{
    const double core = 1e12; /* kT */
    if (plugmc_contact_of_species(system, a, b) > 0) return 1;
    for (int32_t k = 0; k < (system->weighted ? system->rungs : 1); k++) {
        double r = far, most = 0;
        for (; r > near && most < core; r *= 0.9)
            most = plugmc_energy_of_species(system, k, a, b, r);
        if (most < core && plugmc_energy_of_species(system, k, a, b, near) < no_end) return 0;
    }
    return 1;
}

static int prepare(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    const plugmc_system *system = host->system;
    const plugmc_term *own = term_of(system, instance);
    const double end =
        p->cutoff > 0 ? (double)p->cutoff : 2 * system->box.radius; /* there are no others */
    for (int32_t a = 0; a < p->kinds && own && own->sampled; a++)
        for (int32_t b = a; b < p->kinds; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a),
                                 *sb = plugmc_species_at(system, b);
            const int32_t pair = a * (int32_t)p->kinds + b;
            const double guard = plugmc_species_pair_value(&p->guard, (int32_t)p->kinds, a, b);
            if (sa->capacity < 1 || sb->capacity < (a == b ? 2 : 1) || !falls(p, pair) ||
                others_keep_apart(system, a, b, end, sqrt((double)p->machine->core[pair])))
                continue;
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "energy: the formula %s '%s' and '%s' meet, so they would "
                              "collapse: set %s to the distance below which pairs are "
                              "forbidden, or add a potential with a core, such as "
                              "hard_sphere with diameters above 0",
                              guard > 0 ? "is below -10000 kT where, at guard,"
                                        : "goes to minus infinity as",
                              sa->name, sb->name, guard > 0 ? "it" : "guard");
        }
    return PLUGMC_OK;
}

#endif

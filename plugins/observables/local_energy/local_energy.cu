/* local_energy.cu: the local energy of many walkers on the GPU. draws.h, matrices.cu and formulas.h
 * stand in front: what is calculated is there, and here who calculates it.
 *
 * Numbered work (an electron, a point of a quadrature, 32 waves) is for one warp each. Its lanes
 * take what there is to add up in turn and add their sums in a fixed order, so results depend
 * neither on the size of a block nor on when it runs; nothing is added by atomics. Positions, and
 * all arrays of a walker, begin at the first walker of the task. */

/* ---- Warps ---- */

PLUGMC_FN int64_t thread_number() { return (int64_t)blockIdx.x * LE_THREADS + threadIdx.x; }
PLUGMC_FN int64_t warp_number() { return thread_number() / LE_WARP; }
PLUGMC_FN int32_t lane_number() { return threadIdx.x % LE_WARP; }

/* The same in all lanes. */
PLUGMC_FN double sum_of_warp(double mine)
{
    for (int distance = LE_WARP / 2; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    return mine;
}

/* ---- An electron ---- */

PLUGMC_FN const double *place_of(const walkers_task &t, int32_t walker, int32_t e)
{
    return t.positions + 3 * ((int64_t)walker * t.particles + e);
}

PLUGMC_FN plugmc_site site_of(const walkers_task &t, int32_t e)
{
    return plugmc_site_of_species(PLUGMC_SPECIES > 1 && e >= t.down ? 1 : 0);
}

PLUGMC_FN plugmc_separation_at between(const double *a, const double *b)
{
    return plugmc_separate_at(a[0], a[1], a[2],
                              plugmc_separated(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
}

PLUGMC_FN plugmc_position position_of(const double *r)
{
    plugmc_position at;
    at.x = r[0];
    at.y = r[1];
    at.z = r[2];
    return at;
}

/* Real part of sum_o orbital[o] M[o], by a warp. Orbitals are numbers side by side: re, im, re, ...
 * if they are complex. */
PLUGMC_FN double product_with_row(const walkers_task &t, const double *orbital, const double *row)
{
    const int32_t numbers = t.length * t.parts;
    double sum = 0;
    for (int32_t i = lane_number(); i < numbers; i += LE_WARP) {
        const double both = orbital[i] * row[i];
        sum += t.parts == 2 && i % 2 ? -both : both;
    }
    return sum_of_warp(sum);
}

/* The same of complex orbitals that are multiplied by a phase first. */
PLUGMC_FN double turned_product(const walkers_task &t, const double *orbital, const double *row,
                                const double phase[2])
{
    double re = 0, im = 0;
    if (!t.v.twisted) return product_with_row(t, orbital, row);
    for (int32_t o = 2 * lane_number(); o < 2 * t.length; o += 2 * LE_WARP) {
        re += orbital[o] * row[o] - orbital[o + 1] * row[o + 1];
        im += orbital[o] * row[o + 1] + orbital[o + 1] * row[o];
    }
    return sum_of_warp(phase[0] * re - phase[1] * im);
}

/* Row of the transposed inverse of a walker that belongs to electron `own` of the spin, or of an expansion. */
PLUGMC_FN const double *inverse_row(const walkers_task &t, const double *inverse, int32_t walker,
                                    int32_t own)
{
    return inverse + ((int64_t)walker * t.electrons + own) * t.length * t.parts;
}

/* ---- Pairs and fields: the Jastrow factor ---- */

/* A warp an electron: parts [walkers][particles][PARTS]. PARTS_PAIRS is the energy with all other
 * electrons. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_parts(const __grid_constant__ walkers_task t, double *parts)
{
    const int64_t number = warp_number();
    if (number >= (int64_t)t.walkers * t.particles) return;
    const int32_t walker = number / t.particles, e = number % t.particles;
    const double *all = place_of(t, walker, 0), *r = all + 3 * e;
    const plugmc_site a = site_of(t, e);
    double sum[PARTS] = {};
    for (int32_t j = lane_number(); j < t.particles && PLUGMC_ENERGY_TERMS > 0; j += LE_WARP) {
        if (j == e) continue;
        const plugmc_separation_at s = between(r, all + 3 * j);
        double energy, first, second;
        plugmc_pair_derivatives(s, a, site_of(t, j), &energy, &first, &second);
        sum[PARTS_GRADIENT] += first * s.x;
        sum[PARTS_GRADIENT + 1] += first * s.y;
        sum[PARTS_GRADIENT + 2] += first * s.z;
        sum[PARTS_LAPLACIAN] += second + 2 * first;
        sum[PARTS_PAIRS] += energy;
        if (PLUGMC_POSITION_DEPENDENT > 0) {
            double gradient[3], laplacian;
            plugmc_pair_derivatives_at(s, a, site_of(t, j), gradient, &laplacian);
            for (int d = 0; d < 3; d++) sum[PARTS_GRADIENT + d] += gradient[d];
            sum[PARTS_LAPLACIAN] += laplacian;
        }
    }
    if (lane_number() == 0 && PLUGMC_FIELDS > 0) {
        double gradient[3], laplacian;
        int outside = 0;
        plugmc_fields_derivatives(position_of(r), a, gradient, &laplacian);
        for (int d = 0; d < 3; d++) sum[PARTS_GRADIENT + d] += gradient[d];
        sum[PARTS_LAPLACIAN] += laplacian;
        sum[PARTS_FIELDS] = plugmc_fields(position_of(r), a, &outside);
    }
    for (int k = 0; k < PARTS; k++) {
        const double found = sum_of_warp(sum[k]);
        if (lane_number() == 0) parts[number * PARTS + k] = found;
    }
}

/* ---- Coulomb energies ---- */

/* A warp an electron: the sums over near images, near [walkers][particles][2]: with the electrons
 * before it, and with the ions. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_near(const __grid_constant__ walkers_task t, double *near)
{
    const int64_t number = warp_number();
    if (number >= (int64_t)t.walkers * t.particles) return;
    const int32_t walker = number / t.particles, e = number % t.particles;
    const double *all = place_of(t, walker, 0), *r = all + 3 * e;
    double repulsion = 0, local = 0;
    for (int32_t j = lane_number(); j < e && t.repulsion; j += LE_WARP) {
        const double *q = all + 3 * j, s[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
        repulsion += coulomb_near(&t.sums, s);
    }
    for (int32_t i = lane_number(); i < t.v.ions && t.attraction; i += LE_WARP) {
        const double *q = t.v.position[i], s[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
        local -= t.v.charge[i] * coulomb_near(&t.sums, s);
    }
    for (int64_t c = lane_number(); c < t.v.centres && t.attraction; c += LE_WARP)
        local += short_ranged(&t.v, c, r);
    repulsion = sum_of_warp(repulsion);
    local = sum_of_warp(local);
    if (lane_number() > 0) return;
    near[2 * number] = repulsion;
    near[2 * number + 1] = local;
}

/* A warp 32 waves of a walker: their part of the sums over G, of electrons with themselves and with
 * the ions: far [walkers][warps][2]. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_far(const __grid_constant__ walkers_task t, double *far)
{
    const int64_t warps = (t.sums.waves + LE_WARP - 1) / LE_WARP, number = warp_number();
    if (number >= t.walkers * warps) return;
    const int64_t wave = number % warps * LE_WARP + lane_number();
    const bool busy = wave < t.sums.waves;
    const double *r = place_of(t, number / warps, 0);
    const int32_t *index = t.sums.index[busy ? wave : 0];
    double re = 0, im = 0, f[3], c, s;
    for (int32_t e = 0; e < t.particles; e++, r += 3) {
        fractional_of(&t.sums.cell, r, f);
        const double turns = index[0] * f[0] + index[1] * f[1] + index[2] * f[2];
        sincospi(2 * (turns - rint(turns)), &s, &c);
        re += c;
        im += s;
    }
    const double weight = busy ? t.sums.weight[wave] : 0;
    double with_ions = 0;
    if (busy && t.attraction)
        with_ions = weight * (re * t.ion_wave[wave] + im * t.ion_wave[t.sums.waves + wave]);
    with_ions = sum_of_warp(with_ions);
    const double alone = sum_of_warp(weight * (re * re + im * im));
    if (lane_number() > 0) return;
    far[2 * number] = alone;
    far[2 * number + 1] = with_ions;
}

/* ---- The determinant of a spin ---- */

/* A thread a number: positions of the spin's electrons side by side, [walkers][electrons][3]. */
extern "C" __global__ void le_gather(const __grid_constant__ walkers_task t, double *points)
{
    const int64_t i = thread_number(), row = 3 * (int64_t)t.electrons;
    if (i >= t.walkers * row) return;
    points[i] = place_of(t, i / row, t.first)[i % row];
}

/* A warp a walker: phase [walkers][2] times that of the determinant whose factors L and U these are, exchanges of
 * rows counted from 1. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_phase(const __grid_constant__ walkers_task t, const double *factors, const int *pivots,
             double *phase)
{
    const int64_t walker = warp_number(), n = t.electrons;
    if (walker >= t.walkers) return;
    double re = 1, im = 0;
    for (int64_t i = lane_number(); i < n; i += LE_WARP) {
        const double *u = factors + ((walker * n + i) * n + i) * t.parts;
        const double v = t.parts == 2 ? u[1] : 0, over = rsqrt(u[0] * u[0] + v * v),
                     sign = pivots[walker * n + i] == i + 1 ? over : -over,
                     a = sign * (re * u[0] - im * v), b = sign * (re * v + im * u[0]);
        re = a;
        im = b;
    }
    for (int distance = LE_WARP / 2; distance > 0; distance /= 2) {
        const double u = __shfl_xor_sync(0xffffffffu, re, distance),
                     v = __shfl_xor_sync(0xffffffffu, im, distance), a = re * u - im * v;
        im = re * v + im * u;
        re = a;
    }
    if (lane_number() > 0) return;
    const double u = phase[2 * walker], v = phase[2 * walker + 1];
    phase[2 * walker] = re * u - im * v;
    phase[2 * walker + 1] = re * v + im * u;
}

/* A warp an electron of the spin: kinetic [walkers][particles], Hartree, and drift [walkers][particles][3] =
 * Re grad ln Psi unless it is NULL. With ln Psi = ln D - E/2:
 * laplace Psi / Psi = laplace D / D - grad D / D . grad E - laplace E / 2 + |grad E|^2 / 4. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_kinetic(const __grid_constant__ walkers_task t, const double *inverse,
               const double *gradients, const double *laplacians, const double *parts,
               double *kinetic, double *drift)
{
    const int64_t number = warp_number();
    if (number >= (int64_t)t.walkers * t.electrons) return;
    const int32_t walker = number / t.electrons, own = number % t.electrons;
    const int64_t electron = (int64_t)walker * t.particles + t.first + own;
    const double *row = inverse_row(t, inverse, walker, own), *part = parts + electron * PARTS;
    double laplacian = product_with_row(t, laplacians + number * t.row, row);
    for (int d = 0; d < 3; d++) {
        const double slope = product_with_row(t, gradients + (3 * number + d) * t.row, row);
        laplacian += part[PARTS_GRADIENT + d] * (0.25 * part[PARTS_GRADIENT + d] - slope);
        if (drift && lane_number() == 0)
            drift[3 * electron + d] = slope - 0.5 * part[PARTS_GRADIENT + d];
    }
    if (lane_number() == 0) kinetic[electron] = -0.5 * (laplacian - 0.5 * part[PARTS_LAPLACIAN]);
}

/* ---- Visits: electrons near ions ---- */

/* A warp an electron of the spin: how many there are, counts [walkers * electrons]; or, with the
 * sums of these before each as `offsets`, the list of them in order. */
PLUGMC_FN void look_around(const walkers_task &t, int32_t *counts, const int32_t *offsets,
                           visit *visits)
{
    const int64_t number = warp_number();
    if (number >= (int64_t)t.walkers * t.electrons) return;
    const int32_t walker = number / t.electrons, e = t.first + number % t.electrons;
    const double *r = place_of(t, walker, e);
    int32_t found = 0;
    for (int64_t begin = 0; begin < t.v.centres; begin += LE_WARP) {
        const int64_t c = begin + lane_number();
        visit one;
        const bool near = c < t.v.centres && is_visited(&t.v, c, r, one.from);
        const uint32_t of_lanes = __ballot_sync(0xffffffffu, near);
        if (near && visits) {
            one.walker = walker;
            one.electron = e;
            one.ion = t.v.ion_of[c];
            one.reserved = 0;
            visits[offsets[number] + found + __popc(of_lanes & ((1u << lane_number()) - 1))] = one;
        }
        found += __popc(of_lanes);
    }
    if (counts && lane_number() == 0) counts[number] = found;
}

extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_count(const __grid_constant__ walkers_task t, int32_t *counts)
{
    look_around(t, counts, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_list(const __grid_constant__ walkers_task t, const int32_t *offsets, visit *visits)
{
    look_around(t, nullptr, offsets, visits);
}

/* One block: n counts become the sums of those before each, and of all in [n]. */
extern "C" __global__ void __launch_bounds__(LE_SCAN) le_offsets(int32_t n, int32_t *counts)
{
    __shared__ int32_t sums[LE_SCAN];
    const int32_t thread = threadIdx.x, each = (n + LE_SCAN - 1) / LE_SCAN, first = thread * each;
    const int32_t end = first + each < n ? first + each : n;
    int32_t mine = 0;
    for (int32_t i = first; i < end; i++) mine += counts[i];
    sums[thread] = mine;
    for (int32_t distance = 1; distance < LE_SCAN; distance *= 2) {
        __syncthreads();
        const int32_t other = thread >= distance ? sums[thread - distance] : 0;
        __syncthreads();
        sums[thread] += other;
    }
    int32_t before = sums[thread] - mine;
    for (int32_t i = first; i < end; i++) {
        const int32_t count = counts[i];
        counts[i] = before;
        before += count;
    }
    if (thread == LE_SCAN - 1) counts[n] = before;
}

PLUGMC_FN int32_t points_of_a_visit(const walkers_task &t) { return t.v.radii * t.v.sphere.points; }

/* What orbitals at point i of a visit are multiplied by. */
PLUGMC_FN void phase_of_point(const walkers_task &t, const visit &at, int32_t i, double phase[2])
{
    double m[3][3], r[3];
    phase[0] = 1;
    phase[1] = 0;
    if (!t.v.twisted) return;
    visit_rotation(&t.v, t.seed, t.sweep, t.first_walker + at.walker, &at, m);
    visit_place(&t.v, &t.sums.cell, &at, m, place_of(t, at.walker, at.electron),
                i / t.v.sphere.points, i % t.v.sphere.points, r, phase);
}

/* A thread a point of n visits: where it is, places [n][points][3], and how much the fields there
 * differ from those at the electron, change [n][points]. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_places(const __grid_constant__ walkers_task t, int32_t n, const visit *visits,
              const double *parts, double *places, double *change)
{
    const int64_t i = thread_number(), points = points_of_a_visit(t);
    if (i >= n * points) return;
    const visit at = visits[i / points];
    const int32_t radius = i % points / t.v.sphere.points, k = i % t.v.sphere.points;
    double m[3][3], r[3], phase[2];
    visit_rotation(&t.v, t.seed, t.sweep, t.first_walker + at.walker, &at, m);
    visit_place(&t.v, &t.sums.cell, &at, m, place_of(t, at.walker, at.electron), radius, k, r,
                phase);
    for (int d = 0; d < 3; d++) places[3 * i + d] = r[d];
    double field = 0;
    if (PLUGMC_FIELDS > 0) {
        int outside = 0;
        field = plugmc_fields(position_of(r), site_of(t, at.electron), &outside) -
                parts[((int64_t)at.walker * t.particles + at.electron) * PARTS + PARTS_FIELDS];
    }
    change[i] = field;
}

/* A warp a point: the real part of Psi(electron there) / Psi, ratios [n][points]. values
 * [n][points][row] are the orbitals. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_ratios(const __grid_constant__ walkers_task t, int32_t n, const visit *visits,
              const double *inverse, const double *values, const double *parts,
              const double *places, const double *change, double *ratios)
{
    const int64_t i = warp_number(), points = points_of_a_visit(t);
    if (i >= n * points) return;
    const visit *at = visits + i / points;
    const int32_t walker = at->walker, e = at->electron;
    const double *all = place_of(t, walker, 0), *r = places + 3 * i;
    const plugmc_site a = site_of(t, e);
    double grown = t.v.of_determinants ? 0 : change[i];
    if (PLUGMC_ENERGY_TERMS > 0 && !t.v.of_determinants) {
        plugmc_sums sums;
        plugmc_sums_clear(&sums);
        for (int32_t j = lane_number(); j < t.particles; j += LE_WARP)
            if (j != e) plugmc_sums_add_energy(&sums, between(r, all + 3 * j), a, site_of(t, j));
        grown += sum_of_warp(plugmc_sums_total(&sums, a)) -
                 parts[((int64_t)walker * t.particles + e) * PARTS + PARTS_PAIRS];
    }
    double phase[2];
    phase_of_point(t, *at, i % points, phase);
    const double product =
        turned_product(t, values + i * t.row, inverse_row(t, inverse, walker, e - t.first), phase);
    if (lane_number() == 0) ratios[i] = product * exp(-0.5 * grown);
}

/* A thread a visit: energies [n]. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_visits(const __grid_constant__ walkers_task t, int32_t n, const visit *visits,
              const double *ratios, double *energies)
{
    const int64_t i = thread_number();
    if (i >= n) return;
    const visit at = visits[i];
    double m[3][3];
    visit_rotation(&t.v, t.seed, t.sweep, t.first_walker + at.walker, &at, m);
    energies[i] = visit_energy(&t.v, &at, m, ratios + i * points_of_a_visit(t));
}

/* As plugmc_nonlocal_point. */
struct nonlocal_place {
    int32_t walker, electron;
    double position[3], energy, factor, phase[2];
};

/* A thread a point of n visits: out [n][points], for whoever asked. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_asked(const __grid_constant__ walkers_task t, int32_t n, const visit *visits,
             const double *ratios, const double *places, nonlocal_place *out)
{
    const int64_t i = thread_number(), points = points_of_a_visit(t);
    if (i >= n * points) return;
    const visit at = visits[i / points];
    double m[3][3];
    visit_rotation(&t.v, t.seed, t.sweep, t.first_walker + at.walker, &at, m);
    nonlocal_place place;
    place.walker = t.first_walker + at.walker;
    place.electron = at.electron;
    place.factor = visit_factor(&t.v, &at, m, i % points);
    place.energy = place.factor * ratios[i];
    phase_of_point(t, at, i % points, place.phase);
    for (int d = 0; d < 3; d++) place.position[d] = places[3 * i + d];
    out[i] = place;
}

/* A warp a visit: energies [n] of separable pseudopotentials by projections of the orbitals
 * (without a Jastrow factor). rows [ions]: where those of an ion begin in projections [rows][row].
 */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_projected(const __grid_constant__ walkers_task t, int32_t n, const visit *visits,
                 const double *inverse, const int64_t *rows, const double *projections,
                 double *energies)
{
    const int64_t i = warp_number();
    if (i >= n) return;
    const visit *at = visits + i;
    const pseudopotential *p = &t.v.kind[t.v.kind_of[at->ion]];
    const double r = sqrt(square_of_length(at->from));
    const double direction[3] = {at->from[0] / r, at->from[1] / r, at->from[2] / r};
    const double *projection = projections + rows[at->ion] * t.row,
                 *row = inverse_row(t, inverse, at->walker, at->electron - t.first);
    double energy = 0, phase[2];
    phase_of_image(&t.v, &t.sums.cell, at, place_of(t, at->walker, at->electron), phase);
    for (int j = 0; j < p->projectors; j++) {
        const int l = p->projector[j].l;
        const double strength = strength_at(p, j, r);
        for (int m = -l; m <= l; m++, projection += t.row)
            energy +=
                strength * harmonic(l, m, direction) * turned_product(t, projection, row, phase);
    }
    if (lane_number() == 0) energies[i] = energy;
}

/* A warp a walker: the energies of its visits are added to nonlocal [walkers]. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_add_visits(const __grid_constant__ walkers_task t, const int32_t *offsets,
                  const double *energies, double *nonlocal)
{
    const int64_t walker = warp_number();
    if (walker >= t.walkers) return;
    const int32_t end = offsets[(walker + 1) * t.electrons];
    double sum = 0;
    for (int32_t i = offsets[walker * t.electrons] + lane_number(); i < end; i += LE_WARP)
        sum += energies[i];
    sum = sum_of_warp(sum);
    if (lane_number() == 0) nonlocal[walker] += sum;
}

/* ---- Walkers ---- */

/* A warp a walker: out [walkers][FOUND], without what is the same for all configurations. ln_up,
 * ln_down [walkers] of the determinants; NULL: there are no such electrons. */
extern "C" __global__ void __launch_bounds__(LE_THREADS)
    le_walkers(const __grid_constant__ walkers_task t, const double *parts, const double *near,
               const double *far, const double *kinetic, const double *nonlocal,
               const double *ln_up, const double *ln_down, double *out)
{
    const int64_t walker = warp_number(), first = walker * t.particles;
    const int64_t warps = (t.sums.waves + LE_WARP - 1) / LE_WARP;
    if (walker >= t.walkers) return;
    double found[FOUND] = {};
    for (int64_t e = first + lane_number(); e < first + t.particles; e += LE_WARP) {
        found[FOUND_KINETIC] += kinetic[e];
        found[FOUND_REPULSION] += near[2 * e];
        found[FOUND_LOCAL] += near[2 * e + 1];
        found[FOUND_LN_SQUARE] -=
            0.5 * parts[e * PARTS + PARTS_PAIRS] + parts[e * PARTS + PARTS_FIELDS];
    }
    for (int64_t g = walker * warps + lane_number(); g < (walker + 1) * warps; g += LE_WARP) {
        if (t.repulsion) found[FOUND_REPULSION] += 0.5 * far[2 * g];
        found[FOUND_LOCAL] -= far[2 * g + 1];
    }
    if (lane_number() == 0) {
        found[FOUND_NONLOCAL] = nonlocal[walker];
        const double up = ln_up ? ln_up[walker] : 0, down = ln_down ? ln_down[walker] : 0;
        found[FOUND_LN_SQUARE] += up + down;
        found[FOUND_SINGULAR] = isinf(up) ? 1 : isinf(down) ? 2 : 0;
    }
    for (int k = 0; k < FOUND; k++) {
        const double sum = sum_of_warp(found[k]);
        if (lane_number() == 0) out[walker * FOUND + k] = sum;
    }
}

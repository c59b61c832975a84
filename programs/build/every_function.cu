/* every_function.cu: what plugmc build compiles a potential with, a kernel that calls each of its functions. */

PLUGMC_FN plugmc_pair_of every_separation(const real *at)
{
#if PLUGMC_POSITION_DEPENDENT
    return plugmc_separate_at(at[0], at[1], at[2], plugmc_separated(at[0], at[1], at[2]));
#else
    return plugmc_separated(at[0], at[1], at[2]);
#endif
}

extern "C" __global__ void every_function(const real *at, real *out)
{
    const plugmc_site a = plugmc_site_of_species((int)at[6]),
                      b = plugmc_site_of_species((int)at[7]);
    const plugmc_pair_of from = every_separation(at), to = every_separation(at + 3);
    plugmc_position r;
    plugmc_sums sums;
    int outside = 0;
    r.x = at[0], r.y = at[1], r.z = at[2];
    plugmc_sums_clear(&sums);
    plugmc_sums_add_energy(&sums, from, a, b);
    plugmc_sums_add_change(&sums, from, to, a, b);
    out[0] = plugmc_sums_total(&sums, a);
    plugmc_pair_derivatives(to, a, b, &out[1], &out[2], &out[3]);
#if PLUGMC_POSITION_DEPENDENT
    plugmc_pair_derivatives_at(to, a, b, &out[4], &out[7]);
#endif
    out[8] = plugmc_contact_square(a.species, b.species);
    out[9] = plugmc_fields(r, a, &outside);
    plugmc_fields_derivatives(r, a, &out[10], &out[13]);
    out[14] = (real)outside;
}

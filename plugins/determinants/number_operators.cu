/* number_operators.cu: complex numbers as C++ writes reals, for texts that are the same for both; and a number of a row of
 * orbitals of any precision. */
PLUGMC_FN vmc_complex operator+(vmc_complex a, vmc_complex b) { return {a.re + b.re, a.im + b.im}; }
PLUGMC_FN vmc_complex operator-(vmc_complex a, vmc_complex b) { return {a.re - b.re, a.im - b.im}; }
PLUGMC_FN vmc_complex operator-(vmc_complex a) { return {-a.re, -a.im}; }
PLUGMC_FN vmc_complex operator*(vmc_complex a, vmc_complex b) { return times(a, b); }
PLUGMC_FN vmc_complex operator/(vmc_complex a, vmc_complex b) { return times(a, one_over(b)); }

template <class V> PLUGMC_FN double orbital_at(const V *values, int64_t i, double)
{
    return (double)values[i];
}
template <class V> PLUGMC_FN vmc_complex orbital_at(const V *values, int64_t i, vmc_complex)
{
    return {(double)values[2 * i], (double)values[2 * i + 1]};
}

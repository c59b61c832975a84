/* complex_numbers.cu: numbers that are real or complex. */
/* A complex number; orbitals and matrices are arrays of them or of double. */
struct vmc_complex {
    double re, im;
};

PLUGMC_FN double of(double re, double im, double) { return re; }
PLUGMC_FN vmc_complex of(double re, double im, vmc_complex) { return {re, im}; }
PLUGMC_FN double real_of(double x) { return x; }
PLUGMC_FN double real_of(vmc_complex x) { return x.re; }
PLUGMC_FN double imaginary_of(double) { return 0; }
PLUGMC_FN double imaginary_of(vmc_complex x) { return x.im; }
PLUGMC_FN double square_of(double x) { return x * x; }
PLUGMC_FN double square_of(vmc_complex x) { return x.re * x.re + x.im * x.im; }
PLUGMC_FN double times(double a, double b) { return a * b; }
PLUGMC_FN vmc_complex times(vmc_complex a, vmc_complex b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
PLUGMC_FN double less(double a, double b) { return a - b; }
PLUGMC_FN vmc_complex less(vmc_complex a, vmc_complex b) { return {a.re - b.re, a.im - b.im}; }
/* x - a b, in as few operations as there are. */
PLUGMC_FN double less_product(double x, double a, double b) { return x - a * b; }
PLUGMC_FN vmc_complex less_product(vmc_complex x, vmc_complex a, vmc_complex b)
{
    return {x.re - a.re * b.re + a.im * b.im, x.im - a.re * b.im - a.im * b.re};
}
PLUGMC_FN double one_over(double x) { return 1 / x; }
PLUGMC_FN vmc_complex one_over(vmc_complex x)
{
    double s = square_of(x);
    return {x.re / s, -x.im / s};
}
/* The same where |x|^2 is known, by one division. */
PLUGMC_FN double one_over(double x, double) { return 1 / x; }
PLUGMC_FN vmc_complex one_over(vmc_complex x, double square)
{
    const double s = 1 / square;
    return {x.re * s, -x.im * s};
}

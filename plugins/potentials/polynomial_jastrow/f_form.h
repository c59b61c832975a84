/* The f term of a polynomial Jastrow factor without cusps of its own (N. D. Drummond, M. D. Towler, R. J. Needs, Phys.
 * Rev. B 70, 235119 (2004), section II D): which coefficients are free, and what the others are.
 *
 *     f = (1 - x_i)^C (1 - x_j)^C sum_lmn g_lmn x_i^l x_j^m x_ij^n,    g_lmn = g_mln
 *
 * with distances over the cutoff. No slope where two electrons meet: sum_{l+m=k} g_lm1 = 0 for each k; none where an
 * electron meets the ion: sum_{m+n=k} (C g_0mn - g_1mn) = 0. Columns are the coefficients with l >= m, ordered by n,
 * then m, then l, as CASINO orders them, or by m, then l, then n, as QMCPACK does. The conditions are brought to reduced
 * echelon form; coefficients that lead a row are no choice, those of the other columns are free. So the two programs
 * have other free coefficients of the same functions. */
#ifndef F_FORM_H
#define F_FORM_H

#include <plugmc/everything.h>

typedef enum f_order { F_ORDER_CASINO, F_ORDER_QMCPACK } f_order;

typedef struct f_form {
    int32_t most_l, most_n, truncation;
    int32_t without_u, without_chi; /* g_00n = 0; g_l00 = 0: what u and chi have already */
    int32_t columns, free;
    int32_t (*power)[3];  /* [columns] l, m, n */
    int32_t *free_column; /* [free] */
    double *basis;        /* [columns][free]: g = basis times the variational parameters */
} f_form;

/* Memory of the host. NULL: there is none, which has been said. */
f_form *f_form_make(const plugmc_host *, f_order order, int most_l, int most_n, int truncation,
                    int without_u, int without_chi);
/* The free coefficients of `to` [to->free] of the function that those of `from` [from->free] make; both of the same
 * powers and conditions. */
void f_form_convert(const f_form *from, const double *values, const f_form *to, double *out);
#endif

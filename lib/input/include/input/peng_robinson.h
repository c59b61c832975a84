/* The equation of state of D.-Y. Peng and D. B. Robinson, Ind. Eng. Chem. Fundam. 15, 59 (1976), of a pure fluid in three
 * dimensions:
 *
 *     P = kT / (v - b) - a alpha(T) / (v^2 + 2 b v - b^2),   alpha = [1 + kappa (1 - sqrt(T/T_c))]^2,
 *     kappa = 0.37464 + 1.54226 omega - 0.26992 omega^2.
 *
 * a and b follow from the critical point. Nothing here has a unit: temperatures and pressures are those over T_c and P_c. */
#ifndef PLUGMC_PENG_ROBINSON_H
#define PLUGMC_PENG_ROBINSON_H

typedef struct peng_robinson {
    double compressibility; /* Z = P v / kT */
    double ln_coefficient;  /* ln of the fugacity coefficient f / P */
} peng_robinson;

/* All roots of the cubic in Z that are fluids, ascending; returns how many, 1 to 3. */
int peng_robinson_roots(double temperature, double pressure, double acentric_factor,
                        peng_robinson out[3]);
/* The stable one of them: that of the lowest fugacity. */
peng_robinson peng_robinson_at(double temperature, double pressure, double acentric_factor);
/* The pressure, over P_c, at which the fugacity over P_c is this. */
double peng_robinson_pressure(double temperature, double fugacity, double acentric_factor);
#endif

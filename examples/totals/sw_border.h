/* swlib.h as C functions, which let no exception out. On failure `why` [size] has the text of the exception. */
#ifndef SW_BORDER_H
#define SW_BORDER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sw_model sw_model;

/* NULL on failure. */
sw_model *sw_create(double epsilon, double sigma, int threads, char *why, size_t size);
void sw_destroy(sw_model *);

/* As sw::StillingerWeber::evaluate; adds to *energy. Returns 0, or 1 on failure. */
int sw_evaluate(const sw_model *, size_t atoms, const double *positions, const double *box,
                double *energy, double *forces, double *virial, char *why, size_t size);

/* As sw::StillingerWeber::change; adds to *change. Returns 0, or 1 on failure. */
int sw_change(const sw_model *, size_t atoms, const double *positions, const double *box,
              size_t atom, const double *to, double *change, char *why, size_t size);

#ifdef __cplusplus
}
#endif

#endif

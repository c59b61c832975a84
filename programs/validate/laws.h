/* Laws that numbers of a run should follow, worked out from the few coordinates there are. */
#ifndef LAWS_H
#define LAWS_H

typedef struct point {
    double value, weight;
} point;

/* Points in the order of their values; the weights add up to one. */
typedef struct law {
    int count, discrete;
    point *points;
    double multiplier; /* of the value in -ln p */
} law;

law make_law(const char *name, int count, char **keys);

/* KEY=VALUE in `keys`; the first one counts. */
const char *text_of(int count, char **keys, const char *key);
double number_of(int count, char **keys, const char *key, double otherwise);

#endif

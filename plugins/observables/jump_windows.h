/* jump_windows.h: what a pair near a jump of its energy adds to the virial (pair_jumps.h); the same in C and on
 * the GPU. */
enum { JUMP_MOST_DEGREE = 12 };

/* Pairs with low <= r < high add the polynomial sum_k c[k] t^k, t = (r - middle) over_half. */
typedef struct jump_window {
    double low, high, middle;       /* length */
    double over_half;               /* 1/length */
    double c[JUMP_MOST_DEGREE + 1]; /* energy */
} jump_window;

typedef struct pair_jump {
    double at;        /* length */
    jump_window both; /* shells on both sides of the jump */
    /* The nearer one alone, for boxes that end before the other; high = 0: nobody is there. */
    jump_window inside;
} pair_jump;

/* The jumps of a pair of species. */
typedef struct jump_list {
    int32_t first, count;
    double nearest, farthest; /* length^2: no other pairs add anything */
} jump_list;

/* Host or device pointers. */
typedef struct jump_task {
    const jump_list *lists; /* [species][species] */
    const pair_jump *jumps;
    int32_t species_count, degree;
} jump_task;

/* Half the smallest distance of opposite faces: farther apart a pair may be near on two sides. */
PLUGMC_FN double jump_limit(const plugmc_box *box)
{
    double least = plugmc_height(box, 0);
    for (int d = 1; d < box->dimension; d++) {
        const double height = plugmc_height(box, d);
        least = height < least ? height : least;
    }
    return least / 2;
}

/* -s du/ds of the jumps of species a and b, of a pair at this square of a distance: right in the mean, no force of one
 * pair. */
PLUGMC_FN double jump_virial(const jump_task *t, int32_t a, int32_t b, double limit, double r2)
{
    const jump_list *list = t->lists + a * t->species_count + b;
    double sum = 0;
    if (r2 < list->nearest || r2 >= list->farthest) return 0;
    const double r = sqrt(r2);
    for (int32_t j = list->first; j < list->first + list->count; j++) {
        const jump_window *w =
            t->jumps[j].both.high > limit ? &t->jumps[j].inside : &t->jumps[j].both;
        if (r < w->low || r >= w->high) continue;
        const double x = (r - w->middle) * w->over_half;
        double value = w->c[t->degree];
        for (int32_t k = t->degree - 1; k >= 0; k--) value = value * x + w->c[k];
        sum += value;
    }
    return sum;
}

/* Lists of neighbours and cells on the GPU: how they are chosen. forces.cu makes them. */
#include "gpu_lists.h"

#include <math.h>

/* As many threads a particle as find room on the multiprocessors. Sums of integers are the same for all. */
int hmc_gpu_team(const hmc *h, const plugmc_host *host)
{
    enum { ROOM = 1024, MULTIPROCESSORS = 132 }; /* threads on each at a time, about; H100, H200 */
    const int64_t particles = host->system->particles * host->system->walkers,
                  room = (int64_t)ROOM * (host->gpu ? host->gpu->multiprocessors : MULTIPROCESSORS);
    int team = 1;
    while (h->sampled.pair_count > 0 && team < 32 && 2 * team * particles <= room) team *= 2;
    return team;
}

/* How far neighbours are listed, and the room for them: six standard deviations more than there are in a fluid. Without room
 * for them all, forces are found through the cells, which are made anew in each step. */
void hmc_gpu_choose_lists(const hmc *h, hmc_task *t, int team)
{
    enum { MOST_ENTRIES = 1 << 30 }; /* 4 GB */
    const double reach = h->sampled.reach, longer = 0.12 * reach, listed = reach + longer;
    double density = 0;
    for (uint32_t w = 0; w < t->walkers; w++)
        density = fmax(density, (double)t->particles / h->box[w].volume);
    const double ball =
        h->dimension == 2 ? M_PI * listed * listed : 4 * M_PI / 3 * listed * listed * listed;
    const double mean = density * ball / team, most = (double)t->particles / team + 1;
    const double rows = fmin(ceil(mean + 6 * sqrt(mean) + 8), most);
    const int serve = h->sampled.pair_count > 0 &&
                      rows * team * (double)t->particles * (double)t->walkers <= MOST_ENTRIES;
    /* a hair more, for the rounding of distances in float */
    t->reach_square = reach * reach * (1 + 1e-5);
    t->listed_square = serve ? listed * listed * (1 + 1e-5) : t->reach_square;
    t->slack_square = serve ? longer * longer / 4 : 0;
    t->list_rows = serve ? (uint32_t)rows : 0;
}

static double product(const int32_t count[3]) { return (double)count[0] * count[1] * count[2]; }

size_t hmc_gpu_most_cells(const hmc *h) { return 2 * (size_t)h->system->particles + 64; }

/* Half a reach wide where there is room for as many: particles then look at half the volume. */
void hmc_gpu_choose_cells(const hmc *h, hmc_task *t)
{
    const double most = (double)hmc_gpu_most_cells(h);
    int32_t wide[3], half[3];
    const double range = sqrt(t->listed_square);
    hmc_cells(h, range, most, wide);
    hmc_cells(h, range / 2, most, half);
    const int narrow = half[0] >= 5 && half[1] >= 5 && (half[2] >= 5 || h->dimension == 2) &&
                       product(half) >= 3 * product(wide);
    for (int d = 0; d < 3; d++) {
        t->count[d] = narrow ? half[d] : wide[d];
        t->span[d] = narrow ? 2 : 1;
    }
    t->rows = (uint32_t)t->count[1] * (uint32_t)t->count[2];
}

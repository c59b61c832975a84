#include "run/board.h"

#include <stdlib.h>
#include <string.h>

#include "run/services.h"
#include "base/stop.h"
#include "parallel/team.h"

static int borrow(const simulation *sim, int what, int access, void **out, size_t *row)
{
    return sim->state.face.array(&sim->state.face, what, PLUGMC_ON_HOST, access, out, row);
}

/* Multipliers times these are -ln p: of the walkers here, into their place among all. */
static int fill_own(simulation *sim, const plugmc_host *host)
{
    const int32_t width = sim->system.multipliers;
    void *rung;
    int code = borrow(sim, PLUGMC_STATE_RUNG, PLUGMC_READ, &rung, NULL);
    if (code) return code;
    memcpy(sim->board->rung + sim->first_walker, rung,
           (size_t)sim->system.walkers * sizeof(int32_t));
    for (int32_t w = 0; w < sim->system.walkers && !code; w++) {
        const double *energy;
        code = hamiltonian_energy(&sim->hamiltonian, host, w, &energy);
        if (!code)
            memcpy(sim->board->extensive + (size_t)(sim->first_walker + w) * (size_t)width, energy,
                   (size_t)width * sizeof *energy);
    }
    return code;
}

/* Everybody's, where each has its own by now, or a PLUGMC_* code. */
static int join(simulation *sim, plugmc_context *context, int own)
{
    const size_t first = (size_t)sim->first_walker, here = (size_t)sim->system.walkers,
                 all = (size_t)sim->all_walkers, width = (size_t)sim->system.multipliers;
    board *b = sim->board;
    int code = own ? context_exit_code(context, own, "finding energies") : 0;
    code =
        team_share(code, b->rung + first, here * sizeof *b->rung, b->rung, all * sizeof *b->rung);
    code = team_share(code, b->extensive + first * width, here * width * sizeof *b->extensive,
                      b->extensive, all * width * sizeof *b->extensive);
    if (code == TEAM_GAVE_UP) {
        stop_give_up();
        return PLUGMC_STOPPED;
    }
    if (code) context_failed(context); /* it has been said */
    return own ? own : code ? PLUGMC_ERROR_STATE : PLUGMC_OK;
}

bool board_is_used(const moving *m)
{
    return team_now()->ranks > 1 && m->mover->needs & PLUGMC_GLOBAL_WALKERS;
}

int board_fill(simulation *sim, const plugmc_host *host)
{
    const size_t all = (size_t)sim->all_walkers, width = (size_t)sim->system.multipliers;
    if (!sim->board) {
        sim->board = checked(calloc(1, sizeof *sim->board));
        sim->board->rung = checked(calloc(all, sizeof *sim->board->rung));
        sim->board->extensive = checked(calloc(all * width, sizeof *sim->board->extensive));
    }
    if (sim->board->filled) return PLUGMC_OK;
    const int code = join(sim, host->context, fill_own(sim, host));
    sim->board->filled = !code;
    return code;
}

int board_growth(const simulation *sim, int32_t a, int32_t b, double *growth)
{
    const board *all = sim->board;
    const size_t width = (size_t)sim->system.multipliers;
    const double *ma = sim->ladder.multipliers + (size_t)all->rung[a] * width,
                 *mb = sim->ladder.multipliers + (size_t)all->rung[b] * width,
                 *xa = all->extensive + (size_t)a * width, *xb = all->extensive + (size_t)b * width;
    *growth = 0;
    for (size_t k = 0; k < width; k++)
        if (ma[k] != mb[k]) *growth -= (ma[k] - mb[k]) * (xa[k] - xb[k]);
    return PLUGMC_OK;
}

/* One of the run's walkers, if it is here. */
static int climb(simulation *sim, int32_t walker, int32_t to)
{
    const int32_t here = walker - sim->first_walker;
    void *rung, *multiplier;
    size_t row;
    sim->board->rung[walker] = to;
    if (here < 0 || here >= sim->system.walkers) return PLUGMC_OK;
    int code = borrow(sim, PLUGMC_STATE_RUNG, PLUGMC_READ | PLUGMC_WRITE, &rung, NULL);
    if (!code)
        code = borrow(sim, PLUGMC_STATE_MULTIPLIER, PLUGMC_READ | PLUGMC_WRITE, &multiplier, &row);
    if (!code)
        hamiltonian_climb(&sim->hamiltonian, here,
                          sim->ladder.multipliers + (size_t)to * (size_t)sim->system.multipliers);
    if (!code) ((int32_t *)rung)[here] = to;
    if (!code)
        memcpy((char *)multiplier + (size_t)here * row,
               sim->ladder.multipliers + (size_t)to * (size_t)sim->system.multipliers,
               (size_t)sim->system.multipliers * sizeof(double));
    return code;
}

int board_exchange(simulation *sim, int32_t a, int32_t b)
{
    const int32_t to = sim->board->rung[b];
    const int code = climb(sim, b, sim->board->rung[a]);
    return code ? code : climb(sim, a, to);
}

void board_forget(simulation *sim)
{
    if (sim->board) sim->board->filled = false;
}

void board_free(simulation *sim)
{
    if (sim->board) free(sim->board->rung), free(sim->board->extensive);
    free(sim->board);
    sim->board = NULL;
}

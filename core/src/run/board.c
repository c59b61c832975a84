#include "run/board.h"

#include <stdlib.h>
#include <string.h>

#include "run/context.h"
#include "run/stop.h"
#include "team/team.h"

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
    if (code) context->failed = 1; /* it has been said */
    return own ? own : code ? PLUGMC_ERROR_STATE : PLUGMC_OK;
}

/* plugmc_board.growth: sum_k (m_bk - m_ak) (X_ak - X_bk). Where multipliers are equal X may be infinite. */
static double growth(const plugmc_board *board, int32_t a, int32_t b)
{
    const size_t width = (size_t)board->multipliers;
    const double *ma = board->multiplier + (size_t)board->rung[a] * width,
                 *mb = board->multiplier + (size_t)board->rung[b] * width,
                 *xa = board->extensive + (size_t)a * width,
                 *xb = board->extensive + (size_t)b * width;
    double sum = 0;
    for (size_t k = 0; k < width; k++)
        if (ma[k] != mb[k]) sum -= (ma[k] - mb[k]) * (xa[k] - xb[k]);
    return sum;
}

int board_fill(simulation *sim, const plugmc_host *host, plugmc_board *out)
{
    const size_t all = (size_t)sim->all_walkers, width = (size_t)sim->system.multipliers;
    if (!sim->board) {
        sim->board = checked(calloc(1, sizeof *sim->board));
        sim->board->rung = checked(calloc(all, sizeof *sim->board->rung));
        sim->board->extensive = checked(calloc(all * width, sizeof *sim->board->extensive));
    }
    int code = fill_own(sim, host);
    if (team_now()->ranks > 1) code = join(sim, host->context, code);
    if (code) return code;
    plugmc_board filled = {.size = out->size,
                           .walkers = sim->all_walkers,
                           .rung = sim->board->rung,
                           .extensive = sim->board->extensive,
                           .multiplier = sim->ladder.multipliers,
                           .multipliers = sim->system.multipliers,
                           .growth = growth};
    memcpy(out, &filled, out->size < sizeof filled ? out->size : sizeof filled);
    return PLUGMC_OK;
}

int board_climb(simulation *sim, const plugmc_board *from)
{
    const size_t width = (size_t)sim->system.multipliers;
    const int32_t *now = from->rung + sim->first_walker;
    void *rung, *multiplier;
    size_t row;
    int code = borrow(sim, PLUGMC_STATE_RUNG, PLUGMC_READ, &rung, NULL);
    if (code || !memcmp(rung, now, (size_t)sim->system.walkers * sizeof *now)) return code;
    code = borrow(sim, PLUGMC_STATE_RUNG, PLUGMC_READ | PLUGMC_WRITE, &rung, NULL);
    if (!code)
        code = borrow(sim, PLUGMC_STATE_MULTIPLIER, PLUGMC_READ | PLUGMC_WRITE, &multiplier, &row);
    for (int32_t w = 0; w < sim->system.walkers && !code; w++) {
        ((int32_t *)rung)[w] = now[w];
        memcpy((char *)multiplier + (size_t)w * row,
               sim->ladder.multipliers + (size_t)now[w] * width, width * sizeof(double));
    }
    return code;
}

void board_free(simulation *sim)
{
    if (sim->board) free(sim->board->rung), free(sim->board->extensive);
    free(sim->board);
    sim->board = NULL;
}

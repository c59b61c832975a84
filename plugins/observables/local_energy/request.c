/* Local energies for others: the facet of plugmc/wave.h. In Hartree, of the cell, whatever `units` and `per` say
 * about the table of results.
 *
 * On the CPU matrices are used where the request lends them, not where the view does: what the observable
 * measures for itself there is made from the positions alone, as the reference for all that is faster. */
#include "local_energy.h"

#include <math.h>
#include <string.h>

static void write_walker(const plugmc_local_energy_request *request, int32_t k, const sample *s)
{
    double sum = 0;
    for (int c = 0; c < COMPONENTS; c++) sum += s->energy[c];
    if (request->energy) request->energy[k] = sum;
    if (request->parts) memcpy(request->parts + k * COMPONENTS, s->energy, sizeof s->energy);
    if (request->ln_psi) request->ln_psi[k] = 0.5 * s->ln_square;
    if (request->phase) {
        request->phase[2 * k] = creal(s->phase);
        request->phase[2 * k + 1] = cimag(s->phase);
    }
}

_Static_assert((int)PLUGMC_LOCAL_PARTS == (int)COMPONENTS &&
                   (int)PLUGMC_LOCAL_KINETIC == (int)KINETIC &&
                   (int)PLUGMC_LOCAL_ELECTRON_ELECTRON == (int)ELECTRON_ELECTRON &&
                   (int)PLUGMC_LOCAL_LOCAL == (int)LOCAL &&
                   (int)PLUGMC_LOCAL_NONLOCAL == (int)NONLOCAL &&
                   (int)PLUGMC_LOCAL_ION_ION == (int)ION_ION,
               "parts are the components");

/* Ratios at places are those of the whole wave function for whoever asks for them. */
static int refuse_places(const local_energy *le, const plugmc_host *host,
                         const plugmc_local_energy_request *request)
{
    const int device = PLUGMC_HAS(request, device_points) && request->device_points != NULL;
    if (!le->v.of_determinants || !(request->points || device)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "localisation = determinants goes with neither T-moves nor plugmc optimise, "
                      "which need what pseudopotentials do to the whole wave function");
}

static int evaluate_request(void *instance, const plugmc_host *host,
                            const plugmc_local_energy_request *request)
{
    local_energy *le = instance;
    const int64_t row = 3 * le->system->particles;
    double *shares = PLUGMC_HAS(request, shares) ? request->shares : NULL;
    int code = refuse_places(le, host, request);
    if (code) return code;
    if (request->view->on_device && shares)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "energies of single particles are found of positions in host memory");
    if (request->view->on_device) return gpu_request(le, host, request);
    const int64_t each = 2 * (le->system->particles + le->ions.count);
    if (shares) memset(shares, 0, (size_t)(request->walkers * each) * sizeof *shares);
    le->asked.count = 0;
    le->asked.wanted = request->points ? WANTS_PLACES_HERE : WANTS_NO_PLACES;
    for (int32_t w = 0; w < request->walkers && !code; w += le->group.size) {
        const int32_t left = request->walkers - w,
                      n = left < le->group.size ? left : le->group.size;
        for (int32_t k = 0; k < n; k++)
            le->group.samples[k].shares = shares ? shares + (w + k) * each : NULL;
        code = evaluate_walkers(le, host, request->view, request->inverses, request->phase != NULL,
                                request->drift ? request->drift + w * row : NULL,
                                request->first + w, n);
        for (int32_t k = 0; k < n && !code; k++)
            write_walker(request, w + k, &le->group.samples[k]);
    }
    le->asked.wanted = WANTS_NO_PLACES;
    for (int32_t k = 0; k < le->group.size; k++) le->group.samples[k].shares = NULL;
    if (request->points) *request->points = le->asked.list;
    if (PLUGMC_HAS(request, point_ions) && request->point_ions)
        *request->point_ions = le->asked.ions;
    if (request->point_count) *request->point_count = le->asked.count;
    return code;
}

const plugmc_local_energy local_energy_facet = {
    .size = sizeof local_energy_facet, .on_device = 1, .evaluate = evaluate_request};

/* The GPU source of a potential: compiled here if there is NVRTC, and compared with the CPU if there is a GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "energy/on_device.h"
#include "gpu/gpu.h"
#include "plugin/answers.h"

enum { ARCHITECTURE = 80 };

/* Fused with the energies of the core. */
static int compile_energies(stand *s, nvrtc *compiler)
{
    plugmc_gpu_source kernel;
    char *joined = NULL;
    void *cubin = NULL;
    size_t bytes = 0;
    report *r = &s->heard.report;
    int code = on_device_text(NULL, 0, &kernel, &joined) ? EXIT_MEMORY : EXIT_DONE;
    char *fused = code ? NULL : fuse(&s->session.engine.system, &kernel);
    if (!code)
        code = fused ? compile(compiler, fused, kernel.name, ARCHITECTURE,
                               arithmetic_of(&kernel, false), &cubin, &bytes, r)
                     : EXIT_MEMORY;
    free(fused), free(joined), free(cubin);
    return code;
}

/* Kernels of its own. */
static int compile_own(stand *s, nvrtc *compiler)
{
    report *r = &s->heard.report;
    char why[512];
    for (int k = 0;; k++) {
        plugmc_gpu_source kernel;
        void *cubin = NULL;
        size_t bytes = 0;
        context_calling(&s->own->context, "gpu_source");
        const int more = ask_gpu_source(s->own->plugin, s->own->data, &s->own->host, k, &kernel,
                                        (sentence){why, sizeof why});
        if (more == 0) return r->errors ? r->code : 0;
        if (more < 0) return report_error(r, EXIT_PLUGIN, NULL, 0, "%s", why);
        char *fused = fuse(&s->session.engine.system, &kernel);
        const int code = fused ? compile(compiler, fused, kernel.name, ARCHITECTURE,
                                         arithmetic_of(&kernel, false), &cubin, &bytes, r)
                               : EXIT_MEMORY;
        free(fused), free(cubin);
        if (code) return code;
    }
}

int check_source(const target *t, stand *s, findings *f)
{
    char why[512];
    (void)t;
    if (!s->own->plugin->source && !s->own->plugin->gpu_source) {
        check_not_covered(f, "GPU source", "the potential has none");
        return 0;
    }
    nvrtc *compiler = nvrtc_open(why);
    if (!compiler) {
        check_not_covered(f, "GPU source", "%s", why);
        return 0;
    }
    check_begin(f, "GPU source", NAN, "the source of the potential, compiled for sm_%d",
                ARCHITECTURE);
    int code = s->own->plugin->source ? compile_energies(s, compiler) : 0;
    if (!code && s->own->plugin->gpu_source) code = compile_own(s, compiler);
    if (code && code != EXIT_MEMORY)
        check_fail(f, "%s; what is for the CPU alone stands in #if PLUGMC_HOST",
                   heard_or(&s->heard, "it does not compile"));
    return code == EXIT_MEMORY ? code : 0;
}

/* The Hamiltonian of a run on a GPU computes energies there, those of whole_energies are of the host. */
int check_on_gpu(const target *t, stand *s, findings *f)
{
    hamiltonian *h = &s->session.engine.current.hamiltonian;
    const plugmc_system *system = &s->session.engine.system;
    const int32_t own = (int32_t)(stand_term(s) - s->session.engine.terms);
    plugmc_view view = {.size = sizeof view};
    (void)t;
    check_begin(
        f, "energies on the GPU", 1,
        "energies of walkers by the fused kernel with those of the CPU; allowed 1e-6 of the "
        "sizes, which is what fused sums in double precision keep, and 1e-5 where a many-body term has kernels of "
        "its own, which may be in float");
    const plugmc_total *total = stand_term(s)->plugin->potential->total;
    const double allowed = total && total->on_device ? 1e-5 : 1e-6;
    whole *here = checked(calloc((size_t)system->walkers, sizeof *here));
    int code = PLUGMC_OK;
    double *there = checked(calloc((size_t)system->walkers, sizeof *there));
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const double *energy;
        code = hamiltonian_energy(h, s->host, w, &energy);
        if (!code) there[w] = energy[own];
    }
    if (!code) code = hamiltonian_refresh(h, s->host);
    if (!code) code = hamiltonian_view(h, s->host, &view);
    if (!code) code = whole_energies(s, &view, here);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        check_value(f, fabs(there[w] - here[w].energy) / (allowed * here[w].size + 1e-9),
                    "the energy of walker %d is %.9g on the GPU and %.9g on the CPU: look for what "
                    "depends on #if PLUGMC_HOST, on precision, or on members that no key declares",
                    w, there[w], here[w].energy);
    free(here), free(there);
    return code;
}

/* test_total_edge: the energy of a whole configuration, for the tests: 0 as long as every particle is at
 * x < edge, else not a number, or infinite. */
#include <plugmc/everything.h>

#include "total_edge.cu"

PLUGMC_EMBED(own_text, PLUGMC_KERNEL_FILE);

typedef struct total_edge {
    double edge;
    int32_t beyond, forces; /* infinite; in the forces, too */
    const plugmc_host *host;
    plugmc_kernel *kernel;
} total_edge;

static edge_task task_of(const total_edge *p, const plugmc_total_request *q)
{
    const plugmc_system *system = p->host->system;
    return (edge_task){.edge = p->edge,
                       .positions = q->view->positions,
                       .energy = q->energy,
                       .forces = p->forces ? q->forces : NULL,
                       .particles = system->particles,
                       .all = system->walkers * system->particles,
                       .infinite = p->beyond};
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const total_edge *p = instance;
    edge_task t = task_of(p, q);
    if (q->view->on_device) {
        const uint32_t grid[3] = {(uint32_t)((t.all + 127) / 128), 1, 1}, block[3] = {128, 1, 1};
        return p->host->gpu->launch(p->host->context, p->kernel, grid, block, 0, (void *[]){&t});
    }
    for (int64_t i = 0; i < t.all; i++) {
        const double u = at_place(&t, t.positions[3 * i]);
        if (t.energy) t.energy[i / t.particles] += u;
        if (t.forces) t.forces[3 * i] += u;
    }
    return PLUGMC_OK;
}

/* Nothing is remembered: before, every particle was on this side. */
static int start(void *instance, const plugmc_view *view)
{
    (void)instance, (void)view;
    return PLUGMC_OK;
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *out)
{
    const total_edge *p = instance;
    const edge_task t = {.edge = p->edge, .infinite = p->beyond};
    (void)walker, (void)particle;
    *out += at_place(&t, position[0]);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t walker, int accepted)
{
    (void)instance, (void)walker, (void)accepted;
    return PLUGMC_OK;
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance, (void)host;
    if (index > 0) return 0;
    out->name = "total_edge.cu";
    out->source = own_text;
    out->double_precision = 1;
    return 1;
}

static int prepare(void *instance, const plugmc_host *host)
{
    total_edge *p = instance;
    plugmc_gpu_source text = {.size = sizeof text};
    p->host = host;
    if (!host->gpu) return PLUGMC_OK;
    gpu_source(p, host, 0, &text);
    return host->gpu->kernel(host->context, &text, "edge_energy", &p->kernel);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(total_edge, edge, "1", -1e6, 1e6, "length", "beyond it there is no number"),
    PLUGMC_CHOICE_KEY(total_edge, beyond, "nan", "nan|infinity", "energy there"),
    PLUGMC_FLAG_KEY(total_edge, forces, "no", "the force is the same there; no: 0"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .on_device = 1,
                                   .energy = energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle};

static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "test_total_edge",
              .summary = "an energy of a configuration that is not a number", .reference = "",
              PLUGMC_KEYS(total_edge, table), .potential = &potential, .prepare = prepare,
              .gpu_source = gpu_source)

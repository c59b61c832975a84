/* Systems for the tests of what follows forces: boxes of any shape, masses, potentials with all of
 * their callbacks made as the core makes them. Include after movers.h. */
#ifndef PLUGMC_TEST_FORCES_H
#define PLUGMC_TEST_FORCES_H

/* The periodic box of these lattice vectors (rows). */
static inline void bench_vectors(bench *b, const double v[3][3])
{
    plugmc_box *box = &b->system.box;
    double cross[3][3];
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++)
            cross[d][e] = v[(d + 1) % 3][(e + 1) % 3] * v[(d + 2) % 3][(e + 2) % 3] -
                          v[(d + 1) % 3][(e + 2) % 3] * v[(d + 2) % 3][(e + 1) % 3];
    box->volume = v[0][0] * cross[0][0] + v[0][1] * cross[0][1] + v[0][2] * cross[0][2];
    box->oblique = 0;
    for (int d = 0; d < 3; d++) {
        box->length[d] = sqrt(v[d][0] * v[d][0] + v[d][1] * v[d][1] + v[d][2] * v[d][2]);
        for (int e = 0; e < 3; e++) {
            box->vector[d][e] = v[d][e];
            box->inverse[e][d] = cross[d][e] / box->volume;
            box->oblique |= d != e && v[d][e] != 0;
        }
    }
}

static inline void bench_cube(bench *b, double edge)
{
    bench_vectors(b, (double[3][3]){{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}});
}

static inline void bench_masses(bench *b, const double *mass)
{
    for (int s = 0; s < b->system.species_count; s++) b->species[s].mass = mass[s];
}

/* Numbers with commas between them. */
static inline void set_list(bench *b, const plugmc_plugin *plugin, void *instance, const char *name,
                            const char *text)
{
    const plugmc_parameter *p = plugin->parameters;
    while (strcmp(p->name, name)) p++;
    double *values = (double *)bench_allocate(b->host.context, 64 * sizeof *values);
    plugmc_list list = {(const real *)values, 0};
    for (char *end; *text; text = *end ? end + 1 : end) {
        double value = strtod(text, &end);
        if (plugin->real_size == sizeof(float))
            ((float *)values)[list.count++] = (float)value;
        else
            values[list.count++] = value;
    }
    memcpy((char *)instance + p->offset, &list, sizeof list);
}

/* Defaults and settings as in set_parameters, lists among them. */
static inline void set_all(bench *b, const plugmc_plugin *plugin, void *instance,
                           const char *settings)
{
    const plugmc_parameter *p = plugin->parameters, *end = p + plugin->parameter_count;
    char *rest =
        (char *)bench_allocate(b->host.context, strlen(settings) + 1); /* texts stay there */
    for (; p < end; p++) {
        if (p->derived || !p->fallback) continue;
        if (p->type == PLUGMC_TYPE_LIST)
            set_list(b, plugin, instance, p->name, p->fallback);
        else
            set_parameter(plugin, instance, p, p->fallback);
    }
    memcpy(rest, settings, strlen(settings));
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        *equals = 0;
        for (p = plugin->parameters; p < end && strcmp(p->name, word); p++) continue;
        if (p == end) fail_msg("plugin '%s' has no parameter '%s'", plugin->name, word);
        if (p->type == PLUGMC_TYPE_LIST)
            set_list(b, plugin, instance, word, equals + 1);
        else
            set_parameter(plugin, instance, p, equals + 1);
    }
}

/* Adds a sampled term, configured in both precisions; the species must be known. It is prepared by
 * bench_prepare, once all terms are there. Returns the code of what fails first. */
static inline int bench_configured(bench *b, const char *name, const char *settings)
{
    plugmc_term *term = &b->terms[b->system.term_count++];
    const plugmc_plugin *plugin = open_plugin(name), *single = plugin->single;
    *term = (plugmc_term){
        .label = name, .plugin = plugin, .plugin_single = single, .sampled = 1, .host = &b->host};
    term->instance = bench_allocate(b->host.context, plugin->instance_size);
    set_all(b, plugin, term->instance, settings);
    int code = plugin->configure ? plugin->configure(term->instance, &b->host) : PLUGMC_OK;
    if (code || !single) return code;
    term->instance_single = bench_allocate(b->host.context, single->instance_size);
    set_all(b, single, term->instance_single, settings);
    return single->configure ? single->configure(term->instance_single, &b->host) : PLUGMC_OK;
}

static inline int bench_prepare(bench *b)
{
    int code = PLUGMC_OK;
    for (int t = 0; t < b->system.term_count && !code; t++)
        if (b->terms[t].plugin->prepare)
            code = b->terms[t].plugin->prepare(b->terms[t].instance, &b->host);
    return code;
}

static inline const plugmc_species *bench_species_of(const bench *b, int64_t i)
{
    int s = 0;
    while (i >= b->first[s + 1]) s++;
    return &b->species[s];
}

/* Energy of walker 0 of these positions: every pair, fields and totals. Virial and forces are added
 * where wanted. */
static inline double bench_energy(const bench *b, const double *positions, double *forces,
                                  double virial[3])
{
    const plugmc_system *system = &b->system;
    const int64_t n = system->particles;
    double *column = (double *)calloc((size_t)(5 * n), sizeof *column), energy = 0;
    int32_t *species = (int32_t *)calloc((size_t)n, sizeof *species);
    for (int64_t i = 0; i < n; i++) {
        const plugmc_species *own = bench_species_of(b, i);
        for (int d = 0; d < 3; d++) column[d * n + i] = positions[3 * i + d];
        column[3 * n + i] = own->charge;
        column[4 * n + i] = own->diameter;
        species[i] = (int32_t)(own - b->species);
    }
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_potential *p = plugmc_term_at(system, t)->plugin->potential;
        const void *instance = plugmc_term_at(system, t)->instance;
        for (int64_t i = 0; i < n; i++) {
            const plugmc_particle probe = {positions[3 * i],     positions[3 * i + 1],
                                           positions[3 * i + 2], column[3 * n + i],
                                           column[4 * n + i],    species[i]};
            plugmc_derivatives sum = {0}, field = {0};
            for (int half = 0; half < 2 && p->pair && p->pair->derivatives; half++) {
                const int64_t first = half ? i + 1 : 0, count = half ? n - i - 1 : i;
                const plugmc_particles others = {count,
                                                 column + first,
                                                 column + n + first,
                                                 column + 2 * n + first,
                                                 column + 3 * n + first,
                                                 column + 4 * n + first,
                                                 species + first};
                p->pair->derivatives(instance, &system->box,
                                     system->box.domain == PLUGMC_DOMAIN_PERIODIC, 0, &probe,
                                     &others, &sum);
            }
            if (p->field) p->field->derivatives(instance, &probe, &field);
            energy += sum.energy / 2 + field.energy;
            for (int d = 0; d < 3 && forces; d++)
                forces[3 * i + d] -= sum.gradient[d] + field.gradient[d];
            for (int d = 0; d < 3 && virial; d++) virial[d] += sum.virial[d] / 2;
        }
        plugmc_view view = {.size = sizeof view,
                            .positions = positions,
                            .box = boxes_of(system),
                            .count = numbers_of(system)};
        const plugmc_total_request request = {sizeof request, &view, &energy, forces, virial};
        if (p->total && p->total->energy(plugmc_term_at(system, t)->instance, &request))
            fail_msg("%s", b->message);
    }
    free(column);
    free(species);
    return energy;
}

/* A cubic lattice, `side` along each edge of the box, in two dimensions a square one; the same for
 * all walkers. Particles at random distances below `noise` (times the edge) from their sites. */
static inline void bench_lattice(const bench *b, int side, double noise, double *positions)
{
    const plugmc_box *box = &b->system.box;
    for (int64_t i = 0; i < b->system.particles * b->system.walkers; i++) {
        const int64_t site = i % b->system.particles;
        const int64_t at[3] = {site % side, site / side % side, site / side / side};
        const plugmc_random r =
            plugmc_draw((plugmc_seed){99}, 0, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        double f[3];
        for (int d = 0; d < 3; d++) {
            f[d] = ((double)at[d] + 0.5) / side + noise * (r.word[d] * 0x1p-32 - 0.5);
            if (d >= box->dimension) f[d] = 0;
        }
        for (int d = 0; d < 3; d++)
            positions[3 * i + d] =
                f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
    }
}
#endif

/* /parameters: the configuration, what made the file and where, and who wrote it last. */
#include <stdlib.h>
#include <string.h>

#include "archive/parts.h"

/* Names, one a line, in the order of their numbers. */
static void write_species_names(draft *d, const plugmc_system *system)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    for (int k = 0; out && k < system->species_count; k++)
        fprintf(out, "%s\n", plugmc_species_at(system, k)->name);
    if (!out || fclose(out))
        d->memory_short = true;
    else
        draft_text(d, "species", text);
    free(text);
}

void origin_write(draft *d, const output_data *data, const char *stamp, const char *trajectory)
{
    draft_enter(d, "parameters");
    draft_text(d, "effective_ini", data->origin.effective_ini);
    draft_text(d, "user_ini", data->origin.user_ini);
    draft_text(d, "provenance", data->origin.provenance);
    if (data->origin.history) draft_text(d, "history", data->origin.history);
    draft_text(d, "identity", stamp);
    if (data->trajectory.wanted) {
        draft_label(d, "run", data->trajectory.run);
        draft_text(d, "trajectory", trajectory);
    }
    write_species_names(d, data->system);
    draft_number(d, "seed", STORE_UINT64, &data->system->seed.key);
    draft_label(d, "version", PLUGMC_VERSION);
    if (data->origin.author && *data->origin.author) draft_label(d, "author", data->origin.author);
    draft_leave(d);
}

/* "" in files of earlier versions. */
static void read_stamp(store *s, hid_t parameters, char stamp[STAMP_SIZE])
{
    stamp[0] = 0;
    if (!store_has(s, parameters, "identity")) return;
    char *text = store_get_document(s, parameters, "identity");
    if (text) snprintf(stamp, STAMP_SIZE, "%s", text);
    free(text);
}

static void read_place(store *s, hid_t parameters, output_trajectory *t)
{
    char *run = store_get_label(s, parameters, "run");
    t->base = store_get_document(s, parameters, "trajectory");
    if (!s->failed && strlen(run) != IDENTITY_SIZE - 1)
        store_fail(s, "what it says of its trajectory is damaged");
    if (!s->failed) strcpy(t->run, run);
    free(run);
}

void origin_read(store *s, output_data *data)
{
    hid_t group = store_enter(s, s->file, "parameters");
    data->origin.effective_ini = store_get_document(s, group, "effective_ini");
    data->origin.user_ini = store_get_document(s, group, "user_ini");
    data->origin.provenance = store_get_document(s, group, "provenance");
    if (store_has(s, group, "history"))
        data->origin.history = store_get_document(s, group, "history");
    read_stamp(s, group, data->file.stamp);
    if (store_has(s, group, "trajectory")) read_place(s, group, &data->trajectory);
    store_leave(s, group);
}

bool origin_has_stamp(store *s, const output_data *data)
{
    char stamp[STAMP_SIZE];
    hid_t group = store_enter(s, s->file, "parameters");
    read_stamp(s, group, stamp);
    store_leave(s, group);
    return !s->failed && !strcmp(stamp, data->file.stamp);
}

void origin_check_stamp(store *s, const output_data *data)
{
    if (!origin_has_stamp(s, data))
        store_fail(s, "another run has written this file in the meantime");
}

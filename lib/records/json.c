/* Results as JSON. See json.h. */
#include "records/json.h"

#include <math.h>
#include <stdlib.h>

#include "archive/frozen.h"
#include "base/json_values.h"
#include "engine/reservoirs.h"
#include "records/numbers.h"

static void put_name(FILE *out, const char *name)
{
    fputs(", ", out);
    json_put(out, name);
    fputs(": ", out);
}

static void put_real(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs("null", out);
}

void json_real(FILE *out, const char *name, double value)
{
    put_name(out, name);
    put_real(out, value);
}

void json_text(FILE *out, const char *name, const char *value)
{
    put_name(out, name);
    json_put(out, value);
}

void json_number(FILE *out, const char *name, const estimate *e)
{
    put_name(out, name);
    fputs("{\"mean\": ", out);
    put_real(out, e->samples ? e->mean : NAN);
    json_real(out, "error", e->samples ? e->error : NAN);
    fprintf(out, ", \"error_is_lower_bound\": %s, \"samples\": %lld}",
            e->converged || isnan(e->error) ? "false" : "true", (long long)e->samples);
}

/* ---- All results --------------------------------------------------------------------------------------- */

void json_numbers(FILE *out, const output_data *data)
{
    int count;
    number *all = numbers_of(data, &count);
    fputs(", \"numbers\": [", out);
    for (int i = 0; i < count; i++) {
        const number *n = &all[i];
        char *name;
        checked(asprintf(&name, "%s.%s", n->observable, n->name) < 0 ? NULL : name);
        fputs(i ? ", {\"name\": " : "{\"name\": ", out);
        json_put(out, name);
        free(name);
        json_real(out, "value", n->value);
        json_real(out, "error", n->error);
        fprintf(out, ", \"error_is_lower_bound\": %s",
                n->converged || isnan(n->error) ? "false" : "true");
        json_text(out, "unit", n->unit);
        if (n->samples) {
            json_real(out, "correlation_time_sweeps", n->correlation_time);
            fprintf(out, ", \"correlation_time_is_upper_bound\": %s, \"samples\": %lld",
                    n->time_is_bound ? "true" : "false", (long long)n->samples);
        }
        fputc('}', out);
    }
    fputc(']', out);
    free(all);
}

/* Trial moves that are never or hardly ever accepted: sentences. */
static void put_frozen(const output_data *out)
{
    char words[FROZEN_WORDS];
    int count;
    frozen_moves *all = frozen_find(out, &count);
    fputs(", \"not_accepted\": [", stdout);
    for (int i = 0; i < count; i++) {
        if (i) fputs(", ", stdout);
        json_put(stdout, frozen_words(&all[i], words));
    }
    putchar(']');
    free(all);
}

static void put_moves(const output_data *out)
{
    fputs(", \"moves\": [", stdout);
    for (int i = 0; i < out->move_count; i++)
        for (int32_t r = 0; r < out->moves[i].rungs; r++) {
            const move_record *m = &out->moves[i];
            fputs(i || r ? ", {\"mover\": " : "{\"mover\": ", stdout);
            json_put(stdout, m->mover);
            json_text(stdout, "kind", m->name);
            if (m->rungs > 1) printf(", \"rung\": %d", r);
            printf(", \"trials\": %llu, \"accepted\": %llu",
                   (unsigned long long)m->counts[r].trials,
                   (unsigned long long)m->counts[r].accepted);
            if (m->step_unit) json_real(stdout, "step", m->steps[r]);
            putchar('}');
        }
    putchar(']');
}

/* What reservoirs are, in all words. */
static void put_reservoirs(const engine *engine)
{
    bool any = false;
    fputs(", \"reservoirs\": [", stdout);
    for (int32_t s = 0; s < reservoir_owners(&engine->config); s++)
        for (int32_t rung = 0; rung < engine->system.rungs; rung++) {
            const char *key = s < engine->system.species_count ? "species" : "molecule";
            reservoir_word words[RESERVOIR_WORDS];
            if (!reservoir_is_given(&engine->config, s)) continue;
            const int n = reservoir_words(engine, s, rung, words);
            printf("%s{\"%s\": ", any ? ", " : "", key);
            any = true;
            json_put(stdout, reservoir_name(&engine->config, s));
            if (engine->system.rungs > 1) printf(", \"rung\": %d", rung);
            for (int k = 0; k < n; k++) {
                put_name(stdout, words[k].name);
                fputs("{\"value\": ", stdout);
                put_real(stdout, words[k].value);
                json_text(stdout, "unit", words[k].unit);
                putchar('}');
            }
            putchar('}');
        }
    putchar(']');
}

void json_results(const records *records, const char *path)
{
    const output_data *out = &records->output;
    printf("{\"event\": \"results\", \"finished\": %s, \"sweep\": %llu",
           out->finished ? "true" : "false", (unsigned long long)out->sweep);
    json_text(stdout, "file", path);
    json_real(stdout, "seconds", out->seconds);
    json_numbers(stdout, out);
    put_moves(out);
    put_reservoirs(records->engine);
    put_frozen(out);
    puts("}");
}

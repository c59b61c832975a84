/* Results as JSON. See json.h. */
#include "records/json.h"

#include <math.h>
#include <stdlib.h>

#include "archive/frozen.h"
#include "records/numbers.h"

static void put_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else if (byte < ' ')
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void put_name(const char *name)
{
    fputs(", ", stdout);
    put_string(name);
    fputs(": ", stdout);
}

static void put_real(double value)
{
    if (isfinite(value))
        printf("%.17g", value);
    else
        fputs("null", stdout);
}

void json_real(const char *name, double value)
{
    put_name(name);
    put_real(value);
}

void json_text(const char *name, const char *value)
{
    put_name(name);
    put_string(value);
}

void json_number(const char *name, const estimate *e)
{
    put_name(name);
    fputs("{\"mean\": ", stdout);
    put_real(e->samples ? e->mean : NAN);
    json_real("error", e->samples ? e->error : NAN);
    printf(", \"error_is_lower_bound\": %s, \"samples\": %lld}",
           e->converged || isnan(e->error) ? "false" : "true", (long long)e->samples);
}

/* ---- All results --------------------------------------------------------------------------------------- */

static void put_numbers(const output_data *out)
{
    int count;
    number *all = numbers_of(out, &count);
    fputs(", \"numbers\": [", stdout);
    for (int i = 0; i < count; i++) {
        const number *n = &all[i];
        char *name;
        checked(asprintf(&name, "%s.%s", n->observable, n->name) < 0 ? NULL : name);
        fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
        put_string(name);
        free(name);
        json_real("value", n->value);
        json_real("error", n->error);
        printf(", \"error_is_lower_bound\": %s",
               n->converged || isnan(n->error) ? "false" : "true");
        json_text("unit", n->unit);
        if (n->samples) {
            json_real("correlation_time_sweeps", n->correlation_time);
            printf(", \"correlation_time_is_upper_bound\": %s, \"samples\": %lld",
                   n->time_is_bound ? "true" : "false", (long long)n->samples);
        }
        putchar('}');
    }
    putchar(']');
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
        put_string(frozen_words(&all[i], words));
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
            put_string(m->mover);
            json_text("kind", m->name);
            if (m->rungs > 1) printf(", \"rung\": %d", r);
            printf(", \"trials\": %llu, \"accepted\": %llu",
                   (unsigned long long)m->counts[r].trials,
                   (unsigned long long)m->counts[r].accepted);
            if (m->step_unit) json_real("step", m->steps[r]);
            putchar('}');
        }
    putchar(']');
}

void json_results(const records *records, const char *path)
{
    const output_data *out = &records->output;
    printf("{\"event\": \"results\", \"finished\": %s, \"sweep\": %llu",
           out->finished ? "true" : "false", (unsigned long long)out->sweep);
    json_text("file", path);
    json_real("seconds", out->seconds);
    put_numbers(out);
    put_moves(out);
    put_frozen(out);
    puts("}");
}

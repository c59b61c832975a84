/* The scalars as a table for spreadsheets and gnuplot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/cell.h"
#include "archive/output.h"
#include "archive/replacement.h"

static void write_name(FILE *out, const quantity_record *q)
{
    char *name;
    if (asprintf(&name, "%s.%s", q->observable, q->name) < 0) checked(NULL);
    fputc(',', out);
    cell_write(out, name, "");
    free(name);
}

/* Production sweep of the next sample after `sweep`, of any scalar; 0 if there is none. */
static int64_t next_sweep(const output_data *data, int64_t sweep)
{
    int64_t next = 0;
    for (int i = 0; i < data->quantity_count; i++) {
        const quantity_record *q = &data->quantities[i];
        if (q->length != 1 || sweep / q->period >= q->samples) continue;
        int64_t own = (sweep / q->period + 1) * q->period;
        if (next == 0 || own < next) next = own;
    }
    return next;
}

/* Empty where a quantity was not due. */
static void write_value(FILE *out, const quantity_record *q, int64_t sweep, int walkers)
{
    fputc(',', out);
    if (sweep % q->period || sweep / q->period > q->samples) return;
    const double *sample = q->series + (sweep / q->period - 1) * walkers;
    double sum = 0;
    for (int w = 0; w < walkers; w++) sum += sample[w];
    fprintf(out, "%.17g", sum / walkers);
}

static void write_table(FILE *out, const output_data *data)
{
    fputs("sweep", out);
    for (int i = 0; i < data->quantity_count; i++)
        if (data->quantities[i].length == 1) write_name(out, &data->quantities[i]);
    fputc('\n', out);
    for (int64_t sweep = 0; (sweep = next_sweep(data, sweep)) > 0;) {
        fprintf(out, "%lld", (long long)data->equilibrate + (long long)sweep);
        for (int i = 0; i < data->quantity_count; i++)
            if (data->quantities[i].length == 1)
                write_value(out, &data->quantities[i], sweep, data->quantities[i].walkers);
        fputc('\n', out);
    }
}

int output_csv_try(const char *path, const output_data *data, char why[OUTPUT_WHY])
{
    replacement file;
    int code = replacement_begin(&file, path, data->file.identity, REPLACES_ANY);
    if (!code) {
        int fd = dup(file.fd);
        FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
        if (out) {
            errno = 0;
            write_table(out, data);
            if (ferror(out) | fclose(out)) code = errno ? errno : EIO;
        } else {
            code = errno;
            if (fd >= 0) close(fd);
        }
        if (code)
            replacement_abandon(&file);
        else
            code = replacement_finish(&file);
    }
    if (!code) return EXIT_DONE;
    snprintf(why, OUTPUT_WHY, "%s", replacement_words(code));
    return EXIT_OUTPUT;
}

bool output_csv_is_short(const char *path, const output_data *data)
{
    char *text = NULL, *line = NULL;
    size_t size = 0, capacity = 0, read = 0;
    ssize_t length;
    FILE *in = fopen(path, "r"), *out = in ? checked(open_memstream(&text, &size)) : NULL;
    if (!in) return true;
    write_table(out, data);
    fclose(out);
    bool alike = true, heading = false;
    while (alike && (length = getline(&line, &capacity, in)) > 0) {
        alike = read + (size_t)length <= size && !memcmp(text + read, line, (size_t)length);
        heading |= alike;
        read += (size_t)length;
    }
    free(line), free(text), fclose(in);
    return read == 0 || (heading && alike && read < size);
}

int output_csv(const char *path, const output_data *data, report *r)
{
    char why[OUTPUT_WHY];
    if (!output_csv_try(path, data, why)) return EXIT_DONE;
    return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path, why);
}

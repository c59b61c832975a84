/* reader: an observable that reads a number from each of its files, and measures their sum. It puts what `times` = 0
 * stands for into the parameter itself. */
#include <stdio.h>
#include <string.h>

#include <plugmc/everything.h>

typedef struct reader {
    const char *file, *others;
    int64_t times;
    double sum;
} reader;

static int add(reader *r, const plugmc_host *host, const char *path)
{
    double number;
    FILE *f = fopen(path, "r");
    int read = f && fscanf(f, "%lf", &number) == 1;
    if (f) fclose(f);
    if (!read)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "there is no number in '%s'", path);
    r->sum += number;
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    reader *r = instance;
    char path[1024];
    int code = add(r, host, r->file);
    for (const char *at = r->others; *at && !code; at += strspn(at, "\n")) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "\n"), at);
        at += strcspn(at, "\n");
        code = add(r, host, path);
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    reader *r = instance;
    (void)host;
    if (r->times == 0) r->times = 1;
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "sum", "", "of the numbers");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const reader *r = instance;
    (void)view;
    for (int w = 0; w < host->system->walkers; w++) values[w] = (double)r->times * r->sum;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_FILE_KEY(reader, file, NULL, "with a number"),
    PLUGMC_FILES_KEY(reader, others, "", "with further ones"),
    PLUGMC_INTEGER_KEY(reader, times, "0", 0, 9, "", "how often the sum counts; 0: once"),
};

PLUGMC_PLUGIN(.name = "reader", .summary = "reads files", .reference = "",
              PLUGMC_KEYS(reader, table), .configure = configure, .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure))

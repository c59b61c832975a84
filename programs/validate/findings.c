/* See findings.h. */
#include "findings.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "base/json_values.h"
#include "base/stop.h"
#include "records/json.h"

findings *findings_new(void)
{
    findings *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return f == MAP_FAILED ? NULL : f;
}

void findings_free(findings *f) { munmap(f, sizeof *f); }

static int count_of(const findings *f, int verdict)
{
    int count = 0;
    for (int k = 0; k < f->count; k++) count += f->list[k].verdict == verdict;
    return count;
}

int findings_failed(const findings *f) { return count_of(f, CHECK_FAILED); }

/* ---- One check ------------------------------------------------------------------------------- */

finding *check_running(findings *f)
{
    finding *last = f->count ? &f->list[f->count - 1] : NULL;
    return last && last->verdict == CHECK_RUNS ? last : NULL;
}

#define TELL 10 /* seconds without a word of progress */
static int progress = -1;

void findings_tell(int file) { progress = file; }

static void tell_progress(findings *f, const finding *next)
{
    if (f->begun == 0) f->begun = f->told = next->begin;
    if (progress < 0 || next->begin - f->told < TELL) return;
    f->told = next->begin;
    dprintf(progress, "plugmc validate: %.0f s, %d checks, %d failed; next: %s\n",
            next->begin - f->begun, f->count - 1, findings_failed(f), next->check);
}

/* The last entry is used again once the list is full, so that a failure is not lost. */
static finding *add(findings *f, const char *check)
{
    if (f->count < MOST_FINDINGS) f->count++;
    finding *now = &f->list[f->count - 1];
    *now = (finding){.worst = NAN, .limit = NAN, .begin = stop_clock()};
    snprintf(now->check, sizeof now->check, "%s%s", check, f->where);
    tell_progress(f, now);
    return now;
}

void check_begin(findings *f, const char *check, double limit, const char *compared, ...)
{
    va_list arguments;
    finding *now = add(f, check);
    now->limit = limit;
    va_start(arguments, compared);
    vsnprintf(now->compared, sizeof now->compared, compared, arguments);
    va_end(arguments);
}

bool check_value(findings *f, double deviation, const char *sentence, ...)
{
    finding *now = check_running(f);
    const double found = isnan(deviation) ? INFINITY : deviation;
    const bool good = found <= now->limit;
    if (!isnan(now->worst) && found <= now->worst) return good;
    now->worst = found;
    if (!good) {
        va_list arguments;
        va_start(arguments, sentence);
        vsnprintf(now->sentence, sizeof now->sentence, sentence, arguments);
        va_end(arguments);
    }
    return good;
}

static void close_check(finding *now, int verdict)
{
    now->verdict = verdict;
    now->seconds = stop_clock() - now->begin;
}

void check_fail(findings *f, const char *sentence, ...)
{
    finding *now = check_running(f);
    va_list arguments;
    if (!now || *now->sentence) return;
    va_start(arguments, sentence);
    vsnprintf(now->sentence, sizeof now->sentence, sentence, arguments);
    va_end(arguments);
}

static void leave(findings *f, int verdict, const char *why, va_list arguments)
{
    finding *now = check_running(f);
    if (!now || *now->sentence) return;
    vsnprintf(now->sentence, sizeof now->sentence, why, arguments);
    close_check(now, verdict);
}

void check_leave(findings *f, const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    leave(f, CHECK_NOT_COVERED, why, arguments);
    va_end(arguments);
}

void check_warn(findings *f, const char *sentence, ...)
{
    va_list arguments;
    va_start(arguments, sentence);
    leave(f, CHECK_WARNING, sentence, arguments);
    va_end(arguments);
}

void check_end(findings *f)
{
    finding *now = check_running(f);
    if (now) close_check(now, *now->sentence ? CHECK_FAILED : CHECK_PASSED);
}

void check_not_covered(findings *f, const char *check, const char *why, ...)
{
    va_list arguments;
    finding *now = add(f, check);
    va_start(arguments, why);
    vsnprintf(now->sentence, sizeof now->sentence, why, arguments);
    va_end(arguments);
    close_check(now, CHECK_NOT_COVERED);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static const char *const verdicts[] = {"running", "passed", "failed", "not covered", "warning"},
                         *const members[] = {"running", "passed", "failed", "not_covered",
                                             "warning"};

static void print(FILE *out, const finding *f)
{
    fprintf(out, "%-11s  %-34s", verdicts[f->verdict], f->check);
    if (!isnan(f->worst)) fprintf(out, "  %8.1e of what is allowed", f->worst / f->limit);
    if (f->verdict != CHECK_NOT_COVERED) fprintf(out, "  %.2f s", f->seconds);
    fputc('\n', out);
    if (*f->compared && f->verdict == CHECK_FAILED) fprintf(out, "    compared: %s\n", f->compared);
    if (*f->sentence) fprintf(out, "    %s\n", f->sentence);
}

/* What is not covered comes last, so that it hides nothing. */
void findings_print(FILE *out, const findings *f)
{
    for (int last = 0; last < 2; last++)
        for (int k = 0; k < f->count; k++)
            if ((f->list[k].verdict == CHECK_NOT_COVERED) == last) print(out, &f->list[k]);
    fprintf(out, "%d passed, %d failed, ", count_of(f, CHECK_PASSED), count_of(f, CHECK_FAILED));
    const int warnings = count_of(f, CHECK_WARNING);
    if (warnings) fprintf(out, "%d warning%s, ", warnings, warnings == 1 ? "" : "s");
    fprintf(out, "%d not covered\n", count_of(f, CHECK_NOT_COVERED));
}

void findings_json(FILE *out, const findings *f)
{
    fputs("\"checks\": [", out);
    for (int k = 0; k < f->count; k++) {
        const finding *one = &f->list[k];
        fputs(k ? ", {\"check\": " : "{\"check\": ", out);
        json_put(out, one->check);
        json_text(out, "result", members[one->verdict]);
        json_text(out, "compared", one->compared);
        json_real(out, "worst", one->worst);
        json_real(out, "limit", one->limit);
        json_real(out, "seconds", one->seconds);
        json_text(out, "sentence", one->sentence);
        fputc('}', out);
    }
    fprintf(out, "], \"passed\": %d, \"failed\": %d, \"warnings\": %d, \"not_covered\": %d",
            count_of(f, CHECK_PASSED), count_of(f, CHECK_FAILED), count_of(f, CHECK_WARNING),
            count_of(f, CHECK_NOT_COVERED));
}

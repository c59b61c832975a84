/* Figures by gnuplot. It gets numbers and words of ours alone: names that come from files stand in the captions,
 * which are HTML. Its SVG is made part of the page: ids become unique, colours become those of the style. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

/* ---- Text ---------------------------------------------------------------------------------------------- */

void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fputc(*text, out);
        }
}

void put_html(page *p, const char *html) { fputs(html, p->out); }

void put_wide(page *p, bool in_any_case)
{
    put_html(p, in_any_case ? "<p class=\"wider always\">" : "<p class=\"wider\">");
    put_html(p, "Wide tables go on to the right, where their edge is in shadow: scroll them "
                "sideways.</p>\n<div class=\"wide\">");
}

void put_text(page *p, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    checked(vasprintf(&text, format, arguments) < 0 ? NULL : text);
    va_end(arguments);
    put_escaped(p->out, text);
    free(text);
}

/* ---- gnuplot ------------------------------------------------------------------------------------------- */

extern char **environ;

static int fail(page *p, const char *what, int error)
{
    if (!p->code)
        p->code = report_error(p->report, EXIT_OUTPUT, NULL, 0, "%s%s%s", what, error ? ": " : "",
                               error ? strerror(error) : "");
    return p->code;
}

/* Runs it on a script; what it writes is appended to `out`. */
static int run_gnuplot(page *p, FILE *script, FILE *out)
{
    static char name[] = "gnuplot", plain[] = "-d", from_input[] = "-";
    char *const arguments[] = {name, plain, from_input, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = 0;
    fflush(script);
    rewind(script);
    lseek(fileno(script), 0, SEEK_SET);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fileno(script), 0);
    posix_spawn_file_actions_adddup2(&files, fileno(out), 1);
    const int error = posix_spawnp(&pid, name, &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error) return fail(p, "gnuplot, which draws the figures, cannot be started", error);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return fail(p, "gnuplot, which draws the figures, has failed", 0);
    return 0;
}

/* What gnuplot makes of a script; to be freed. NULL after an error. */
static char *drawn(page *p, const char *terminal, const char *script, size_t *bytes)
{
    FILE *in = tmpfile(), *out = tmpfile();
    char *made = NULL;
    int code = !in || !out ? fail(p, "cannot make a temporary file", errno) : 0;
    if (!code) {
        fprintf(in, "%s\n%s", terminal, script);
        code = run_gnuplot(p, in, out);
    }
    if (!code) {
        const off_t size = lseek(fileno(out), 0, SEEK_END);
        made = checked(calloc((size_t)size + 1, 1));
        const ssize_t read = pread(fileno(out), made, (size_t)size, 0);
        *bytes = read > 0 ? (size_t)read : 0;
    }
    if (in) fclose(in);
    if (out) fclose(out);
    return made;
}

/* ---- SVG ----------------------------------------------------------------------------------------------- */

/* Colours of the script: 1, 1, 1 is ink, 1, 1, 2 + k is colour k. Reads "rgb(1, 1, 2)", returns what is behind
 * it, or NULL if it is another colour. */
static const char *put_colour(FILE *out, const char *at)
{
    int red, green, blue, length = 0;
    if (sscanf(at, "rgb( %d , %d , %d )%n", &red, &green, &blue, &length) < 3 || !length)
        return NULL;
    if (red != 1 || green != 1) return NULL;
    if (blue == 1)
        fputs("var(--ink)", out);
    else
        fprintf(out, "var(--c%d)", blue - 2);
    return at + length;
}

/* The rest of what gnuplot calls an element, title and comments left out. */
static const char *put_changed(FILE *out, const char *at, int figure)
{
    static const struct {
        const char *old, *new;
    } words[] = {{"color='white'", "color='var(--card)'"},
                 {"color=\"white\"", "color=\"var(--card)\""},
                 {"color=\"black\"", "color=\"var(--ink)\""},
                 {"stroke=\"black\"", "stroke=\"var(--ink)\""},
                 {"fill=\"black\"", "fill=\"var(--ink)\""}};
    static const char *const ids[] = {" id='", " id=\"", "href='#", "url(#"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(at, words[i].old, strlen(words[i].old))) {
            fputs(words[i].new, out);
            return at + strlen(words[i].old);
        }
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!strncmp(at, ids[i], strlen(ids[i]))) {
            fprintf(out, "%sf%d-", ids[i], figure);
            return at + strlen(ids[i]);
        }
    if (!strncmp(at, "rgb(", 4)) {
        const char *end = put_colour(out, at);
        if (end) return end;
    }
    if (!strncmp(at, "<title>", 7) || !strncmp(at, "<desc>", 6)) {
        const char *end = strstr(at, at[1] == 't' ? "</title>" : "</desc>");
        if (end) return strchr(end, '>') + 1;
    }
    fputc(*at, out);
    return at + 1;
}

static void put_svg(page *p, const char *svg)
{
    const char *at = strstr(svg, "viewBox");
    if (!at) {
        fail(p, "gnuplot, which draws the figures, has drawn nothing", 0);
        return;
    }
    put_html(p, "<svg aria-hidden=\"true\" ");
    while (*at) at = put_changed(p->out, at, p->figures);
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

static void put_curve_data(FILE *script, const curve *c, int k)
{
    fprintf(script, "$d%d << EOD\n", k);
    for (int64_t i = 0; i < c->n; i++) {
        const double error = c->error && isfinite(c->error[i]) ? c->error[i] : 0;
        if (!isfinite(c->x[i]) || !isfinite(c->y[i]))
            fputs("\n", script);
        else if (c->style == CURVE_BAND)
            fprintf(script, "%.9g %.9g %.9g\n", c->x[i], c->y[i] - error, c->y[i] + error);
        else
            fprintf(script, "%.9g %.9g %.9g\n", c->x[i], c->y[i], error);
    }
    fprintf(script, "NaN NaN NaN\nEOD\n");
}

static void put_curve(FILE *script, const curve *c, int k, int before)
{
    static const char *const styles[] = {
        [CURVE_LINE] = "using 1:2 with lines lw 1.8 lc rgb",
        [CURVE_THIN] = "using 1:2 with lines lw 0.6 lc rgb",
        [CURVE_POINTS] = "using 1:2 with points pt 7 ps 0.45 lc rgb",
        [CURVE_ERRORS] = "using 1:2:3 with yerrorbars pt 7 ps 0.6 lw 1.2 lc rgb",
        [CURVE_BAND] = "using 1:2:3 with filledcurves fs transparent solid 0.3 noborder fc rgb"};
    fprintf(script, "%s$d%d %s '#0101%02x'", before ? ", " : "plot ", k, styles[c->style],
            2 + c->colour);
}

/* In single quotes nothing has a meaning but these quotes themselves and the end of the line. */
static void put_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', script);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

typedef struct extent {
    double low, high;
} extent;

/* Of what is drawn, with its errors: x or y. */
static extent extent_of(const figure *f, bool of_y)
{
    extent e = {INFINITY, -INFINITY};
    for (int k = 0; k < f->count; k++)
        for (int64_t i = 0; i < f->curves[k].n; i++) {
            const curve *c = &f->curves[k];
            const double error = of_y && c->error && isfinite(c->error[i]) ? c->error[i] : 0;
            const double at = of_y ? c->y[i] : c->x[i];
            if (!isfinite(c->x[i]) || !isfinite(c->y[i])) continue;
            e.low = fmin(e.low, at - error);
            e.high = fmax(e.high, at + error);
        }
    return e;
}

/* Between numbers below the figure, some five: gnuplot would make as many as it can write beside each other if all
 * were short. */
static double step_of(extent x)
{
    const double rough = (x.high > x.low ? x.high - x.low : 1) / 5,
                 power = pow(10, floor(log10(rough)));
    return power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1);
}

/* Axes end a little behind the data: gnuplot would go on to its next number. Where there is one value alone, it says
 * that it does not like to choose. */
static void put_range(FILE *script, char axis, extent e)
{
    const bool alone = !(e.high - e.low > 1e-12 * fabs(e.high));
    const double low = alone ? 0.1 * fabs(e.low) + 1e-12 : 0.02 * (e.high - e.low),
                 high = alone ? 0.1 * fabs(e.high) + 1e-12 : low;
    fprintf(script, "set %crange [%.9g:%.9g]\n", axis, e.low - low, e.high + high);
}

static bool is_seen(const curve *c)
{
    for (int64_t i = 0; i < c->n; i++)
        if (isfinite(c->x[i]) && isfinite(c->y[i])) return true;
    return false;
}

static char *script_of(const figure *f)
{
    char *text;
    size_t size;
    FILE *script = checked(open_memstream(&text, &size));
    fputs("set xlabel ", script);
    put_quoted(script, f->x);
    fputs(" tc rgb '#010101' offset 0,0.4\n"
          "set border 3 lc rgb '#010101'\nset tics nomirror tc rgb '#010101'\nset key noautotitle\n"
          "set lmargin 10\nset format '%.6g'\nset datafile missing NaN\n",
          script);
    const extent x = extent_of(f, false);
    int shown = 0;
    fprintf(script, "set xtics %.9g\n", step_of(x));
    put_range(script, 'x', x);
    put_range(script, 'y', extent_of(f, true));
    for (int k = 0; k < f->count; k++)
        if (is_seen(&f->curves[k])) put_curve_data(script, &f->curves[k], k);
    for (int k = 0; k < f->count; k++)
        if (is_seen(&f->curves[k])) put_curve(script, &f->curves[k], k, shown++);
    fputs("\n", script);
    fclose(script);
    return checked(text);
}

static bool has_values(const figure *f)
{
    for (int k = 0; k < f->count; k++)
        if (is_seen(&f->curves[k])) return true;
    return false;
}

void put_figure(page *p, const figure *f)
{
    size_t bytes;
    if (p->code || !has_values(f)) return;
    p->figures++;
    char *script = script_of(f);
    char *svg = drawn(p, "set terminal svg size 420,250 dynamic noenhanced font 'sans-serif,13'",
                      script, &bytes);
    free(script);
    if (!svg) return;
    put_html(p, "<figure>");
    put_svg(p, svg);
    put_html(p, "<figcaption><b>");
    put_text(p, "%s", f->name);
    put_html(p, "</b> ");
    if (f->unit && *f->unit) put_text(p, "[%s] ", f->unit);
    put_html(p, "<small>");
    put_text(p, "%s", f->words ? f->words : "");
    put_html(p, "</small></figcaption></figure>\n");
    free(svg);
}

/* ---- Pictures ------------------------------------------------------------------------------------------ */

static void put_base64(FILE *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const unsigned left = n - i > 2 ? 3 : (unsigned)(n - i);
        const unsigned word = (unsigned)bytes[i] << 16 |
                              (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0);
        for (unsigned k = 0; k < 4; k++)
            fputc(k <= left ? digits[word >> (18 - 6 * k) & 63] : '=', out);
    }
}

void put_image(page *p, const char *words, int width, int height, const char *script)
{
    char terminal[128];
    size_t bytes;
    if (p->code) return;
    snprintf(terminal, sizeof terminal, "set terminal pngcairo transparent size %d,%d", width,
             height);
    char *png = drawn(p, terminal, script, &bytes);
    if (!png) return;
    put_html(p, "<figure class=\"picture\"><img alt=\"\" src=\"data:image/png;base64,");
    put_base64(p->out, (const unsigned char *)png, bytes);
    put_html(p, "\"><figcaption>");
    put_text(p, "%s", words);
    put_html(p, "</figcaption></figure>\n");
    free(png);
}

/* What the parts of plugmc report share: the runs, and the page that is written. */
#ifndef PLUGMC_PAGE_H
#define PLUGMC_PAGE_H

#include <stdio.h>

#include "input/config.h"
#include "archive/output.h"
#include "base/report.h"

enum { MOST_RUNS = 8 }; /* as many colours as there are */

/* A run as its file has it; plugins are not opened. */
typedef struct shown {
    const char *path;
    char *name; /* file name without folder */
    output_data data;
    config config;
    plugmc_system system;
} shown;

/* The page, and what goes wrong on the way: the first sentence stays. */
typedef struct page {
    FILE *out;
    const shown *runs;
    int count;
    const char *study; /* summary.csv of plugmc scan, then there are no runs; NULL else */
    int figures;       /* written so far */
    report *report;
    int code;
} page;

/* Text as HTML: every text that comes from a file goes through this. */
void put_escaped(FILE *, const char *text);
/* printf of numbers and of our own words; what %s gives is escaped. Only %s, %d, %g and the like. */
void put_text(page *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Our own HTML as it is. */
void put_html(page *, const char *html);

/* What a table that may be wider than the page lies in, up to a </div>: on a narrow page, or on all where it is wide in
 * any case, it says that it can be scrolled. */
void put_wide(page *, bool in_any_case);

/* One data line of a figure. */
enum curve_style { CURVE_LINE, CURVE_THIN, CURVE_POINTS, CURVE_ERRORS, CURVE_BAND };
typedef struct curve {
    enum curve_style style;
    int colour; /* from 0 */
    int64_t n;
    const double *x, *y, *error; /* error may be NULL */
} curve;

enum { MOST_CURVES = 3 * MOST_RUNS };
typedef struct figure {
    const char *name; /* of what is shown, as the table calls it */
    const char *words, *unit, *x;
    curve curves[MOST_CURVES];
    int count;
} figure;

/* Writes it as an inline SVG made by gnuplot. Values that are not finite are gaps. */
void put_figure(page *, const figure *);
/* A picture made by gnuplot as PNG: `script` is sent to it behind the choice of terminal. */
void put_image(page *, const char *words, int width, int height, const char *script);

/* The parts of the page, in order. */
void put_summary(page *);
void put_warnings(page *);
void put_results(page *);
void put_configuration(page *);
void put_series(page *);
void put_arrays(page *);
void put_moves(page *);
void put_tuning(page *);
void put_speed(page *);
void put_origin(page *);
/* A page about a study instead (study.c); EXIT_INPUT if the file is no such table. */
bool is_study(const char *path);
int put_study(page *, const char *path);
#endif

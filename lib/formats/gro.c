/* GRO, of GROMACS (https://manual.gromacs.org/current/reference-manual/file-formats.html#gro):
 *
 *     sodium and chloride
 *     2
 *         1ION     Na    1   0.050   0.100   0.200
 *         2ION     Cl    2   0.350   0.100   0.200
 *        3.00000   3.00000   3.00000
 *
 * frame after frame. Lengths are in nm. Columns 11 to 15 are the name of the particle; from column 21 on there are the
 * coordinates, each as wide as the decimal points of the first particle are apart, and then velocities, which are passed over. The last line
 * of a frame has three edges, or nine numbers: v1(x) v2(y) v3(z) v1(y) v1(z) v2(x) v2(z) v3(x) v3(y). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text_lines.h"

static const double nanometre = 1e-9;

typedef struct gro {
    text_lines lines;
    frame_rows rows;
    int wide; /* columns of a coordinate */
} gro;

/* The second line of a frame. */
static int read_count(gro *g, int64_t *count)
{
    int code = lines_expect(&g->lines, "the number of particles");
    double n = 0;
    if (code) return code;
    if (!number_of_word(g->lines.text, &n) || n < 0 || n > 1e15 || n != floor(n))
        return refuse_line(&g->lines,
                           "the second line of a frame of a GRO file is the number of particles");
    *count = (int64_t)n;
    return EXIT_DONE;
}

/* From the decimal points of the first three numbers. */
static int find_width(gro *g)
{
    const text_lines *l = &g->lines;
    const char *first = l->length > 20 ? strchr(l->text + 20, '.') : NULL,
               *second = first ? strchr(first + 1, '.') : NULL,
               *third = second ? strchr(second + 1, '.') : NULL;
    g->wide = third ? (int)(second - first) : 0;
    if (!third || third - second != second - first || g->wide > 30)
        return refuse_line(l,
                           "from column 21 on there are not three coordinates of equal width with "
                           "decimal points");
    return EXIT_DONE;
}

static int read_particle(gro *g, bool first)
{
    static const char *const words[] = {"x", "y", "z"};
    const text_lines *l = &g->lines;
    char name[6] = "";
    double place[3];
    int code = first ? find_width(g) : EXIT_DONE, n = 0;
    for (int d = 0; d < 3 && !code; d++)
        code = lines_number(l, 21 + d * g->wide, 20 + (d + 1) * g->wide, words[d], &place[d]);
    if (code) return code;
    for (int k = 10; k < 15; k++)
        if (l->text[k] != ' ') name[n++] = l->text[k];
    if (!n) return refuse_line(l, "the particle has no name in columns 11 to 15");
    const int32_t species = frame_name(g->rows.frame, l, name);
    return species < 0 ? l->report->code : frame_add(&g->rows, l, place, species, NULL);
}

/* All zeros: no box. */
static int read_box(gro *g)
{
    static const int row[9] = {0, 1, 2, 0, 0, 1, 1, 2, 2}, column[9] = {0, 1, 2, 1, 2, 0, 2, 0, 1};
    double v[9] = {0}, box[3][3] = {{0}}, error = 0;
    int n = 0, code = lines_expect(&g->lines, "the box");
    char *rest = g->lines.text, *word;
    bool any = false;
    while (!code && (word = strsep(&rest, " \t"))) {
        if (!*word) continue;
        if (n == 9 || !number_of_word(word, &v[n]))
            return refuse_line(&g->lines, "the box is neither three nor nine numbers");
        error = fmax(error, error_of_word(word));
        any |= v[n++] != 0;
    }
    if (code) return code;
    if (n != 3 && n != 9)
        return refuse_line(&g->lines, "the box is %d numbers, and these are three or nine", n);
    for (int k = 0; k < n; k++) box[row[k]][column[k]] = v[k];
    if (!any) return EXIT_DONE;
    if (box[0][1] != 0 || box[0][2] != 0 || box[1][2] != 0)
        return refuse_line(&g->lines, "the first vector of the box must be along x, and the second "
                                      "one in the plane of x and y");
    g->rows.frame->box_error = error;
    return frame_box(g->rows.frame, &g->lines, box);
}

/* ---- Frames ------------------------------------------------------------------------------------------ */

/* One that is not wanted. */
static int pass_over(gro *g, int64_t count)
{
    int code = EXIT_DONE;
    for (int64_t i = 0; i <= count && !code; i++)
        code = lines_expect(&g->lines, i < count ? "a particle" : "the box");
    return code;
}

static int read_frame(gro *g, int64_t count)
{
    int code = EXIT_DONE;
    char expected[64];
    for (int64_t i = 0; i < count && !code; i++) {
        snprintf(expected, sizeof expected, "particle %lld of %lld", (long long)i + 1,
                 (long long)count);
        code = lines_expect(&g->lines, expected);
        if (!code) code = read_particle(g, i == 0);
    }
    return code ? code : read_box(g);
}

/* Reads frame `wanted`, from 0, or with -1 counts all. Behind the last one there may be empty lines. */
static int read_frames(gro *g, int64_t wanted, int64_t *frames)
{
    int code = EXIT_DONE;
    bool ended = false;
    for (*frames = 0; !code && !(code = lines_next(&g->lines, &ended)) && !ended; ++*frames) {
        int64_t count = 0, begin = g->lines.line;
        if (*frames && !g->lines.text[strspn(g->lines.text, " \t")]) {
            while (!code && !ended && !g->lines.text[strspn(g->lines.text, " \t")])
                code = lines_next(&g->lines, &ended);
            if (code || ended) break;
            if (begin != g->lines.line)
                return refuse_line(&g->lines, "there is an empty line before this frame");
        }
        code = read_count(g, &count);
        if (!code) code = *frames == wanted ? read_frame(g, count) : pass_over(g, count);
        if (*frames == wanted) return code;
    }
    return code;
}

int gro_read(const char *path, int64_t which, file_frame *out, report *report)
{
    gro g = {.rows = {.frame = out}};
    char why[FRAME_WHY];
    int64_t frames = 0, number = 0, passed;
    *out = (file_frame){0};
    int code = lines_open(&g.lines, path, report);
    if (!code) code = read_frames(&g, -1, &frames);
    if (!code && !frames) code = refuse_line(&g.lines, "the file is empty");
    if (!code) number = frame_number(which, frames, why);
    if (!code && number < 0) code = report_error(report, EXIT_INPUT, path, 0, "%s", why);
    if (!code) {
        rewind(g.lines.file);
        g.lines.line = 0;
        code = read_frames(&g, number, &passed);
    }
    out->walkers = 1;
    out->metre = nanometre;
    lines_close(&g.lines);
    if (code) frame_free(out);
    return code;
}

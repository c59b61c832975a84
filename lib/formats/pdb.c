/* PDB, version 3.3 of the format (https://www.wwpdb.org/documentation/file-format), as far as it tells a configuration:
 *
 *     CRYST1   30.000   30.000   30.000  90.00  90.00  90.00 P 1           1
 *     MODEL        1
 *     ATOM      1  Na  ION     1       0.500   1.000   2.000  1.00  0.00
 *     ENDMDL
 *
 * Lengths are in Angstrom. CRYST1 has the edges and angles of the box, whose first vector is along x and whose second one
 * is in the plane of x and y. Particles are told by the names of their atoms. A frame ends with ENDMDL or END. What only
 * describes a molecule or where it comes from is passed over; what would make the particles others than those that are
 * listed is refused: symmetries of the crystal, alternate locations, occupancies below 1, other axes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text_lines.h"

static const double angstrom = 1e-10, degree = 0.017453292519943295;

typedef struct pdb {
    text_lines lines;
    frame_rows rows;
    double box[3][3], box_error;
    int64_t box_line; /* 0: there was none yet */
    int64_t atoms;    /* of this frame so far */
    bool in_model;
} pdb;

/* ---- Records ----------------------------------------------------------------------------------------- */

static const char *const passed_over[] = {
    "HEADER", "OBSLTE", "TITLE",  "SPLIT",  "CAVEAT", "COMPND", "SOURCE", "KEYWDS", "EXPDTA",
    "NUMMDL", "MDLTYP", "AUTHOR", "REVDAT", "SPRSDE", "JRNL",   "REMARK", "DBREF",  "DBREF1",
    "DBREF2", "SEQADV", "SEQRES", "MODRES", "HET",    "HETNAM", "HETSYN", "FORMUL", "HELIX",
    "SHEET",  "TURN",   "SSBOND", "LINK",   "CISPEP", "SITE",   "ORIGX1", "ORIGX2", "ORIGX3",
    "SCALE1", "TER",    "CONECT", "MASTER", "ANISOU", "SIGATM", "SIGUIJ", ""};

/* The first six columns, without blanks. */
static void record_of(const text_lines *l, char out[8])
{
    int n = 0;
    for (size_t k = 0; k < 6 && k < l->length; k++)
        if (l->text[k] != ' ') out[n++] = l->text[k];
    out[n] = 0;
}

static bool is_passed_over(const char *record)
{
    for (size_t k = 0; k < sizeof passed_over / sizeof *passed_over; k++)
        if (!strcmp(record, passed_over[k])) return true;
    return false;
}

enum { WORD = 32 };

/* Columns first ... last, from 1, without blanks at the ends. */
static void columns(const text_lines *l, size_t first, size_t last, char out[WORD])
{
    const size_t end = last < l->length ? last : l->length;
    size_t begin = first - 1, n = 0;
    while (begin < end && l->text[begin] == ' ') begin++;
    for (size_t k = begin; k < end && n < WORD - 1; k++) out[n++] = l->text[k];
    while (n && out[n - 1] == ' ') n--;
    out[n] = 0;
}

/* a along x, b in the plane of x and y. */
static int read_box(pdb *p)
{
    static const int from[6] = {7, 16, 25, 34, 41, 48}, to[6] = {15, 24, 33, 40, 47, 54};
    const text_lines *l = &p->lines;
    double v[6];
    char word[WORD], group[WORD];
    p->box_error = 0;
    for (int k = 0; k < 6; k++) {
        const int code = lines_number(l, from[k], to[k],
                                      k < 3 ? "an edge of the box" : "an angle of the box", &v[k]);
        if (code) return code;
        columns(l, (size_t)from[k], (size_t)to[k], word);
        if (k < 3) p->box_error = fmax(p->box_error, error_of_word(word));
    }
    columns(l, 56, 66, group);
    if (*group && strcmp(group, "P 1") && strcmp(group, "P1"))
        return refuse_line(l, "the space group is '%s': only P 1 lists all particles of the box",
                           excerpt(group).text);
    for (int k = 0; k < 3; k++)
        if (!(v[k] > 0)) return refuse_line(l, "an edge of the box is %g", v[k]);
    const bool right = v[3] == 90 && v[4] == 90 && v[5] == 90;
    const double a = right ? 0 : cos(v[3] * degree), b = right ? 0 : cos(v[4] * degree),
                 c = right ? 0 : cos(v[5] * degree), s = sqrt(1 - c * c), x = b,
                 y = (a - b * c) / s, square = 1 - x * x - y * y;
    bool possible = s > 0 && square > 0;
    for (int k = 3; k < 6; k++) possible &= v[k] > 0 && v[k] < 180;
    if (!possible) return refuse_line(l, "no box has the angles %g, %g and %g", v[3], v[4], v[5]);
    const double box[3][3] = {
        {v[0], 0, 0}, {v[1] * c, v[1] * s, 0}, {v[2] * x, v[2] * y, v[2] * sqrt(square)}};
    memcpy(p->box, box, sizeof box);
    /* Half of the last digit of the angles, of which there are two, at the end of the longest vector. */
    if (!right)
        p->box_error +=
            0.005 * degree * fmax(v[0], fmax(v[1], v[2])) * (1 + 2 / (s * sqrt(square)));
    p->box_line = l->line;
    return EXIT_DONE;
}

/* Zero in the axes that CRYST1 means. */
static int check_scale(const text_lines *l, int row)
{
    for (int k = 1; k < row; k++) {
        double number;
        const int code = lines_number(l, 1 + 10 * k, 10 + 10 * k, "a number of SCALE", &number);
        if (code) return code;
        if (fabs(number) > 1e-5)
            return refuse_line(l, "the axes are not those of CRYST1, with a along x and b in the "
                                  "plane of x and y");
    }
    return EXIT_DONE;
}

static int read_atom(pdb *p)
{
    static const char *const words[] = {"x", "y", "z"};
    const text_lines *l = &p->lines;
    char name[WORD], occupancy[WORD];
    double place[3], share;
    int code = EXIT_DONE;
    for (int d = 0; d < 3 && !code; d++)
        code = lines_number(l, 31 + 8 * d, 38 + 8 * d, words[d], &place[d]);
    if (code) return code;
    if (l->text[16] != ' ')
        return refuse_line(l, "this is alternate location '%c' of an atom: a configuration has one",
                           l->text[16]);
    columns(l, 55, 60, occupancy);
    if (*occupancy && (!number_of_word(occupancy, &share) || share != 1))
        return refuse_line(l, "the occupancy is '%s': in a configuration it is 1",
                           excerpt(occupancy).text);
    columns(l, 13, 16, name);
    if (!*name) return refuse_line(l, "the atom has no name in columns 13 to 16");
    const int32_t species = frame_name(p->rows.frame, l, name);
    return species < 0 ? l->report->code : frame_add(&p->rows, l, place, species, NULL);
}

/* ---- Frames ------------------------------------------------------------------------------------------ */

enum { COUNT_FRAMES = -1 };

/* A line of the frame that is wanted, or of another one. */
static int take_line(pdb *p, const char *record, bool wanted)
{
    const bool atom = !strcmp(record, "ATOM") || !strcmp(record, "HETATM");
    p->atoms += atom;
    if (!strcmp(record, "CRYST1")) return read_box(p);
    if (!wanted || is_passed_over(record)) return EXIT_DONE;
    if (!strcmp(record, "SCALE2") || !strcmp(record, "SCALE3"))
        return check_scale(&p->lines, record[5] - '0');
    if (atom) return read_atom(p);
    return refuse_line(&p->lines, "records %s are not known",
                       *record ? excerpt(record).text : "without a name");
}

/* From the beginning of the file: reads frame `wanted`, or counts all. */
static int read_frames(pdb *p, int64_t wanted, int64_t *frames)
{
    char record[8];
    bool ended = false;
    int code = EXIT_DONE;
    *frames = 0;
    p->atoms = 0;
    p->in_model = false;
    while (!code && !(code = lines_next(&p->lines, &ended)) && *frames != wanted + (wanted >= 0)) {
        record_of(&p->lines, record);
        const bool begins = !ended && !strcmp(record, "MODEL"),
                   ends = ended || !strcmp(record, "ENDMDL") || !strcmp(record, "END");
        if (begins && p->atoms)
            code = refuse_line(&p->lines, "a MODEL begins before the one before has ended");
        if (begins) p->in_model = true;
        if (ended && p->in_model) code = refuse_line(&p->lines, "the file ends within a MODEL");
        if (ends) *frames += p->in_model || p->atoms;
        if (ends) p->atoms = p->in_model = 0;
        if (ended) break;
        if (!code && !begins && !ends) code = take_line(p, record, *frames == wanted);
    }
    return code;
}

int pdb_read(const char *path, int64_t which, file_frame *out, report *report)
{
    pdb p = {.rows = {.frame = out}};
    char why[FRAME_WHY];
    int64_t frames = 0, number = 0, passed;
    *out = (file_frame){0};
    int code = lines_open(&p.lines, path, report);
    if (!code) code = read_frames(&p, COUNT_FRAMES, &frames);
    if (!code && !frames) code = refuse_line(&p.lines, "the file has no ATOM and no HETATM");
    if (!code) number = frame_number(which, frames, why);
    if (!code && number < 0) code = report_error(report, EXIT_INPUT, path, 0, "%s", why);
    if (!code) {
        rewind(p.lines.file);
        p.lines.line = p.box_line = 0;
        code = read_frames(&p, number, &passed);
    }
    if (!code && p.box_line) {
        p.lines.line = p.box_line;
        code = frame_box(out, &p.lines, p.box);
    }
    out->walkers = 1;
    out->metre = angstrom;
    out->box_error = p.box_error;
    lines_close(&p.lines);
    if (code) frame_free(out);
    return code;
}

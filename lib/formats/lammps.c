/* Data files of LAMMPS (https://docs.lammps.org/read_data.html), as far as they tell a configuration:
 *
 *     LAMMPS data file, units = real
 *
 *     2 atoms
 *     2 atom types
 *     0 30 xlo xhi
 *     0 30 ylo yhi
 *     0 30 zlo zhi
 *     0 0 0 xy xz yz
 *
 *     Atom Type Labels
 *
 *     1 Na
 *     2 Cl
 *
 *     Atoms # charge
 *
 *     1 Na 1 0.5 1.0 2.0
 *     2 Cl -1 3.5 1.0 2.0
 *
 * Atom styles are atomic (id type x y z), charge (id type q x y z), molecular (id molecule type x y z) and full (id molecule
 * type q x y z), each with or without three image flags, which are passed over, as positions are wrapped. Particles come
 * in the order of their ids. Lengths are in the unit that the first line tells, as LAMMPS writes it, else in that of the run.
 * Velocities, bonds, angles and coefficients are passed over; particles with a shape and general boxes are refused. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text_lines.h"

enum { MOST_TYPES = 4096 };

/* What is counted in the header. */
enum { ATOMS, BONDS, ANGLES, DIHEDRALS, IMPROPERS, COUNTED, TYPES = COUNTED, COUNTS = 2 * COUNTED };

static const char *const counted[COUNTS] = {
    "atoms",      "bonds",      "angles",      "dihedrals",      "impropers",
    "atom types", "bond types", "angle types", "dihedral types", "improper types"};

typedef struct lammps {
    text_lines lines;
    frame_rows rows;
    lammps_style style; /* LAMMPS_UNKNOWN: the file has to say it */
    int64_t count[COUNTS];
    double low[3], high[3], tilt[3]; /* tilt: xy, xz, yz */
    bool bounded[3];
    char **label;  /* [types] of types; NULL: they are numbers */
    double *mass;  /* [types] NaN: not given; NULL: none is */
    double masses; /* of the unit of mass in u */
    int64_t *id;   /* [atoms so far] */
    int64_t room;
    char *words[16]; /* of the line, which is cut for them */
    int word_count;
} lammps;

#define refuse(m, ...) refuse_line(&(m)->lines, __VA_ARGS__)

/* ---- Lines ------------------------------------------------------------------------------------------- */

/* The next line that has words, without its comment. `comment`: what the latter is, or NULL. */
static int next_words(lammps *m, bool *ended, char comment[32])
{
    do {
        const int code = lines_next(&m->lines, ended);
        if (code || *ended) return code;
        char *hash = strchr(m->lines.text, '#');
        if (comment) *comment = 0;
        if (hash) *hash = 0;
        if (hash && comment) sscanf(hash + 1, "%31s", comment);
    } while (!m->lines.text[strspn(m->lines.text, " \t")]);
    return EXIT_DONE;
}

/* Cuts the line into words. More than there is room for are counted alone. */
static void cut(lammps *m)
{
    m->word_count = 0;
    for (char *at = m->lines.text, *word; (word = strsep(&at, " \t"));) {
        if (!*word) continue;
        if (m->word_count < 16) m->words[m->word_count] = word;
        m->word_count++;
    }
}

/* A line of a section. */
static int expect_words(lammps *m, const char *section)
{
    bool ended;
    const int code = next_words(m, &ended, NULL);
    if (!code && ended) {
        m->lines.line++;
        return refuse(m, "the file ends within the section %s", section);
    }
    if (!code) cut(m);
    return code;
}

static bool whole_number(const char *word, int64_t *out)
{
    double number;
    if (!number_of_word(word, &number) || number != floor(number) || fabs(number) > 9e15)
        return false;
    *out = (int64_t)number;
    return true;
}

/* ---- The header -------------------------------------------------------------------------------------- */

/* The first line, in which LAMMPS names its units. */
static int read_title(lammps *m)
{
    static const struct {
        const char *name;
        double metre, mass;
    } known[] = {{"real", 1e-10, 1},
                 {"metal", 1e-10, 1},
                 {"electron", 5.29177210903e-11, 1},
                 {"nano", 1e-9, 602.214076},
                 {"lj", 0, 1}};
    int code = lines_expect(&m->lines, "the title");
    char word[16] = "";
    const char *at = code ? NULL : strstr(m->lines.text, "units =");
    if (!at || sscanf(at, "units = %15[a-z]", word) != 1) return code;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(word, known[k].name)) continue;
        m->rows.frame->metre = known[k].metre;
        m->masses = known[k].mass;
        return EXIT_DONE;
    }
    return refuse(m, "units = %s: known are real, metal, electron, nano and lj", word);
}

/* "xlo xhi" and its like. */
static int read_bounds(lammps *m, int d)
{
    if (!number_of_word(m->words[0], &m->low[d]) || !number_of_word(m->words[1], &m->high[d]) ||
        !(m->high[d] > m->low[d]) || !isfinite(m->high[d] - m->low[d]))
        return refuse(m, "%s %s: these are not two numbers, the second one larger", m->words[2],
                      m->words[3]);
    m->bounded[d] = true;
    return EXIT_DONE;
}

static int read_tilt(lammps *m)
{
    for (int k = 0; k < 3; k++)
        if (!number_of_word(m->words[k], &m->tilt[k]))
            return refuse(m, "xy xz yz: '%s' is not a finite number", excerpt(m->words[k]).text);
    return EXIT_DONE;
}

/* The words from number `from` on, with blanks between. */
static void join(const lammps *m, int from, char out[128])
{
    size_t used = 0;
    *out = 0;
    for (int k = from; k < m->word_count && k < 16 && used < 100; k++) {
        snprintf(out + used, 128 - used, "%s%.60s", k > from ? " " : "", m->words[k]);
        used = strlen(out);
    }
}

/* A line of the header, in words; *section: it is none, but the name of the first section. */
static int take_header_line(lammps *m, bool *section)
{
    static const char *const bounds[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    char tail[128];
    double number;
    *section = !number_of_word(m->words[0], &number);
    if (*section) return EXIT_DONE;
    join(m, 2, tail);
    for (int d = 0; d < 3; d++)
        if (!strcmp(tail, bounds[d])) return read_bounds(m, d);
    join(m, 3, tail);
    if (!strcmp(tail, "xy xz yz")) return read_tilt(m);
    join(m, 1, tail);
    for (int k = 0; k < COUNTS; k++) {
        if (strcmp(tail, counted[k])) continue;
        if (whole_number(m->words[0], &m->count[k]) && m->count[k] >= 0 &&
            (k < TYPES || m->count[k] <= MOST_TYPES))
            return EXIT_DONE;
        return refuse(m, "%s %s: this is no number of them", excerpt(m->words[0]).text, tail);
    }
    const size_t n = strlen(tail);
    if (!strncmp(tail, "extra ", 6) && n > 9 && !strcmp(tail + n - 9, " per atom"))
        return EXIT_DONE;
    return refuse(m, "'%s' in the header is not known", excerpt(tail).text);
}

/* ---- Sections ---------------------------------------------------------------------------------------- */

/* Their lines are passed over: as many as `of` counts. */
static const struct {
    const char *name;
    int of;
} passed_over[] = {{"Velocities", ATOMS},
                   {"Bonds", BONDS},
                   {"Angles", ANGLES},
                   {"Dihedrals", DIHEDRALS},
                   {"Impropers", IMPROPERS},
                   {"Pair Coeffs", TYPES + ATOMS},
                   {"Bond Coeffs", TYPES + BONDS},
                   {"Angle Coeffs", TYPES + ANGLES},
                   {"Dihedral Coeffs", TYPES + DIHEDRALS},
                   {"Improper Coeffs", TYPES + IMPROPERS},
                   {"BondBond Coeffs", TYPES + ANGLES},
                   {"BondAngle Coeffs", TYPES + ANGLES},
                   {"MiddleBondTorsion Coeffs", TYPES + DIHEDRALS},
                   {"EndBondTorsion Coeffs", TYPES + DIHEDRALS},
                   {"AngleTorsion Coeffs", TYPES + DIHEDRALS},
                   {"AngleAngleTorsion Coeffs", TYPES + DIHEDRALS},
                   {"BondBond13 Coeffs", TYPES + DIHEDRALS},
                   {"AngleAngle Coeffs", TYPES + IMPROPERS},
                   {"Bond Type Labels", TYPES + BONDS},
                   {"Angle Type Labels", TYPES + ANGLES},
                   {"Dihedral Type Labels", TYPES + DIHEDRALS},
                   {"Improper Type Labels", TYPES + IMPROPERS}};

static int pass_over(lammps *m, const char *section, int64_t lines)
{
    int code = EXIT_DONE;
    for (int64_t k = 0; k < lines && !code; k++) code = expect_words(m, section);
    return code;
}

/* The number of a type, from 0: by its label or its number. -1 after a sentence. */
static int32_t type_of(lammps *m, const char *word)
{
    int64_t number;
    for (int64_t k = 0; k < m->count[TYPES] && m->label; k++)
        if (m->label[k] && !strcmp(m->label[k], word)) return (int32_t)k;
    if (whole_number(word, &number) && number >= 1 && number <= m->count[TYPES])
        return (int32_t)(number - 1);
    refuse(m, "'%s' is none of the %lld atom types", excerpt(word).text,
           (long long)m->count[TYPES]);
    return -1;
}

static int read_labels(lammps *m)
{
    int code = EXIT_DONE;
    if (m->label) return refuse(m, "there is a second section Atom Type Labels");
    if (m->rows.frame->count) return refuse(m, "Atom Type Labels stand behind Atoms");
    m->label = calloc((size_t)m->count[TYPES] + 1, sizeof *m->label);
    if (!m->label) return lines_no_memory(&m->lines);
    for (int64_t k = 0, number; k < m->count[TYPES] && !code; k++) {
        code = expect_words(m, "Atom Type Labels");
        if (code) break;
        if (m->word_count != 2 || !whole_number(m->words[0], &number) || number < 1 ||
            number > m->count[TYPES] || m->label[number - 1])
            return refuse(m,
                          "a line of Atom Type Labels is a type, 1 to %lld, each once, and its "
                          "label",
                          (long long)m->count[TYPES]);
        for (int64_t i = 0; i < m->count[TYPES]; i++)
            if (m->label[i] && !strcmp(m->label[i], m->words[1]))
                return refuse(m, "two atom types have the label '%s'", excerpt(m->words[1]).text);
        m->label[number - 1] = strdup(m->words[1]);
        if (!m->label[number - 1]) return lines_no_memory(&m->lines);
    }
    return code;
}

static int read_masses(lammps *m)
{
    int code = EXIT_DONE;
    if (!m->mass) m->mass = malloc(((size_t)m->count[TYPES] + 1) * sizeof *m->mass);
    if (!m->mass) return lines_no_memory(&m->lines);
    for (int64_t k = 0; k < m->count[TYPES]; k++) m->mass[k] = NAN;
    for (int64_t k = 0; k < m->count[TYPES] && !code; k++) {
        double mass;
        code = expect_words(m, "Masses");
        if (code) break;
        const int32_t type = m->word_count == 2 ? type_of(m, m->words[0]) : -1;
        if (m->word_count == 2 && type < 0) return m->lines.report->code;
        if (type < 0 || !number_of_word(m->words[1], &mass) || !(mass > 0))
            return refuse(m, "a line of Masses is an atom type and its mass");
        m->mass[type] = mass * m->masses;
    }
    return code;
}

/* ---- Atoms ------------------------------------------------------------------------------------------- */

static const char *const styles[] = {"atomic", "charge", "molecular", "full"};
static const int columns[] = {5, 6, 6, 7};

lammps_style lammps_style_named(const char *name)
{
    for (int k = 0; k < 4; k++)
        if (!strcmp(name, styles[k])) return (lammps_style)(LAMMPS_ATOMIC + k);
    return LAMMPS_UNKNOWN;
}

/* By the comment behind Atoms, or by what the caller says. */
static int find_style(lammps *m, const char *comment)
{
    const lammps_style told = *comment ? lammps_style_named(comment) : LAMMPS_UNKNOWN;
    if (*comment && told == LAMMPS_UNKNOWN)
        return refuse(m, "atom style %s: known are atomic, charge, molecular and full",
                      excerpt(comment).text);
    if (told != LAMMPS_UNKNOWN && m->style != LAMMPS_UNKNOWN && told != m->style)
        return refuse(m, "the file is of atom style %s, not of %s", comment,
                      styles[m->style - LAMMPS_ATOMIC]);
    if (told == LAMMPS_UNKNOWN && m->style == LAMMPS_UNKNOWN)
        return refuse(m, "Atoms has no comment with its atom style, as in Atoms # full: [initial] "
                         "atom_style tells it");
    if (told != LAMMPS_UNKNOWN) m->style = told;
    return EXIT_DONE;
}

static int keep_id(lammps *m, int64_t id)
{
    const int64_t i = m->rows.frame->count;
    if (i == m->room) {
        m->room = 2 * m->room + 64;
        int64_t *more = realloc(m->id, (size_t)m->room * sizeof *more);
        if (!more) return lines_no_memory(&m->lines);
        m->id = more;
    }
    m->id[i] = id;
    return EXIT_DONE;
}

static int read_atom(lammps *m)
{
    const int style = m->style - LAMMPS_ATOMIC, wide = columns[style];
    const bool charged = m->style == LAMMPS_CHARGE || m->style == LAMMPS_FULL,
               molecular = m->style == LAMMPS_MOLECULAR || m->style == LAMMPS_FULL;
    double property[FRAME_PROPERTIES], place[3];
    int64_t id;
    for (int k = 0; k < FRAME_PROPERTIES; k++) property[k] = NAN;
    if (m->word_count != wide && m->word_count != wide + 3)
        return refuse(m, "there are %d columns, and atom style %s has %d, or %d with image flags",
                      m->word_count, styles[style], wide, wide + 3);
    if (!whole_number(m->words[0], &id) || id < 1)
        return refuse(m, "'%s' is not the id of an atom", excerpt(m->words[0]).text);
    const int32_t type = type_of(m, m->words[1 + molecular]);
    if (type < 0) return m->lines.report->code;
    for (int d = 0; d < 3; d++) {
        const char *word = m->words[wide - 3 + d];
        if (!number_of_word(word, &place[d]))
            return refuse(m, "'%s' is not a finite number", excerpt(word).text);
    }
    if (charged && !number_of_word(m->words[wide - 4], &property[FRAME_CHARGE]))
        return refuse(m, "the charge '%s' is not a finite number",
                      excerpt(m->words[wide - 4]).text);
    const int code = keep_id(m, id);
    return code ? code : frame_add(&m->rows, &m->lines, place, type, property);
}

static int check_header(lammps *m)
{
    static const char *const words[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    for (int d = 0; d < 3; d++)
        if (!m->bounded[d]) return refuse(m, "there is no line %s before Atoms", words[d]);
    return m->count[TYPES] ? EXIT_DONE : refuse(m, "there is no line atom types before Atoms");
}

static int read_atoms(lammps *m, const char *comment)
{
    if (m->rows.frame->count) return refuse(m, "there is a second section Atoms");
    int code = check_header(m);
    if (!code) code = find_style(m, comment);
    if (!code) {
        const double box[3][3] = {{m->high[0] - m->low[0], 0, 0},
                                  {m->tilt[0], m->high[1] - m->low[1], 0},
                                  {m->tilt[1], m->tilt[2], m->high[2] - m->low[2]}};
        code = frame_box(m->rows.frame, &m->lines, box);
        memcpy(m->rows.frame->origin, m->low, sizeof m->low);
    }
    for (int64_t i = 0; i < m->count[ATOMS] && !code; i++) {
        code = expect_words(m, "Atoms");
        if (!code) code = read_atom(m);
    }
    return code;
}

/* ---- Order ------------------------------------------------------------------------------------------- */

typedef struct place_of_id {
    int64_t id, row;
} place_of_id;

static int by_id(const void *a, const void *b)
{
    const int64_t x = ((const place_of_id *)a)->id, y = ((const place_of_id *)b)->id;
    return (x > y) - (x < y);
}

/* Rows of an array in the order of ids; `room`: as large as the array. */
static void reorder(void *array, size_t row, const place_of_id *order, int64_t n, void *room)
{
    if (!array) return;
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)room + (size_t)i * row, (const char *)array + (size_t)order[i].row * row,
               row);
    memcpy(array, room, (size_t)n * row);
}

/* Programs write atoms in whatever order they have them; those of a molecule have ids one after the other. */
static int sort_by_id(lammps *m)
{
    file_frame *f = m->rows.frame;
    const int64_t n = f->count;
    place_of_id *order = malloc(((size_t)n + 1) * sizeof *order);
    void *room = malloc(((size_t)n + 1) * 3 * sizeof(double));
    int code = order && room ? EXIT_DONE : lines_no_memory(&m->lines);
    for (int64_t i = 0; i < n && !code; i++) order[i] = (place_of_id){m->id[i], i};
    if (!code) qsort(order, (size_t)n, sizeof *order, by_id);
    for (int64_t i = 1; i < n && !code; i++)
        if (order[i].id == order[i - 1].id) {
            m->lines.line = f->line[order[i].row];
            code = refuse(m, "the id %lld is there twice", (long long)order[i].id);
        }
    if (!code) {
        reorder(f->positions, 3 * sizeof(double), order, n, room);
        reorder(f->species, sizeof(int32_t), order, n, room);
        reorder(f->line, sizeof(int64_t), order, n, room);
        for (int k = 0; k < FRAME_PROPERTIES; k++)
            reorder(f->property[k], sizeof(double), order, n, room);
    }
    free(order), free(room);
    return code;
}

/* Names of types and their masses, once all sections are read. */
static int give_types(lammps *m)
{
    file_frame *f = m->rows.frame;
    f->types = (int32_t)m->count[TYPES];
    for (int32_t k = 0; k < f->types && m->label; k++)
        if (frame_name(f, &m->lines, m->label[k]) < 0) return m->lines.report->code;
    if (!m->mass || !f->count) return EXIT_DONE;
    f->property[FRAME_MASS] = malloc((size_t)f->count * sizeof(double));
    if (!f->property[FRAME_MASS]) return lines_no_memory(&m->lines);
    for (int64_t i = 0; i < f->count; i++) f->property[FRAME_MASS][i] = m->mass[f->species[i]];
    return EXIT_DONE;
}

/* ---- The file ---------------------------------------------------------------------------------------- */

static int read_section(lammps *m, const char *name, const char *comment)
{
    if (!strcmp(name, "Atom Type Labels")) return read_labels(m);
    if (!strcmp(name, "Masses")) return read_masses(m);
    if (!strcmp(name, "Atoms")) return read_atoms(m, comment);
    if (!strcmp(name, "PairIJ Coeffs"))
        return pass_over(m, name, m->count[TYPES] * (m->count[TYPES] + 1) / 2);
    for (size_t k = 0; k < sizeof passed_over / sizeof *passed_over; k++)
        if (!strcmp(name, passed_over[k].name))
            return pass_over(m, name, m->count[passed_over[k].of]);
    return refuse(m, "the section '%s' is not known", excerpt(name).text);
}

static int read_all(lammps *m)
{
    char comment[32], name[128];
    bool ended = false, section = false, atoms = false;
    int code = read_title(m);
    while (!code && !(code = next_words(m, &ended, comment)) && !ended) {
        cut(m);
        if (!section) code = take_header_line(m, &section);
        if (code || !section) continue;
        join(m, 0, name);
        atoms |= !strcmp(name, "Atoms");
        code = read_section(m, name, comment);
    }
    if (!code && !atoms) code = refuse(m, "the file has no section Atoms");
    return code;
}

int lammps_read(const char *path, int64_t which, lammps_style style, file_frame *out,
                report *report)
{
    lammps m = {.rows = {.frame = out}, .style = style, .masses = 1};
    char why[FRAME_WHY];
    *out = (file_frame){0};
    int code = lines_open(&m.lines, path, report);
    if (!code && frame_number(which, 1, why) < 0)
        code = report_error(report, EXIT_INPUT, path, 0, "%s", why);
    if (!code) code = read_all(&m);
    if (!code) code = sort_by_id(&m);
    if (!code) code = give_types(&m);
    out->walkers = 1;
    for (int64_t k = 0; k < m.count[TYPES] && m.label; k++) free(m.label[k]);
    free(m.label), free(m.mass), free(m.id);
    lines_close(&m.lines);
    if (code) frame_free(out);
    return code;
}

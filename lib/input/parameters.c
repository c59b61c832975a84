/* Parameters: text to numbers by a table, and the table as text.
 *
 * A table says all there is to know of a plugin's (or the core's) keys; nothing else in the
 * program reads numbers from an INI file or describes keys to people.
 */
#include "input/parameters.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/lists.h"
#include "parameter_words.h"
#include "base/paths.h"

/* One value between text and field. */
typedef struct value {
    double real;
    int64_t integer;
    int32_t word; /* flag, or index of a choice */
    const char *text;
} value;

enum { WHY = PARAMETER_WHY, WORD = PARAMETER_WORD };

static bool parse_value(const plugmc_parameter *, const char *text, size_t real_size, value *,
                        char why[WHY]);
static void store(const plugmc_parameter *, size_t real_size, void *instance, const value *);
static const char *find_files(const plugmc_parameter *, const ini_section *, ini_entry *);
static void fill_numbers(const plugmc_parameter *, size_t real_size, void *instance,
                         const char *path, ini_section *, report *);
static bool parse_list(const plugmc_parameter *, const char *text, size_t real_size, value *,
                       char why[WHY]);
static void put_numbers(FILE *, const plugmc_parameter *, const ini_entry *);

/* ---- Sections into structs ------------------------------------------------------------------- */

/* Reports at the line of the entry, or as --set, or for a default at the section. */
__attribute__((format(printf, 5, 6))) static void complain(report *r, const char *path,
                                                           const ini_section *section,
                                                           const ini_entry *entry,
                                                           const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    const int line = entry ? entry->line : section ? section->line : 0;
    const char *file = (entry || section) && line == 0 ? "--set" : path;
    if (section)
        report_error(r, EXIT_INPUT, file, line, "[%s] %s", section->name, sentence);
    else
        report_error(r, EXIT_INPUT, file, line, "%s", sentence);
}

int parameters_fill(const plugmc_parameter *table, int count, size_t real_size, void *instance,
                    const char *path, ini_section *section, report *r)
{
    int before = r->errors;
    for (int i = 0; i < count; i++) {
        const plugmc_parameter *p = &table[i];
        ini_entry *entry = section && !p->derived ? ini_get(section, p->name) : NULL;
        const char *text = entry ? entry->value : p->fallback;
        char why[WHY];
        value v;
        if (p->derived) continue;
        if (p->type == PLUGMC_TYPE_NUMBERS) {
            fill_numbers(p, real_size, instance, path, section, r);
            continue;
        }
        if (entry) entry->used = true;
        if (!text)
            complain(r, path, section, NULL, "key '%s' is missing: %s", p->name, p->doc);
        else if (!parse_value(p, text, real_size, &v, why))
            complain(r, path, section, entry, "%s = %s: %s", p->name, excerpt(text).text, why);
        else if (p->type == PLUGMC_TYPE_FILE && entry)
            store(p, real_size, instance, &(value){.text = find_files(p, section, entry)});
        else
            store(p, real_size, instance, &v);
    }
    return r->errors > before ? r->code : 0;
}

/* All that is left of the section, as lines of text. Once for each precision. */
static void fill_numbers(const plugmc_parameter *p, size_t real_size, void *instance,
                         const char *path, ini_section *section, report *r)
{
    char *all = NULL, why[WHY];
    size_t size;
    FILE *out = checked(open_memstream(&all, &size));
    for (int k = 0; section && k < section->count; k++) {
        ini_entry *entry = &section->entries[k];
        value v;
        if (entry->used && !entry->named) continue;
        entry->used = entry->named = true;
        if (!parse_list(p, entry->value, real_size, &v, why))
            complain(r, path, section, entry, "%s = %s: %s", entry->key, excerpt(entry->value).text,
                     why);
        else
            put_numbers(out, p, entry);
    }
    fclose(out);
    store(p, real_size, instance, &(value){.text = checked(all)});
    free(all);
}

static const char *folder_of(const ini_section *section, const ini_entry *entry)
{
    return entry->here || !section->folder ? "" : section->folder;
}

/* The next name of *rest, which is written into, or NULL: in double quotes, or up to one of the separators. */
static char *next_name(char **rest, const char *separators)
{
    char *name = *rest + strspn(*rest, separators),
         *end = *name == '"' ? strchr(name + 1, '"') : NULL;
    if (end)
        name++;
    else
        end = name + strcspn(name, separators);
    *rest = *end ? end + 1 : end;
    if (end == name && !*end) return NULL;
    *end = 0;
    return name;
}

const char *parameters_path(const ini_section *section, ini_entry *entry)
{
    char *copy = checked(strdup(entry->value)), *rest = copy,
         *name = *copy == '"' ? next_name(&rest, "") : copy;
    char *path = path_join(folder_of(section, entry), name ? name : copy);
    free(copy);
    free(entry->file);
    entry->file = path;
    return path;
}

/* The names in an entry as paths, with newlines between them: blanks may be in the folder. */
static const char *find_files(const plugmc_parameter *p, const ini_section *section,
                              ini_entry *entry)
{
    if (p->length == 1) return parameters_path(section, entry);
    char *copy = checked(strdup(entry->value)), *rest = copy, *name, *all = NULL;
    size_t size;
    FILE *out = checked(open_memstream(&all, &size));
    const char *between = "";
    while ((name = next_name(&rest, section->archived && !entry->here ? "\t" : " \t"))) {
        char *path = path_join(folder_of(section, entry), name);
        fprintf(out, "%s%s", between, path);
        free(path);
        between = "\n";
    }
    fclose(out);
    free(copy);
    free(entry->file);
    return entry->file = checked(all);
}

int parameters_unused(const plugmc_parameter *table, int count, const char *const *extra,
                      const char *path, const ini_section *section, report *r)
{
    int before = r->errors, known = 0, extras = 0;
    /* The plugin is named where the section's label does not. */
    const ini_entry *plugin = extra ? ini_get(section, "plugin") : NULL;
    const bool named = plugin && *plugin->value && strcmp(plugin->value, section->label) != 0;
    while (extra && extra[extras]) extras++;
    const char **names = checked(malloc(((size_t)count + (size_t)extras + 1) * sizeof *names));
    for (int i = 0; i < count; i++)
        if (!table[i].derived) names[known++] = table[i].name;
    for (int i = 0; i < extras; i++) names[known++] = extra[i];

    for (int k = 0; k < section->count; k++) {
        const ini_entry *entry = &section->entries[k];
        bool is_extra = false;
        for (int i = 0; i < extras; i++) is_extra |= strcmp(extra[i], entry->key) == 0;
        if (entry->used || is_extra) continue;
        const char *nearest = nearest_name(entry->key, names, known);
        complain(r, path, section, entry, "unknown key '%s'%s%s%s%s%s%s", entry->key,
                 named ? " of plugin '" : "", named ? plugin->value : "", named ? "'" : "",
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    free(names);
    return r->errors > before ? r->code : 0;
}

/* ---- Text to values -------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool fault(char why[WHY], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, WHY, format, arguments);
    va_end(arguments);
    return false;
}

/* Is there a bound at all? Integers cannot go beyond 64 bits anyway. */
bool parameter_has_minimum(const plugmc_parameter *p)
{
    return p->type == PLUGMC_TYPE_INTEGER ? p->minimum > -0x1p63 : !isinf(p->minimum);
}

bool parameter_has_maximum(const plugmc_parameter *p)
{
    return p->type == PLUGMC_TYPE_INTEGER ? p->maximum < 0x1p63 : !isinf(p->maximum);
}

/* A bound for people: 0.5, 1000, 1e14, 1e-6. */
void parameter_bound(double v, char out[PARAMETER_WORD])
{
    bool plain = v == 0 || (fabs(v) >= 1e-3 && fabs(v) < 1e6);
    if (plain || !isfinite(v)) {
        snprintf(out, WORD, "%.15g", v);
        return;
    }
    int digits = 0;
    do snprintf(out, WORD, "%.*e", digits, v);
    while (strtod(out, NULL) != v && ++digits < 17);
    char *exponent = strchr(out, 'e') + 1;
    snprintf(exponent, (size_t)(out + WORD - exponent), "%d", atoi(exponent));
}

static bool check_range(const plugmc_parameter *p, double v, char why[WHY])
{
    char minimum[WORD], maximum[WORD];
    bool has_both = parameter_has_minimum(p) && parameter_has_maximum(p);
    if (v >= p->minimum && v <= p->maximum) return true;
    parameter_bound(p->minimum, minimum);
    parameter_bound(p->maximum, maximum);
    return fault(why, "must be %s%s%s%s%s%s%s%s", parameter_has_minimum(p) ? "at least " : "",
                 parameter_has_minimum(p) ? minimum : "", has_both ? " and " : "",
                 parameter_has_maximum(p) ? "at most " : "",
                 parameter_has_maximum(p) ? maximum : "", *p->unit ? " (" : "", p->unit,
                 *p->unit ? ")" : "");
}

/* A number in C notation that ends where *end points; "" and blanks in front are none. The
 * decimal point is a point whatever the locale of the user. */
static bool number(const char *text, double *out, char **end)
{
    if (*text == 0 || isspace((unsigned char)*text)) return false;
    locale_t c = checked(newlocale(LC_ALL_MASK, "C", NULL));
    errno = 0;
    *out = strtod_l(text, end, c);
    freelocale(c);
    return *end > text;
}

static bool is_beyond(double v) { return errno == ERANGE && (fabs(v) == HUGE_VAL || v == 0); }

static bool parse_real(const plugmc_parameter *p, const char *text, size_t real_size, value *out,
                       char why[WHY])
{
    double v, divisor;
    char *end;
    if (*text == 0) return fault(why, "a number is missing");
    if (!number(text, &v, &end)) return fault(why, "is not a number");
    if (is_beyond(v)) return fault(why, "is beyond the range of double precision");
    if (*end == '/') {
        if (!number(end + 1, &divisor, &end) || *end) return fault(why, "is not a number");
        if (divisor == 0 || !isfinite(v) || !isfinite(divisor))
            return fault(why, "is not a fraction of finite numbers");
        v /= divisor;
    }
    if (*end) return fault(why, "is not a number");
    if (isnan(v)) return fault(why, "is not a number");
    if (isinf(v) && parameter_has_maximum(p)) return fault(why, "must be finite");
    if (!check_range(p, v, why)) return false;
    if (real_size == 4 && isfinite(v) && (fabs(v) > FLT_MAX || ((float)v == 0 && v != 0)))
        return fault(why, "is beyond the range of single precision");
    out->real = v;
    return true;
}

static bool parse_integer(const plugmc_parameter *p, const char *text, size_t real_size, value *out,
                          char why[WHY])
{
    char *end;
    double v;
    (void)real_size;
    if (*text == 0) return fault(why, "a whole number is missing");
    if (isspace((unsigned char)*text)) return fault(why, "is not a whole number");
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (end == text || *end) { /* 1e6 */
        if (!number(text, &v, &end) || *end || !(v == rint(v)))
            return fault(why, "is not a whole number");
        if (fabs(v) < 0x1p63)
            whole = (long long)v;
        else
            errno = ERANGE;
    }
    if (errno == ERANGE) {
        bool negative = *text == '-',
             bounded = negative ? parameter_has_minimum(p) : parameter_has_maximum(p);
        if (bounded) return check_range(p, negative ? -HUGE_VAL : HUGE_VAL, why);
        return fault(why, "is beyond the range of 64 bits");
    }
    out->integer = whole;
    return check_range(p, (double)whole, why);
}

static bool parse_flag(const plugmc_parameter *p, const char *text, size_t real_size, value *out,
                       char why[WHY])
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    (void)p, (void)real_size;
    for (int i = 0; i < 8; i++) {
        if (strcasecmp(text, words[i]) != 0) continue;
        out->word = i % 2;
        return true;
    }
    return fault(why, "must be yes or no");
}

/* The words of a choice, and their number. Freed by the caller, words[0] first. */
int parameter_choices(const char *choices, char ***words)
{
    int count = 0;
    char *rest = checked(strdup(choices)), *word;
    *words = checked(malloc((strlen(choices) + 1) * sizeof **words));
    (*words)[0] = rest; /* what free takes even without a word */
    while ((word = strsep(&rest, "|"))) (*words)[count++] = word;
    return count;
}

void parameter_free_choices(char **words)
{
    free(words[0]);
    free(words);
}

static bool parse_choice(const plugmc_parameter *p, const char *text, size_t real_size, value *out,
                         char why[WHY])
{
    char **words;
    int count = parameter_choices(p->choices, &words);
    (void)real_size;
    out->word = -1;
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0) out->word = i;
    if (out->word < 0) {
        const char *nearest = nearest_name(text, (const char *const *)words, count);
        int n = snprintf(why, WHY, "must be one of");
        for (int i = 0; i < count && n < WHY; i++)
            n += snprintf(why + n, (size_t)(WHY - n), "%s %s", i ? "," : "", words[i]);
        if (nearest && n < WHY)
            snprintf(why + n, (size_t)(WHY - n), "; did you mean '%s'?", nearest);
    }
    parameter_free_choices(words);
    return out->word >= 0;
}

static bool parse_text(const plugmc_parameter *p, const char *text, size_t real_size, value *out,
                       char why[WHY])
{
    (void)p, (void)real_size, (void)why;
    out->text = text;
    return true;
}

/* Numbers with blanks between them: calls parse_real for each, and counts them. */
static bool parse_list(const plugmc_parameter *p, const char *text, size_t real_size, value *out,
                       char why[WHY])
{
    char *copy = checked(strdup(text)), *rest = copy, *word, reason[WHY];
    int64_t count = 0;
    bool good = true;
    value v;
    while (good && (word = strsep(&rest, " \t"))) {
        if (!*word) continue;
        good = parse_real(p, word, real_size, &v, reason);
        count++;
        if (!good && *word == '#')
            fault(why, "a comment behind a value begins with a blank and ';'");
        else if (!good)
            fault(why, "number %lld %s", (long long)count, reason);
    }
    free(copy);
    if (good && p->length && count != p->length)
        good = fault(why, "must be %lld numbers, not %lld", (long long)p->length, (long long)count);
    if (good && count > INT32_MAX) good = fault(why, "has too many numbers");
    out->text = text;
    out->integer = count;
    return good;
}

/* By enum plugmc_type: how a value is read, the bytes of its field (0: those of a real), and what
 * people are told to write. */
static const struct type {
    bool (*parse)(const plugmc_parameter *, const char *, size_t, value *, char why[WHY]);
    size_t bytes;
    const char *words;
} types[] = {
    [PLUGMC_TYPE_REAL] = {parse_real, 0, "any number"},
    [PLUGMC_TYPE_INTEGER] = {parse_integer, sizeof(int64_t), "any whole number"},
    [PLUGMC_TYPE_FLAG] = {parse_flag, sizeof(int32_t), "yes or no"},
    [PLUGMC_TYPE_CHOICE] = {parse_choice, sizeof(int32_t), ""},
    [PLUGMC_TYPE_TEXT] = {parse_text, sizeof(const char *), "text"},
    [PLUGMC_TYPE_LIST] = {parse_list, sizeof(plugmc_list), "any numbers"},
    [PLUGMC_TYPE_FILE] = {parse_text, sizeof(const char *), "file"},
    [PLUGMC_TYPE_NUMBERS] = {parse_text, sizeof(const char *), "any numbers"},
};

const char *parameter_kind(const plugmc_parameter *p) { return types[p->type].words; }

static bool parse_value(const plugmc_parameter *p, const char *text, size_t real_size, value *v,
                        char why[WHY])
{
    *v = (value){0};
    return types[p->type].parse(p, text, real_size, v, why);
}

static plugmc_list list_of(const plugmc_parameter *p, size_t real_size, const value *v)
{
    char *copy = checked(strdup(v->text)), *rest = copy, *word, why[WHY];
    void *values = list_keep(v->integer, real_size);
    plugmc_list list = {values, 0};
    value number;
    while ((word = strsep(&rest, " \t"))) {
        if (!*word || !parse_real(p, word, real_size, &number, why)) continue;
        if (real_size == 4)
            ((float *)values)[list.count++] = (float)number.real;
        else
            ((double *)values)[list.count++] = number.real;
    }
    free(copy);
    return list;
}

/* Kept in a list, so that a checker of leaks finds them, and each text once. */
typedef struct kept_text {
    struct kept_text *next;
    char words[];
} kept_text;
static kept_text *kept;

void texts_forget(void)
{
    while (kept) {
        kept_text *next = kept->next;
        free(kept);
        kept = next;
    }
}

const char *keep_text(const char *words)
{
    for (const kept_text *t = kept; t; t = t->next)
        if (strcmp(t->words, words) == 0) return t->words;
    kept_text *t = checked(malloc(sizeof *t + strlen(words) + 1));
    strcpy(t->words, words);
    t->next = kept;
    kept = t;
    return t->words;
}

static void store(const plugmc_parameter *p, size_t real_size, void *instance, const value *v)
{
    char *field = (char *)instance + p->offset;
    switch (p->type) {
    case PLUGMC_TYPE_REAL:
        if (real_size == 4)
            *(float *)field = (float)v->real;
        else
            *(double *)field = v->real;
        break;
    case PLUGMC_TYPE_INTEGER: *(int64_t *)field = v->integer; break;
    case PLUGMC_TYPE_FLAG:
    case PLUGMC_TYPE_CHOICE: *(int32_t *)field = v->word; break;
    case PLUGMC_TYPE_TEXT:
    case PLUGMC_TYPE_FILE:
    case PLUGMC_TYPE_NUMBERS: *(const char **)field = keep_text(v->text); break;
    case PLUGMC_TYPE_LIST: *(plugmc_list *)field = list_of(p, real_size, v); break;
    }
}

/* A line of PLUGMC_TYPE_NUMBERS. In double whatever the precision: "1/3" is not read a second time. */
static void put_numbers(FILE *f, const plugmc_parameter *p, const ini_entry *entry)
{
    char *copy = checked(strdup(entry->value)), *rest = copy, *word, why[WHY];
    value number;
    fputs(entry->key, f);
    while ((word = strsep(&rest, " \t"))) {
        if (!*word || !parse_real(p, word, sizeof(double), &number, why)) continue;
        fputc(' ', f);
        parameter_print_real(f, number.real, sizeof(double));
    }
    fputc('\n', f);
    free(copy);
}

/* ---- A table that can be trusted ------------------------------------------------------------- */

size_t parameter_bytes(const plugmc_parameter *p, size_t real_size)
{
    return types[p->type].bytes ? types[p->type].bytes : real_size;
}

static bool overlap(const plugmc_parameter *a, const plugmc_parameter *b, size_t real_size)
{
    return a->offset < b->offset + parameter_bytes(b, real_size) &&
           b->offset < a->offset + parameter_bytes(a, real_size);
}

static const char *entry_fault(const plugmc_parameter *p, size_t real_size, size_t instance_size,
                               char why[WHY])
{
    value v;
    if (p->type < 0 || p->type >= PLUGMC_COUNT(types)) return "has an unknown type";
    const size_t bytes = parameter_bytes(p, real_size);
    if (instance_size < bytes || p->offset > instance_size - bytes)
        return "lies outside its struct";
    if (p->offset % (bytes > sizeof(void *) ? sizeof(void *) : bytes) != 0)
        return "is not aligned in its struct";
    if (!p->doc || !p->unit) return "has no doc or no unit";
    if (p->type == PLUGMC_TYPE_CHOICE && (!p->choices || !*p->choices)) return "has no choices";
    if (p->derived) return p->type == PLUGMC_TYPE_NUMBERS ? "is both computed and a key" : NULL;
    if ((p->type <= PLUGMC_TYPE_INTEGER || p->type == PLUGMC_TYPE_LIST ||
         p->type == PLUGMC_TYPE_NUMBERS) &&
        !(p->minimum <= p->maximum))
        return "has an empty range";
    if (p->fallback && !parse_value(p, p->fallback, real_size, &v, why)) return "has a bad default";
    return NULL;
}

bool parameters_sane(const plugmc_parameter *table, int count, size_t real_size,
                     size_t instance_size, char *why, size_t size)
{
    enum { MOST_PARAMETERS = 1000 };
    char unused[WHY];
    if (count < 0 || count > MOST_PARAMETERS || (count > 0 && !table)) {
        snprintf(why, size, "its table of parameters has %d entries", count);
        return false;
    }
    for (int i = 0; i < count; i++) {
        const char *name = table[i].name, *wrong = NULL;
        if (!name || !*name) {
            snprintf(why, size, "parameter number %d has no name", i + 1);
            return false;
        }
        for (int k = 0; k < i && !wrong; k++)
            if (strcmp(name, table[k].name) == 0) wrong = "is defined twice";
        if (!wrong) wrong = entry_fault(&table[i], real_size, instance_size, unused);
        for (int k = i + 1; k < count && table[i].type == PLUGMC_TYPE_NUMBERS && !wrong; k++)
            if (!table[k].derived) wrong = "receives all other keys, but is not the last";
        for (int k = 0; k < i && !wrong; k++)
            if (overlap(&table[i], &table[k], real_size))
                wrong = "overlaps with another in its struct";
        if (!wrong) continue;
        snprintf(why, size, "its parameter '%s' %s", name, wrong);
        return false;
    }
    return true;
}

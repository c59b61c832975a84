/* The effective values of parameters as text. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "input/parameters.h"
#include "parameter_words.h"

enum { WORD = PARAMETER_WORD };

/* The shortest of the decimal numbers that read back as the same bits. */
void parameter_print_real(FILE *f, double v, size_t real_size)
{
    char text[WORD];
    locale_t c = checked(newlocale(LC_ALL_MASK, "C", NULL)), old = uselocale(c);
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (real_size == 4 ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v) break;
    }
    uselocale(old);
    freelocale(c);
    fputs(text, f);
}

static void print_list(FILE *f, const plugmc_list *list, size_t real_size)
{
    for (int i = 0; i < list->count; i++) {
        if (i) fputs(" ", f);
        parameter_print_real(f,
                             real_size == 4 ? ((const float *)(const void *)list->values)[i]
                                            : ((const double *)(const void *)list->values)[i],
                             real_size);
    }
}

static void print_value(FILE *f, const plugmc_parameter *p, size_t real_size, const void *instance)
{
    const char *field = (const char *)instance + p->offset;
    char **words;
    int32_t word;
    switch (p->type) {
    case PLUGMC_TYPE_REAL:
        parameter_print_real(f, real_size == 4 ? *(const float *)field : *(const double *)field,
                             real_size);
        break;
    case PLUGMC_TYPE_INTEGER: fprintf(f, "%lld", (long long)*(const int64_t *)field); break;
    case PLUGMC_TYPE_FLAG: fputs(*(const int32_t *)field ? "yes" : "no", f); break;
    case PLUGMC_TYPE_CHOICE:
        word = *(const int32_t *)field;
        if (word < parameter_choices(p->choices, &words) && word >= 0) fputs(words[word], f);
        parameter_free_choices(words);
        break;
    case PLUGMC_TYPE_TEXT:
        fputs(*(const char *const *)field ? *(const char *const *)field : "", f);
        break;
    case PLUGMC_TYPE_LIST:
        print_list(f, (const plugmc_list *)(const void *)field, real_size);
        break;
    case PLUGMC_TYPE_FILE:
        for (const char *c = *(const char *const *)field; c && *c; c++)
            fputc(*c == '\n' ? ' ' : *c, f);
        break;
    }
}

static void echo_numbers(FILE *f, const char *lines, const ini_section *section)
{
    char *copy = checked(strdup(lines)), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")) && *line) {
        char *numbers = line + strcspn(line, " ");
        if (*numbers) *numbers++ = 0;
        const ini_entry *entry = section ? ini_get(section, line) : NULL;
        fprintf(f, "%s = %s  ; %s\n", line, numbers, entry ? entry->origin : "default");
    }
    free(copy);
}

/* Derived values are comments: a key of that name could not be read. GPU source is left out. */
void parameters_echo(FILE *f, const plugmc_parameter *table, int count, size_t real_size,
                     const void *instance, const ini_section *section)
{
    for (int i = 0; i < count; i++) {
        const plugmc_parameter *p = &table[i];
        const ini_entry *entry = section && !p->derived ? ini_get(section, p->name) : NULL;
        const char *text = (const char *)instance + p->offset;
        if (p->derived && p->type == PLUGMC_TYPE_TEXT) continue;
        if (p->type == PLUGMC_TYPE_NUMBERS) {
            echo_numbers(f, *(const char *const *)text, section);
            continue;
        }
        fprintf(f, "%s%s = ", p->derived ? "; " : "", p->name);
        print_value(f, p, real_size, instance);
        fprintf(f, "  ; %s\n", p->derived ? "computed" : entry ? entry->origin : "default");
    }
}

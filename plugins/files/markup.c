/* XML files, parsed by expat. Entities, with which a small file can grow without end, are not needed
 * here and are refused, whatever the version of expat does about them. */
#include "markup.h"

#include <expat.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any file has that is read here, and so few that a hostile one does not take all memory. */
enum { MOST_ELEMENTS = 10000, MOST_DEPTH = 32, MOST_ATTRIBUTES = 1000 };

/* A file being parsed. `open` are the elements that have begun and not ended. */
typedef struct parsing {
    XML_Parser parser;
    element *first, *last, *open[MOST_DEPTH];
    int depth, elements;
    const char *fault; /* why it was stopped, or NULL */
    bool no_memory;
} parsing;

static void stop(parsing *p, const char *fault)
{
    if (!p->fault) p->fault = fault;
    XML_StopParser(p->parser, XML_FALSE);
}

static void stop_without_memory(parsing *p)
{
    p->no_memory = true;
    stop(p, "no memory");
}

/* ---- Elements -------------------------------------------------------------------------------- */

static bool copy_attributes(element *e, const XML_Char **attribute)
{
    int n = 0;
    while (attribute[n]) n++;
    e->attribute = calloc((size_t)n + 1, sizeof *e->attribute);
    for (int i = 0; i < n && e->attribute; i++)
        if (!(e->attribute[i] = strdup(attribute[i]))) return false;
    return e->attribute != NULL;
}

static void begin_element(void *user, const XML_Char *name, const XML_Char **attribute)
{
    parsing *p = user;
    if (p->depth == MOST_DEPTH || p->elements == MOST_ELEMENTS) {
        stop(p, "more elements than such a file can have");
        return;
    }
    if (XML_GetSpecifiedAttributeCount(p->parser) > 2 * MOST_ATTRIBUTES) {
        stop(p, "more attributes than an element can have");
        return;
    }
    element *e = calloc(1, sizeof *e);
    if (!e) {
        stop_without_memory(p);
        return;
    }
    if (p->last)
        p->last->next = e;
    else
        p->first = e;
    p->last = e;
    p->elements++;
    e->depth = p->depth;
    e->line = XML_GetCurrentLineNumber(p->parser);
    e->content =
        (size_t)XML_GetCurrentByteIndex(p->parser) + (size_t)XML_GetCurrentByteCount(p->parser);
    p->open[p->depth++] = e;
    e->name = strdup(name);
    e->text = calloc(1, 1);
    if (!e->name || !e->text || !copy_attributes(e, attribute)) stop_without_memory(p);
}

static void end_element(void *user, const XML_Char *name)
{
    (void)name;
    parsing *p = user;
    if (p->fault) return; /* expat may end an empty element after it was stopped in it */
    element *e = p->open[--p->depth];
    const size_t bytes = (size_t)XML_GetCurrentByteCount(p->parser);
    e->close = bytes ? (size_t)XML_GetCurrentByteIndex(p->parser) : e->content; /* 0: <name/> */
    e->end = e->close + bytes;
}

/* expat gives a text in pieces. */
static void add_text(void *user, const XML_Char *piece, int bytes)
{
    parsing *p = user;
    if (p->fault || p->depth == 0) return;
    element *e = p->open[p->depth - 1];
    const size_t all = e->bytes + (size_t)bytes;
    if (all + 1 > e->room) {
        const size_t room = 2 * all + 64;
        char *more = realloc(e->text, room);
        if (!more) {
            stop_without_memory(p);
            return;
        }
        e->text = more;
        e->room = room;
    }
    memcpy(e->text + e->bytes, piece, (size_t)bytes);
    e->bytes = all;
    e->text[all] = 0;
}

static void refuse_entity(void *user, const XML_Char *name, int parameter, const XML_Char *value,
                          int bytes, const XML_Char *base, const XML_Char *system,
                          const XML_Char *public, const XML_Char *notation)
{
    (void)name, (void)parameter, (void)value, (void)bytes, (void)base, (void)system, (void)public,
        (void)notation;
    stop(user, "it declares an entity");
}

/* ---- Files ----------------------------------------------------------------------------------- */

int markup_read(const plugmc_host *host, const char *what, const char *text, element **outermost)
{
    parsing p = {.parser = XML_ParserCreate(NULL)};
    if (!p.parser) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for XML");
    XML_SetUserData(p.parser, &p);
    XML_SetElementHandler(p.parser, begin_element, end_element);
    XML_SetCharacterDataHandler(p.parser, add_text);
    XML_SetEntityDeclHandler(p.parser, refuse_entity);
    const enum XML_Status status = XML_Parse(p.parser, text, (int)strlen(text), XML_TRUE);
    const enum XML_Error error = XML_GetErrorCode(p.parser);
    const unsigned long line = XML_GetCurrentLineNumber(p.parser);
    XML_ParserFree(p.parser);
    *outermost = p.first;
    if (status == XML_STATUS_OK) return PLUGMC_OK;
    markup_free(p.first);
    *outermost = NULL;
    if (p.no_memory || error == XML_ERROR_NO_MEMORY)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for XML");
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s line %lu: is not XML as it should be: %s", what, line,
                      p.fault ? p.fault : XML_ErrorString(error));
}

void markup_free(element *e)
{
    while (e) {
        element *next = e->next;
        for (int i = 0; e->attribute && e->attribute[i]; i++) free(e->attribute[i]);
        free(e->attribute);
        free(e->name);
        free(e->text);
        free(e);
        e = next;
    }
}

const element *find_element(const element *in, const element *last, const char *name)
{
    for (const element *e = (last ? last : in)->next; e && e->depth > in->depth; e = e->next)
        if (strcmp(e->name, name) == 0) return e;
    return NULL;
}

const char *find_attribute(const element *e, const char *name)
{
    for (int i = 0; e->attribute[i]; i += 2)
        if (strcmp(e->attribute[i], name) == 0) return e->attribute[i + 1];
    return NULL;
}

int markup_fault(const plugmc_host *host, const char *path, const element *e, const char *format,
                 ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%s', line %lu: <%.40s> %s", path,
                      e->line, e->name, words);
}

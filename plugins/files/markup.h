/* XML files in memory: elements in the order of the file, with their attributes and texts. */
#ifndef PLUGINS_MARKUP_H
#define PLUGINS_MARKUP_H

#include <plugmc/everything.h>

typedef struct element {
    struct element *next; /* in the order in which elements begin */
    int depth;            /* the outermost has 0 */
    char *name;
    char **attribute;   /* name, value, name, value, ..., NULL */
    char *text;         /* what stands in the element itself; never NULL */
    size_t bytes, room; /* of the text */
    unsigned long line; /* where it begins, from 1 */
    /* Bytes of the file: the tag that begins it ends before `content`, that which ends it begins at `close` and ends
     * before `end`. An element <name/> has content = close = end. */
    size_t content, close, end;
} element;

/* The outermost element of a text, which is then followed by all others, for markup_free. A code of plugmc after a
 * message: `what` names the file, as in "file 'x.xml',". */
int markup_read(const plugmc_host *, const char *what, const char *text, element **outermost);
void markup_free(element *outermost);

/* The first element of that name within `in` after `last` (NULL: the first of all), or NULL. */
const element *find_element(const element *in, const element *last, const char *name);
/* The value of an attribute, or NULL. */
const char *find_attribute(const element *, const char *name);
/* Fails with a sentence about an element of the file at `path`; returns the code. */
int markup_fault(const plugmc_host *, const char *path, const element *, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#endif

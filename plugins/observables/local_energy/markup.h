/* XML files in memory: elements in the order of the file, with their attributes and texts. */
#ifndef LOCAL_ENERGY_MARKUP_H
#define LOCAL_ENERGY_MARKUP_H

#include "pseudopotential.h"

typedef struct element {
    struct element *next; /* in the order in which elements begin */
    int depth;            /* the outermost has 0 */
    char *name;
    char **attribute;   /* name, value, name, value, ..., NULL */
    char *text;         /* what stands in the element itself; never NULL */
    size_t bytes, room; /* of the text */
} element;

/* The outermost element of the file, which is then followed by all others, for markup_free. A code
 * of plugmc after a message with the line. */
int markup_read(const file_text *, element **outermost);
void markup_free(element *outermost);

/* The first element of that name within `in` after `last` (NULL: the first of all), or NULL. */
const element *find_element(const element *in, const element *last, const char *name);
/* The value of an attribute, or NULL. */
const char *find_attribute(const element *, const char *name);
#endif

/* The little of XML that pseudopotential files need: elements by name, their attributes, their
 * text. Texts are searched, not validated. */
#ifndef LOCAL_ENERGY_MARKUP_H
#define LOCAL_ENERGY_MARKUP_H

/* An element: attributes from `attributes` to `content`, text from there to `end`. */
typedef struct element {
    char *attributes, *content, *end;
} element;

/* The next <name ...> between `from` and `to`; returns 0 if there is none, or it does not end. */
int find_element(char *from, const char *to, const char *name, element *out);
/* The value of an attribute, cut at 63 characters; returns 0 if it is not there. */
int find_attribute(const element *, const char *name, char value[64]);
#endif

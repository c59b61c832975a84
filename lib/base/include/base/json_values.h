/* JSON (RFC 8259): texts written, and values read. */
#ifndef PLUGMC_JSON_VALUES_H
#define PLUGMC_JSON_VALUES_H

#include <stdbool.h>
#include <stdio.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

typedef struct json_value {
    enum json_kind kind;
    char *name;                 /* of a member of an object; else NULL */
    char *text;                 /* of a text, or of a number as it was written; else NULL */
    struct json_value *members; /* of a list or an object */
    int count;
} json_value;

/* In quotes. A byte that is no UTF-8 becomes \udcNN, which is how Python reads it as a part of a file's name. */
void json_put(FILE *, const char *text);
/* One value, and nothing behind it. NULL, or why it is none; to be freed in any case. */
const char *json_parse(const char *text, json_value *);
void json_release(json_value *);
/* NULL: it is no object, or has no such member. Of several the last one counts. */
const json_value *json_member(const json_value *, const char *name);
/* Members of a kind, or what stands for one that is missing: "", NAN, false. */
const char *json_member_text(const json_value *, const char *name);
double json_member_number(const json_value *, const char *name);
bool json_member_flag(const json_value *, const char *name);
#endif

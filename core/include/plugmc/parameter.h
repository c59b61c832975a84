/* Parameters of a plugin: the keys of its section in an INI file, as a table. Part of
 * plugmc/plugin.h. */
#ifndef PLUGMC_PARAMETER_H
#define PLUGMC_PARAMETER_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"

enum plugmc_type {
    PLUGMC_TYPE_REAL,    /* real, the plugin's own precision */
    PLUGMC_TYPE_INTEGER, /* int64_t */
    PLUGMC_TYPE_FLAG,    /* int32_t, yes or no */
    PLUGMC_TYPE_CHOICE,  /* int32_t, index into the words of `choices` */
    PLUGMC_TYPE_TEXT,    /* const char *, owned by the core */
    PLUGMC_TYPE_LIST,    /* plugmc_list: reals, written with blanks between them */
    PLUGMC_TYPE_FILE,    /* const char *, owned by the core: the path of a file that the plugin
                            reads, or several with a newline between them. What is in it is part
                            of what a resumed run is compared by. "" for none */
    PLUGMC_TYPE_NUMBERS /* const char *, owned by the core: every key of the section that nobody else
                            knows, each with numbers as of a list: lines "key number number ...". The
                            last entry of a table */
};

/* One parameter. The table of these feeds the INI reader, range errors, `plugmc info`, the echo
 * of the effective configuration, the constants folded into kernels and the reference manual. */
typedef struct plugmc_parameter {
    const char *name;     /* INI key, and name of the field in the struct */
    int32_t type;         /* enum plugmc_type */
    int32_t derived;      /* 1: not read from the INI but computed by configure; still folded
                             into kernels */
    size_t offset;        /* of the field in the instance */
    const char *fallback; /* default as text; NULL: must be given */
    double minimum, maximum;
    const char *unit;    /* "length", "kT", ...; "" if none */
    const char *choices; /* PLUGMC_TYPE_CHOICE: words separated by '|' */
    const char *doc;     /* one line */
    int64_t length;      /* PLUGMC_TYPE_LIST, PLUGMC_TYPE_FILE: how many there must be; 0: any
                            number, files with blanks between them */
} plugmc_parameter;

#define PLUGMC_REAL_KEY(type, field, fallback, minimum, maximum, unit, doc)                        \
    {                                                                                              \
#field, PLUGMC_TYPE_REAL, 0, offsetof(type, field), fallback, minimum, maximum, unit,      \
            NULL, doc, 0                                                                           \
    }
#define PLUGMC_INTEGER_KEY(type, field, fallback, minimum, maximum, unit, doc)                     \
    {                                                                                              \
#field, PLUGMC_TYPE_INTEGER, 0, offsetof(type, field), fallback, minimum, maximum, unit,   \
            NULL, doc, 0                                                                           \
    }
#define PLUGMC_FLAG_KEY(type, field, fallback, doc)                                                \
    {                                                                                              \
#field, PLUGMC_TYPE_FLAG, 0, offsetof(type, field), fallback, 0, 1, "", NULL, doc, 0       \
    }
#define PLUGMC_CHOICE_KEY(type, field, fallback, choices, doc)                                     \
    {                                                                                              \
#field, PLUGMC_TYPE_CHOICE, 0, offsetof(type, field), fallback, 0, 0, "", choices, doc, 0  \
    }
#define PLUGMC_TEXT_KEY(type, field, fallback, doc)                                                \
    {                                                                                              \
#field, PLUGMC_TYPE_TEXT, 0, offsetof(type, field), fallback, 0, 0, "", NULL, doc, 0       \
    }
/* The name of a file, in an INI file relative to it. */
#define PLUGMC_FILE_KEY(type, field, fallback, doc)                                                \
    {                                                                                              \
#field, PLUGMC_TYPE_FILE, 0, offsetof(type, field), fallback, 0, 0, "", NULL, doc, 1       \
    }
/* The names of any number of them. */
#define PLUGMC_FILES_KEY(type, field, fallback, doc)                                               \
    {                                                                                              \
#field, PLUGMC_TYPE_FILE, 0, offsetof(type, field), fallback, 0, 0, "", NULL, doc, 0       \
    }
/* `values` reals, or any number if `values` is 0. */
#define PLUGMC_LIST_KEY(type, field, values, fallback, minimum, maximum, unit, doc)                \
    {                                                                                              \
#field, PLUGMC_TYPE_LIST, 0, offsetof(type, field), fallback, minimum, maximum, unit,      \
            NULL, doc, values                                                                      \
    }
/* Keys that the user names, each with numbers: the plugin refuses those that it has no use for. */
#define PLUGMC_NUMBERS_KEY(type, field, minimum, maximum, doc)                                     \
    {                                                                                              \
        "NAME", PLUGMC_TYPE_NUMBERS, 0, offsetof(type, field), "", minimum, maximum, "", NULL,     \
            doc, 0                                                                                 \
    }
/* A number that configure computes from the others and that GPU source needs. */
#define PLUGMC_REAL_DERIVED(type, field, doc)                                                      \
    {                                                                                              \
#field, PLUGMC_TYPE_REAL, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0           \
    }
#define PLUGMC_INTEGER_DERIVED(type, field, doc)                                                   \
    {                                                                                              \
#field, PLUGMC_TYPE_INTEGER, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0        \
    }
/* A table that configure computes; GPU source finds it where it finds lists. */
#define PLUGMC_LIST_DERIVED(type, field, doc)                                                      \
    {                                                                                              \
#field, PLUGMC_TYPE_LIST, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0           \
    }
/* GPU source that configure writes (const char *, which lives as long as the instance): functions that
 * follow the author's text in its namespace. */
#define PLUGMC_SOURCE_DERIVED(type, field, doc)                                                    \
    {                                                                                              \
#field, PLUGMC_TYPE_TEXT, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0           \
    }

#endif

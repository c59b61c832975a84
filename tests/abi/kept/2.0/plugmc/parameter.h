/* Parameters of a plugin: the keys of its section in the INI file, as a table. Part of plugmc/plugin.h. */
#ifndef PLUGMC_PARAMETER_H
#define PLUGMC_PARAMETER_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"

enum plugmc_type {
    PLUGMC_TYPE_REAL,    /* real, in the plugin's own precision */
    PLUGMC_TYPE_INTEGER, /* int64_t */
    PLUGMC_TYPE_FLAG,    /* int32_t, yes or no */
    PLUGMC_TYPE_CHOICE,  /* int32_t, index of the word in `choices` */
    PLUGMC_TYPE_TEXT,    /* const char *, owned by the core */
    PLUGMC_TYPE_LIST,    /* plugmc_list: reals separated by blanks */
    /* const char *, owned by the core: path of a file that the plugin reads, or several paths separated by
     * newlines; "" for none. A resumed run checks that the contents are the same. */
    PLUGMC_TYPE_FILE,
    /* const char *, owned by the core: all keys of the section that are not in the table, each with a list of
     * numbers, as lines "key number number ...". Only as the last entry of a table. */
    PLUGMC_TYPE_NUMBERS
};

/* One parameter. The table is used by the INI reader, for range errors, `plugmc info`, the echo of the effective
 * configuration, the constants compiled into kernels, and the reference manual. */
typedef struct plugmc_parameter {
    const char *name; /* INI key and name of the struct's member */
    int32_t type;     /* enum plugmc_type */
    /* 1: computed by configure instead of read from the INI file; also compiled into kernels. */
    int32_t derived;
    size_t offset;        /* of the member in the instance */
    const char *fallback; /* default as text; NULL: required */
    double minimum, maximum;
    const char *unit;    /* "length", "kT", ...; "" if none */
    const char *choices; /* PLUGMC_TYPE_CHOICE: words separated by '|' */
    const char *doc;     /* one line */
    /* PLUGMC_TYPE_LIST, PLUGMC_TYPE_FILE: required number of values or files. 0: any number (file names are
     * separated by blanks). */
    int64_t length;
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
/* The name of a file, relative to the INI file. */
#define PLUGMC_FILE_KEY(type, field, fallback, doc)                                                \
    {                                                                                              \
#field, PLUGMC_TYPE_FILE, 0, offsetof(type, field), fallback, 0, 0, "", NULL, doc, 1       \
    }
/* The names of any number of files. */
#define PLUGMC_FILES_KEY(type, field, fallback, doc)                                               \
    {                                                                                              \
#field, PLUGMC_TYPE_FILE, 0, offsetof(type, field), fallback, 0, 0, "", NULL, doc, 0       \
    }
/* A list of `values` reals; 0: of any number. */
#define PLUGMC_LIST_KEY(type, field, values, fallback, minimum, maximum, unit, doc)                \
    {                                                                                              \
#field, PLUGMC_TYPE_LIST, 0, offsetof(type, field), fallback, minimum, maximum, unit,      \
            NULL, doc, values                                                                      \
    }
/* Keys whose names the user chooses, each with numbers. The plugin refuses those that it cannot use. */
#define PLUGMC_NUMBERS_KEY(type, field, minimum, maximum, doc)                                     \
    {                                                                                              \
        "NAME", PLUGMC_TYPE_NUMBERS, 0, offsetof(type, field), "", minimum, maximum, "", NULL,     \
            doc, 0                                                                                 \
    }
/* A number that configure computes from other parameters and that GPU source needs. */
#define PLUGMC_REAL_DERIVED(type, field, doc)                                                      \
    {                                                                                              \
#field, PLUGMC_TYPE_REAL, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0           \
    }
#define PLUGMC_INTEGER_DERIVED(type, field, doc)                                                   \
    {                                                                                              \
#field, PLUGMC_TYPE_INTEGER, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0        \
    }
/* A table that configure computes. GPU source accesses it like a list. */
#define PLUGMC_LIST_DERIVED(type, field, doc)                                                      \
    {                                                                                              \
#field, PLUGMC_TYPE_LIST, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0           \
    }
/* GPU source that configure generates: functions that are compiled after the author's file, in its namespace. A
 * const char * that lives as long as the instance. */
#define PLUGMC_SOURCE_DERIVED(type, field, doc)                                                    \
    {                                                                                              \
#field, PLUGMC_TYPE_TEXT, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc, 0           \
    }

#endif

/* A text file, line by line: what the readers of PDB, GRO and LAMMPS data have in common. */
#ifndef PLUGMC_TEXT_LINES_H
#define PLUGMC_TEXT_LINES_H

#include <stdio.h>

#include "formats/frame.h"

typedef struct text_lines {
    const char *path;
    report *report;
    FILE *file;
    char *text; /* the line, without its end */
    size_t length, capacity;
    int64_t line; /* its number, from 1 */
} text_lines;

#define refuse_line(l, ...)                                                                        \
    report_error((l)->report, EXIT_INPUT, (l)->path, (int)(l)->line, __VA_ARGS__)

/* An exit code, after a sentence. lines_close is needed after either. */
int lines_open(text_lines *, const char *path, report *);
/* The next line; *ended: there is none. */
int lines_next(text_lines *, bool *ended);
/* The next line, which has to be there: `expected` is what it would be. */
int lines_expect(text_lines *, const char *expected);
int lines_no_memory(const text_lines *);
void lines_close(text_lines *);

/* A finite number that is the whole word, blanks around it aside. */
bool number_of_word(const char *word, double *out);
/* Columns first ... last of the line, from 1, as a number; `what` it is. */
int lines_number(const text_lines *, int first, int last, const char *what, double *out);
/* Half of the last printed digit of a number. */
double error_of_word(const char *word);

/* Particles of a frame that grow one by one. */
typedef struct frame_rows {
    file_frame *frame;
    int64_t room;
} frame_rows;
/* One more, at this place and line; property: which ones it has (frame.h), or NULL. An exit code. */
int frame_add(frame_rows *, const text_lines *, const double place[3], int32_t species,
              const double property[FRAME_PROPERTIES]);
/* The number of a name among those of the frame, which gets it if it is new; -1 after a sentence. */
int32_t frame_name(file_frame *, const text_lines *, const char *name);
/* The frame's box: rows are its vectors. An exit code. */
int frame_box(file_frame *, const text_lines *, const double vectors[3][3]);
#endif

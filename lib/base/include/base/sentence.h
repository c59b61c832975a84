/* Why something cannot be used: a sentence that is passed up to whoever knows where to say it. */
#ifndef PLUGMC_SENTENCE_H
#define PLUGMC_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for a sentence of the caller. */
typedef struct sentence {
    char *text;
    size_t size;
} sentence;

/* Writes it, cut off where the room ends. Always false, so that a check can
 * `return why_not(...)`. */
bool why_not(sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif

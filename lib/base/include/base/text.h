/* Characters of UTF-8. */
#ifndef PLUGMC_TEXT_H
#define PLUGMC_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text`, of which *code is the number; 0 if there is none within `left` bytes. */
int text_character(const char *text, size_t left, uint32_t *code);
#endif

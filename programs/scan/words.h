/* Lists of words in a line. */
#ifndef PLUGMC_SCAN_WORDS_H
#define PLUGMC_SCAN_WORDS_H

#include <stdint.h>

/* Words with blanks between them; in "quotes" a word may have blanks, or be empty. *words is to be freed
 * by words_free, NULL at its end. Returns their number, or -1 (and NULL) if a quote has no end. */
int64_t words_split(const char *text, char ***words);
void words_free(char **words);
#endif

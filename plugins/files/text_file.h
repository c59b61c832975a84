/* Text files as a whole, as formats need them that are told by their content. */
#ifndef PLUGINS_TEXT_FILE_H
#define PLUGINS_TEXT_FILE_H

#include <plugmc/everything.h>

/* The text, with a 0 behind it, in memory of the host; NULL after a message. */
char *text_file_read(const plugmc_host *, const char *path);
#endif

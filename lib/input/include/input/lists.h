/* The numbers of keys that are lists, in memory that lives as long as the program. Behind each list
 * there is room that is not its own: whoever reads on, as for a species that it has no number for, finds
 * something that is no number. Main thread only. */
#ifndef PLUGMC_LISTS_H
#define PLUGMC_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "plugmc/everything.h"

enum { LIST_BEHIND = 64 * 65 / 2 }; /* pairs of 64 species */

/* Room for `count` reals, cleared, with NaN behind them; NULL for none. */
void *list_keep(int64_t count, size_t real_size);
/* Behind the end of a list that was kept stands this number from now on. False, and nothing is written,
 * where it is another list. */
bool list_put_behind(const plugmc_list *, double number);
/* The same for the first `many` entries behind the end, at most LIST_BEHIND; behind those it is 1. */
bool list_put_first_behind(const plugmc_list *, int64_t many, double number);
/* All lists are forgotten: nobody has them any more. */
void lists_forget(void);
#endif

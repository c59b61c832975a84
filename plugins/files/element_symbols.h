/* Chemical elements by their symbols. */
#ifndef PLUGINS_ELEMENT_SYMBOLS_H
#define PLUGINS_ELEMENT_SYMBOLS_H

#include <stdint.h>

/* The atomic number of a symbol, with or without blanks around it; 0: there is no such element. */
int32_t element_of(const char *symbol);
/* The symbol of an atomic number; "?" for one without. */
const char *element_symbol(int32_t number);
#endif

/* Sentences about what cannot be used. */
#include "base/sentence.h"

#include <stdarg.h>
#include <stdio.h>

bool why_not(sentence why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why.text, why.size, format, arguments);
    va_end(arguments);
    return false;
}

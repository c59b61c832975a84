/* What parameters.c, parameter_echo.c and parameter_tables.c tell people about a parameter. */
#ifndef PLUGMC_PARAMETER_WORDS_H
#define PLUGMC_PARAMETER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "plugmc/everything.h"

enum { PARAMETER_WHY = 512, PARAMETER_WORD = 64 };

/* Is there a bound at all? Integers cannot go beyond 64 bits anyway. */
bool parameter_has_minimum(const plugmc_parameter *);
bool parameter_has_maximum(const plugmc_parameter *);
/* A bound for people: 0.5, 1000, 1e14, 1e-6. */
void parameter_bound(double, char out[PARAMETER_WORD]);
/* The words of a choice, and their number; parameter_free_choices frees them. */
int parameter_choices(const char *choices, char ***words);
void parameter_free_choices(char **words);
/* The shortest of the decimal numbers that read back as the same bits. */
void parameter_print_real(FILE *, double, size_t real_size);
/* What people are told to write: "any number". */
const char *parameter_kind(const plugmc_parameter *);
#endif

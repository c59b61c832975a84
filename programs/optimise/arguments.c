/* The command line of plugmc optimise. */
#include "optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char optimise_help[] =
    "usage: plugmc optimise FILE.ini [--set SECTION.KEY=VALUE]... [OPTION]...\n"
    "\n"
    "Optimises the variational parameters of the sampled potentials, such as the coefficients of a\n"
    "Jastrow factor, in several loops. Each loop samples the wave function by the run that FILE.ini\n"
    "describes, and makes a step; a step is rejected if the same samples, reweighted, give a higher cost.\n"
    "The initial parameters are those of FILE.ini; with zeros only the cusp is there. After each loop\n"
    "FILE.optimised.ini, ready to run, and the table FILE.optimised.ini.loops are written; existing files\n"
    "of these names are kept as NAME.1, NAME.2, ...\n"
    "\n"
    "  --output FILE           output, instead of FILE.optimised.ini\n"
    "  --resume                continues after the last loop of the table\n"
    "  --loops N               largest number of loops, 12; fewer if no step improves the cost\n"
    "  --samples N             samples in a loop, 10000; a quarter of them in the first and half in the\n"
    "                          second loop; four times as many for the result\n"
    "  --only NAMES            only the parameters of these potentials, with commas between them\n"
    "  --method M              linear (the default) or reconfiguration\n"
    "  --variance-weight W     weight of the variance in the cost, 0.05\n"
    "  --least-effective F     rejects a step if the effective fraction of reweighted samples is below\n"
    "                          F, 0.3\n"
    "  --shifts I S            shifts of the linear method at level 0: identity and overlap, 0.01 1\n"
    "  --time-step T           time step of reconfiguration at level 0, 1\n"
    "  --damping E             added to the diagonal of its matrix, 0.001\n"
    "  --derivatives           no loops: one run of so many samples, after which derivatives of the energy\n"
    "                          by all parameters are printed, with errors\n"
    "  --check-derivatives     instead of these: derivatives of ln |Psi| and of local energies by all\n"
    "                          parameters against their differences, in up to 256 samples\n"
    "\n"
    "exit codes: 0 done, 2 command line, 3 input (no variational parameters, a wave function that\n"
    "cannot be sampled, no variance left to optimise), 4 plugin, 5 output, 6 the table of loops does not\n"
    "fit, 8 memory, 9 bug, 10 stopped by a signal, 11 time limit of [run] (10 and 11: continue with\n"
    "--resume)\n";

static int usage_error(const char *what, const char *word)
{
    fprintf(stderr, "plugmc optimise: %s '%s'; see --help\n", what, word);
    return EXIT_USAGE;
}

static int number(const char *option, const char *text, double least, double most, double *out)
{
    char *end;
    *out = text ? strtod(text, &end) : 0;
    if (text && *text && !*end && *out >= least && *out <= most) return 0;
    fprintf(stderr, "plugmc optimise: %s needs a number from %g to %g\n", option, least, most);
    return EXIT_USAGE;
}

static int whole(const char *option, const char *text, double least, double most, int64_t *out)
{
    double value;
    const int code = number(option, text, least, most, &value);
    *out = (int64_t)value;
    if (code || value == floor(value)) return code;
    fprintf(stderr, "plugmc optimise: %s needs a whole number\n", option);
    return EXIT_USAGE;
}

/* An option with values; *taken: how many words it has, 0 if there is none of that name. */
static int option_of(char **at, arguments *a, int *taken)
{
    choices *c = &a->choices;
    *taken = 2;
    if (!strcmp(*at, "--loops")) return whole(*at, at[1], 1, 10000, &c->loops);
    if (!strcmp(*at, "--samples")) return whole(*at, at[1], 100, 1e9, &c->samples);
    if (!strcmp(*at, "--variance-weight")) return number(*at, at[1], 0, 1, &c->variance_weight);
    if (!strcmp(*at, "--least-effective")) return number(*at, at[1], 0, 1, &c->least_effective);
    if (!strcmp(*at, "--time-step")) return number(*at, at[1], 1e-12, 1e12, &c->time_step);
    if (!strcmp(*at, "--damping")) return number(*at, at[1], 0, 1e12, &c->damping);
    if (!strcmp(*at, "--shifts")) {
        *taken = 3;
        if (!at[1] || !at[2]) return usage_error("two numbers follow", *at);
        const int code = number(*at, at[1], 0, 1e12, &c->identity);
        return code ? code : number(*at, at[2], 0, 1e12, &c->overlap);
    }
    if (!strcmp(*at, "--method")) {
        if (!at[1] || (strcmp(at[1], "linear") && strcmp(at[1], "reconfiguration")))
            return usage_error("expected linear or reconfiguration, not", at[1] ? at[1] : "");
        c->method = strcmp(at[1], "linear") ? RECONFIGURATION : LINEAR;
        return 0;
    }
    *taken = 0;
    return 0;
}

int arguments_parse(int argc, char **argv, arguments *a)
{
    for (int i = 0, taken; i < argc; i++) {
        const char *word = argv[i];
        const int code = option_of(argv + i, a, &taken);
        if (code) return code;
        if (taken) {
            i += taken - 1;
        } else if (!strcmp(word, "--resume")) {
            a->resume = true;
        } else if (!strcmp(word, "--derivatives")) {
            a->derivatives = true;
        } else if (!strcmp(word, "--check-derivatives")) {
            a->derivatives = a->check = true;
        } else if (!strcmp(word, "--set") || !strcmp(word, "--output") || !strcmp(word, "--only")) {
            if (!argv[i + 1]) return usage_error("a value must follow", word);
            if (word[2] == 'o')
                *(word[3] == 'n' ? &a->only : &a->output) = argv[++i];
            else if (a->set_count == MOST_SETS)
                return usage_error("too many", word);
            else
                a->sets[a->set_count++] = argv[++i];
        } else if (word[0] == '-') {
            return usage_error("unknown option", word);
        } else if (a->file) {
            return usage_error("more than one file:", word);
        } else {
            a->file = word;
        }
    }
    if (a->derivatives && a->resume) return usage_error("there is no loop after", "--derivatives");
    return a->file ? 0 : usage_error("which file?", "FILE.ini");
}

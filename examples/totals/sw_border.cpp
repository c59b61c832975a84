/* See sw_border.h. plugmc is C: an exception that arrives there ends the program. */
#include "sw_border.h"

#include <cstdio>
#include <exception>

#include "swlib.h"

struct sw_model {
    sw::StillingerWeber potential;
};

/* Called in a handler: the text of what was thrown, whatever it is. */
static void explain(char *why, size_t size) noexcept
{
    try {
        throw;
    } catch (const std::exception &e) {
        std::snprintf(why, size, "%s", e.what());
    } catch (...) {
        std::snprintf(why, size, "the library threw something that is no std::exception");
    }
}

sw_model *sw_create(double epsilon, double sigma, int threads, char *why, size_t size)
{
    try {
        return new sw_model{sw::StillingerWeber(epsilon, sigma, threads)};
    } catch (...) {
        explain(why, size);
        return nullptr;
    }
}

void sw_destroy(sw_model *model) { delete model; }

int sw_evaluate(const sw_model *model, size_t atoms, const double *positions, const double *box,
                double *energy, double *forces, double *virial, char *why, size_t size)
{
    try {
        *energy += model->potential.evaluate(atoms, positions, box, forces, virial);
        return 0;
    } catch (...) {
        explain(why, size);
        return 1;
    }
}

int sw_change(const sw_model *model, size_t atoms, const double *positions, const double *box,
              size_t atom, const double *to, double *change, char *why, size_t size)
{
    try {
        *change += model->potential.change(atoms, positions, box, atom, to);
        return 0;
    } catch (...) {
        explain(why, size);
        return 1;
    }
}

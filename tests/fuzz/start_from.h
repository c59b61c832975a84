/* The initial state of three particles from a file, for the formats that have one: with boxes and numbers as they are,
 * and where both may change. */
#ifndef PLUGMC_START_FROM_H
#define PLUGMC_START_FROM_H

#include <math.h>
#include <string.h>

#include "formats/frame.h"
#include "initial/initial.h"

/* The format is told by the ending of the name. */
static inline void start_from(const char *path, const char *ending, plugmc_system *system,
                              report *r)
{
    config config = {0};
    char named[128];
    snprintf(named, sizeof named, "%s%s", path, ending);
    require(!rename(path, named));
    config.ini.path = "fuzz.ini";
    config.initial.state = INITIAL_FILE;
    config.initial.file = named;
    config.initial.frame = -1;
    for (int changes = 0; changes < 2; changes++) {
        double positions[9];
        plugmc_orientation turned[3];
        plugmc_box box = system->box;
        const int errors = r->errors;
        system->changes = changes ? PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT : 0;
        for (int i = 0; i < 3; i++) turned[i] = plugmc_upright(box.dimension);
        const int code =
            state_from_file(&config, system, 0, positions, turned, changes ? &box : NULL, r);
        require((code != 0) == (r->errors > errors));
        for (int i = 0; i < 9 && !code; i++) {
            if (changes && isnan(positions[i])) continue;
            require(positions[i] >= 0 && positions[i] < box.length[i % 3]);
        }
        for (int i = 0; i < 3 && !code; i++) {
            double square = 0;
            for (int k = 0; k < 4; k++) square += pow(turned[i].part[k] * 0x1p-30, 2);
            require(box.dimension == 2
                        ? turned[i].part[0] >= 0 && turned[i].part[0] < PLUGMC_WHOLE_TURN
                        : square > 0.98 && square < 1.02);
        }
    }
    unlink(named);
}

#endif

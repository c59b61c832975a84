/* What becomes of a host where memory is short, with fail_malloc preloaded: it opens an engine, sweeps, writes,
 * closes, and always comes to its own end, which it shows by its exit code 42. */
#include "hosting.h"

int main(int argc, char **argv)
{
    double sums[2];
    if (argc > 1) return argv[1][0] == 0; /* only loaded */
    plugmc_engine *e = plugmc_engine_new();
    if (!e) {
        printf("code 8\n");
        return 42;
    }
    int code = plugmc_engine_open_text(
        e, "text", liquid_text("cpu", "serial", "[observable energy]\nperiod = 10\n"));
    if (!code) code = plugmc_engine_sweep(e, 80);
    if (!code) code = plugmc_engine_energies(e, NULL, sums);
    if (!code) code = plugmc_engine_checkpoint(e);
    if (!code) code = plugmc_engine_sweep(e, 5);
    const int told = !code || plugmc_engine_error(e)[0];
    plugmc_engine_close(e);
    printf("code %d\n", code);
    return told ? 42 : 1;
}

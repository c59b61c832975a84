/* failing: a many-body term of the tests. The library that it calls fails after some trial moves. */
#include <plugmc/total.h>

void throw_exception(void);
void explain_exception(char *why, size_t size);
void stop_program(void);

enum { CAUGHT, UNCAUGHT, STOPPED, FIRST = 200 };

typedef struct failing {
    int32_t how;
    int64_t calls;
    const plugmc_host *host;
} failing;

static int prepare(void *instance, const plugmc_host *host)
{
    ((failing *)instance)->host = host;
    return PLUGMC_OK;
}

static int energy(void *instance, const plugmc_total_request *request)
{
    failing *f = instance;
    char why[128];
    (void)request; /* the energy is 0 */
    if (++f->calls < FIRST) return PLUGMC_OK;
    if (f->how == STOPPED) stop_program();
    if (f->how == UNCAUGHT) throw_exception();
    explain_exception(why, sizeof why);
    return f->host->fail(f->host->context, PLUGMC_ERROR_INPUT, "%s", why);
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(failing, how, NULL, "caught|uncaught|stopped", "the way it fails"),
};

static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "failing", .summary = "fails", .reference = "",
              PLUGMC_KEYS(failing, table), .prepare = prepare, .potential = &potential)

/* Finds the functions of libcuda and libnvrtc by name. */
#include "gpu/cuda_api.h"

#include <dlfcn.h>
#include <string.h>

typedef struct symbol {
    const char *name;
    size_t offset; /* of the function pointer in the table */
} symbol;

#define DRIVER_SYMBOL(field, name, arguments) {name, offsetof(driver_api, field)},
static const symbol driver_symbols[] = {DRIVER_FUNCTIONS(DRIVER_SYMBOL)};

#define COMPILER_SYMBOL(field, name, arguments) {name, offsetof(compiler_api, field)},
static const symbol compiler_symbols[] = {
    COMPILER_FUNCTIONS(COMPILER_SYMBOL){"nvrtcGetErrorString", offsetof(compiler_api, error_text)}};

static const char *resolve(void *library, const symbol *symbols, size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) return symbols[i].name;
        memcpy((char *)table + symbols[i].offset, &function, sizeof function);
    }
    return NULL;
}

const char *driver_resolve(void *library, driver_api *api)
{
    void *extended = dlsym(library, "cuLaunchKernelEx");
    memcpy(&api->launch_extended, &extended, sizeof extended);
    return resolve(library, driver_symbols, sizeof driver_symbols / sizeof driver_symbols[0], api);
}

const char *compiler_resolve(void *library, compiler_api *api)
{
    return resolve(library, compiler_symbols, sizeof compiler_symbols / sizeof compiler_symbols[0],
                   api);
}

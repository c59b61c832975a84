/* multiply.h: kernels of multiply.cu and their launches. */
#include "multiply.h"

#include <stdio.h>

#include "../join_texts.h"

PLUGMC_EMBED(draws_text, VMC_DRAWS_FILE);
PLUGMC_EMBED(multiply_text, VMC_MULTIPLY_FILE);

int products_text(const plugmc_host *host, plugmc_kernel_text *out)
{
    out->name = "multiply.cu";
    out->text = join_texts(host, (const char *const[]){draws_text, multiply_text, NULL});
    return out->text != NULL;
}

int products_prepare(products *p, const plugmc_host *host, int is_complex)
{
    plugmc_kernel_text text = {.size = sizeof text};
    static const char *const names[] = {"vmc_rows_by_rows", "vmc_rows_by_columns",
                                        "vmc_columns_by_columns"};
    char name[48];
    int code = products_text(host, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    p->is_complex = is_complex;
    for (int k = 0; k < KINDS_OF_PRODUCTS && !code; k++) {
        snprintf(name, sizeof name, "%s_%s", names[k], is_complex ? "complex" : "real");
        code = host->gpu->kernel(host->context, &text, name, &p->kernels[k]);
    }
    return code;
}

int products_make(const products *p, const plugmc_host *host, int kind, vmc_product *product,
                  int32_t walkers)
{
    const int parts = p->is_complex ? 2 : 1, a_in_rows = kind != COLUMNS_BY_COLUMNS,
              b_in_rows = kind == ROWS_BY_ROWS;
    const int doubles = VMC_FACTOR(a_in_rows, 2 * VMC_PART_ROWS * parts, parts) +
                        VMC_FACTOR(b_in_rows, 2 * VMC_PART_COLUMNS, parts);
    return launch(host, p->kernels[kind],
                  blocks_for(product->columns * parts, 2 * VMC_PART_COLUMNS),
                  blocks_for(product->rows, 2 * VMC_PART_ROWS), (uint32_t)walkers, 32 * VMC_WARPS,
                  VMC_STAGES * (uint32_t)sizeof(double) * (uint32_t)doubles, (void *[]){product});
}

/* Products of matrices of many walkers on a GPU by kernels of ours, for sizes that differ by walker and are known to
 * the GPU alone; draws.h says what a product is, multiply.cu how it is made. */
#ifndef PLUGMC_VMC_MULTIPLY_H
#define PLUGMC_VMC_MULTIPLY_H

#include "matrices.h"

#include "draws.h"

/* How factors lie in memory: A [rows][terms] and B [columns][terms]; A [rows][terms] and B [terms][columns];
 * A [terms][rows] and B [terms][columns]. */
enum { ROWS_BY_ROWS, ROWS_BY_COLUMNS, COLUMNS_BY_COLUMNS, KINDS_OF_PRODUCTS };

typedef struct products {
    int is_complex;
    plugmc_kernel *kernels[KINDS_OF_PRODUCTS];
} products;

int products_prepare(products *, const plugmc_host *, int is_complex);

int products_make(const products *, const plugmc_host *, int kind, vmc_product *, int32_t walkers);

/* The text of multiply.cu, which belongs to no system; 0 without memory. */
int products_text(const plugmc_host *, plugmc_kernel_text *out);
#endif

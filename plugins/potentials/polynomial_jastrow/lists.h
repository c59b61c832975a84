/* Lists of numbers in memory of the host: part of polynomial_jastrow.c. */
#ifndef POLYNOMIAL_JASTROW_LISTS_H
#define POLYNOMIAL_JASTROW_LISTS_H

static int lacks_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the Jastrow factor");
}

static int new_list(const plugmc_host *host, int64_t count, plugmc_list *out)
{
    real *values = count < INT32_MAX
                       ? host->allocate(host->context, ((size_t)count + 1) * sizeof *values)
                       : NULL;
    if (!values) return lacks_memory(host);
    *out = (plugmc_list){values, (int32_t)count};
    return PLUGMC_OK;
}

/* Numbers that are ours to write: those of the list, or `count` of `values` where it is empty. */
static int own(const plugmc_host *host, plugmc_list *list, const double *values, int64_t count)
{
    plugmc_list made;
    const int given = list->count > 0;
    const int code = new_list(host, given ? list->count : count, &made);
    if (code) return code;
    for (int32_t i = 0; i < made.count; i++)
        ((real *)made.values)[i] = given ? list->values[i] : (real)values[i];
    *list = made;
    return PLUGMC_OK;
}

#endif

/* Keys of polynomial_jastrow.c: included inside its PLUGMC_HOST part. */
#ifndef POLYNOMIAL_JASTROW_KEYS_H
#define POLYNOMIAL_JASTROW_KEYS_H

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, u_like, 0, "", -1e12, 1e12, "",
                    "a_0, a_2, a_3 ... of u, like spins"),
    PLUGMC_LIST_KEY(parameters, u_unlike, 0, "", -1e12, 1e12, "",
                    "a_0, a_2, a_3 ... of u, unlike spins"),
    PLUGMC_LIST_KEY(parameters, chi, 0, "", -1e12, 1e12, "", "b_0, b_2, b_3 ... of chi"),
    PLUGMC_LIST_KEY(parameters, f_like, 0, "", -1e12, 1e12, "",
                    "independent coefficients g_lmn of f, like spins; a single 0: all are 0"),
    PLUGMC_LIST_KEY(parameters, f_unlike, 0, "", -1e12, 1e12, "", "likewise, unlike spins"),
    PLUGMC_REAL_KEY(parameters, u_cutoff, "0", 0, 1e12, "length",
                    "cutoff of u; 0: the radius of the largest sphere in the Wigner-Seitz "
                    "cell"),
    PLUGMC_REAL_KEY(parameters, chi_cutoff, "0", 0, 1e12, "length", "cutoff of chi; 0: likewise"),
    PLUGMC_REAL_KEY(parameters, f_cutoff, "0", 0, 1e12, "length",
                    "cutoff of f; 0: half that radius"),
    PLUGMC_REAL_KEY(parameters, chi_cusp, "0", -1e6, 1e6, "1/length",
                    "minus the slope of chi at an ion: its charge, if it is bare and the orbitals "
                    "have no cusp"),
    PLUGMC_INTEGER_KEY(parameters, truncation, "3", 2, 6, "",
                       "C: derivatives of lower order are continuous at the cutoffs"),
    PLUGMC_INTEGER_KEY(parameters, f_electron_ion, "2", 1, CORRELATION_MOST_F, "",
                       "highest power of electron-ion distances in f"),
    PLUGMC_INTEGER_KEY(parameters, f_electron_electron, "2", 1, CORRELATION_MOST_F, "",
                       "highest power of the electron-electron distance in f"),
    PLUGMC_FLAG_KEY(parameters, f_without_u, "no",
                    "f has no terms of the electron-electron "
                    "distance alone"),
    PLUGMC_FLAG_KEY(parameters, f_without_chi, "no",
                    "f has no terms of a single electron-ion distance"),
    PLUGMC_LIST_KEY(parameters, ions, 0, "", -1e12, 1e12, "length",
                    "x y z of the ions that chi and f belong to; empty: those of the orbitals"),
    PLUGMC_LIST_KEY(parameters, tile, 3, "1 1 1", 1, 1000, "",
                    "copies of the ions along a, b and c that fill the cell"),
    PLUGMC_TEXT_KEY(parameters, elements, "",
                    "symbols of the elements that chi and f are for, whose coefficients follow "
                    "each other; empty: those of the file, or that of the orbitals"),
    PLUGMC_FILE_KEY(parameters, file, "",
                    "CASINO's correlation.data, or QMCPACK's XML with a three-body term (eeI): "
                    "orders, cutoffs and all lists that are not given here"),
    PLUGMC_INTEGER_KEY(parameters, chi_set, "-1", -1, 1000, "",
                       "set of chi in CASINO's file; 0: none; -1: all, with the ions of the "
                       "orbitals that they name, or the first one, for the ions given here"),
    PLUGMC_INTEGER_KEY(parameters, f_set, "-1", -1, 1000, "", "set of f, likewise"),
    PLUGMC_LIST_DERIVED(parameters, u_table, "a_l of like and unlike spins"),
    PLUGMC_LIST_DERIVED(parameters, chi_table, "b_l"),
    PLUGMC_LIST_DERIVED(parameters, f_table, "g_lmn of like and unlike spins"),
    PLUGMC_LIST_DERIVED(parameters, cell, "inverse of the lattice vectors, and these"),
    PLUGMC_LIST_DERIVED(parameters, chi_places, "images of ions within reach of the cell"),
    PLUGMC_LIST_DERIVED(parameters, chi_kinds, "numbers of each kind of ion, for chi"),
    PLUGMC_LIST_DERIVED(parameters, f_kinds, "likewise, for f"),
    PLUGMC_LIST_DERIVED(parameters, f_places, "those within reach of parts of the cell"),
    PLUGMC_LIST_DERIVED(parameters, f_begin, "where those of a part begin"),
    PLUGMC_INTEGER_DERIVED(parameters, u_terms, "coefficients of u"),
    PLUGMC_INTEGER_DERIVED(parameters, f_bins, "parts along each lattice vector"),
    PLUGMC_REAL_DERIVED(parameters, u_reach, "cutoff of u"),
    PLUGMC_REAL_DERIVED(parameters, reach,
                        "largest distance of two electrons that feel each other"),
};

static const plugmc_former_key former_names[] = {{"casino", "file"}, {NULL, NULL}};
static const plugmc_former_keys former_keys = {.size = sizeof former_keys, .keys = former_names};

/* ---- For plugmc check ------------------------------------------------------------------------ */

static int32_t describe_kind(const polynomial_kind *kind, const char *what, char *out, size_t bytes)
{
    char set[40] = "", powers[60] = "";
    if (kind->set) snprintf(set, sizeof set, " (set %d)", kind->set);
    if (kind->form)
        snprintf(powers, sizeof powers, ", powers up to %d and %d", kind->form->most_l,
                 kind->form->most_n);
    snprintf(out, bytes, "%s of %d ions%s%s%s: %d free coefficients%s, cutoff %.6g", what,
             kind->sites.count, kind->element ? " of " : "",
             kind->element ? element_symbol(kind->element) : "", set, kind->count, powers,
             kind->cutoff);
    return 1;
}

static int32_t describe(const void *instance, int32_t index, char *out, size_t bytes)
{
    const parameters *p = instance;
    const polynomial_form *form = p->form;
    if (p->u_terms && !index--) {
        snprintf(out, bytes, "u: %d and %d free coefficients of like and unlike spins, cutoff %.6g",
                 p->u_like.count, p->u_unlike.count, (double)p->u_reach);
        return 1;
    }
    if (index < form->chi_kinds) return describe_kind(&form->chi[index], "chi", out, bytes);
    index -= form->chi_kinds;
    return index < form->f_kinds ? describe_kind(&form->f[index], "f", out, bytes) : 0;
}

static const plugmc_description description = {.size = sizeof description, .line = describe};

#endif

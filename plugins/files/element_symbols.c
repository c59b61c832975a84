/* See element_symbols.h. */
#include "element_symbols.h"

#include <string.h>

static const char *const symbols[] = {
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",
    "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn",
    "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh",
    "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
    "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re",
    "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn"};

int32_t element_of(const char *symbol)
{
    symbol += strspn(symbol, " ");
    for (int32_t z = 0; z < (int32_t)(sizeof symbols / sizeof *symbols); z++) {
        const size_t length = strlen(symbols[z]);
        if (!strncmp(symbol, symbols[z], length) && (!symbol[length] || symbol[length] == ' '))
            return z + 1;
    }
    return 0;
}

const char *element_symbol(int32_t number)
{
    const int32_t most = (int32_t)(sizeof symbols / sizeof *symbols);
    return number >= 1 && number <= most ? symbols[number - 1] : "?";
}

/* Tables of parameters as a plugin may hand them over, and sections of an INI for them. What is
 * found sound has to be used without harm. */
#include "fuzz.h"

#include "input/parameters.h"

enum { ENTRIES = 4, INSTANCE = 256 };

static const char *text_or_null(fuzz_bytes *b, char *own[], int *count)
{
    if (fuzz_below(b, 8) == 0) return NULL;
    return own[(*count)++] = fuzz_text(b, 40);
}

static double number(fuzz_bytes *b)
{
    static const double some[] = {0, 1, -1, 0.5, 1e300, -1e300, 1e-300, 9.3e18, -9.3e18};
    const uint32_t which = fuzz_below(b, 16);
    double any;
    const uint64_t word = which < 9 ? 0 : fuzz_word(b);
    memcpy(&any, &word, sizeof any);
    return which < 9 ? some[which] : any;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    char *own[6 * ENTRIES], why[256] = "";
    int texts = 0, count = 1 + (int)fuzz_below(&b, ENTRIES);
    const size_t real_size = fuzz_byte(&b) & 1 ? 4 : 8;
    plugmc_parameter table[ENTRIES];
    for (int i = 0; i < count; i++) {
        plugmc_parameter *p = &table[i];
        memset(p, 0, sizeof *p);
        p->name = text_or_null(&b, own, &texts);
        p->type = (int32_t)fuzz_below(&b, 10) - 1;
        p->derived = (int32_t)fuzz_below(&b, 8) == 1;
        p->offset = fuzz_below(&b, 8) ? 16 * fuzz_below(&b, 16) : (size_t)fuzz_word(&b);
        p->fallback = text_or_null(&b, own, &texts);
        p->minimum = number(&b);
        p->maximum = number(&b);
        p->unit = text_or_null(&b, own, &texts);
        p->choices = text_or_null(&b, own, &texts);
        p->doc = text_or_null(&b, own, &texts);
        p->length = fuzz_below(&b, 4) ? fuzz_below(&b, 4) : (int64_t)fuzz_word(&b);
    }
    if (parameters_sane(table, count, real_size, INSTANCE, why, sizeof why)) {
        report r = {0};
        ini_file ini;
        _Alignas(16) char instance[INSTANCE] = {0};
        char *rest = strndup((const char *)b.at, (size_t)(b.end - b.at)), *written = NULL;
        size_t bytes;
        FILE *f = open_memstream(&written, &bytes);
        if (!rest || !f) abort();
        const int code = ini_read_text("table.ini", rest, &ini, &r);
        ini_section *section = ini.count ? &ini.sections[0] : NULL;
        if (!code && !parameters_fill(table, count, real_size, instance, "table.ini", section, &r))
            parameters_echo(f, table, count, real_size, instance, section);
        if (section) parameters_unused(table, count, NULL, "table.ini", section, &r);
        parameters_describe(f, table, count, 0);
        parameters_describe(f, table, count, 1);
        parameters_ini_block(f, "potential some", table, count);
        fclose(f);
        free(written);
        free(rest);
        ini_free(&ini);
    } else {
        require(why[0]);
    }
    for (int i = 0; i < texts; i++) free(own[i]);
    return 0;
}

/* See json_values.h. */
#include "base/json_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/text.h"

enum { DEEPEST = 32, LONE_BYTE = 0xdc00 };

/* ---- Writing --------------------------------------------------------------------------------- */

void json_put(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    fputc('"', out);
    while (text < end) {
        uint32_t code;
        const int bytes = text_character(text, (size_t)(end - text), &code);
        if (!bytes)
            fprintf(out, "\\u%04x", LONE_BYTE + (unsigned)(unsigned char)*text);
        else if (code == '"' || code == '\\')
            fprintf(out, "\\%c", (int)code);
        else if (code < ' ')
            fprintf(out, "\\u%04x", code);
        else
            fwrite(text, 1, (size_t)bytes, out);
        text += bytes ? bytes : 1;
    }
    fputc('"', out);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const char *next, *why;
    int depth;
} reader;

static void read_value(reader *, json_value *);

static void skip_blanks(reader *r) { r->next += strspn(r->next, " \t\r\n"); }

static bool refuse(reader *r, const char *why)
{
    if (!r->why) r->why = why;
    return false;
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->why || *r->next != c) return false;
    r->next++;
    return true;
}

static bool read_hex(reader *r, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF",
                   *at = *r->next ? strchr(digits, *r->next) : NULL;
        if (!at) return refuse(r, "\\u is to be followed by four hexadecimal digits");
        *code = *code << 4 | (uint32_t)((at - digits) & 15);
        r->next++;
    }
    return true;
}

static void put_character(FILE *out, uint32_t code)
{
    if (code < 0x80) {
        fputc((int)code, out);
    } else if (code < 0x800) {
        fprintf(out, "%c%c", (int)(0xc0 | code >> 6), (int)(0x80 | (code & 63)));
    } else if (code < 0x10000) {
        fprintf(out, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 63)),
                (int)(0x80 | (code & 63)));
    } else {
        fprintf(out, "%c%c%c%c", (int)(0xf0 | code >> 18), (int)(0x80 | (code >> 12 & 63)),
                (int)(0x80 | (code >> 6 & 63)), (int)(0x80 | (code & 63)));
    }
}

/* Of \uNNNN, of which two may make one character. */
static void read_code(reader *r, FILE *out)
{
    uint32_t code, low;
    if (!read_hex(r, &code)) return;
    if (code >= 0xd800 && code < 0xdc00 && !strncmp(r->next, "\\u", 2)) {
        r->next += 2;
        if (!read_hex(r, &low)) return;
        if (low >= 0xdc00 && low < 0xe000)
            put_character(out, 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00)));
        else
            refuse(r, "half a character of UTF-16 stands alone");
    } else if (code > LONE_BYTE + 0x7f && code <= LONE_BYTE + 0xff) {
        fputc((int)(code - LONE_BYTE), out);
    } else if (code >= 0xd800 && code < 0xe000) {
        refuse(r, "half a character of UTF-16 stands alone");
    } else if (!code) {
        refuse(r, "a text has a zero byte");
    } else {
        put_character(out, code);
    }
}

static char *read_text(reader *r)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    if (!take(r, '"')) refuse(r, "a text in quotes is missing");
    while (!r->why && *r->next != '"') {
        const unsigned char c = (unsigned char)*r->next;
        const char *escape = c == '\\' && r->next[1] ? strchr(escapes, r->next[1]) : NULL;
        if (c < ' ') {
            refuse(r, c ? "a text has a control character" : "a text has no end");
        } else if (c != '\\') {
            fputc(c, out);
            r->next++;
        } else if (r->next[1] == 'u') {
            r->next += 2;
            read_code(r, out);
        } else if (escape) {
            fputc(meant[escape - escapes], out);
            r->next += 2;
        } else {
            refuse(r, "a backslash is followed by what JSON does not know");
        }
    }
    if (!r->why) r->next++;
    fclose(out);
    return checked(text);
}

static char *read_number(reader *r)
{
    const char *begin = r->next, *at = begin + (*begin == '-');
    const size_t whole = strspn(at, "0123456789");
    const bool leads = *at == '0' && whole > 1;
    at += whole;
    size_t behind = 1, power = 1;
    if (*at == '.') at += 1 + (behind = strspn(at + 1, "0123456789"));
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        at += power = strspn(at, "0123456789");
    }
    if (!whole || leads || !behind || !power)
        refuse(r, "there is neither a text in quotes, nor a number, nor another value");
    r->next = at;
    return checked(strndup(begin, (size_t)(at - begin)));
}

static void read_members(reader *r, json_value *v, char end)
{
    if (++r->depth > DEEPEST) refuse(r, "values are too deep within each other");
    if (take(r, end)) return;
    do {
        if (r->why) return;
        v->members = checked(realloc(v->members, sizeof *v->members * ((size_t)v->count + 1)));
        json_value *m = &v->members[v->count++];
        *m = (json_value){0};
        char *name = v->kind == JSON_OBJECT ? read_text(r) : NULL;
        if (name && !take(r, ':')) refuse(r, "the name of a member is to be followed by ':'");
        read_value(r, m);
        m->name = name;
    } while (take(r, ','));
    if (!take(r, end)) refuse(r, "a ',' or the end of a list or an object is missing");
}

static void read_value(reader *r, json_value *v)
{
    static const char *const words[] = {"null", "false", "true"};
    *v = (json_value){0};
    skip_blanks(r);
    if (r->why) return;
    for (int k = JSON_NULL; k <= JSON_TRUE; k++)
        if (!strncmp(r->next, words[k], strlen(words[k]))) {
            v->kind = (enum json_kind)k;
            r->next += strlen(words[k]);
            return;
        }
    if (*r->next == '"') {
        v->kind = JSON_TEXT;
        v->text = read_text(r);
    } else if (take(r, '[')) {
        v->kind = JSON_LIST;
        read_members(r, v, ']');
        r->depth--;
    } else if (take(r, '{')) {
        v->kind = JSON_OBJECT;
        read_members(r, v, '}');
        r->depth--;
    } else {
        v->kind = JSON_NUMBER;
        v->text = read_number(r);
    }
}

const char *json_parse(const char *text, json_value *v)
{
    reader r = {.next = text};
    read_value(&r, v);
    skip_blanks(&r);
    if (*r.next) refuse(&r, "something follows the value");
    return r.why;
}

void json_release(json_value *v)
{
    for (int i = 0; i < v->count; i++) json_release(&v->members[i]);
    free(v->members), free(v->name), free(v->text);
    *v = (json_value){0};
}

/* ---- Members --------------------------------------------------------------------------------- */

const json_value *json_member(const json_value *v, const char *name)
{
    const bool object = v && v->kind == JSON_OBJECT;
    for (int i = object ? v->count - 1 : -1; i >= 0; i--)
        if (!strcmp(v->members[i].name, name)) return &v->members[i];
    return NULL;
}

const char *json_member_text(const json_value *v, const char *name)
{
    const json_value *m = json_member(v, name);
    return m && m->kind == JSON_TEXT ? m->text : "";
}

double json_member_number(const json_value *v, const char *name)
{
    const json_value *m = json_member(v, name);
    return m && m->kind == JSON_NUMBER ? strtod(m->text, NULL) : NAN;
}

bool json_member_flag(const json_value *v, const char *name)
{
    const json_value *m = json_member(v, name);
    return m && m->kind == JSON_TRUE;
}

/* plugmc new: a folder with a complete plugin of some kind, made of templates (share/plugmc/new): the files of its kind, and
 * those of all kinds. In their names "plugin" stands for the name of the plugin, in their texts PLUGIN_NAME does, and
 * PLUGIN_BUILDER for the function of CMake that builds it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "base/paths.h"
#include "base/report.h"
#include "plugin/search.h"
#include "program/beside.h"

static const char help[] =
    "usage: plugmc new KIND NAME\n"
    "\n"
    "Writes the folder NAME with a complete plugin, a small one that you change into your own:\n"
    "NAME.c, an INI file, a test against an exact result, CMakeLists.txt and a README.md that says how\n"
    "to build, run and test it. KIND is\n"
    "\n"
    "  potential    an energy of each pair of particles\n"
    "  field        an energy of each particle\n"
    "  total        an energy of the whole configuration\n"
    "  body         a shape of particles that turn\n"
    "  mover        trial moves\n"
    "  observable   something that is measured\n"
    "\n"
    "NAME has letters, digits and underscores and begins with a letter. No plugin and no file may have\n"
    "this name.\n"
    "\n"
    "exit codes: 0 done, 2 command line, 4 the templates are missing, 5 the folder cannot be written\n";

enum { LONGEST_NAME = 40 };

static const struct kind {
    const char *name, *builder;
} kinds[] = {
    {"potential", "plugmc_add_potential"}, {"field", "plugmc_add_potential"},
    {"total", "plugmc_add_plugin"},        {"body", "plugmc_add_potential"},
    {"mover", "plugmc_add_plugin"},        {"observable", "plugmc_add_plugin"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* What the templates become. */
typedef struct made {
    const struct kind *kind;
    const char *name;
    report *report;
} made;

static int usage(report *r, const char *format, const char *word)
    __attribute__((format(printf, 2, 0)));

static int usage(report *r, const char *format, const char *word)
{
    char sentence[256];
    snprintf(sentence, sizeof sentence, format, word);
    return report_error(r, EXIT_USAGE, NULL, 0, "plugmc new: %s", sentence);
}

static int unknown_kind(report *r, const char *word)
{
    const char *names[KINDS];
    for (int k = 0; k < KINDS; k++) names[k] = kinds[k].name;
    const char *near = nearest_name(word, names, KINDS);
    return report_error(r, EXIT_USAGE, NULL, 0, "plugmc new: unknown kind '%s'; %s%s%s",
                        excerpt(word).text, near ? "did you mean '" : "there are ",
                        near ? near : "potential, field, total, body, mover and observable",
                        near ? "'?" : "");
}

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name)) return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return true;
}

/* Words that C reserves, and names that CMake or the linker give to something else. */
static bool is_taken(const char *name)
{
    static const char *const words[] = {
        "all",      "auto",         "break",    "case",    "char",     "clean",    "const",
        "continue", "default",      "do",       "double",  "else",     "enum",     "extern",
        "float",    "for",          "goto",     "help",    "if",       "inline",   "install",
        "int",      "long",         "m",        "package", "register", "restrict", "return",
        "short",    "signed",       "sizeof",   "static",  "struct",   "switch",   "test",
        "typedef",  "union",        "unsigned", "void",    "volatile", "while",    "edit_cache",
        "c",        "rebuild_cache"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strcmp(name, words[k])) return true;
    return false;
}

static int check_name(const made *m)
{
    const short_text text = excerpt(m->name);
    const char *shown = text.text;
    if (!is_identifier(m->name))
        return usage(m->report,
                     "the name '%s' must have letters, digits and underscores alone, and begin "
                     "with a letter",
                     shown);
    if (strlen(m->name) > LONGEST_NAME)
        return usage(m->report, "the name '%s' is longer than 40 characters", shown);
    if (is_taken(m->name))
        return usage(m->report, "the name '%s' means something to C, CMake or the linker already",
                     shown);
    char *plugin = find_plugin(m->name);
    if (plugin) {
        const int code = report_error(m->report, EXIT_USAGE, NULL, 0,
                                      "plugmc new: there is a plugin '%s' already, %s: choose "
                                      "another name",
                                      m->name, plugin);
        free(plugin);
        return code;
    }
    struct stat info;
    return lstat(m->name, &info) == 0 ? usage(m->report, "'%s' is there already", m->name) : 0;
}

/* The whole file, malloc'ed; NULL with errno. */
static char *read_text(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    errno = 0;
    const ssize_t length = getdelim(&text, &room, '\0', file);
    fclose(file);
    if (length >= 0) return text;
    free(text);
    return errno ? NULL : strdup("");
}

/* The text, with what the words of templates stand for. */
static void put_text(FILE *out, const made *m, const char *text)
{
    static const char name[] = "PLUGIN_NAME", builder[] = "PLUGIN_BUILDER";
    while (*text) {
        if (!strncmp(text, name, sizeof name - 1)) {
            fputs(m->name, out);
            text += sizeof name - 1;
        } else if (!strncmp(text, builder, sizeof builder - 1)) {
            fputs(m->kind->builder, out);
            text += sizeof builder - 1;
        } else {
            fputc(*text++, out);
        }
    }
}

static int write_text(const made *m, const char *path, const char *text)
{
    FILE *out = fopen(path, "wx");
    if (out) {
        put_text(out, m, text);
        const bool failed = ferror(out) != 0;
        if (!fclose(out) && !failed) return EXIT_DONE;
    }
    return report_error(m->report, EXIT_OUTPUT, NULL, 0, "%s cannot be written: %s", path,
                        strerror(errno));
}

/* NAME/NAME.c of .../plugin.c */
static char *path_of(const made *m, const char *file)
{
    static const char general[] = "plugin.";
    char *path;
    const bool named = !strncmp(file, general, sizeof general - 1);
    if (asprintf(&path, "%s/%s%s", m->name, named ? m->name : "",
                 file + (named ? strlen("plugin") : 0)) < 0)
        checked(NULL);
    return path;
}

static int make_file(const made *m, const char *folder, const char *file)
{
    char *template = path_join(folder, file), *text = read_text(template);
    int code = EXIT_DONE;
    if (text) {
        char *path = path_of(m, file);
        code = write_text(m, path, text);
        free(path);
    } else {
        code = report_error(m->report, EXIT_PLUGIN, NULL, 0, "the template %s cannot be read: %s",
                            template, strerror(errno));
    }
    free(text);
    free(template);
    return code;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* All files of a folder of templates. */
static int make_files(const made *m, const char *templates, const char *kind)
{
    char *folder = path_join(templates, kind);
    struct dirent **files;
    int code = EXIT_DONE;
    const int count = scandir(folder, &files, is_visible, alphasort);
    if (count <= 0)
        code = report_error(m->report, EXIT_PLUGIN, NULL, 0,
                            "the templates of plugins are missing: %s: %s", folder,
                            count ? strerror(errno) : "is empty");
    for (int k = 0; k < count; k++) {
        if (!code) code = make_file(m, folder, files[k]->d_name);
        free(files[k]);
    }
    if (count >= 0) free(files);
    free(folder);
    return code;
}

static int make_folder(const made *m)
{
    /* of a build tree, and of an installation wherever it was moved */
    static const char *const places[] = {"share/plugmc/new", PLUGMC_TO_DATA "/new", NULL};
    char *templates = own_place(places);
    if (!templates)
        return report_error(m->report, EXIT_PLUGIN, NULL, 0,
                            "the templates of plugins are missing: they belong into %s/%s",
                            own_folder() ? own_folder() : "", places[1]);
    int code = EXIT_DONE;
    /* The group may not write there whatever the umask is: the plugin would not be loaded. */
    if (mkdir(m->name, 0755))
        code = report_error(m->report, EXIT_OUTPUT, NULL, 0, "the folder %s cannot be made: %s",
                            m->name, strerror(errno));
    if (!code) code = make_files(m, templates, "all");
    if (!code) code = make_files(m, templates, m->kind->name);
    free(templates);
    return code;
}

static void print_steps(const made *m)
{
    printf("%s: a plugin that works as it is; change %s.c into your own\n\n"
           "    cd %s\n"
           "    plugmc build %s.c\n"
           "    plugmc validate ./%s.so %s.ini --quick\n"
           "    plugmc run %s.ini\n"
           "    sh test.sh\n",
           m->name, m->name, m->name, m->name, m->name, m->name, m->name);
}

static int command(int argc, char **argv)
{
    report r = {0};
    made m = {.report = &r};
    if (argc != 2) return usage(&r, "expected %s; see --help", "KIND NAME");
    for (int k = 0; k < KINDS; k++)
        if (!strcmp(argv[0], kinds[k].name)) m.kind = &kinds[k];
    if (!m.kind) return unknown_kind(&r, argv[0]);
    m.name = argv[1];
    int code = check_name(&m);
    if (!code) code = make_folder(&m);
    if (!code) print_steps(&m);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }

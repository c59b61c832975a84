/* Files of potentials with the parameters in them: see variational.h. */
#include "quantum/variational.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The file that a part's section names; NULL: none, or the plugin does not write such. */
static const char *file_of(const variational_part *part)
{
    const plugmc_variational *facet = part->facet;
    const plugmc_plugin *plugin = part->owner->plugin;
    if (!PLUGMC_HAS(facet, file_key) || !facet->file_key || !facet->file_text) return NULL;
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = &plugin->parameters[k];
        const char *path;
        if (p->type != PLUGMC_TYPE_FILE || strcmp(p->name, facet->file_key) != 0) continue;
        memcpy(&path, (const char *)part->owner->data + p->offset, sizeof path);
        return path && *path ? path : NULL;
    }
    return NULL;
}

static bool is_earlier(const variational_parameters *f, int part, const char *path)
{
    for (int k = 0; k < part; k++) {
        const char *other = file_of(&f->part[k]);
        if (other && !strcmp(other, path)) return true;
    }
    return false;
}

static char *read_all(const char *path, report *report)
{
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "rb");
    const ssize_t length = in ? getdelim(&text, &room, 0, in) : -1;
    if (in) fclose(in);
    if (length >= 0) return text;
    free(text);
    report_error(report, EXIT_INPUT, NULL, 0, "file '%s' cannot be read again: %s", path,
                 strerror(errno));
    return NULL;
}

/* Each potential that reads the file puts its parameters in. */
static char *text_of(const variational_parameters *f, const char *path, report *report)
{
    char *text = read_all(path, report);
    for (int k = 0; k < f->parts && text; k++) {
        instance *owner = f->part[k].owner;
        const char *own = file_of(&f->part[k]);
        if (!own || strcmp(own, path) != 0) continue;
        context_calling(&owner->context, "file_text");
        char *next = f->part[k].facet->file_text(owner->data, &owner->host, text);
        context_exit_code(&owner->context, next ? PLUGMC_OK : PLUGMC_ERROR_MEMORY,
                          "writing its variational parameters");
        free(text);
        text = next;
    }
    return text;
}

int variational_file(const variational_parameters *f, int index, const char **path, char **text,
                     report *report)
{
    *path = NULL;
    *text = NULL;
    for (int k = 0; k < f->parts; k++) {
        const char *own = file_of(&f->part[k]);
        if (!own || is_earlier(f, k, own) || index--) continue;
        *path = own;
        *text = text_of(f, own, report);
        return *text ? 0 : report->code;
    }
    return 0;
}

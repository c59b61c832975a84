/* h5tool: what the tests of the command line do with HDF5 files, by HDF5 alone.
 *
 *   h5tool overlaps FILE N DIAMETER   are there N particles in the last frame of the trajectory, in
 *                                     the box and no two closer than DIAMETER? All pairs, in long
 *                                     double precision, with the nearest image in x and y (and z
 *                                     where the box is periodic there)
 *   h5tool xyz FILE SPECIES           the last frame as extended XYZ
 *   h5tool format FILE NUMBER         changes the format of the checkpoint
 *   h5tool foreign FILE               makes a file that no plugmc has written
 *   h5tool nameless FILE              takes the names of species away
 *   h5tool names FILE KIND            writes them as other programs do: variable (texts), enumeration, or in_time
 *   h5tool open FILE                  makes the box one that is periodic nowhere
 *   h5tool hostile FILE PATH KIND     puts in place of PATH what nobody should read: see `hostile`
 *   h5tool damage FILE PATH           turns one bit of the last chunk of PATH, in place
 *   h5tool damage FILE PATH ROW       ... of the chunk that begins with this row
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct frame {
    hsize_t count;
    double *positions; /* [count][3] */
    double edges[3];
    int periodic[3];
} frame;

static void die(const char *what)
{
    fprintf(stderr, "h5tool: %s\n", what);
    exit(1);
}

static hid_t good(hid_t id, const char *what)
{
    if (id < 0) die(what);
    return id;
}

/* Last row of `name` [frames][...], `n` numbers. */
static double *last_row(hid_t file, const char *name, hsize_t *n)
{
    hsize_t shape[3] = {0, 1, 1}, start[3] = {0};
    hid_t array = good(H5Dopen2(file, name, H5P_DEFAULT), name), space = H5Dget_space(array);
    if (H5Sget_simple_extent_ndims(space) > 3) die("too many dimensions");
    H5Sget_simple_extent_dims(space, shape, NULL);
    start[0] = shape[0] - 1;
    shape[0] = 1;
    *n = shape[1] * shape[2];
    double *row = malloc(*n * sizeof *row);
    hid_t memory = H5Screate_simple(1, n, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, shape, NULL);
    if (!row || H5Dread(array, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, row) < 0) die(name);
    return row;
}

static frame read_frame(const char *path)
{
    frame f;
    hsize_t n;
    char boundary[3][9];
    hid_t file = good(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), path);
    f.positions = last_row(file, "particles/trajectory/position/value", &n);
    f.count = n / 3;
    double *edges = last_row(file, "particles/trajectory/box/edges/value", &n);
    if (n != 3) die("the box has not three edges");
    memcpy(f.edges, edges, sizeof f.edges);
    free(edges);
    hid_t attribute = good(
        H5Aopen_by_name(file, "particles/trajectory/box", "boundary", H5P_DEFAULT, H5P_DEFAULT),
        "boundary");
    hid_t type = H5Aget_type(attribute);
    if (H5Tget_size(type) != sizeof boundary[0] || H5Aread(attribute, type, boundary) < 0)
        die("boundary");
    for (int d = 0; d < 3; d++) f.periodic[d] = !strcmp(boundary[d], "periodic");
    return f;
}

static int overlaps(const frame *f, hsize_t count, long double diameter)
{
    long double least = INFINITY;
    if (f->count != count) die("another number of particles");
    for (hsize_t i = 0; i < count; i++) {
        for (int d = 0; d < 3; d++) {
            double x = f->positions[3 * i + d];
            if (f->periodic[d] ? !(x >= 0 && x < f->edges[d]) : x != 0) die("outside of the box");
        }
        for (hsize_t j = 0; j < i; j++) {
            long double square = 0;
            for (int d = 0; d < 3; d++) {
                long double x = (long double)f->positions[3 * i + d] - f->positions[3 * j + d];
                if (f->periodic[d]) x -= f->edges[d] * rintl(x / f->edges[d]);
                square += x * x;
            }
            if (square < least) least = square;
        }
    }
    printf("smallest distance %.12Lg\n", sqrtl(least));
    return sqrtl(least) < diameter;
}

static void write_xyz(const frame *f, const char *species)
{
    printf("%llu\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" Properties=species:S:1:pos:R:3 "
           "pbc=\"%c %c %c\"\n",
           (unsigned long long)f->count, f->edges[0], f->edges[1], f->edges[2],
           "FT"[f->periodic[0]], "FT"[f->periodic[1]], "FT"[f->periodic[2]]);
    for (hsize_t i = 0; i < f->count; i++)
        printf("%s %.17g %.17g %.17g\n", species, f->positions[3 * i], f->positions[3 * i + 1],
               f->positions[3 * i + 2]);
}

static void change_format(const char *path, long long number)
{
    hid_t file = good(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), path);
    hid_t group = good(H5Gopen2(file, "plugmc", H5P_DEFAULT), "plugmc");
    hid_t format = good(H5Aopen(group, "format", H5P_DEFAULT), "format");
    good(H5Awrite(format, H5T_NATIVE_LLONG, &number), "format");
    H5Aclose(format);
    H5Gclose(group);
    good(H5Fclose(file), path);
}

static void make_foreign(const char *path)
{
    hid_t file = good(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path);
    hid_t group = good(H5Gcreate2(file, "weather", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "group");
    H5Gclose(group);
    good(H5Fclose(file), path);
}

/* ---- Hostile files --------------------------------------------------------------------------- */

static size_t unchanged(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                        size_t *room, void **data)
{
    (void)flags, (void)count, (void)values, (void)room, (void)data;
    return bytes;
}

/* A data set of `type` with these properties, in the shape of the one that was there. */
static void put(hid_t file, const char *path, hid_t type, hid_t space, hid_t creation,
                const void *data)
{
    hid_t set = good(H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT), path);
    if (data) good(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path);
    H5Dclose(set);
}

static void put_huge(hid_t file, const char *path, int rank)
{
    hsize_t shape[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        shape[i] = i == rank - 1 && rank > 1 ? 3 : (hsize_t)1 << (rank > 2 ? 18 : 36);
        chunk[i] = i == rank - 1 && rank > 1 ? 3 : 16;
    }
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, rank, chunk);
    put(file, path, H5T_NATIVE_DOUBLE, H5Screate_simple(rank, shape, NULL), creation, NULL);
}

static void hostile(const char *name, const char *path, const char *kind)
{
    static const H5Z_class2_t own = {H5Z_CLASS_T_VERS, 40000, 1, 1, "own", NULL, NULL, unchanged};
    hid_t file = good(H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT), name);
    hid_t old = good(H5Dopen2(file, path, H5P_DEFAULT), path);
    hid_t space = H5Dget_space(old), creation = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t shape[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    double *zeros = calloc(n + 1, sizeof *zeros);
    const char **words = calloc(n + 1, sizeof *words);
    if (rank < 1) die("the data set has no shape");
    H5Sclose(space);
    space = H5Screate_simple(rank, shape, NULL);
    H5Dclose(old);
    good(H5Ldelete(file, path, H5P_DEFAULT), path);
    for (size_t i = 0; i < n; i++) words[i] = "1.5";
    if (!strcmp(kind, "virtual")) { /* of itself */
        good(H5Pset_virtual(creation, space, ".", path, space), "virtual");
        put(file, path, H5T_NATIVE_DOUBLE, space, creation, NULL);
    } else if (!strcmp(kind, "external")) { /* what the user may read, the file may not hand on */
        good(H5Pset_external(creation, "/etc/passwd", 0, H5F_UNLIMITED), "external");
        put(file, path, H5T_NATIVE_DOUBLE, space, creation, NULL);
    } else if (!strcmp(kind, "filter")) {
        good(H5Zregister(&own), "filter");
        H5Pset_chunk(creation, rank, shape);
        good(H5Pset_filter(creation, 40000, H5Z_FLAG_MANDATORY, 0, NULL), "filter");
        put(file, path, H5T_NATIVE_DOUBLE, space, creation, zeros);
    } else if (!strcmp(kind, "text")) {
        hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        put(file, path, type, space, H5P_DEFAULT, words);
    } else if (!strcmp(kind, "huge")) {
        put_huge(file, path, rank);
    } else if (!strcmp(kind, "elsewhere")) {
        good(H5Lcreate_external("other.h5", path, file, path, H5P_DEFAULT, H5P_DEFAULT), kind);
    } else if (!strcmp(kind, "loop")) { /* a link to itself */
        good(H5Lcreate_soft(path, file, path, H5P_DEFAULT, H5P_DEFAULT), kind);
    } else if (!strcmp(kind, "cycle")) { /* the root of the file below itself */
        good(H5Lcreate_hard(file, "/", file, path, H5P_DEFAULT, H5P_DEFAULT), kind);
    } else {
        die(kind);
    }
    free(zeros);
    free(words);
    good(H5Fclose(file), name);
}

/* Species are left with their numbers, as other programs write them. */
static void take_names(const char *name)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    good(file, name);
    good(H5Adelete_by_name(file, "particles/trajectory/species", "names", H5P_DEFAULT), "names");
    good(H5Fclose(file), name);
}

/* Those of the two species of a run of our own. */
static void give_names(const char *path, const char *kind)
{
    enum { MOST = 1000 };
    static const char species[] = "particles/trajectory/species", inner[] = "value";
    const char *names[] = {"Ar", "Kr"};
    int numbers[MOST];
    const int values[] = {36, 18};
    const int enumerated = !strcmp(kind, "enumeration"), in_time = !strcmp(kind, "in_time");
    hid_t file = good(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), path),
          old = good(H5Dopen2(file, species, H5P_DEFAULT), species),
          type = enumerated ? H5Tenum_create(H5T_NATIVE_INT) : H5Tcopy(H5T_NATIVE_INT);
    hsize_t shape[2] = {1, 0}, two = 2;
    H5Sget_simple_extent_dims(H5Dget_space(old), shape + 1, NULL);
    if (shape[1] > MOST) die("too many particles");
    good(H5Dread(old, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers), species);
    H5Dclose(old);
    good(H5Ldelete(file, species, H5P_DEFAULT), species);
    for (int k = 0; k < 2 && enumerated; k++)
        good(H5Tenum_insert(type, names[k], &values[k]), kind);
    for (hsize_t i = 0; i < shape[1] && enumerated; i++) numbers[i] = values[numbers[i]];
    hid_t parent =
        in_time ? good(H5Gcreate2(file, species, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), species)
                : file;
    hid_t set =
        good(H5Dcreate2(parent, in_time ? inner : species, type,
                        H5Screate_simple(in_time ? 2 : 1, in_time ? shape : shape + 1, NULL),
                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
             species);
    good(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers), species);
    if (!enumerated) {
        hid_t text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, H5T_VARIABLE);
        hid_t attribute = good(H5Acreate2(set, "names", text, H5Screate_simple(1, &two, NULL),
                                          H5P_DEFAULT, H5P_DEFAULT),
                               "names");
        good(H5Awrite(attribute, text, names), "names");
        H5Aclose(attribute);
    }
    H5Dclose(set);
    good(H5Fclose(file), path);
}

/* A box that is periodic in no direction. */
static void open_box(const char *path)
{
    static const char boundary[3][9] = {"none", "none", "none"}, box[] = "particles/trajectory/box";
    hsize_t three = 3;
    hid_t file = good(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), path),
          group = good(H5Gopen2(file, box, H5P_DEFAULT), box), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, sizeof boundary[0]);
    good(H5Adelete(group, "boundary"), box);
    hid_t attribute = good(H5Acreate2(group, "boundary", text, H5Screate_simple(1, &three, NULL),
                                      H5P_DEFAULT, H5P_DEFAULT),
                           box);
    good(H5Awrite(attribute, text, boundary), box);
    H5Aclose(attribute);
    H5Gclose(group);
    good(H5Fclose(file), path);
}

/* Of the last chunk, or of the one that begins with a row. */
static void damage(const char *name, const char *path, const char *row)
{
    hid_t file = good(H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT), name),
          array = good(H5Dopen2(file, path, H5P_DEFAULT), path);
    hsize_t count = 0, last = 0, offset[H5S_MAX_RANK], bytes;
    haddr_t at = 0, found = 0;
    unsigned mask;
    const hid_t space = H5Dget_space(array);
    good(H5Dget_num_chunks(array, space, &count), path);
    for (hsize_t k = 0; k < count; k++) {
        good(H5Dget_chunk_info(array, space, k, offset, &mask, &at, &bytes), path);
        if (row ? offset[0] != strtoull(row, NULL, 10) : found && offset[0] < last) continue;
        last = offset[0];
        found = at;
    }
    H5Sclose(space);
    H5Dclose(array);
    H5Fclose(file);
    FILE *raw = found ? fopen(name, "r+b") : NULL;
    if (!raw || fseek(raw, (long)found + 16, SEEK_SET)) die(name);
    const int byte = fgetc(raw);
    if (fseek(raw, (long)found + 16, SEEK_SET) || fputc(byte ^ 1, raw) < 0 || fclose(raw))
        die(name);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (!strcmp(what, "overlaps") && argc == 5) {
        frame f = read_frame(argv[2]);
        return overlaps(&f, strtoull(argv[3], NULL, 10), strtold(argv[4], NULL));
    }
    if (!strcmp(what, "xyz") && argc == 4) {
        frame f = read_frame(argv[2]);
        write_xyz(&f, argv[3]);
    } else if (!strcmp(what, "format") && argc == 4) {
        change_format(argv[2], strtoll(argv[3], NULL, 10));
    } else if (!strcmp(what, "nameless") && argc == 3) {
        take_names(argv[2]);
    } else if (!strcmp(what, "names") && argc == 4) {
        give_names(argv[2], argv[3]);
    } else if (!strcmp(what, "open") && argc == 3) {
        open_box(argv[2]);
    } else if (!strcmp(what, "foreign") && argc == 3) {
        make_foreign(argv[2]);
    } else if (!strcmp(what, "hostile") && argc == 5) {
        hostile(argv[2], argv[3], argv[4]);
    } else if (!strcmp(what, "damage") && (argc == 4 || argc == 5)) {
        damage(argv[2], argv[3], argv[4]);
    } else {
        die("wrong arguments: see the head of h5tool.c");
    }
    return 0;
}

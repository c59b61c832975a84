/* h5tool: what the tests of the command line do with HDF5 files, by HDF5 alone.
 *
 *   h5tool overlaps FILE N DIAMETER   are there N particles in the last frame of the trajectory, in
 *                                     the box and no two closer than DIAMETER? All pairs, in long
 *                                     double precision, with the nearest image in x and y (and z
 *                                     where the box is periodic there)
 *   h5tool xyz FILE SPECIES           the last frame as extended XYZ
 *   h5tool format FILE NUMBER         changes the format of the checkpoint
 *   h5tool foreign FILE               makes a file that no plugmc has written
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
    hid_t attribute = good(H5Aopen_by_name(file, "particles/trajectory/box", "boundary", H5P_DEFAULT,
                                           H5P_DEFAULT), "boundary");
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
           "pbc=\"%c %c %c\"\n", (unsigned long long)f->count, f->edges[0], f->edges[1], f->edges[2],
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
    } else if (!strcmp(what, "foreign") && argc == 3) {
        make_foreign(argv[2]);
    } else {
        die("wrong arguments: see the head of h5tool.c");
    }
    return 0;
}

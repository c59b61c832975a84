/* The layout of GSD files, version 2.0 (https://gsd.readthedocs.io: file layer), with HOOMD's schema 1.4: for what
 * reads them (gsd.c), schema 2.0 as well, in which reals may be float or double, and for `plugmc export`. Numbers are
 * little-endian.
 *
 *     header       256 bytes
 *     chunks       arrays [N][M] of one type, each of a frame and a name
 *     name list    of chunks: in version 1 a name in each 64 bytes, in version 2 one behind the other, each with a
 *                  final zero
 *     index        an entry for each chunk, by frame, then by the number of its name; ends with the first
 *                  entry of location 0, or with the room for them
 *
 * A chunk that a frame has not is that of frame 0; one of particles only if both have as many.
 *
 * HOOMD's box is that of lattice vectors (Lx, 0, 0), (xy Ly, Ly, 0), (xz Lz, yz Lz, Lz), with its centre at the
 * origin. Positions and box are floats there, so ours are beside them in double, in chunks for what is logged, as
 * the run has them: in [0, length), and in an oblique box in our axes. */
#ifndef PLUGMC_GSD_H
#define PLUGMC_GSD_H

#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "formats/frame.h"
#include "plugmc/everything.h"

#define GSD_MAGIC 0x65DF65DF65DF65DFu
#define GSD_OUR_POSITIONS "log/particles/plugmc/position" /* double [N][3] */
#define GSD_OUR_ORIENTATIONS                                                                       \
    "log/particles/plugmc/orientation" /* int32 [N][4]: plugmc_orientation, of bodies */
#define GSD_OUR_BOX "log/plugmc/box"   /* double [3][3]: its vectors as rows */
#define GSD_OUR_NUMBERS                                                                            \
    "log/particles/plugmc/number" /* uint32 [N]: of particles in the run, where they come and go */

enum { GSD_VERSION = 2 << 16, GSD_SCHEMA_VERSION = 1 << 16 | 4, GSD_NAME = 64 };
enum {
    GSD_UINT8 = 1,
    GSD_UINT32 = 3,
    GSD_UINT64 = 4,
    GSD_INT8 = 5,
    GSD_INT32 = 7,
    GSD_FLOAT = 9,
    GSD_DOUBLE = 10,
    GSD_CHARACTER = 11
};

typedef struct gsd_header {
    uint64_t magic, index_location, index_room, name_location,
        name_room;                    /* room: entries; 64 bytes */
    uint32_t schema_version, version; /* major << 16 | minor */
    char application[64], schema[64], reserved[80];
} gsd_header;

typedef struct gsd_entry {
    uint64_t frame, n;
    int64_t location;
    uint32_t m;
    uint16_t name;
    uint8_t type, flags;
} gsd_entry;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as in the file");
_Static_assert(sizeof(gsd_header) == 256 && sizeof(gsd_entry) == 32, "as in the file");

/* Bytes of a number of that type; 0: there is no such type. */
size_t gsd_size(uint8_t type);

/* A box as HOOMD has it: Lx, Ly, Lz, xy, xz, yz. A place r of ours is (r - centre) . axis[d] there. Lz is 0 in two
 * dimensions. Around a sphere lies the smallest cube that has all of its particles in it. */
typedef struct gsd_box {
    double size[6], centre[3], axis[3][3];
} gsd_box;
gsd_box gsd_box_of(const plugmc_box *, double largest_diameter);
/* The vectors of a box of HOOMD's as rows, in its axes. */
void gsd_vectors(const double size[6], double out[3][3]);

/* A file from which frames are read one after the other. Functions return an exit code, after a sentence in the report. */
typedef struct gsd_reader gsd_reader;
int gsd_open(const char *path, gsd_reader **, report *);
int64_t gsd_frames(const gsd_reader *);
/* configuration/step of a frame from 0 on; 0 if the file does not have it. */
int gsd_step(gsd_reader *, int64_t frame, int64_t *step);
/* Frame `which`, as frame_number counts. */
int gsd_frame_read(gsd_reader *, int64_t which, file_frame *, report *);
void gsd_close(gsd_reader *);

#endif

#!/usr/bin/env python3
"""overlaps.py FILE SHAPE [--edge E] [--walker W] [--plant COPY --by=DEPTH]

Whether two bodies of a configuration overlap, from positions, orientations and the box alone, in integers of 60 digits. It
uses nothing of the program: shapes, poses and the test of overlap are written down here once more.

FILE is an output of a run, whose last configuration is looked at, or its trajectory in H5MD, of which all frames are. SHAPE
is hexagon, square, triangle, pentagon, octahedron, cube or tetrahedron, with edges of length E (1).

Pairs whose spheres around them are apart are apart. For the others numpy looks for the widest empty slab between the two, whose
normal, as it is in double, is a vector of rational numbers: whether that slab is there is then decided exactly. Where it
is not, all directions in which two convex bodies can be parted are tried exactly: edges in two dimensions; faces, and an
edge of each, in three. Two bodies overlap if no direction parts them by more than 1e-45. No margin is left.

The status is 1 if there is an overlap. With --plant the closest pair of the last configuration is moved together until it
overlaps by DEPTH (is apart by it, if negative), and written to COPY."""
import argparse
import math
import shutil
import sys
import time

import h5py
import numpy as np

BITS = 200
ONE = 1 << BITS
TINY = 1 << (BITS - 150)  # 1e-45


# ---- Numbers: integers in units of 2^-200 ------------------------------------------------------------------------------

def exact(x):
    """A double as it is."""
    numerator, denominator = float(x).as_integer_ratio()
    return numerator * ONE // denominator


def arc_tangent_of_inverse(n):
    total, power, k = 0, ONE // n, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power //= n * n
        k += 2
    return total


PI = 4 * (4 * arc_tangent_of_inverse(5) - arc_tangent_of_inverse(239))  # J. Machin, 1706


def cosine_and_sine(angle):
    """By the series of an eighth of the angle, which is then doubled three times."""
    angle >>= 3
    square, c, s, term, k = angle * angle >> BITS, ONE, angle, ONE, 1
    odd = angle
    while term:
        term = -(term * square >> BITS) // ((2 * k - 1) * 2 * k)
        odd = -(odd * square >> BITS) // (2 * k * (2 * k + 1))
        c, s, k = c + term, s + odd, k + 1
        if abs(term) <= 1:
            break
    for _ in range(3):
        c, s = (c * c - s * s) >> BITS, 2 * c * s >> BITS
    return c, s


# ---- Shapes ---------------------------------------------------------------------------------------------------------------

SIDES = {"triangle": 3, "square": 4, "pentagon": 5, "hexagon": 6}


def corners_of(shape, edge):
    """Exact corners of the body as it is drawn upright: regular polygons have one corner at the angle pi / n."""
    edge = exact(edge)
    if shape in SIDES:
        n = SIDES[shape]
        around = edge * ONE // (2 * cosine_and_sine(PI // n)[1])
        return [tuple(around * x >> BITS for x in cosine_and_sine(PI * (2 * k + 1) // n)) for k in range(n)]
    half = edge // 2
    root = math.isqrt(edge * edge // 2)  # edge / sqrt 2
    if shape == "octahedron":
        return [tuple(sign * root if d == k else 0 for d in range(3)) for k in range(3) for sign in (1, -1)]
    cube = [(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)]
    if shape == "cube":
        return [tuple(half * x for x in v) for v in cube]
    if shape == "tetrahedron":
        return [tuple(root // 2 * x for x in v) for v in cube if v[0] * v[1] * v[2] > 0]
    raise SystemExit(f"no shape is called {shape}")


def in_double(corners):
    return np.array([[x / ONE for x in v] for v in corners])


def directions_of(corners):
    """Three corners of each face, and two of each edge that has a direction of its own, by number."""
    v = in_double(corners)
    n = len(v)
    if v.shape[1] == 2:
        return [], [(k, (k + 1) % n) for k in range(n)]
    faces, edges, seen, on = [], [], [], []
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                normal = np.cross(v[j] - v[i], v[k] - v[i])
                height = (v - v[i]) @ normal / max(np.linalg.norm(normal), 1e-300)
                if np.linalg.norm(normal) < 1e-9 or (height.max() > 1e-9 and height.min() < -1e-9):
                    continue
                members = frozenset(np.flatnonzero(abs(height) < 1e-9))
                if members not in on:
                    on.append(members)
                    faces.append((i, j, k))
    for i in range(n):
        for j in range(i + 1, n):
            if sum(i in m and j in m for m in on) < 2:
                continue
            e = (v[j] - v[i]) / np.linalg.norm(v[j] - v[i])
            if all(np.linalg.norm(np.cross(e, f)) > 1e-9 for f in seen):
                seen.append(e)
                edges.append((i, j))
    return faces, edges


# ---- Configurations ---------------------------------------------------------------------------------------------------------

class Frame:
    """positions [n][3], orientations [n][4] as integers, edges of the box [3], all of one configuration."""

    def __init__(self, name, positions, orientations, box, dimension):
        self.name, self.positions, self.orientations, self.box = name, positions, orientations, box
        self.dimension = dimension
        assert dimension == 3 or not orientations[:, 1:].any(), "the run is in three dimensions"


def frames_of(path, walker, dimension):
    with h5py.File(path, "r") as file:
        if "plugmc" in file:
            checkpoint = file["plugmc/checkpoint"]
            blobs = {blob["name"][()]: blob["data"][:] for blob in checkpoint["plugins"].values()}
            turned = blobs[b"run/orientations"].view("<i4")[walker].reshape(-1, 4)
            box = checkpoint["boxes"][walker]
            assert (box == np.diag(np.diag(box))).all(), "the box is oblique"
            yield Frame("the last configuration", checkpoint["positions"][walker], turned, np.diag(box), dimension)
            return
        group = file["particles/trajectory" + (f"_{walker}" if walker else "")]
        for k, step in enumerate(group["position/step"][:]):
            yield Frame(f"sweep {step}", group["position/value"][k], group["orientation/value"][k],
                        group["box/edges/value"][k], dimension)


# ---- Pairs that are near ------------------------------------------------------------------------------------------------------

def near_pairs(frame, reach):
    """Numbers [pairs][2] of those whose centres are at most `reach` apart; the box is at least twice as long."""
    d, n = frame.dimension, len(frame.positions)
    box = frame.box[:d]
    assert (box >= 2 * reach).all(), "the box is too small for nearest images"
    count = np.maximum(1, (box / reach).astype(int))
    wrapped = frame.positions[:, :d] % box
    cell = np.minimum((wrapped / box * count).astype(int), count - 1)
    number = np.ravel_multi_index(cell.T, count)
    order = np.argsort(number, kind="stable")
    start = np.searchsorted(number[order], np.arange(count.prod() + 1))
    found = []
    for step in np.ndindex(*[3] * d):
        beside = np.ravel_multi_index(((cell + np.array(step) - 1) % count).T, count)
        first, size = start[beside], start[beside + 1] - start[beside]
        one = np.repeat(np.arange(n), size)
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        other = order[np.repeat(first, size) + within]
        s = frame.positions[other, :d] - frame.positions[one, :d]
        s -= box * np.rint(s / box)
        near = (one < other) & ((s * s).sum(1) <= reach * reach)
        found.append(np.stack([one[near], other[near]], 1))
    return np.unique(np.concatenate(found), axis=0)  # few cells are beside each other twice


# ---- Slabs, in double ---------------------------------------------------------------------------------------------------------

def turned_corners(frame, corners):
    """[n][corners][d], in double, for the search alone."""
    v = in_double(corners)
    o = frame.orientations
    if frame.dimension == 2:
        t = o[:, 0] * (2 * np.pi / 2**24)
        matrix = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]).transpose(2, 0, 1)
    else:
        w, x, y, z = (o / np.sqrt((o.astype(float)**2).sum(1, keepdims=True))).T
        matrix = np.array([[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                           [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                           [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]]).transpose(2, 0, 1)
    return np.einsum("nij,kj->nki", matrix, v)


def axes_of_bodies(points, faces, edges):
    """Candidates [n][k][d] of each body by itself; directions of its edges."""
    along = np.stack([points[:, j] - points[:, i] for i, j in edges], 1)
    if points.shape[2] == 2:
        return np.stack([along[..., 1], -along[..., 0]], 2), along
    normals = np.stack([np.cross(points[:, j] - points[:, i], points[:, k] - points[:, i]) for i, j, k in faces], 1)
    return normals, along


def widest_slabs(frame, pairs, points, faces, edges):
    """The widest slab of each pair: width [pairs] and normal [pairs][d], from the first to the second."""
    d = frame.dimension
    box = frame.box[:d]
    normals, along = axes_of_bodies(points, faces, edges)
    widths, axes = [], []
    for some in np.array_split(pairs, max(1, len(pairs) // 4000)):
        a, b = some.T
        s = frame.positions[b, :d] - frame.positions[a, :d]
        s -= box * np.rint(s / box)
        candidates = [normals[a], normals[b]]
        if d == 3:
            crossed = np.cross(along[a][:, :, None], along[b][:, None])
            candidates.append(crossed.reshape(len(some), -1, 3))
        n = np.concatenate(candidates, 1)
        length = np.linalg.norm(n, axis=2)
        n = n / np.maximum(length, 1e-12)[..., None]
        n = n * np.where(np.einsum("pkd,pd->pk", n, s) < 0, -1, 1)[..., None]
        width = (np.einsum("pkd,pd->pk", n, s) + np.einsum("pkd,pcd->pkc", n, points[b]).min(2) -
                 np.einsum("pkd,pcd->pkc", n, points[a]).max(2))
        width[length < 1e-12] = -np.inf
        best = width.argmax(1)
        widths.append(width[np.arange(len(some)), best])
        axes.append(n[np.arange(len(some)), best])
    return np.concatenate(widths), np.concatenate(axes)


# ---- The exact test -------------------------------------------------------------------------------------------------------------

def exact_corners(orientation, corners):
    if len(corners[0]) == 2:
        c, s = cosine_and_sine(2 * PI * int(orientation[0]) >> 24)
        return [((c * x - s * y) >> BITS, (s * x + c * y) >> BITS) for x, y in corners]
    w, x, y, z = map(int, orientation)
    square = w * w + x * x + y * y + z * z
    matrix = ((w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
              (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
              (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z))
    return [tuple(sum(m * u for m, u in zip(row, v)) // square for row in matrix) for v in corners]


def exact_way(frame, i, j):
    """From i to the nearest image of j, each coordinate and edge as the double that it is."""
    out = []
    for d in range(frame.dimension):
        box = exact(frame.box[d])
        r = exact(frame.positions[j, d]) - exact(frame.positions[i, d])
        out.append(r - box * ((2 * r + box) // (2 * box)))
    return out


def dot(u, v):
    return sum(x * y for x, y in zip(u, v))


def parted_by(n, mine, others, way):
    """The width of the slab along n times |n|; n and the result are in units that may differ from call to call."""
    return dot(n, way) + min(dot(n, v) for v in others) - max(dot(n, v) for v in mine)


def difference(u, v):
    return tuple(x - y for x, y in zip(u, v))


def cross(u, v):
    return tuple((u[k - 2] * v[k - 1] - u[k - 1] * v[k - 2]) >> BITS for k in range(3))


def exact_axes(mine, others, faces, edges):
    if len(mine[0]) == 2:
        for points in (mine, others):
            for i, j in edges:
                x, y = difference(points[j], points[i])
                yield (y, -x)
        return
    for points in (mine, others):
        for i, j, k in faces:
            yield cross(difference(points[j], points[i]), difference(points[k], points[i]))
    for i, j in edges:
        for k, l in edges:
            yield cross(difference(mine[j], mine[i]), difference(others[l], others[k]))


def widest_exactly(mine, others, way, faces, edges):
    """Width of the widest slab, in units of 2^-200; negative where they overlap, by how much."""
    widest = -10**9 * ONE
    for n in exact_axes(mine, others, faces, edges):
        length = math.isqrt(dot(n, n))
        if length <= TINY:  # parallel edges
            continue
        for sign in (1, -1):
            widest = max(widest, parted_by([sign * x for x in n], mine, others, way) // length)
    return widest


def overlaps_of(frame, corners, faces, edges, reach):
    """[(i, j, depth)], how many pairs are near, the smallest width that was proved."""
    pairs = near_pairs(frame, reach)
    widths, axes = widest_slabs(frame, pairs, turned_corners(frame, corners), faces, edges)
    known, found, least = {}, [], math.inf
    for (i, j), axis in zip(pairs.tolist(), axes):
        for k in (i, j):
            if k not in known:
                known[k] = exact_corners(frame.orientations[k].tolist(), corners)
        way, mine, others = exact_way(frame, i, j), known[i], known[j]
        n = [exact(x) for x in axis]
        width = parted_by(n, mine, others, way) // math.isqrt(dot(n, n))
        if width <= TINY:
            width = widest_exactly(mine, others, way, faces, edges)
        least = min(least, width / ONE)
        if width <= TINY:
            found.append((i, j, -width / ONE))
    return found, pairs, widths, axes, least


def plant(path, walker, depth, copy, frame, pairs, widths, axes):
    """Moves the second of the closest pair against the normal of the slab."""
    k = int(np.argmin(widths))
    j = pairs[k][1]
    shutil.copy(path, copy)
    with h5py.File(copy, "r+") as file:
        positions = file["plugmc/checkpoint/positions"]
        at = positions[walker]
        at[j, :frame.dimension] -= (widths[k] + depth) * axes[k]
        positions[walker] = at
    print(f"{copy}: {pairs[k][0]} and {j} were {widths[k]:.3g} apart and now are {-depth:g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file"), parser.add_argument("shape")
    parser.add_argument("--edge", type=float, default=1)
    parser.add_argument("--walker", type=int, default=0)
    parser.add_argument("--plant")
    parser.add_argument("--by", type=float, default=0)
    asked = parser.parse_args()
    corners = corners_of(asked.shape, asked.edge)
    faces, edges = directions_of(corners)
    reach = 2 * max(math.sqrt(dot(v, v)) for v in corners) / ONE * (1 + 1e-9)
    status = 0
    for frame in frames_of(asked.file, asked.walker, len(corners[0])):
        begun = time.time()
        found, pairs, widths, axes, least = overlaps_of(frame, corners, faces, edges, reach)
        for i, j, depth in found:
            print(f"{frame.name}: {i} and {j} overlap by {depth:.3g}")
        print(f"{frame.name}: {len(frame.positions)} bodies, {len(pairs)} pairs with spheres that meet, "
              f"{len(found)} overlap; the closest are {least:.3g} apart ({time.time() - begun:.0f} s)")
        status |= bool(found)
    if asked.plant:
        plant(asked.file, asked.walker, asked.by, asked.plant, frame, pairs, widths, axes)
    return status


if __name__ == "__main__":
    sys.exit(main())

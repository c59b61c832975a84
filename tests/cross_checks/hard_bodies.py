#!/usr/bin/env python3
"""Whether hard bodies overlap, worked out in other ways than plugmc does it.

    test_hard_bodies SHAPE N | python3 hard_bodies.py SHAPE

reads pairs near contact (tests/unit/test_hard_bodies.c: position of the first body as seen from the second, both
orientations, the answers of plugmc in double and in float) and looks at each

    polyhedra, polygons    an edge of one has a part that is inside of all faces of the other
    rounded ones           the smallest distance of two edges, or of a vertex from a face above which it is
    ellipsoids, ellipses   the characteristic polynomial det(t A + B) of their quadratic forms has two different positive
                           roots if they are apart (W. Wang, J. Wang, M. S. Kim, Comput. Aided Geom. Des. 18, 531 (2001))
    rods                   the smallest distance of two segments
    unions of spheres      the distances of all spheres
    unions of polyhedra    edges that pierce faces, of all parts

A pair is compared if the answer here is the same for bodies a little closer and a little farther apart (5e-5 of their
distance), which all but some in a hundred are. The status is 1 if one differs or if too few are compared, 77 without numpy.
"""
import itertools
import sys

try:
    import numpy as np
except ImportError:
    print('skipped: python3 has no numpy')
    sys.exit(77)

LITTLE = 5e-5


def turned(o, flat):
    """Matrices [n][3][3], whose columns are the axes of the bodies."""
    out = np.zeros((len(o), 3, 3))
    if flat:
        t = o[:, 0] * (2 * np.pi / 2**24)
        out[:, 0, 0], out[:, 1, 0], out[:, 0, 1], out[:, 1, 1] = np.cos(t), np.sin(t), -np.sin(t), np.cos(t)
        out[:, 2, 2] = 1
        return out
    w, x, y, z = (o / np.linalg.norm(o, axis=1)[:, None]).T
    for i, row in enumerate([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                             [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                             [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]):
        for j, value in enumerate(row):
            out[:, i, j] = value
    return out


def in_space(points, place, axes):
    """Points of a body, [n][points][3]."""
    return np.einsum('nij,pj->npi', axes, np.asarray(points, float)) + place[:, None]


def of_segments(p, q, u, v):
    """Smallest distances of segments p q and u v: of an end from the other segment, or between them."""
    def from_end(end, p, q):
        e = q - p
        t = np.clip(np.sum((end - p) * e, -1) / np.sum(e * e, -1).clip(1e-300), 0, 1)
        return np.linalg.norm(end - p - t[..., None] * e, axis=-1)
    least = np.minimum.reduce([from_end(p, u, v), from_end(q, u, v), from_end(u, p, q), from_end(v, p, q)])
    n = np.cross(q - p, v - u)
    square = np.sum(n * n, -1)
    safe = np.where(square > 0, square, 1)
    r = u - p
    s = np.sum(np.cross(r, v - u) * n, -1) / safe
    t = np.sum(np.cross(r, q - p) * n, -1) / safe
    between = (square > 0) & (s > 0) & (s < 1) & (t > 0) & (t < 1)
    return np.where(between, np.minimum(least, np.abs(np.sum(r * n, -1)) / np.sqrt(safe)), least)


class Rod:
    def __init__(self, length, diameter):
        self.ends, self.radius = [[-length / 2, 0, 0], [length / 2, 0, 0]], diameter / 2

    @staticmethod
    def overlap(a, b, place, A, B):
        p, u = in_space(a.ends, place, A), in_space(b.ends, 0 * place, B)
        return of_segments(p[:, 0], p[:, 1], u[:, 0], u[:, 1]) < a.radius + b.radius


class Ellipsoid:
    def __init__(self, *axes):
        self.axes = axes

    def form(self, place, axes):
        """The quadratic form [n][d + 1][d + 1] that is negative inside."""
        d = len(self.axes)
        R, out = axes[:, :d, :d], np.zeros((len(axes), d + 1, d + 1))
        M = np.einsum('nij,j,nkj->nik', R, 1 / np.square(self.axes), R)
        c = place[:, :d]
        out[:, :d, :d] = M
        out[:, :d, d] = out[:, d, :d] = -np.einsum('nij,nj->ni', M, c)
        out[:, d, d] = np.einsum('ni,nij,nj->n', c, M, c) - 1
        return out

    @staticmethod
    def overlap(a, b, place, A, B):
        roots = -np.linalg.eigvals(np.linalg.solve(a.form(place, A), b.form(0 * place, B)))
        positive = (np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0)
        return positive.sum(1) < 2


class Polytope:
    """Convex; in two dimensions its points lie at z = 0, and its faces are along z."""

    def __init__(self, points, radius=0, flat=False):
        self.points, self.radius = np.asarray(points, float), radius
        n, faces = len(self.points), {}
        corners = itertools.combinations(range(n), 2 if flat else 3)
        for c in corners:
            p = self.points[list(c)]
            normal = np.cross(p[1] - p[0], [0, 0, 1] if flat else p[2] - p[0])
            if np.linalg.norm(normal) < 1e-9:
                continue
            normal /= np.linalg.norm(normal)
            height = self.points @ normal - p[0] @ normal
            for sign in (1, -1):
                if np.all(sign * height < 1e-9):
                    on = tuple(np.nonzero(np.abs(height) < 1e-9)[0])
                    faces[on] = sign * normal
        self.normals = np.array(list(faces.values()))
        self.faces = list(faces)
        self.heights = np.array([self.points[on[0]] @ normal for on, normal in faces.items()])
        need = 1 if flat else 2
        self.edges = [e for e in itertools.combinations(range(n), 2)
                      if sum(set(e) <= set(on) for on in faces) >= need]

    def pierced(self, p, q, place, axes):
        """Whether a part of a segment [n][3] is inside."""
        out = []
        for x in (p, q):
            inside = np.einsum('nji,nj->ni', axes, x - place) @ self.normals.T - self.heights
            out.append(inside)
        f, g = out
        with np.errstate(divide='ignore', invalid='ignore'):
            t = f / (f - g)
        enters = np.where((f > 0) & (g <= 0), t, 0).max(1)
        leaves = np.where((f <= 0) & (g > 0), t, 1).min(1)
        return ~((f > 0) & (g > 0)).any(1) & (enters <= leaves)

    def above(self, x, place, axes):
        """Height of points [n][3] above the face that they are above, inside of its edges; infinite if there is none."""
        y, least = np.einsum('nji,nj->ni', axes, x - place), np.full(len(x), np.inf)
        middle = self.points.mean(0)
        for on, normal, height in zip(self.faces, self.normals, self.heights):
            over = y @ normal - height
            inside = over > 0
            for e in self.edges:
                if not set(e) <= set(on):
                    continue
                p, q = self.points[list(e)]
                out = np.cross(q - p, normal)
                out *= np.sign(out @ (p - self.points[list(on)].mean(0)))
                inside &= (y - p) @ out < 0
            least = np.where(inside, np.minimum(least, over), least)
        return least

    @staticmethod
    def overlap(a, b, place, A, B):
        zero = 0 * place
        p, u = in_space(a.points, place, A), in_space(b.points, zero, B)
        hit = np.zeros(len(place), bool)
        for i, j in a.edges:
            hit |= b.pierced(p[:, i], p[:, j], zero, B)
        for i, j in b.edges:
            hit |= a.pierced(u[:, i], u[:, j], place, A)
        if a.radius + b.radius == 0:
            return hit
        least = np.full(len(place), np.inf)
        for (i, j), (k, l) in itertools.product(a.edges, b.edges):
            least = np.minimum(least, of_segments(p[:, i], p[:, j], u[:, k], u[:, l]))
        for i in range(len(a.points)):
            least = np.minimum(least, b.above(p[:, i], zero, B))
        for i in range(len(b.points)):
            least = np.minimum(least, a.above(u[:, i], place, A))
        return hit | (least < a.radius + b.radius)


class Union:
    def __init__(self, *spheres):
        self.places, self.radii = np.array(spheres)[:, :3], np.array(spheres)[:, 3]

    @staticmethod
    def overlap(a, b, place, A, B):
        p, u = in_space(a.places, place, A), in_space(b.places, 0 * place, B)
        distance = np.linalg.norm(p[:, :, None] - u[:, None], axis=-1)
        return (distance < a.radii[:, None] + b.radii).any((1, 2))


class Parts:
    def __init__(self, *parts):
        self.parts = parts

    @staticmethod
    def overlap(a, b, place, A, B):
        return np.any([Polytope.overlap(p, q, place, A, B) for p in a.parts for q in b.parts], axis=0)


def brick(*ends):
    """From the smallest and the largest x, y and perhaps z."""
    pairs = [ends[k:k + 2] for k in range(0, len(ends), 2)]
    return Polytope(list(itertools.product(*pairs, *[(0,)] * (3 - len(pairs)))), flat=len(pairs) == 2)


def regular_polygon(n, radius=0):
    angle = (2 * np.arange(n) + 1) * np.pi / n
    points = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1) / (2 * np.sin(np.pi / n))
    return Polytope(points, radius, flat=True)


def signs(*triples):
    """All cyclic permutations of triples, with all signs."""
    return np.array(sorted({tuple(s * x for s, x in zip(sign, t[k:] + t[:k])) for t in triples for k in range(3)
                            for sign in itertools.product((1, -1), repeat=3)}))


G = (1 + 5**0.5) / 2
CUBE = signs((0.5, 0.5, 0.5))
TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / 8**0.5
IRREGULAR = [(1, 0.1, 0), (-0.7, 0.8, 0.1), (-0.6, -0.9, -0.2), (0.1, 0.2, 1.3), (0.2, -0.1, -0.6), (0.6, -0.7, 0.5)]
# The shapes of tests/hard_bodies.h: whether in two dimensions, the first, the second if it is another one.
SHAPES = {
    'discorectangle': (1, Rod(4, 1)),
    'rods_and_disks': (1, Rod(3, 1), Rod(0, 1.5)),
    'ellipse': (1, Ellipsoid(1, 0.5)),
    'long_ellipse': (1, Ellipsoid(0.1, 0.9)),
    'ellipses': (1, Ellipsoid(1, 0.5), Ellipsoid(0.3, 0.6)),
    'square': (1, regular_polygon(4)),
    'rounded_triangle': (1, regular_polygon(3, 0.2)),
    'rod': (0, Rod(5, 1)),
    'short_rod': (0, Rod(1, 1)),
    'needle': (0, Rod(10, 0.5)),
    'rods_and_spheres': (0, Rod(3, 1), Rod(0, 1.5)),
    'prolate': (0, Ellipsoid(1.5, 0.5, 0.5)),
    'long_prolate': (0, Ellipsoid(0.2, 0.2, 2)),
    'oblate': (0, Ellipsoid(0.3, 0.9, 0.9)),
    'triaxial': (0, Ellipsoid(1.5, 1, 0.6)),
    'ellipsoids': (0, Ellipsoid(1.5, 1, 0.6), Ellipsoid(0.4, 0.4, 0.8)),
    'tetrahedron': (0, Polytope(TETRAHEDRON)),
    'cube': (0, Polytope(CUBE)),
    'octahedron': (0, Polytope(signs((0.5**0.5, 0, 0)))),
    'dodecahedron': (0, Polytope(signs((G / 2, G / 2, G / 2), (0, 0.5, G * G / 2)))),
    'icosahedron': (0, Polytope(signs((0, 0.5, G / 2)))),
    'rounded_cube': (0, Polytope(CUBE, 0.25)),
    'rounded_tetrahedron': (0, Polytope(TETRAHEDRON, 0.1)),
    'polyhedra': (0, Polytope(IRREGULAR), Polytope(CUBE)),
    'dumbbell': (0, Union((-0.5, 0, 0, 0.5), (0.5, 0, 0, 0.5))),
    'square_of_parts': (1, Parts(brick(-0.5, 0, -0.5, 0.5), brick(0, 0.5, -0.5, 0.5))),
    'ell': (1, Parts(brick(-0.5, 1, -0.5, 0.5), brick(-0.5, 0.5, 0.5, 1.5))),
    'cube_of_parts': (0, Parts(*[brick(x, x + 0.5, -0.5, 0.5, -0.5, 0.5) for x in (0, -0.5)])),
    'short_dumbbell': (0, Union((0, 0, -0.3, 0.5), (0, 0, 0.3, 0.5))),
}


def main():
    flat, a, b = (SHAPES[sys.argv[1]] + SHAPES[sys.argv[1]][-1:])[:3]
    rows = np.loadtxt(sys.stdin, ndmin=2)
    place, A, B = rows[:, :3], turned(rows[:, 3:7], flat), turned(rows[:, 7:11], flat)
    closer = type(a).overlap(a, b, place * (1 - LITTLE), A, B)
    farther = type(a).overlap(a, b, place * (1 + LITTLE), A, B)
    sure = closer == farther
    wrong = [int((sure & (closer != (rows[:, k] > 0))).sum()) for k in (11, 12)]
    print(f'{sys.argv[1]}: {sure.sum()} of {len(rows)} pairs compared, {int((sure & closer).sum())} of them overlap; '
          f'{wrong[0]} differ in double, {wrong[1]} in float')
    return int(any(wrong) or sure.mean() < 0.97 or not 0.3 < closer.mean() < 0.7)


sys.exit(main())

"""GSD files of runs of bodies by another library.

    orientations.py trajectory RUN.h5 FILE.gsd WALKER    its last frame is the state of the run
    orientations.py quaternions FILE.gsd           of three dimensions
    orientations.py shapes FILE.gsd                      what orientations.sh calls `squares`
    orientations.py same FILE.gsd OTHER.gsd
    orientations.py h5md FILE.h5md FILE.gsd WALKER       the same frames
    orientations.py spheres FILE.gsd                     both species are drawn as spheres of diameter 1
    orientations.py foreign|zero|nan|turned FROM.gsd TO.gsd    the last frame as HOOMD would write it; with particle 5 changed
"""
import sys

try:
    import gsd.hoomd, h5py  # noqa: E401
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

OLD = gsd.__version__.startswith("2.")
OURS = "particles/plugmc/orientation"


def open_gsd(path, mode):
    return gsd.hoomd.open(path, mode + "b" if OLD else mode)


def shapes(path):
    frame = open_gsd(path, "r")[-1]
    square, bar = frame.particles.type_shapes
    assert frame.particles.types == ["square", "bar"]
    for shape, radius, corners in ((square, 0.1, [[.5, .5], [-.5, .5], [-.5, -.5], [.5, -.5]]),
                                   (bar, 0, [[-.8, -.2], [.8, -.2], [.8, .2], [-.8, .2]])):
        assert shape["type"] == "Polygon" and abs(shape["rounding_radius"] - radius) < 1e-9, shape
        np.testing.assert_allclose(shape["vertices"], corners, atol=1e-9)


def trajectory(run, path, walker):
    shapes(path)
    frames = open_gsd(path, "r")
    with h5py.File(run) as file:
        blobs = {blob["name"][()]: blob["data"][:] for blob in file["plugmc/checkpoint/plugins"].values()}
    exact = blobs[b"run/orientations"].view("<i4")[int(walker)].reshape(-1, 4)
    assert len(frames) == 4
    np.testing.assert_array_equal(frames[3].log[OURS], exact)
    for frame in frames:
        half = frame.log[OURS][:, 0] * np.pi / 2**24
        wanted = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
        np.testing.assert_allclose(frame.particles.orientation, wanted, atol=1e-7)
    assert not np.array_equal(frames[0].log[OURS], frames[3].log[OURS])


def quaternions(path):
    exact = open_gsd(path, "r")[-1].log[OURS] / 2**30
    lengths = np.sqrt((exact**2).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(open_gsd(path, "r")[-1].particles.orientation, exact / lengths, atol=1e-7)
    assert (lengths != 1).any() and (abs(lengths - 1) < 1e-6).all()


def same(one, other):
    one, other = open_gsd(one, "r"), open_gsd(other, "r")
    assert len(one) == len(other) == 4
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a.log[OURS], b.log[OURS])
        np.testing.assert_array_equal(a.particles.orientation, b.particles.orientation)


def h5md(path, other, walker):
    frames = open_gsd(other, "r")
    with h5py.File(path) as file:
        group = file["particles/trajectory" + (f"_{walker}" if int(walker) else "")]
        assert group["orientation"].attrs["components"] in (b"w x y z", "w x y z")
        assert len(frames) == len(group["orientation/step"]) == len(group["orientation/value"])
        for k, frame in enumerate(frames):
            n = frame.particles.N
            q, rest = group["orientation/value"][k][:n], group["orientation/value"][k][n:]
            exact = frame.log[OURS]
            if exact[:, 1:].any():
                np.testing.assert_array_equal(q * 2**30, exact)
            else:
                angle = np.rint(np.arctan2(q[:, 3], q[:, 0]) * 2**24 / np.pi).astype(int) % 2**24
                np.testing.assert_array_equal(angle, exact[:, 0])
            np.testing.assert_array_equal(group["position/value"][k][:n], frame.log["particles/plugmc/position"])
            assert not rest.any() and group["orientation/step"][k] == frame.configuration.step


def spheres(path):
    assert open_gsd(path, "r")[-1].particles.type_shapes == [{"type": "Sphere", "diameter": 1}] * 2


def changed(how, source, target):
    frame = open_gsd(source, "r")[-1]
    orientation = frame.particles.orientation.copy()
    log = {} if how != "turned" else {OURS: frame.log[OURS], "particles/plugmc/position": frame.log["particles/plugmc/position"],
                                      "plugmc/box": frame.log["plugmc/box"]}
    frame.log.clear()
    frame.log.update(log)
    if how == "foreign":
        orientation *= -2  # the same rotations
    if how == "zero":
        orientation[5] = 0
    if how == "nan":
        orientation[5, 2] = np.nan
    if how == "turned":
        orientation[5] = [1, 0, 0, 0] if abs(orientation[5, 0]) < 0.9 else [0, 0, 0, 1]
    frame.particles.orientation = orientation
    with open_gsd(target, "w") as file:
        file.append(frame)


if sys.argv[1] in ("trajectory", "shapes", "quaternions", "same", "h5md", "spheres"):
    globals()[sys.argv[1]](*sys.argv[2:])
else:
    changed(*sys.argv[1:])

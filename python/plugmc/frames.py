"""Trajectories beside the output file, in GSD and H5MD, as docs/usage.md describes them."""
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Sequence

import h5py
import numpy as np

from .common import OUTPUT_FILE, PlugmcError, readable


@dataclass(frozen=True)
class Frame:
    """A configuration of one walker, after sweep `sweep`: positions, double [N][3], length, as the run has them; box,
    double [3][3], its vectors as rows (None: a sphere around the origin); species, [N] names; number, [N], of each
    particle in the run; rung of the ladder (None: there is none, or it is not stored, as in trajectories); orientation of
    bodies, int32 [N][4]: 2^-24 turns, 0, 0, 0, or in three dimensions a quaternion w, x, y, z in 2^-30 (else None)."""
    sweep: int
    walker: int
    positions: np.ndarray
    box: np.ndarray | None
    species: np.ndarray
    number: np.ndarray
    rung: int | None = None
    orientation: np.ndarray | None = None


class Trajectory:
    """Frames of one walker: len, [k], slices, and loops. A frame is read when it is asked for. With `precision = single`
    positions and box are those of the GSD file: in single precision, and the origin is the centre of the box.
    FileNotFoundError: the file is gone. PlugmcError: it is damaged, or that of another run."""

    def __init__(self, files: list[Path], count: int, run: str, walker: int = 0):
        self._files, self._count, self._run, self._walker = files, count, run, walker
        self.path = files[walker]

    def walker(self, walker: int) -> "Trajectory":
        """Frames of another walker, from 0."""
        return Trajectory(self._files, self._count, self._run, walker)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        found = list(self._read(np.atleast_1d(np.arange(self._count)[index])))
        return found if isinstance(index, slice) else found[0]

    def __iter__(self) -> Iterator[Frame]:
        return self._read(range(self._count))

    def _read(self, wanted: Sequence[int]) -> Iterator[Frame]:
        if not len(wanted):
            return
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path}: the trajectory of the run is not there")
        of_hdf5 = self.path.suffix != ".gsd"
        with readable(self.path), (h5py.File(self.path, "r", locking=False) if of_hdf5 else _open_gsd(self.path)) as file:
            if self._run != (_run_of(file) if of_hdf5 else file.file.application.rsplit(" run ")[-1]):
                raise PlugmcError(f"{self.path}: it is the trajectory of another run", OUTPUT_FILE)
            for k in wanted:
                yield (_h5md_frame if of_hdf5 else _gsd_frame)(file, self._walker, int(k))


def _open_gsd(path: Path, tries: int = 5) -> Any:
    """Frames that come between gsd's look at the size and at the index lie beyond that size: no damage, at another try."""
    import gsd.hoomd  # needed for frames in GSD alone
    try:
        return gsd.hoomd.open(str(path), "rb" if gsd.__version__.startswith("2.") else "r")
    except RuntimeError:
        time.sleep(0.05)
        if tries == 1:
            raise
    return _open_gsd(path, tries - 1)


def _gsd_frame(file: Any, walker: int, k: int) -> Frame:
    """Entries of `log` are those of frame 0 where a frame has none of its own, as without particles."""
    snapshot = file[k]
    particles, log, n = snapshot.particles, snapshot.log, snapshot.particles.N
    positions, box = log.get("particles/plugmc/position"), log.get("plugmc/box")
    if positions is None:  # single precision
        x, y, z, xy, xz, yz = np.asarray(snapshot.configuration.box, dtype=float)
        positions, box = particles.position, np.array([[x, 0, 0], [xy * y, y, 0], [xz * z, yz * z, z]])
    number, turned = log.get("particles/plugmc/number", np.arange(n)), log.get("particles/plugmc/orientation")
    return Frame(int(snapshot.configuration.step), walker, np.asarray(positions[:n], dtype=float), box,
                 np.array(particles.types)[particles.typeid[:n]], np.asarray(number[:n], dtype=int),
                 orientation=None if turned is None else turned[:n])


def _h5md_frame(file: h5py.File, walker: int, k: int) -> Frame:
    group = file["particles/trajectory" + (f"_{walker}" if walker else "")]
    positions, edges = group["position/value"][k], group["box/edges/value"][k]
    number, species = group["id"], group["species"]
    turned = group["orientation/value"][k] if "orientation" in group else None
    if "count" in group:  # numbers change: those that are there come first
        n = int(group["count/value"][k])
        positions, number, species = positions[:n], number["value"][k][:n], species["value"][k][:n]
        turned = None if turned is None else turned[:n]
    if turned is not None:
        turned = _integers(turned, "two_dimensional" in file["particles/trajectory"].attrs)
    names = np.array([as_text(name) for name in group["species"].attrs["names"]])
    box = (np.diag(edges) if edges.ndim == 1 else edges) if b"periodic" in group["box"].attrs["boundary"][0] else None
    return Frame(int(group["position/step"][k]), walker, positions, box, names[species[:]], number[:], orientation=turned)


def _integers(quaternions: np.ndarray, flat: bool) -> np.ndarray:
    """Orientations as the run has them, from quaternions w, x, y, z."""
    if not flat:
        return np.rint(quaternions * 2**30).astype(np.int32)
    angle = np.rint(np.arctan2(quaternions[:, 3], quaternions[:, 0]) * (2**24 / np.pi)).astype(np.int64) % 2**24
    return np.stack([angle, 0 * angle, 0 * angle, 0 * angle], axis=1).astype(np.int32)


def as_text(value: Any) -> str:
    """A text of an HDF5 file."""
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _run_of(file: h5py.File) -> str:
    """The identity of the run, which is in its output file and in its trajectory."""
    return as_text(file["parameters"].attrs.get("run", "")) if "parameters" in file else ""


def trajectory_of(output: Path, file: h5py.File, base: str | None) -> Trajectory:
    """`base`: its name without ending; if both have been renamed it is beside the output. None: it is in the output."""
    walkers = len(file["plugmc/checkpoint/positions"])
    if base is None:
        return Trajectory([output] * walkers, len(file["particles/trajectory/position/step"]), _run_of(file))
    about = file["plugmc/checkpoint/trajectory"].attrs if "plugmc/checkpoint/trajectory" in file else {}
    gsd = [f"_{k}.gsd" if walkers > 1 else ".gsd" for k in range(walkers)]
    endings = [".h5md"] * walkers if about.get("format") == b"h5md" else gsd
    for name in (base, output.name[:-len(output.suffix)] if output.suffix in (".h5", ".hdf5") else output.name):
        files = [output.parent / (name + ending) for ending in endings]
        if files[0].exists():
            break
    return Trajectory(files, int(about.get("frames", 0)), _run_of(file))

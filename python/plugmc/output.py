"""The output file of a run, and the folder of a study, by h5py and pandas."""
import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import h5py
import numpy as np
import pandas

from .common import OUTPUT_FILE, PlugmcError, Quantity, read_effective, readable, table_of
from .frames import Frame, Trajectory, as_text, trajectory_of

FORMATS = (3, 4)  # with frames in the output file, and beside it


class Run:
    """The output file of a run, finished or not. Each attribute reads the file anew, which has the last checkpoint while
    the run goes on. FileNotFoundError: it is not there. PlugmcError: it is damaged, or not one of plugmc."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        with self._open():
            pass

    @property
    def finished(self) -> bool:
        """Whether all sweeps that were asked for have been made."""
        with self._open() as file:
            return bool(file["plugmc/checkpoint"].attrs["finished"])

    @property
    def sweep(self) -> int:
        """Sweeps made at the last checkpoint, equilibration included."""
        with self._open() as file:
            return int(file["plugmc/checkpoint"].attrs["sweep"])

    @property
    def config(self) -> dict[str, dict[str, Any]]:
        """Effective keys, defaults included: config["mover serial"]["step"]. Numbers, lists of them and flags are such."""
        with self._open() as file:
            return read_effective(self._document(file, "parameters/effective_ini"))

    @property
    def table(self) -> pandas.DataFrame:
        """Scalars and derived results, as the program prints them. Index: quantity. Columns: value, error, star ("*": the
        error is a lower bound, or not known), correlation_time (sweeps), samples, unit. NaN: not known."""
        return table_of(self._quantities(arrays=False).values())

    @property
    def arrays(self) -> dict[str, Quantity]:
        """Functions and histograms, such as g(r), with errors and axes. Values that are not known yet are NaN."""
        return self._quantities(arrays=True)

    @property
    def series(self) -> dict[str, pandas.DataFrame]:
        """Scalars as they were measured: index sweep, a column a walker; on a ladder, of the walkers on each rung."""
        with self._open() as file:
            return {name: pandas.DataFrame(group["series"][:], index=pandas.Index(group["sweep"][:], name="sweep"))
                    for name, group in self._groups(file).items() if "series" in group}

    @property
    def frames(self) -> Trajectory:
        """Frames of [observable trajectory] at the last checkpoint, of walker 0; frames.walker(k): of another one."""
        with self._open() as file:
            inside = "particles/trajectory" in file
            return trajectory_of(self.path, file, None if inside else self._document(file, "parameters/trajectory"))

    @property
    def last(self) -> list[Frame]:
        """The configuration of each walker at the last checkpoint, with its rung on a ladder."""
        with self._open() as file:
            checkpoint = file["plugmc/checkpoint"]
            positions, sweep = checkpoint["positions"][:], int(checkpoint.attrs["sweep"])
            boxes = checkpoint["boxes"][:] if "boxes" in checkpoint else [None]
            species = np.repeat(self._document(file, "parameters/species").splitlines(), checkpoint["species"][:])
            archived = {blob["name"][()]: blob["data"][:] for blob in checkpoint["plugins"].values()}
        rungs = archived[b"run/rungs"].view("<i4").ravel() if b"run/rungs" in archived else None
        turned = archived[b"run/orientations"].view("<i4") if b"run/orientations" in archived else None
        return [Frame(sweep, walker, positions[walker, there], boxes[walker % len(boxes)], species[there],
                      np.flatnonzero(there), None if rungs is None else int(rungs[walker]),
                      None if turned is None else turned[walker].reshape(-1, 4)[there])
                for walker, there in enumerate(np.isfinite(positions[:, :, 0]))]

    @contextmanager
    def _open(self) -> Iterator[h5py.File]:
        with readable(self.path), h5py.File(self.path, "r", locking=False) as file:
            if (found := file["plugmc"].attrs.get("format") if "plugmc" in file else None) not in FORMATS:
                what = "no output file of plugmc" if found is None else f"of format {found}, which is not known here"
                raise PlugmcError(f"{self.path}: it is {what}", OUTPUT_FILE)
            yield file

    def _document(self, file: h5py.File, name: str) -> str:
        text = file[name][()]
        found = hashlib.sha256(text).hexdigest()
        if as_text(file[name].attrs.get("sha256", found)) != found:  # old files have none
            raise PlugmcError(f"{self.path}: it is damaged: {name} does not fit its checksum", OUTPUT_FILE)
        return as_text(text)

    def _groups(self, file: h5py.File) -> dict[str, h5py.Group]:
        """Averages and behind them derived results, in the order of the run."""
        paths = [path for order in ("quantities", "derived")
                 for path in self._document(file, f"plugmc/checkpoint/{order}").splitlines()]
        groups = [file["plugmc/observables/" + path] for path in paths]
        return {f"{as_text(group.attrs['observable'])}.{as_text(group.attrs['name'])}": group for group in groups}

    def _quantities(self, arrays: bool) -> dict[str, Quantity]:
        with self._open() as file:
            return {name: _quantity(name, group) for name, group in self._groups(file).items()
                    if group.attrs["kind"].endswith(b"array") == arrays}


def _quantity(name: str, group: h5py.Group) -> Quantity:
    """From attributes of a scalar, or from the data sets of an array."""
    of, derived = group.attrs, group.attrs["kind"].startswith(b"derived")
    place = group if of["kind"].endswith(b"array") else of
    value, error, converged = (place[what][()] for what in ("value" if derived else "mean", "error", "converged"))
    axes = {}
    for d, n in enumerate(np.shape(value)):
        number = f"_{d + 1}" if d else ""
        values = group["abscissa" + number][:] if "abscissa" + number in group else np.arange(n)
        axes[as_text(of.get("axis" + number, "index" + number))] = values
    known = bool(of["valid" if derived else "samples"])
    if not known:
        value, error = value * np.nan, error * np.nan
    return Quantity(name, as_text(of.get("unit", "")), as_text(of.get("doc", "")), value, error,
                    (converged == 0) & known, float(of.get("correlation_time_sweeps", np.nan)) if known else np.nan,
                    0 if derived else int(of["samples"]), axes)


class Study:
    """The folder of a study. `plugmc scan` writes its tables at the end, and `plugmc scan --table` at any time.
    FileNotFoundError: there are none yet. PlugmcError: they are damaged."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)

    @property
    def table(self) -> pandas.DataFrame:
        """Index: point. Columns: state, the keys that vary, and of each result NAME (NaN: none), "NAME error", and "NAME
        star" ("*": the error is a lower bound, or not known). table.attrs["units"]: units of keys and results."""
        with readable(self.path), h5py.File(self.path / "summary.h5", "r", locking=False) as file:
            table = pandas.read_csv(self.path / "summary.csv", float_precision="round_trip", index_col="point")
            table.attrs["units"] = {name: as_text(values.attrs["unit"]) for part in ("keys", "values")
                                    if part in file for name, values in file[part].items()}
        return table.fillna({name: "" for name in table.columns if name.endswith(" star")})

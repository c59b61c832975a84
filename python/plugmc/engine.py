"""libplugmc in the process of Python: plugmc/engine.h by ctypes and numpy."""
import contextlib
import ctypes
import itertools
import os
import threading
import time
import warnings
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_void_p
from typing import Any, Callable, Iterator, Mapping

import numpy as np
import pandas

from .common import STOPPED, USAGE, PlugmcError, PlugmcWarning, Quantity, assignments, table_of
from .program import library


class CArray(ctypes.Structure):
    """struct plugmc_engine_array"""
    _fields_ = [("data", c_void_p), ("type", c_int32), ("rank", c_int32), ("shape", c_int64 * 4)]


class CQuantity(ctypes.Structure):
    """struct plugmc_engine_quantity"""
    _fields_ = [("observable", c_char_p), ("name", c_char_p), ("unit", c_char_p), ("meaning", c_char_p),
                ("rank", c_int32), ("error_is_lower_bound", c_int32), ("shape", c_int64 * 4), ("length", c_int64),
                ("samples", c_int64), ("walkers", c_int64), ("last", POINTER(c_double)), ("mean", POINTER(c_double)),
                ("error", POINTER(c_double)), ("correlation_time", c_double)]


TYPES = (c_double, c_int32, c_int64)  # enum plugmc_engine_type
WARNING, ERROR = 1, 2                 # enum plugmc_engine_message_kind
BATCH_SECONDS = 0.1                   # of sweeps between two looks at Ctrl-C
# What functions return that do not return a code.
RETURNED = {"new": c_void_p, "close": None, "stop": None, "error": c_char_p, "message": c_char_p, "sweeps": c_int64,
            "species": c_char_p, "term": c_char_p}


def _named(name: str, doc: str) -> Any:
    return property(lambda engine: engine.array(name), doc=doc)


class Engine(contextlib.AbstractContextManager):
    """An engine makes sweeps when it is told to. Its chain is that of `plugmc run` on the same file, bit for bit.

    ini        path of an INI file; or its text, of which messages say NAME.ini
    overrides  other values of keys: {"mover serial.step": 0.2}; as arguments: mover__serial__step=0.2
    resume     `ini` is the output file of a run that is to be continued

    A process has one open engine at a time, which only its own thread may use, except for stop(). Close it, or use `with`.
    Failures are PlugmcError. Arrays are read-only copies of the state as it is now, which stay as they are, whatever the
    engine does. `species` and `terms` have the names of species and the labels of potentials, as the INI file has them.
    """

    def __init__(self, ini: str | os.PathLike, overrides: Mapping[str, Any] | None = None, *, resume: bool = False,
                 name: str = "run", **keys: Any):
        self._library, self._owner = library(), (os.getpid(), threading.get_ident())
        for function, returned in RETURNED.items():
            getattr(self._library, "plugmc_engine_" + function).restype = returned
        self._arrays: dict[str, np.ndarray] = {}
        self._batch, self._sweeping = 1, False
        self._handle = c_void_p(self._library.plugmc_engine_new())
        try:
            for assignment in assignments(overrides, keys):
                self._call("set", assignment.encode())
            if isinstance(ini, str) and "\n" in ini:
                self._call("open_text", f"{name}.ini".encode(), ini.encode())
            else:
                self._call("resume" if resume else "open", os.fsencode(ini))
            self.species, self.terms = (list(self._texts(what)) for what in ("species", "term"))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Frees the engine; nothing is written. A second call does nothing."""
        if self._handle:
            self._check(not self._sweeping, "a callback cannot close the engine")
            handle, self._handle, self._arrays = self._handle, None, {}
            self._library.plugmc_engine_close(handle)

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and self._owner == (os.getpid(), threading.get_ident()):
            self.close()

    def sweep(self, sweeps: int = 1, callback: Callable[["Engine"], Any] | None = None, every: int = 1) -> int:
        """Makes more sweeps and returns how many: fewer than `sweeps` after stop(), or if the callback returns something
        true. It is called with the engine after each sweep whose number is a multiple of `every`. What it raises ends the
        sweeps; so does Ctrl-C. The engine can then go on. [run] time_limit is a PlugmcError of code 11."""
        self._check(not self._sweeping, "a callback cannot sweep")
        self._check(sweeps >= 0 and every > 0, f"{sweeps} sweeps with a callback every {every} cannot be made")
        first, code, self._sweeping = self.sweeps, 0, True
        try:
            while code != STOPPED and self.sweeps < first + sweeps:
                due = every - self.sweeps % every if callback else sweeps
                number, begin = min(self._batch, due, first + sweeps - self.sweeps), time.monotonic()
                code = self._call("sweep", c_int64(number), allowed=STOPPED)
                took = time.monotonic() - begin
                if number == self._batch and took < BATCH_SECONDS / 2 or took > 2 * BATCH_SECONDS:
                    self._batch = max(2 * number if took < BATCH_SECONDS else number // 2, 1)
                if callback and not code and self.sweeps % every == 0 and callback(self):
                    break
        finally:
            self._sweeping = False
        return self.sweeps - first

    @staticmethod
    def stop() -> None:
        """Ends the sweeps that are being made, or else the next ones, after whole sweeps. Any thread may call it."""
        library().plugmc_engine_stop()

    @property
    def sweeps(self) -> int:
        """Sweeps made so far, equilibration included."""
        self._check()
        return self._library.plugmc_engine_sweeps(self._handle)

    def checkpoint(self) -> None:
        """Writes the output file: [run] output, or the file that was resumed. Run(...) reads it."""
        self._call("checkpoint")

    def array(self, name: str) -> np.ndarray:
        """An array of the state, by its name in plugmc/engine.h; the properties below are all of them."""
        self._check()
        if name not in self._arrays:
            shown = CArray()
            self._call("get", name.encode(), ctypes.byref(shown), changes=False)
            pointer = ctypes.cast(shown.data, POINTER(TYPES[shown.type]))
            self._arrays[name] = _copy(pointer, shown.shape[:shown.rank])
            self._arrays[name].flags.writeable = False
        return self._arrays[name]

    positions = _named("positions", "double [walkers][particles][3], length; NaN: the particle is not there")
    boxes = _named("boxes", "double [walkers][3][3], vectors as rows; of a sphere its diameter times the unit matrix")
    volumes = _named("volumes", "double [walkers], length^dimension")
    counts = _named("counts", "int64 [walkers][species], numbers of particles")
    species_of = _named("species", "int32 [walkers][particles], index in `species`")
    rungs = _named("rungs", "int32 [walkers], rung of the ladder")
    multipliers = _named("multipliers", "double [walkers][terms + 1 + species], factors in -ln p")
    molecules = _named("molecules", "int32 [walkers][particles], number of the molecule, or -1")
    weights = _named("weights", "double [walkers], ln of the weight in averages")

    def set(self, name: str, array: Any) -> None:
        """Replaces "positions" or "boxes" by an array of the same shape, which is checked as an initial state is. If it is
        refused (PlugmcError), the old one stays."""
        new, shape = np.ascontiguousarray(array, dtype=np.float64), self.array(name).shape
        self._check(new.shape == shape, f"{name}: the shape is {new.shape}, and that of the run {shape}")
        self._call("replace", name.encode(), c_void_p(new.ctypes.data), c_int64(new.size))

    def energies(self) -> dict[str, np.ndarray]:
        """Energy of each potential by its label, double [walkers], in the unit of the INI file, summed from scratch."""
        out = np.empty((len(self.rungs), len(self.terms)))
        self._call("energies", c_void_p(out.ctypes.data), None, changes=False)
        return {term: out[:, k] for k, term in enumerate(self.terms)}

    def quantities(self) -> dict[str, Quantity]:
        """Averages over all production samples so far, and derived results, by "LABEL.NAME"."""
        count, q, out = c_int32(), CQuantity(), {}
        self._call("quantities", ctypes.byref(count), changes=False)
        for k in range(count.value):
            self._call("quantity_at", c_int32(k), ctypes.byref(q), changes=False)
            shape = q.shape[:q.rank] if q.length > 1 else []
            name, unit, meaning = f"{q.observable.decode()}.{q.name.decode()}", q.unit or b"", q.meaning or b""
            value, error = (_copy(found, shape) if found else np.full(shape, np.nan) for found in (q.mean, q.error))
            out[name] = Quantity(name, unit.decode(), meaning.decode(), value[()], error[()],
                                 bool(q.mean and q.error_is_lower_bound), q.correlation_time, q.samples,
                                 last=_copy(q.last, [q.walkers, *shape]) if q.last else None)
        return out

    @property
    def table(self) -> pandas.DataFrame:
        """The table so far, with the columns of Run.table."""
        return table_of(self.quantities().values())

    def _check(self, condition: bool = True, sentence: str = "") -> None:
        if self._owner != (os.getpid(), threading.get_ident()):
            condition, sentence = False, "this engine belongs to another thread or process, which alone may use it"
        if not condition or not self._handle:
            raise PlugmcError(sentence if self._handle else "this engine is closed", USAGE)

    def _call(self, name: str, *arguments: Any, allowed: int = 0, changes: bool = True) -> int:
        """A call that returns a code. `changes`: arrays may be others after it."""
        self._check()
        if changes:
            self._arrays = {}
        code, kind = getattr(self._library, "plugmc_engine_" + name)(self._handle, *arguments), c_int32()
        said = [(kind.value, text) for text in self._texts("message", ctypes.byref(kind))]
        for sentence in (text for number, text in said if number == WARNING):
            warnings.warn(sentence, PlugmcWarning, stacklevel=3)
        if code not in (0, allowed):
            error = "\n".join(text for number, text in said if number == ERROR)
            raise PlugmcError(error or self._library.plugmc_engine_error(self._handle).decode(), code)
        return code

    def _texts(self, what: str, *more: Any) -> Iterator[str]:
        """Names or messages number 0, 1, ... up to the last one."""
        function, numbers = getattr(self._library, "plugmc_engine_" + what), itertools.count()
        texts = iter(lambda: function(self._handle, c_int32(next(numbers)), *more), None)
        return (text.decode(errors="replace") for text in texts)


def _copy(pointer: Any, shape: list[int]) -> np.ndarray:
    return np.ctypeslib.as_array(pointer, shape or (1,)).reshape(shape).copy()

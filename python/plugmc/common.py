"""What the other files share: exceptions, averages and their table, keys of an INI file."""
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping

import numpy as np
import pandas

__version__ = "0.1.0"  # of the program, too
USAGE, OUTPUT_FILE, STOPPED, TIME_LIMIT = 2, 6, 10, 11  # exit codes of docs/usage.md


class PlugmcError(Exception):
    """The sentence that plugmc prints, with file and line if there are any. `code`: exit code (docs/usage.md), or None."""

    def __init__(self, sentence: str, code: int | None = None):
        super().__init__(sentence)
        self.code = code


class PlugmcWarning(UserWarning):
    """A warning of the program or of the library."""


@contextmanager
def readable(path: Any) -> Iterator[None]:
    """What h5py, gsd and pandas refuse to read in it is damage."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, KeyError, ValueError, TypeError, AttributeError, IndexError, RuntimeError) as reason:
        raise PlugmcError(f"{path}: it is damaged, or no file of its kind ({reason})", OUTPUT_FILE) from reason


@dataclass(frozen=True)
class Quantity:
    """An average, or a result derived from averages: value and standard error, floats or arrays, NaN where not known;
    lower_bound, whether the error is one or not known, the star of the table (like `error`; of an Engine one bool);
    correlation_time, of a scalar, in sweeps; samples, 0 for derived results; axes of an array, values by name (an index if
    there are none; an Engine has no axes); last, of an Engine, the last measurement [walkers][...], or None."""
    name: str
    unit: str
    meaning: str
    value: Any
    error: Any
    lower_bound: Any
    correlation_time: float = np.nan
    samples: int = 0
    axes: dict[str, np.ndarray] | None = None
    last: np.ndarray | None = None


def table_of(quantities: Iterable[Quantity]) -> pandas.DataFrame:
    """The table that the program prints: scalars and derived results, one row each."""
    rows = [(q.name, q.value, q.error, "*" if q.lower_bound else "", q.correlation_time, q.samples, q.unit)
            for q in quantities if np.ndim(q.value) == 0]
    return pandas.DataFrame(rows, columns="quantity value error star correlation_time samples unit".split()).set_index("quantity")


def value_as_text(value: Any) -> str:
    """As an INI file has it: yes or no, all digits of a number, blanks between the elements of a list."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return " ".join(value_as_text(element) for element in value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (str, os.PathLike, int, float, np.number)):
        return str(value)
    raise TypeError(f"{value!r} is no value of a key: a number, a text, True, False or a list of them is")


def assignments(overrides: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> list[str]:
    """["SECTION.KEY=VALUE"] from {"SECTION.KEY": value} and from SECTION__KEY=value or SECTION__LABEL__KEY=value."""
    named = dict(overrides or {})
    for key, value in keys.items():
        *section, last = key.split("__")
        if len(section) not in (1, 2):
            raise TypeError(f"'{key}' names no key of an INI file, as SECTION__KEY and SECTION__LABEL__KEY do")
        named[f"{' '.join(section)}.{last}"] = value
    return [f"{key}={value_as_text(value)}" for key, value in named.items()]


def typed(text: str) -> Any:
    """A bool, an int, a float, a list of numbers, or the text itself."""
    if text in ("yes", "no"):
        return text == "yes"
    try:
        found = [int(word) if word.lstrip("+-").isdecimal() else float(word) for word in text.split()]
    except ValueError:
        return text
    return found[0] if len(found) == 1 else found or text


def read_effective(text: str) -> dict[str, dict[str, Any]]:
    """Sections of parameters/effective_ini, where origins of values and all that plugins have computed are comments."""
    out: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            section = out[line.strip()[1:-1]] = {}
        elif " = " in line and not line.startswith(";"):
            key, value = line.rsplit("  ; ", 1)[0].split(" = ", 1)
            section[key] = typed(value.strip())
    return out

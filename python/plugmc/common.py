"""What the other files share: exceptions, averages and their table, keys of an INI file."""
from __future__ import annotations

import numbers
import os
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, NamedTuple

import numpy as np
import pandas

__version__ = "0.1.0"  # of the program, too

# Exit codes of docs/usage.md that are used here.
USAGE, OUTPUT_FILE, STOPPED, TIME_LIMIT = 2, 6, 10, 11


class PlugmcError(RuntimeError):
    """The sentence that plugmc prints, with file and line if there are any. `code` is the exit code of docs/usage.md, or
    None if there is none for this failure."""

    def __init__(self, sentence: str, code: int | None = None):
        super().__init__(sentence)
        self.code = code


class PlugmcWarning(UserWarning):
    """A warning of the program or of the library."""


class Axis(NamedTuple):
    """An axis of an array: its name, such as "r", and its values [n], the index from 0 if it has none."""
    name: str
    values: np.ndarray


@dataclass(frozen=True)
class Quantity:
    """An average, or a result derived from averages. Unknown numbers are NaN.

    value, error      floats, or arrays with these axes; one standard error
    lower_bound       the error is one, or not known: the star of the table; bool, or an array of them (Engine: any)
    correlation_time  of a scalar, in sweeps
    samples           0 for derived results
    axes              of an array; an Engine does not know them: ()
    last              of an Engine: the last measurement [walkers][...]; None: there is none, or it is not kept
    """
    name: str
    unit: str
    meaning: str
    value: Any
    error: Any
    lower_bound: Any
    correlation_time: float = np.nan
    samples: int = 0
    axes: tuple[Axis, ...] = ()
    last: np.ndarray | None = None


def table_of(quantities: Iterable[Quantity]) -> pandas.DataFrame:
    """The table that the program prints: scalars and derived results, one row each."""
    rows = [(q.name, q.value, q.error, "*" if q.lower_bound else "", q.correlation_time, q.samples, q.unit)
            for q in quantities if np.ndim(q.value) == 0]
    columns = ["quantity", "value", "error", "star", "correlation_time", "samples", "unit"]
    return pandas.DataFrame(rows, columns=columns).set_index("quantity")


def is_text(ini: Any) -> bool:
    """Whether this is the text of an INI file, which has more than one line, and not a path."""
    return isinstance(ini, str) and "\n" in ini


def value_as_text(value: Any) -> str:
    """As an INI file has it: yes or no, all digits of a number, blanks between the elements of a list."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return " ".join(value_as_text(element) for element in value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (str, os.PathLike, numbers.Real)):
        return str(value)
    raise TypeError(f"{value!r} is no value of a key: a number, a text, True, False or a list of them is")


def assignments(overrides: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> list[str]:
    """["SECTION.KEY=VALUE"] from {"SECTION.KEY": value} and from SECTION__KEY=value or SECTION__LABEL__KEY=value."""
    named = dict(overrides or {})
    for key, value in keys.items():
        *section, last = key.split("__")
        if len(section) not in (1, 2) or not all(section) or not last:
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
    """Sections of parameters/effective_ini, where each line ends in the origin of its value. Values that plugins have
    computed, which are comments there, are left out."""
    out: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            section = out[line.strip()[1:-1]] = {}
        elif " = " in line and not line.startswith(";"):
            key, value = line.rsplit("  ; ", 1)[0].split(" = ", 1)
            section[key] = typed(value.strip())
    return out

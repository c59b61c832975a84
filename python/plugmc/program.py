"""Where libplugmc and the program are, and runs that the program makes in a process of its own."""
from __future__ import annotations

import ctypes
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

from .common import TIME_LIMIT, PlugmcError, PlugmcWarning, __version__, assignments, is_text
from .output import Run

NAME = "libplugmc.so.0"


def _places() -> Iterator[Path]:
    """What may be the library: of the build in the source tree or the installation that this package is a part of
    (PREFIX/lib/pythonX/site-packages/plugmc), beside the program on the PATH, in the installation of that program."""
    package, program = Path(__file__).resolve(), shutil.which("plugmc")
    yield package.parents[2] / "build" / NAME
    prefixes = [package.parents[4]] if len(package.parents) > 4 else []
    if program:
        yield Path(program).resolve().with_name(NAME)
        prefixes.append(Path(program).resolve().parents[1])
    for prefix in prefixes:
        yield from (prefix / "lib" / NAME, prefix / "lib64" / NAME, *(prefix / "lib").glob(f"*-linux-gnu*/{NAME}"))


def find_library() -> str:
    """Path of libplugmc. $PLUGMC_LIBRARY, the file or its folder, comes first. If there is none it is the name alone, for
    which the system's folders are searched."""
    given = os.environ.get("PLUGMC_LIBRARY")
    if not given:
        return next((str(path) for path in _places() if path.exists()), NAME)
    path = Path(given, NAME) if os.path.isdir(given) else Path(given)
    if not path.exists():
        raise PlugmcError(f"PLUGMC_LIBRARY={given}: there is no {path}")
    return str(path)


def find_program() -> str:
    """The program of the same build or installation as the library, else the one on the PATH."""
    folder = Path(find_library()).resolve().parent
    for path in (folder / "plugmc", folder.parent / "bin" / "plugmc", folder.parent.parent / "bin" / "plugmc"):
        if path.is_file():
            return str(path)
    found = shutil.which("plugmc")
    if not found:
        raise PlugmcError("the program plugmc is not found: put it on the PATH, or set PLUGMC_LIBRARY to its libplugmc")
    return found


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """libplugmc, of the same minor version as this module. PlugmcError: it is not found, or of another version."""
    path = find_library()
    try:
        found = ctypes.CDLL(path)
        found.plugmc_engine_version.restype = ctypes.c_char_p
        version = found.plugmc_engine_version().decode()
    except (OSError, AttributeError) as reason:
        raise PlugmcError(f"libplugmc cannot be loaded: {reason}. Set PLUGMC_LIBRARY to the library or its folder, or put "
                          "the program plugmc on the PATH") from reason
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise PlugmcError(f"the module plugmc is of version {__version__}, and {path} of version {version}: install both "
                          "from the same release")
    return found


def library_version() -> str:
    """Version of libplugmc, for example "0.1.0"."""
    return library().plugmc_engine_version().decode()


def run(ini: str | os.PathLike, overrides: Mapping[str, Any] | None = None, *,
        progress: bool | Callable[[dict[str, Any]], None] = False, resume: bool = False, name: str = "run",
        **keys: Any) -> Run:
    """Makes a run, as `plugmc run` does, and returns its output file.

    ini        path of an INI file; or its text, which is then saved as NAME.ini in the working directory (a file of that
               name with another text is kept as NAME.ini.1, .2, ...)
    overrides  other values of keys, as --set: {"mover serial.step": 0.2}; as arguments: mover__serial__step=0.2
    progress   True: a bar on standard error. A function: it is called every second with a dict that has phase, sweep,
               sweeps, sweeps_per_second, trials_per_second, seconds_left, acceptance and the results of [run] show
    resume     continues the run in the output file, if there is one

    Warnings become PlugmcWarning. A failure is a PlugmcError with the program's sentence and exit code. A run that
    reaches [run] time_limit is no failure, and not `finished`. Ctrl-C lets the program write a checkpoint, and then
    raises KeyboardInterrupt.
    """
    path = _save(ini, name + ".ini") if is_text(ini) else os.fspath(ini)
    command = [find_program(), "run", path, "--json"] + (["--resume-if-there"] if resume else [])
    command += [word for assignment in assignments(overrides, keys) for word in ("--set", assignment)]
    tell, results = _bar if progress is True else progress, None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as messages:
        # In a session of its own: a terminal sends Ctrl-C to Python alone, which passes it on.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages,
                                   encoding="utf-8", errors="surrogateescape", start_new_session=True)
        try:
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "results":
                    results = event
                elif tell:
                    tell(event)
            code = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        messages.seek(0)
        lines = messages.read().splitlines()
    warned = [line for line in lines if re.match(r"(.*?: )?warning: ", line)]
    for line in warned:
        warnings.warn(line, PlugmcWarning, stacklevel=2)
    if code not in (0, TIME_LIMIT) or not results:
        sentences = [line for line in lines if line not in warned]
        raise PlugmcError("\n".join(sentences) or f"plugmc has ended with code {code}", code)
    return Run(results["file"])


def _save(text: str, name: str) -> str:
    number = 1
    if os.path.exists(name) and Path(name).read_text(encoding="utf-8") != text:
        while os.path.exists(f"{name}.{number}"):
            number += 1
        os.rename(name, f"{name}.{number}")
    Path(name).write_text(text, encoding="utf-8")
    return name


def _bar(event: Mapping[str, Any]) -> None:
    done = event["sweep"] / max(event["sweeps"], 1)
    print(f"\r{event['phase']:13} [{'#' * int(30 * done):30}] {done:4.0%}, {event['seconds_left'] or 0:.0f} s left   ",
          end="\n" if done == 1 else "", file=sys.stderr, flush=True)

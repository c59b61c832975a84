"""Where libplugmc and the program are, and runs that the program makes in a process of its own."""
import ctypes
import functools
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any, Callable, Mapping

from .common import TIME_LIMIT, PlugmcError, PlugmcWarning, __version__, assignments
from .output import Run

NAME = "libplugmc.so.0"


def find_library() -> str:
    """$PLUGMC_LIBRARY, the file or its folder; or the library of the build or installation that this package is part of
    (PREFIX/lib/pythonX/site-packages/plugmc); or of the program on the PATH; or where the system looks for libraries."""
    given, package, program = os.environ.get("PLUGMC_LIBRARY"), Path(__file__).resolve(), shutil.which("plugmc")
    if given:
        return os.path.join(given, NAME) if os.path.isdir(given) else given
    places, prefixes = [package.parents[2] / "build" / NAME], list(package.parents[4:5])
    if program:
        places.append(Path(program).resolve().with_name(NAME))
        prefixes.append(Path(program).resolve().parents[1])
    for prefix in prefixes:
        places += [*prefix.glob(f"lib*/{NAME}"), *prefix.glob(f"lib/*-linux-gnu*/{NAME}")]
    return next((str(path) for path in places if path.exists()), NAME)


def find_program() -> str:
    """The program of the same build or installation as the library, else the one on the PATH."""
    folder = Path(find_library()).resolve().parent
    beside = (folder / "plugmc", folder.parent / "bin" / "plugmc", folder.parent.parent / "bin" / "plugmc")
    found = next((str(path) for path in beside if path.is_file()), shutil.which("plugmc"))
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
        raise PlugmcError(f"libplugmc cannot be loaded: {reason}. PLUGMC_LIBRARY may name it, or its folder") from reason
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise PlugmcError(f"the module plugmc is of version {__version__}, and {path} of {version}: both must be the same")
    return found


def run(ini: str | os.PathLike, overrides: Mapping[str, Any] | None = None, *,
        progress: Callable[[dict[str, Any]], Any] | None = None, resume: bool = False, name: str = "run",
        **keys: Any) -> Run:
    """Makes a run, as `plugmc run` does, and returns its output file.

    ini        path of an INI file; or its text, which is saved as NAME.ini (one that is there is kept as NAME.ini.1, ...)
    overrides  other values of keys, as --set: {"mover serial.step": 0.2}; as arguments: mover__serial__step=0.2
    progress   is called every second with a dict: phase, sweep, sweeps, sweeps_per_second, seconds_left, acceptance, ...
    resume     continues the run in the output file, if there is one

    A failure is a PlugmcError with the program's sentence and exit code; after [run] time_limit the run is not `finished`.
    Ctrl-C, and what `progress` raises, let the program write a checkpoint first.
    """
    path = _save(ini, name + ".ini") if isinstance(ini, str) and "\n" in ini else os.fspath(ini)
    command = [find_program(), "run", path, "--json"] + (["--resume-if-there"] if resume else [])
    command += [word for assignment in assignments(overrides, keys) for word in ("--set", assignment)]
    results = None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as messages:
        # In a session of its own: a terminal sends Ctrl-C to Python alone, which passes it on.
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages, encoding="utf-8",
                              errors="surrogateescape", start_new_session=True) as process:
            try:
                for line in process.stdout:
                    event = json.loads(line)
                    if event["event"] == "results":
                        results = event
                    elif progress:
                        progress(event)
            except BaseException:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise
        messages.seek(0)
        code, lines = process.returncode, messages.read().splitlines()
    warned = [line for line in lines if re.match(r"(.*?: )?warning: ", line)]
    for line in warned:
        warnings.warn(line, PlugmcWarning, stacklevel=2)
    if code not in (0, TIME_LIMIT) or not results:
        said = "\n".join(line for line in lines if line not in warned)
        raise PlugmcError(said or f"plugmc has ended with code {code}", code)
    return Run(results["file"])


def _save(text: str, name: str) -> str:
    if os.path.exists(name) and Path(name).read_text(encoding="utf-8") != text:
        os.rename(name, next(new for k in itertools.count(1) if not os.path.exists(new := f"{name}.{k}")))
    Path(name).write_text(text, encoding="utf-8")
    return name

"""plugmc in Python: results of runs as tables and arrays, runs and studies, and an engine that sweeps on request.

    run("sim.ini", run__sweeps=1000)   makes a run with the program, returns a Run
    Run("sim.h5")                      the output file of a run, also while it is going on
    Study("study")                     the folder that `plugmc scan` makes
    Engine("sim.ini")                  libplugmc in this process: sweeps, the configuration, energies

docs/python.md has examples. Lengths and energies are in the units of the INI file; sweeps are counted from the first
one of a run, equilibration included.
"""
from .common import PlugmcError, PlugmcWarning, Quantity, __version__
from .engine import Engine
from .frames import Frame, Trajectory
from .output import Run, Study
from .program import library_version, run

__all__ = ["Engine", "Frame", "PlugmcError", "PlugmcWarning", "Quantity", "Run", "Study", "Trajectory", "__version__",
           "library_version", "run"]

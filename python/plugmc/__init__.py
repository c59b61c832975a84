"""plugmc in Python (docs/python.md): results of runs as tables and arrays, runs, studies, and an engine in this process.

Lengths and energies are in the units of the INI file. Sweeps are counted from the first one of a run, equilibration
included. Names of quantities are those of the table that the program prints, "LABEL.NAME".
"""
from .common import PlugmcError, PlugmcWarning, Quantity, __version__
from .engine import Engine
from .frames import Frame, Trajectory
from .output import Run, Study
from .program import run

__all__ = ["Engine", "Frame", "PlugmcError", "PlugmcWarning", "Quantity", "Run", "Study", "Trajectory", "run"]

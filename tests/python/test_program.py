"""run(): the program in a process of its own; where program and library are found; versions."""
from systems import DISKS, LIQUID, PLUGMC, InFolder, make, plugmc, refused

import ctypes
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import plugmc as pm
from plugmc import common, program

BUILD = Path(PLUGMC).resolve().parent
PACKAGE = Path(pm.__file__).resolve().parent


class Runs(InFolder):
    def test_of_a_file(self):
        make("sim", LIQUID)
        run = pm.run("sim.ini", run__output="again.h5")
        self.assertEqual((run.path.name, run.finished, run.sweep), ("again.h5", True, 500))
        self.assertTrue(run.table.equals(pm.Run("sim.h5").table))

    def test_of_a_text(self):
        run = pm.run(DISKS, name="text")
        self.assertEqual((str(run.path), Path("text.ini").read_text()), ("text.h5", DISKS))
        with self.assertWarnsRegex(pm.PlugmcWarning, "text.h5: warning: was there already and is now text.h5.1"):
            pm.run(DISKS, name="text")
        self.assertFalse(Path("text.ini.1").exists())
        with self.assertWarns(pm.PlugmcWarning):
            pm.run(LIQUID, name="text")
        self.assertEqual((Path("text.ini").read_text(), Path("text.ini.1").read_text()), (LIQUID, DISKS))

    def test_overrides(self):
        config = pm.run(LIQUID, {"species a.count": 20}, name="set", mover__serial__step=0.15, run__sweeps=50).config
        self.assertEqual((config["species a"]["count"], config["mover serial"]["step"], config["run"]["sweeps"]),
                         (20, 0.15, 50))

    def test_progress(self):
        events = []
        pm.run(LIQUID, name="progress", progress=events.append, run__sweeps=1000)
        self.assertEqual((events[-1]["phase"], events[-1]["sweep"], events[-1]["sweeps"]), ("production", 1100, 1100))
        with self.assertRaisesRegex(ValueError, "enough"):
            def stop(event):
                raise ValueError("enough")
            pm.run(LIQUID, name="enough", progress=stop, run__sweeps=10**8)
        self.assertFalse(pm.Run("enough.h5").finished)

    def test_while_it_goes_on(self):
        """Table, series and frames are those of one checkpoint or a later one, and never damaged."""
        seen = []

        def look(event):
            if os.path.exists("going.h5"):
                run = pm.Run("going.h5")
                frames = list(run.frames)
                samples = run.table.samples["energy.energy"]
                self.assertLessEqual(samples, len(run.series["energy.energy"]))
                self.assertTrue(all(frame.positions.shape == (64, 3) for frame in frames))
                self.assertFalse(run.finished)
                seen.append((run.sweep, len(frames), frames[-1].sweep if frames else 0))
            if len({sweep for sweep, _, _ in seen}) > 2:
                raise StopIteration
        self.assertRaises(StopIteration, pm.run, LIQUID.replace("period = 50", "period = 200"), name="going",
                          run__sweeps=10**8, run__checkpoint=0.5, progress=look)
        self.assertEqual(seen, sorted(seen))
        self.assertLess(seen[0][1], seen[-1][1])
        self.assertGreaterEqual(pm.Run("going.h5").sweep, seen[-1][0])

    def test_failures(self):
        wrong = LIQUID.replace("step = 0.2", "stp = 0.2").replace("count = 34", "count = many")
        Path("wrong.ini").write_text(wrong)
        code, sentences = refused("run", "wrong.ini")
        with self.assertRaises(pm.PlugmcError) as caught:
            pm.run("wrong.ini")
        self.assertEqual((caught.exception.code, str(caught.exception)), (code, sentences))
        self.assertEqual(code, 3)
        with self.assertRaisesRegex(pm.PlugmcError, "none.ini"):
            pm.run("none.ini")

    def test_time_limit_and_resume(self):
        ini = LIQUID.replace("sweeps = 400", "sweeps = 4000")
        make("whole", ini)
        run = pm.run(ini, name="limited", run__time_limit=0.01)
        self.assertFalse(run.finished)
        self.assertLess(run.sweep, 4100)
        again = pm.run(ini, name="limited", resume=True)
        self.assertTrue(again.finished and run.finished)
        self.assertTrue(again.table.equals(pm.Run("whole.h5").table))

    def test_keyboard_interrupt(self):
        """Ctrl-C, and what the program has written then."""
        make("whole", LIQUID)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))

        def begin(event):  # when sweeps are made
            if timer.ident is None:
                timer.start()
        self.assertRaises(KeyboardInterrupt, pm.run, LIQUID, name="stopped", run__sweeps=10**8, progress=begin)
        run = pm.Run("stopped.h5")
        self.assertTrue(not run.finished and run.sweep > 0)
        self.assertFalse(os.path.exists("stopped.h5.lock"))
        whole, part = pm.Run("whole.h5").series["energy.energy"], run.series["energy.energy"]
        common = min(len(whole), len(part))
        self.assertGreater(common, 0)
        self.assertTrue(part[:common].equals(whole[:common]))  # of the same chain


class Places(InFolder):
    def python(self, code, **environment):
        """What Python prints with the module of this package and nothing else in its environment."""
        clean = {name: value for name, value in os.environ.items() if name not in ("PLUGMC_LIBRARY", "PATH")}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**clean, "PATH": "/usr/bin:/bin", **environment})
        return (done.stdout + done.stderr).strip()

    show = "import plugmc.program as p; print(p.find_library(), p.find_program())"

    def test_library_and_program_are_found(self):
        both = f"{BUILD / program.NAME} {BUILD / 'plugmc'}"
        self.assertEqual(self.python(self.show, PLUGMC_LIBRARY=str(BUILD)), both)
        self.assertEqual(self.python(self.show, PLUGMC_LIBRARY=str(BUILD / program.NAME)), both)
        os.mkdir("alone")
        subprocess.run(["cp", "-r", str(PACKAGE), "alone"], check=True)
        self.assertEqual(self.python(self.show, PYTHONPATH="alone", PATH=f"{BUILD}:/usr/bin:/bin"), both)
        # beside the source
        os.makedirs("source/python")
        subprocess.run(["cp", "-r", str(PACKAGE), "source/python"], check=True)
        os.symlink(BUILD, "source/build")
        self.assertIn(f"source/build/{program.NAME} {BUILD / 'plugmc'}", self.python(self.show, PYTHONPATH="source/python"))

    def test_sentences(self):
        said = self.python("import plugmc as pm; pm.Engine('x.ini')", PLUGMC_LIBRARY="/none/lib.so")
        self.assertIn("PlugmcError: libplugmc cannot be loaded: /none/lib.so", said)
        said = self.python("import plugmc as pm, plugmc.program as p; p.__version__ = '9.8.7'; pm.Engine('x.ini')",
                           PLUGMC_LIBRARY=str(BUILD))
        self.assertRegex(said, "the module plugmc is of version 9.8.7, and .*/libplugmc.so.0 of [0-9.]+: both must be the same")

    def test_versions_are_the_same(self):
        library = program.library().plugmc_engine_version().decode()
        self.assertEqual(common.__version__, library)
        self.assertEqual(plugmc("version").split()[1].rstrip(","), library)

    def test_functions_of_the_header(self):
        """Structs have the sizes that the compiler gives them."""
        from plugmc.engine import CArray, CQuantity
        Path("sizes.c").write_text('#include <stdio.h>\n#include "plugmc/engine.h"\nint main(void) { printf("%zu %zu", '
                                   'sizeof(plugmc_engine_array), sizeof(plugmc_engine_quantity)); }\n')
        subprocess.run(["cc", "-I", os.environ["ENGINE_H"], "sizes.c", "-o", "sizes"], check=True)
        sizes = subprocess.run(["./sizes"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sizes, f"{ctypes.sizeof(CArray)} {ctypes.sizeof(CQuantity)}")


if __name__ == "__main__":
    unittest.main()

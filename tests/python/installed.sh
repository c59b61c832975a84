#!/bin/bash
# The module where it is installed, with nothing that says where program and library are: installed.sh STEP SOURCE BUILD
#   pip    in an environment made for it, with the program of the build on the PATH
#   cmake  in the installation of tests/outoftree, whose program and library have been moved with it
set -eu -o pipefail
step=$1 source=$2 build=$3
python=/usr/bin/python3
unset PYTHONPATH PLUGMC_LIBRARY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -c 'import h5py, pandas' || { echo "skipped: no h5py or pandas"; exit 77; }

# A run by the program, and the same one by the library, from the module in FOLDER.
check()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 100
	device = cpu
	[box]
	dimension = 2
	packing_fraction = 0.4
	[species disk]
	count = 64
	[potential hard_disk]
	[mover checkerboard]
	step = 0.2
	[observable hard_pressure]
	period = 5
	END
    cat >use.py <<-END
	import os, sys
	import plugmc
	import plugmc.program
	assert os.path.dirname(os.path.realpath(plugmc.__file__)) == os.path.realpath(sys.argv[1]), plugmc.__file__
	for place in plugmc.program.find_library(), plugmc.program.find_program():
	    assert os.path.realpath(place).startswith(os.path.realpath(sys.argv[2]) + os.sep), place
	run = plugmc.run("sim.ini")
	with plugmc.Engine("sim.ini") as engine:
	    engine.sweep(100 + run.config["run"]["equilibrate"])
	    assert (engine.positions[0] == run.last[0].positions).all()
	print(run.table)
	END
    "$1" use.py "$2" "$3"
}

case $step in
    pip)
        "$python" -m pip --version >/dev/null 2>&1 || { echo "skipped: no pip"; exit 77; }
        cp -r "$source/python" module # pip builds where the source is
        "$python" -m venv --without-pip --system-site-packages own
        own/bin/python -m pip install --quiet --no-index --no-build-isolation --no-deps ./module
        rm -r module
        PATH=$build:$PATH check own/bin/python own/lib/python3*/site-packages/plugmc "$build"
        version=$(own/bin/python -m pip show plugmc | sed -n 's/^Version: //p')
        [ "plugmc $version" = "$("$build/plugmc" version | cut -d' ' -f1,2 | tr -d ,)" ] ||
            { echo "pip knows version $version, the program is $("$build/plugmc" version)"; exit 1; }
        ;;
    cmake)
        prefix=$build/tests/outoftree/prefix
        module=$(find "$prefix" -type d -path '*/python3*/plugmc')
        [ -f "$module/engine.py" ] || { echo "there is no module in $prefix"; exit 1; }
        PATH=/usr/bin:/bin PYTHONPATH=$(dirname "$module") check "$python" "$module" "$prefix"
        ;;
esac

# On a GPU numbers are looked at when the next sweeps have been launched, where all that is due can be launched.

# late_disks: sim.ini with what measures without waiting
late_disks()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 6000
	equilibrate = 100
	seed = 5
	device = gpu
	[box]
	dimension = 2
	packing_fraction = 0.68
	[species disk]
	count = 16384
	[initial]
	state = lattice
	[potential hard_disk]
	[mover checkerboard]
	[observable hexatic_order]
	period = 30
	[observable hard_pressure]
	period = 20
	END
}

# rdf does not launch, so with it the host waits for every measurement.
test_numbers_looked_at_late_on_a_gpu()
{
    gpu
    late_disks
    must run sim.ini --set run.csv=late.csv --set run.output=late.h5
    printf '[observable rdf]\nperiod = 10\n' >>sim.ini
    must run sim.ini --set run.csv=at_once.csv --set run.output=at_once.h5
    must run sim.ini --set run.csv=cpu.csv --set run.output=cpu.h5 --set run.device=cpu --set run.sweeps=600
    [ "$(wc -l <late.csv)" -eq 401 ] || fail "expected 400 lines, not $(wc -l <late.csv)"
    cmp late.csv at_once.csv || fail "numbers differ"
    head -n 41 late.csv | cmp - cpu.csv || fail "numbers are not those of the CPU"
}

test_a_run_that_measures_late_is_resumed_on_a_gpu()
{
    gpu
    late_disks
    must run sim.ini --set run.output=whole.h5
    plugmc run sim.ini --set run.output=parts.h5 --set run.time_limit=0.02
    expect_exit 11
    must run --resume parts.h5 --set run.time_limit=0
    same_chain whole.h5 parts.h5
}

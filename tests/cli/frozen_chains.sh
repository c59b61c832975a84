# Chains that stand still: what does not vary is not known exactly, unless it is a constant.

# frozen.ini: spheres whose step is so large that no trial move is accepted.
frozen()
{
    cat >sim.ini <<END
[run]
sweeps = 300
equilibrate = 100
seed = 3
[box]
dimension = 3
packing_fraction = 0.7
[species A]
count = 108
[potential hard_sphere]
[mover serial]
step = 5
[observable hard_pressure]
period = 5
END
}

NOT_ACCEPTED="none of the 3.24e+04 trial moves of serial.displacement was accepted in production"

test_a_frozen_chain_has_no_error_bars()
{
    frozen
    must run sim.ini
    grep -Eq '^hard_pressure.pressure +18\.4993524266\* +none +60 ' "$out" || fail "a mean that looks exact"
    grep -Eq '^hard_pressure.pressure_fit +[0-9.]+\* *kT' "$out" || fail "a derived number that looks exact"
    expect_output "200 values against r, in sim.h5; 200 of their errors are not known *"
    expect_output "* $NOT_ACCEPTED: no error bar can be relied on"
    must run sim.ini --quiet --set run.output=quiet.h5
    grep -Eq '^hard_pressure.pressure +18\.4993524266\* +none ' "$out" || fail "--quiet: looks exact"
    must analyse sim.h5
    grep -Eq '^hard_pressure.pressure +18\.4993524266\* +none ' "$out" || fail "plugmc analyse: looks exact"
    expect_output "* $NOT_ACCEPTED: no error bar can be relied on"
    must analyse sim.h5 --csv
    grep -Eq '^hard_pressure.pressure,18.49935242[0-9]*,,0,,60,kT/length\^3,0$' "$out" || fail "CSV has an error"
    must analyse sim.h5 --print hard_pressure.g_contact
    awk '!/^#/ && NF && $3 != "nan" { exit 1 }' "$out" || fail "an array has errors"
    h5dump -a /plugmc/observables/hard_pressure/pressure/error sim.h5 | grep -qi nan ||
        fail "the file has an error"
    must run sim.ini --json --set run.output=other.h5
    grep -q '"hard_pressure.pressure", "value": 18.49935[0-9]*, "error": null' "$out" || fail "JSON has an error"
    grep -Fq "\"not_accepted\": [\"$NOT_ACCEPTED\"]" "$out" || fail "JSON does not say why"
}

test_hardly_accepted_moves_make_errors_lower_bounds()
{
    frozen
    sed -i 's/^packing_fraction.*/packing_fraction = 0.5/; s/^step.*/step = 1.5/' sim.ini
    printf '[observable rdf]\nperiod = 5\nr_max = 2\nbins = 4\n' >>sim.ini
    must run sim.ini --set run.sweeps=100 --set run.equilibrate=0 --set initial.state=lattice
    grep -Eq '^\* only [0-9]+ of the 1.08e\+04 trial moves of serial.displacement were accepted in production, fewer than one sweep makes: no error bar can be relied on$' "$out" ||
        fail "it is not said"
    # pairs that nobody changes, and such as there are few of
    grep -Eq '^rdf.A-A: 4 values against r, in sim.h5(; [1-4] of their errors are lower bounds \*)?(; [1-4] of their errors are not known \*)?$' "$out" ||
        fail "errors of an array"
}

# Numbers that nobody changes and the volume of a box that stays are exact.
test_constants_of_a_chain_that_moves_are_exact()
{
    disks
    printf '[observable numbers]\nperiod = 5\n[observable box_size]\nperiod = 5\n' >>sim.ini
    must run sim.ini --set run.sweeps=400
    grep -Eq '^numbers.N_disk +64 +none ' "$out" || fail "a number that nobody changes"
    grep -Eq '^box_size.volume +[0-9.]+ +none ' "$out" || fail "a volume that nobody changes"
    grep -F "can be relied on" "$out" && fail "it is said of a chain that moves"
    return 0
}

# At this pressure no box grows, and no denser one is free of overlaps.
test_a_volume_that_is_never_accepted_has_no_error_bar()
{
    disks
    printf '[mover volume]\nstep = 1\n[observable box_size]\nperiod = 5\n' >>sim.ini
    must run sim.ini --set run.sweeps=400 --set run.pressure=1e6
    grep -Eq '^box_size.volume +[0-9.]+\* +none ' "$out" || fail "a volume that looks exact"
    grep -Eq '^\* none of the [0-9.e+]+ trial moves of volume.volume was accepted in production: ' "$out" ||
        fail "it is not said"
}

test_a_ladder_that_never_exchanges_is_said()
{
    frozen
    cat >ladder.ini <<END
[run]
sweeps = 200
equilibrate = 100
seed = 3
walkers = 2
[ladder]
vary = run.temperature
values = 0.5 50
[box]
dimension = 3
density = 0.7
[species A]
count = 64
[potential lennard_jones]
epsilon = 1
sigma = 1
cutoff = 2
[mover serial]
step = 0.1
[mover exchange]
[observable energy]
period = 10
END
    must run ladder.ini
    grep -Eq '^\* none of the [0-9]+ trial moves of exchange.exchange was accepted in production: ' "$out" ||
        fail "it is not said"
    grep -Eq '^energy.energy@0.5 +[^ ]+\)\* ' "$out" || fail "an error bar without a star"
    must run ladder.ini --set "ladder.values=0.99 1" --set run.output=near.h5
    grep -F "can be relied on" "$out" && fail "it is said of a ladder that exchanges"
    return 0
}

test_a_page_says_that_a_chain_is_frozen()
{
    command -v gnuplot >/dev/null || skip "there is no gnuplot"
    frozen
    must run sim.ini
    must report sim.h5
    grep -Fq "sim.h5: $NOT_ACCEPTED. No error bar can be relied on (*)." sim.html || fail "the page does not say it"
    grep -Fq '18.4993524266*' sim.html || fail "the page has no star"
}

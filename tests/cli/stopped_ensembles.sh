# Runs in ensembles, stopped where one mover or another was the last and resumed, against runs at once:
# boxes, rungs, positions and what potentials keep are the same, bit for bit.

. "$here/checkerboards.sh"          # liquid, hard
. "$here/salt_in_changing_boxes.sh" # melt, ewald, mesh, molten

# in_parts SWEEPS...: sim.ini, stopped after each of these but the last, is the run at once.
in_parts()
{
    local sweeps last="${!#}"
    rm -f whole.h5 sim.h5
    must run sim.ini --set run.output=whole.h5 --set run.sweeps="$last"
    cp "$out" table
    must run sim.ini --set run.sweeps="$1"
    for sweeps in "${@:2}"; do must run --resume sim.h5 --set run.sweeps="$sweeps"; done
    same_chain whole.h5 sim.h5
}

# moved KIND...: some trial moves of each kind were accepted in the run at once, and not all.
moved()
{
    local kind
    for kind; do
        grep -Eq "^acceptance 0\.0*[1-9][0-9]*( to [01]\.[0-9]+)? of .* trial moves of $kind[,;]?( |$)" table ||
            fail "$kind changes nothing: $(grep "$kind" table)"
    done
}

# on DEVICE SCRIPT: edits sim.ini for this device, which begins with a short equilibration.
on() { change "s/^device = .*/device = $1/; s/^equilibrate = .*/equilibrate = 40/; ${2-}"; }

# ---- Checkerboard and volumes ----

# A thread or lane a cell, a warp a cell, hard particles: these are asked about boxes, the others the core.
boxes_of_the_checkerboard()
{
    liquid 2
    on "$1" 's/^walkers/pressure = 0.6\n&/; s/^step = .*/&\ntarget_acceptance = 0.4/; s/^cutoff = .*/cutoff = 1.6/'
    printf '[observable box_size]\nperiod = 4\n[mover volume]\nevery = 3\nstep = 0.05\n' >>sim.ini
    in_parts 20 21 22 101 163 300
    moved checkerboard.displacement volume.volume
    change 's/^\[mover checkerboard\]/&\ncell = 3.5/; s/^density = .*/density = 0.8/; s/^count = .*/count = 100/'
    in_parts 20 21 22 101 163 300
    moved checkerboard.displacement volume.volume
    hard 2 60 3 11
    on "$1" 's/^\[mover volume\]/&\nevery = 3/'
    in_parts 20 21 22 101 163 300
    moved checkerboard.displacement volume.volume
}

test_boxes_of_the_checkerboard_in_parts() { boxes_of_the_checkerboard cpu; }
test_boxes_of_the_checkerboard_in_parts_on_a_gpu() { gpu; boxes_of_the_checkerboard gpu; }

# ---- Checkerboard, exchange and volumes ----

# Temperatures of atoms and pressures of disks.
ladders_of_boxes()
{
    liquid 6
    on "$1" 's/^walkers/temperature = 0.8 0.9 1\npressure = 0.6\n&/; s/^step = .*/&\ntarget_acceptance = 0.4/; s/^cutoff = .*/cutoff = 1.6/'
    printf '[observable box_size]\nperiod = 4\n[mover exchange]\nevery = 2\n[mover volume]\nevery = 3\nstep = 0.05\n' >>sim.ini
    in_parts 20 21 22 23 100 163 300
    moved checkerboard.displacement exchange.exchange volume.volume
    hard 2 60 3 11
    on "$1" 's/^walkers = 2/walkers = 4/; /^pressure = 3/d; s/^\[box\]/[ladder]\nvary = run.pressure\nvalues = 3 3.1\n\n&/
        s/^\[mover volume\]/[mover exchange]\nevery = 2\n\n&\nevery = 3/'
    in_parts 20 21 22 23 100 163 300
    moved checkerboard.displacement exchange.exchange volume.volume
}

test_ladders_of_boxes_in_parts() { ladders_of_boxes cpu; }
test_ladders_of_boxes_in_parts_on_a_gpu() { gpu; ladders_of_boxes gpu; }

# ---- Totals ----

# Structure factors and meshes, with boxes alone and on a ladder. New boxes are proposed in sweeps 16, 32 and 48,
# of which equilibration has 10: between a stop and the end there is none, which would begin all sums anew.
totals_in_boxes()
{
    local sum
    melt
    for sum in ewald mesh; do
        $sum
        molten
        on "$1" 's/^equilibrate = .*/equilibrate = 10/; s/^\[mover volume\]/&\nevery = 16\ntrials = 5/'
        in_parts 5 6 7 23 39 41 45
        moved serial.displacement volume.volume
        change 's/^walkers/temperature = 1 1.1\n&/'
        printf '[mover exchange]\nevery = 3\n' >>sim.ini
        in_parts 5 6 7 23 39 41 45
        moved serial.displacement exchange.exchange volume.volume
    done
}

test_totals_in_changing_boxes_in_parts() { totals_in_boxes cpu; }
test_totals_in_changing_boxes_in_parts_on_a_gpu() { gpu; totals_in_boxes gpu; }

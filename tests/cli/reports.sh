# plugmc report: one HTML page about runs, which asks for nothing and believes no text.

command -v gnuplot >/dev/null || skip "there is no gnuplot"

# shown FILE.html: it is one page below 5 MB that asks for nothing, with as many figures as are wanted at least
shown()
{
    [ "$(stat -c %s "$1")" -lt 5000000 ] || fail "expected less than 5 MB"
    grep -q '</html>' "$1" || fail "expected a whole page"
    ! grep -Eo "(src|href)=['\"][^'\"]*" "$1" | grep -Ev "=['\"](#|data:)" || fail "expected no request"
    [ "$(grep -c '<figure' "$1")" -ge "$2" ] || fail "expected $2 figures"
    repeated=$(grep -Eo " id=['\"][^'\"]*" "$1" | sort | uniq -d)
    [ -z "$repeated" ] || fail "expected ids to be unique: $repeated"
    local code=0
    /usr/bin/python3 "$here/browser.py" "$1" >"$out" 2>"$err" || code=$?
    [ "$code" = 0 ] || [ "$code" = 77 ] || fail "expected a page without faults: $(cat "$out" "$err")"
}

disks()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 640
	equilibrate = 64
	seed = 3
	threads = 1
	device = cpu
	[box]
	dimension = 2
	packing_fraction = 0.6
	[species disk]
	count = 100
	diameter = 1
	[potential hard_disk]
	[mover serial]
	step = 0.3
	[observable hard_pressure]
	period = 4
	[observable hexatic_order]
	period = 4
	[observable rdf]
	period = 8
	[observable structure_factor]
	k_max = 12
	period = 8
	END
    must run sim.ini "$@"
}

test_report_of_disks()
{
    disks
    must report sim.h5
    shown sim.html 12
    grep -q 'hsl(' sim.html || fail "expected disks to be coloured by psi_6"
    grep -q 'hard_pressure.<wbr>pressure_fit' sim.html || fail "expected derived numbers"
    grep -q 'sim.ini:4' sim.html || fail "expected the origin of values"
    grep -q 'Anderson' sim.html || fail "expected papers to cite"
    # Its numbers are those of the table.
    must analyse sim.h5
    value=$(awk '$1 == "hard_pressure.pressure" { print $2 }' "$out")
    grep -Fq ">$value<" sim.html || fail "expected $value"
}

# Steps as they were tuned and speed over time: of a run that was resumed, and beside one without.
test_report_of_tuning_and_speed()
{
    disks --set run.output=untuned.h5
    plugmc run sim.ini --set 'mover serial.target_acceptance=0.4' --set run.equilibrate=800 --set run.time_limit=1e-6
    expect_exit 11
    must run --resume sim.h5 --set run.time_limit=0
    must run sim.ini --set 'mover serial.target_acceptance=0.4' --set run.equilibrate=800 --set run.output=through.h5
    same_chain sim.h5 through.h5 # the history of steps, too
    must report sim.h5
    shown sim.html 15
    grep -q '<h2>Tuning of steps</h2>' sim.html || fail "expected steps as they were tuned"
    grep -q 'acceptance before each tuning' sim.html || fail "expected acceptance while steps were tuned"
    grep -q '<h2>Speed</h2>' sim.html || fail "expected speed over time"
    must report sim.h5 untuned.h5 --output two.html
    shown two.html 15
    must report untuned.h5 --output plain.html
    ! grep -q '<h2>Tuning' plain.html || fail "expected no tuning where there was none"
}

test_report_of_several_runs()
{
    disks
    must run sim.ini --set run.output=b.h5 --set run.seed=4
    must run sim.ini --set run.output=c.h5 --set box.packing_fraction=0.65
    must report sim.h5 b.h5 c.h5 --output three.html
    shown three.html 12
    grep -q '<th>z</th>' three.html || fail "expected z-scores"
}

test_report_of_ions()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	equilibrate = 10
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 12
	[species cation]
	count = 20
	diameter = 1
	charge = 2
	[species anion]
	count = 40
	diameter = 1
	charge = -1
	[potential hard_sphere]
	[potential coulomb]
	bjerrum_length = 1.7
	[mover serial]
	step = 2
	[observable energy]
	period = 1
	END
    must run sim.ini
    must report sim.h5
    shown sim.html 3
    grep -q 'class="f1 d' sim.html || fail "expected ions to be coloured by species"
}

test_report_of_electrons()
{
    sed -e 's/^sweeps = .*/sweeps = 60/; s/^equilibrate = .*/equilibrate = 20/; s/^walkers = .*/walkers = 4/
        s/^threads = .*/threads = 1\ndevice = cpu/' "$here/../../examples/electron-gas.ini" >sim.ini
    must run sim.ini
    must report sim.h5
    shown sim.html 3
}

# whole_particles FILE.html: no circle of the configuration is cut off by the edge of its picture.
whole_particles()
{
    grep -o '<circle cx="[^"]*" cy="[^"]*" r="[^"]*"' "$1" | tr -dc '0-9. \n-' |
        awk '$1 - $3 < -10 || $1 + $3 > 1010 || $2 - $3 < -10 { bad = 1 } END { exit bad || NR < 32 }' ||
        fail "particles are cut off"
}

test_report_of_a_ladder()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	equilibrate = 50
	seed = 3
	threads = 1
	walkers = 6
	device = cpu
	[box]
	dimension = 3
	density = 0.3
	[species A]
	count = 32
	[ladder]
	vary = run.temperature
	values = 1 1.2 1.4
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.6
	[mover serial]
	step = 0.2
	[mover exchange]
	[observable energy]
	period = 5
	[observable rdf]
	period = 5
	END
    must run sim.ini
    must report sim.h5
    shown sim.html 8
    must analyse sim.h5
    value=$(awk '$1 == "energy.energy@1.2" { print $2 }' "$out")
    grep -Fq ">$value<" sim.html || fail "expected errors of walkers that hang together: $value"
    whole_particles sim.html
}

test_report_of_trajectories_of_forces()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	equilibrate = 10
	threads = 1
	device = cpu
	[box]
	dimension = 3
	density = 0.5
	[species A]
	count = 64
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2
	[mover hmc]
	length = 5
	[observable energy]
	period = 1
	END
    must run sim.ini
    must report sim.h5
    shown sim.html 3
}

test_report_of_many_disks_has_an_image()
{
    disks --set 'species disk.count=22500' --set run.sweeps=4 --set run.equilibrate=0
    must report sim.h5
    shown sim.html 1
    grep -q 'src="data:image/png;base64,iVBOR' sim.html || fail "expected an image"
}

test_report_believes_no_text()
{
    disks --set 'run.author=<script>alert(1)</script> `touch stolen` $(touch stolen)'
    mv sim.h5 "a'\`touch stolen\`\"<b>.h5"
    must report "a'\`touch stolen\`\"<b>.h5" --output sim.html
    shown sim.html 12
    [ ! -e stolen ] || fail "expected that nothing in a name is run"
    ! grep -q '<script>' sim.html || fail "expected text as text"
    grep -q '&lt;script&gt;alert(1)' sim.html || fail "expected the author as text"
}

# The equation of state in two commands, ending in a plot.
test_report_of_a_study()
{
    cp "$here/../../examples/hard-disks-scan.ini" .
    sed -i 's/^sweeps = .*/sweeps = 4000/; s/^run.seed.*//' hard-disks-scan.ini
    must scan hard-disks-scan.ini
    must report hard-disks-scan/summary.csv --output eos.html
    shown eos.html 4
    grep -q '<h2>Against box.packing_fraction' eos.html || fail "expected the key that was scanned"
    grep -Fq '<th class="number">hard_pressure.<wbr>pressure<br>[kT/length^2]</th>' eos.html || fail "expected units in the table"
    grep -Fq '<b>hard_pressure.pressure</b> [kT/length^2]' eos.html || fail "expected units at the figures"
    mv hard-disks-scan/summary.h5 away.h5
    must report hard-disks-scan/summary.csv --output without.html
    grep -Fq 'Units are missing: they are read from summary.h5' without.html || fail "expected a word on units"
    mv away.h5 hard-disks-scan/summary.h5
    # A second key: a curve for each of its values.
    sed -i 's/^box.packing_fraction = 0.1 .*/box.packing_fraction = 0.3 0.4 0.5\nrun.seed = 1 2/' hard-disks-scan.ini
    rm -r hard-disks-scan
    must scan hard-disks-scan.ini
    must report hard-disks-scan/summary.csv
    shown hard-disks-scan/summary.html 4
    grep -q 'run.seed = 2' hard-disks-scan/summary.html || fail "expected whose curve is whose"
    printf 'point,state\n0,finished\n' >bad.csv
    refused 3 "bad.csv: this is not a table of plugmc scan (summary.csv) with a result" report bad.csv
    printf 'a,"b\n' >bad.csv
    refused 3 "bad.csv: this is not a table of plugmc scan (summary.csv) with a result" report bad.csv
}

# A study whose values are in no order, with more combinations than colours; what is not drawn is said.
test_report_of_a_study_says_what_is_left_out()
{
    {
        echo 'point,state,box.packing_fraction,run.seed,x.y,x.y error,x.y star'
        for seed in 1 2 3 4 5 6 7 8 9; do
            for place in 0.3 0.1 0.2; do echo "$seed,finished,$place,$seed,$place,0,"; done
        done
    } >summary.csv
    must report summary.csv
    grep -q '^These are the first 8 of 9 combinations; the others are in the table' summary.html ||
        fail "expected that the ninth is missed"
    # A line through three points that goes one way alone: x of the path after its beginning.
    path=$(tr '\n' ' ' <summary.html | grep -o "<path stroke='var(--c0)'  *d='M[^'M]*L[^'M]*L[^'M]*'" | head -1)
    [ -n "$path" ] || fail "expected a line through the points"
    echo "$path" | grep -o '[ML][0-9.]*' | tr -d ML | sort -n -c || fail "the line goes back: $path"
    sed -i '1!s/,0\.[123],/,lattice,/; 1!s/,[0-9],/,"1 2",/' summary.csv
    must report summary.csv --output none.html
    grep -q 'nothing is drawn' none.html || fail "expected a word that there are no figures"
    disks --set run.sweeps=1 # one time alone
    must report sim.h5 --force
    [ ! -s "$err" ] || fail "expected no word of gnuplot's"
    must run sim.ini --set run.output=b.h5 --set run.sweeps=200
    must report sim.h5 b.h5 --output both.html
    [ ! -s "$err" ] || fail "expected no word of gnuplot's"
}

# How much longer a run should be, a time that is only known to be below the period, and tables of which a narrow page
# shows a part.
test_report_says_how_long_a_run_should_be()
{
    disks --set run.sweeps=12
    must analyse sim.h5
    grep -Fxq '  the run should be 6 times longer, at least' "$out" || fail "3 of 16 samples: the table does not say 6"
    must report sim.h5
    grep -q 'the run is too short for them and should be 6 times longer, at least' sim.html || fail "the page does not"
    grep -q 'scroll them sideways' sim.html || fail "expected a hint at wide tables"
    grep -Eq '<td class="number">&lt;2</td>' sim.html || fail "a time below the period is not told as such"
    must analyse sim.h5 --csv
    grep -q '^hard_pressure.pressure,.*,1,2,3,kT/length^2,1$' "$out" || fail "CSV: a bound looks like a time"
    must run sim.ini --set run.sweeps=12 --set run.output=other.h5 --json
    grep -q '"correlation_time_sweeps": 2, "correlation_time_is_upper_bound": true' "$out" || fail "JSON: likewise"
}

# Sweeps up to 4100: numbers below the figures go to 4000, not to 5000.
test_axes_of_a_report_end_with_the_data()
{
    disks --set run.sweeps=410 --set run.equilibrate=0
    must report sim.h5
    grep -q '>400<' sim.html || fail "expected numbers below the traces"
    sed '/<h2>Traces/,/<h2>Autocorrelation/!d' sim.html | grep -q '>500<' && fail "an axis goes on far behind the data"
    return 0
}

test_what_report_refuses()
{
    disks
    refused 2 "plugmc report: which file?; see --help" report
    refused 2 "plugmc report: unknown option '--outptu'; see --help" report sim.h5 --outptu
    refused 6 "cannot read none.h5: No such file or directory" report none.h5
    refused 6 "cannot read sim.ini: it is not an HDF5 file" report sim.ini
    refused 2 "sim.h5 is the file to be reported on" report sim.h5 --output sim.h5 --force
    refused 2 "./sim.h5 is the file to be reported on" report sim.h5 --output ./sim.h5 --force
    ln -s sim.h5 link.html
    refused 2 "link.html is the file to be reported on" report sim.h5 --output link.html --force
    printf 'point,state,run.seed,x,x error,x star\n0,finished,1,1,0.1,\n' >summary.csv
    refused 2 "$PWD/summary.csv is the file to be reported on" report summary.csv --output "$PWD/summary.csv" --force
    refused 3 "cannot read no/summary.csv: No such file or directory" report no/summary.csv
    echo mine >sim.html
    refused 5 "sim.html exists already: --force replaces it, --output FILE.html writes another file" report sim.h5
    while_locked sim.html refused 5 "cannot write sim.html: another plugmc is writing it (somebody)" report sim.h5 --force
    must report sim.h5 --force
    refused 5 "cannot write nowhere/sim.html: No such file or directory" report sim.h5 --output nowhere/sim.html
    env PATH=/nowhere "$PLUGMC" report sim.h5 --output other.html >"$out" 2>"$err"
    status=$?
    expect_exit 5
    expect_message "gnuplot, which draws the figures, cannot be started: No such file or directory"
    [ -z "$(ls other.html* 2>/dev/null)" ] || fail "expected that nothing is left behind"
}

test_report_of_an_empty_run()
{
    disks --set run.sweeps=1 --set 'observable rdf.period=1'
    must report sim.h5
    shown sim.html 1
}

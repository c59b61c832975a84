# plugmc analyse: the table of a run again, of a part of it and of several runs.

# disks LINE...: a small run that measures numbers, arrays and what is derived from both
disks()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 640
	equilibrate = 0
	seed = 3
	threads = 1
	device = cpu
	[box]
	dimension = 2
	packing_fraction = 0.4
	[species disk]
	count = 36
	diameter = 1
	[potential hard_disk]
	[mover serial]
	step = 0.3
	[observable hard_pressure]
	period = 2
	[observable hexatic_order]
	period = 1
	[observable rdf]
	period = 4
	END
    printf '%s\n' "$@" >>sim.ini
    "$PLUGMC" run sim.ini --set run.output=sim.h5 >/dev/null 2>"$err" || fail "the run itself"
}

# as_first FILE: its table is the one that `plugmc run` printed
as_first()
{
    must run --resume "$1"
    grep -v "^$1\$" "$out" | sed "s/, in $1/, by --print/" >../first
    must analyse "$1"
    sed 1d "$out" >../again
    cmp -s ../first ../again || fail "expected the table of the run itself: $(diff ../first ../again)"
}

# column NAME N: the value in column N of the CSV table of NAME
column() { awk -F, -v name="$1" -v n="$2" '$1 == name { print $n }' "$out"; }

# near A B SHARE: equal up to this part of them
near()
{
    awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN {
        d = a - b; if (d < 0) d = -d; s = a < 0 ? -a : a
        exit !(a != "" && b != "" && d <= share * (s > 1e-300 ? s : 1)) }' ||
        fail "expected $1 and $2 to be the same up to $3 of them"
}

test_table_of_a_run_again()
{
    disks
    as_first sim.h5
    grep -q '^sim.h5: sweeps 1 to 640$' "$out" || fail "expected of what the table is"
    before=$(contents)
    must analyse sim.h5
    [ "$before" = "$(contents)" ] || fail "expected no file to be touched"
}

test_table_of_a_run_on_a_ladder_again()
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
    as_first sim.h5
}

test_table_of_a_part_of_a_run()
{
    disks
    must analyse sim.h5 --from 320 --csv
    cp "$out" ../later
    must analyse sim.h5 --from 320 --print rdf.disk-disk
    cp "$out" ../later.g
    # The chain does not depend on where production begins.
    must run sim.ini --set run.equilibrate=320 --set run.sweeps=320 --set run.output=half.h5
    must analyse half.h5 --csv
    for name in hard_pressure.pressure hexatic_order.psi6_modulus hexatic_order.susceptibility \
        hard_pressure.pressure_fit; do
        near "$(column $name 2)" "$(awk -F, -v n=$name '$1 == n { print $2 }' ../later)" 1e-9
    done
    [ "$(column hard_pressure.pressure 6)" = 160 ] || fail "expected 160 samples"
    must analyse half.h5 --print rdf.disk-disk
    paste -d' ' "$out" ../later.g | awk '
        /^#/ { next }
        { n++; d = $2 - $6; if ($1 != $5 || d > 1e-9 || d < -1e-9) bad++ }
        END { exit !(n > 20 && !bad) }' || fail "expected the same g(r)"
}

test_part_of_a_run_that_cuts_a_block()
{
    disks
    # g_contact and pressure are measured every second sweep: 320 samples in blocks of 4.
    must analyse sim.h5 --from 101 --csv
    [ "$(column hard_pressure.pressure 6)" = $((320 - 52)) ] || fail "expected 13 blocks to be left out"
    [ "$(column hexatic_order.psi6_modulus 6)" = $((640 - 101)) ] || fail "expected 101 samples to be left out"
    must analyse sim.h5 --from 101 --print hexatic_order.psi6_modulus
    [ "$(sed -n 2p "$out" | cut -d' ' -f1)" = 102 ] || fail "expected sweep 102 first"
}

test_errors_from_so_many_blocks()
{
    disks
    must analyse sim.h5 --print hexatic_order.psi6_modulus
    expected=$(awk '!/^#/ { sum[int(k / 64)] += $2; k++ }
        END { for (b = 0; b < 10; b++) m += sum[b] / 640
              for (b = 0; b < 10; b++) s += (sum[b] / 64 - m) ^ 2
              printf "%.15g", sqrt(s / 90) }' "$out")
    must analyse sim.h5 --blocks 10 --csv
    near "$(column hexatic_order.psi6_modulus 3)" "$expected" 1e-9
    # A derived number that is linear in one mean has the error of that mean.
    must analyse sim.h5 --blocks 10 --print rdf.disk-disk
    awk '!/^#/ && $3 > 0 { n++ } END { exit !(n > 10) }' "$out" || fail "expected errors of g(r)"
}

test_several_seeds_together()
{
    disks
    must run sim.ini --set run.seed=4 --set run.output=b.h5 --set run.sweeps=1024
    must run sim.ini --set run.seed=5 --set run.output=c.h5 --set run.equilibrate=40
    rm -f ../all ../g
    for f in sim b c; do
        must analyse $f.h5 --print hexatic_order.psi6_modulus
        grep -v '^#' "$out" >>../all
        must analyse $f.h5 --print rdf.disk-disk
        grep -v '^#' "$out" >>../g
    done
    must analyse sim.h5 b.h5 c.h5 --csv
    near "$(column hexatic_order.psi6_modulus 2)" \
        "$(awk '{ s += $2; n++ } END { printf "%.15g", s / n }' ../all)" 1e-10
    [ "$(column hexatic_order.psi6_modulus 6)" = 2304 ] || fail "expected all samples"
    # Arrays: 160 samples of sim and c in blocks of 2 and 256 of b in blocks of 4; nothing is left out.
    must analyse sim.h5 b.h5 c.h5 --print rdf.disk-disk
    awk 'NR == FNR { g[$1] += $2 * (n[$1]++ == 1 ? 256 : 160); next }
        !/^#/ { count++; d = $2 - g[$1] / 576; if (d > 1e-9 || d < -1e-9) bad++ }
        END { exit !(count > 20 && !bad) }' ../g "$out" || fail "expected the mean of all g(r)"
    must analyse sim.h5 b.h5 c.h5
    grep -q '^b.h5: sweeps 1 to 1024$' "$out" || fail "expected the range of each file"
    grep -q '^c.h5: sweeps 41 to 680$' "$out" || fail "expected the range of each file"
}

test_runs_side_by_side()
{
    disks
    must run sim.ini --set run.seed=4 --set run.output=b.h5
    must run sim.ini --set run.seed=5 --set run.output=denser.h5 --set box.packing_fraction=0.55
    for f in sim b; do
        must analyse $f.h5 --csv
        column hard_pressure.pressure 2 >../$f.mean
        column hard_pressure.pressure 3 >../$f.error
    done
    z=$(paste ../sim.mean ../b.mean ../sim.error ../b.error |
        awk '{ printf "%.2f", ($2 - $1) / sqrt($3 ^ 2 + $4 ^ 2) }')
    must analyse sim.h5 b.h5 --compare
    [ "$(awk '$1 == "hard_pressure.pressure" { print $NF }' "$out")" = "$z" ] || fail "expected z = $z"
    largest=$(sed -n 's/^largest z: \([0-9.]*\);.*/\1/p' "$out")
    awk -v z="$largest" 'BEGIN { exit !(z > 0 && z < 4.5) }' || fail "expected equal runs to look equal"
    must analyse sim.h5 denser.h5 --compare
    largest=$(sed -n 's/^largest z: \([0-9.]*\);.*/\1/p' "$out")
    awk -v z="$largest" 'BEGIN { exit !(z > 7) }' || fail "expected the pressures to differ"
    must analyse sim.h5 b.h5 denser.h5 --compare
    largest=$(sed -n 's/^largest z: \([0-9.]*\);.*/\1/p' "$out")
    awk -v z="$largest" 'BEGIN { exit !(z > 5) }' || fail "expected one of three to differ"
}

test_runs_that_are_not_one()
{
    disks
    must run sim.ini --set run.seed=4 --set run.output=b.h5 --set 'mover serial.step=0.2'
    must run sim.ini --set run.sweeps=300 --set run.output=same.h5
    refused 3 "b.h5: cannot be combined with sim.h5: [mover serial] step is 0.3 there but 0.2 here; --compare compares them" analyse sim.h5 b.h5
    refused 3 "same.h5: cannot be combined with sim.h5: both have [run] seed = 3, so they are the same chain" \
        analyse sim.h5 same.h5
    must analyse sim.h5 b.h5 --compare
}

# A file of energies is part of what was sampled: its name may be another one, what was in it may not.
test_runs_of_other_tables_are_not_one()
{
    disks
    rm sim.h5
    change 's/^.potential hard_disk.*/[potential tabulated]\nfiles = u.dat\ninside = extrapolate/; /hard_pressure/,$d'
    printf '[observable energy]\nperiod = 10\n' >>sim.ini
    printf '%s\n' "0.9 4" "1 2" "1.2 0" >u.dat
    must run sim.ini --set run.output=a.h5
    cp u.dat same.dat
    must run sim.ini --set run.seed=5 --set run.output=b.h5 --set "potential tabulated.files=same.dat" \
        --set run.log=b.log --set run.show=energy.energy
    must analyse a.h5 b.h5
    printf '%s\n' "0.9 8" "1 4" "1.2 0" >u.dat
    must run sim.ini --set run.seed=6 --set run.output=c.h5
    refused 3 "c.h5: cannot be combined with a.h5: the file of [potential tabulated] files was a different one there; --compare compares them" analyse a.h5 c.h5
    plugmc reweight a.h5 c.h5 --at run.temperature=1.1
    expect_exit 3
    expect_message "c.h5: belongs to another system than a.h5: the file of [potential tabulated] files was a different one there"
    must analyse a.h5 c.h5 --compare
}

test_what_analyse_refuses()
{
    disks
    refused 2 "plugmc analyse: which file?; see --help" analyse
    refused 2 "plugmc analyse: --compare needs two files; see --help" analyse sim.h5 --compare
    refused 2 "plugmc analyse: --blocks needs a whole number from 2 to 64; see --help" analyse sim.h5 --blocks 1
    refused 2 "plugmc analyse: --from needs a whole number from 1 to 9223372036854775807; see --help" \
        analyse sim.h5 --from -3
    refused 2 "plugmc analyse: unknown option '--form'; see --help" analyse sim.h5 --form 3
    refused 3 "there is no quantity 'rdf.disk-disc'; did you mean 'rdf.disk-disk'?" analyse sim.h5 --print rdf.disk-disc
    refused 3 "sim.h5: no whole block of 'hard_pressure' starts after sweep 640: its blocks are 8 sweeps long" \
        analyse sim.h5 --from 640
    refused 6 "cannot read none.h5: No such file or directory" analyse none.h5
    refused 6 "cannot read sim.ini: it is not an HDF5 file" analyse sim.ini
    "$PLUGMC" analyse sim.h5 >/dev/full 2>"$err"
    [ $? = 5 ] || fail "expected that a full disk is seen"
}

test_analysis_of_a_run_that_was_stopped()
{
    disks
    plugmc run sim.ini --set run.output=b.h5 --set run.sweeps=102400000 --set run.time_limit=0.3
    expect_exit 11
    must analyse b.h5
    grep -q "^UNFINISHED: the run did not reach its end$" "$out" || fail "expected that it is not finished"
}

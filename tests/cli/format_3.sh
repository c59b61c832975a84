# Output files of format 3 (tests/data/format_3) are resumed, to the bit, and read by all programs.

unpacked() { tar xJf "$here/../data/format_3/outputs.tar.xz" || fail "tar"; }

# goes_on NAME SWEEPS FILE: FILE is resumed as the run of chains/NAME.ini.
goes_on()
{
    OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 "$PLUGMC" run --resume "$3" --quiet --accept-changed-plugins \
        --set run.sweeps="$2" >"$out" 2>"$err" </dev/null || fail "$3 is not resumed: $(cat "$err")"
}

sweeps_of() { sed -n 's/^sweeps = //p' "$here/chains/$1.ini" | head -1; }

# ends_as_recorded NAME...: each file resumed ends as chains/cpu.txt says. Chains that came later have no file.
ends_as_recorded()
{
    unpacked
    local name resumed=0
    cp "$here/chains/record.sh" .
    for name in "$@"; do
        [ -e "$name.h5" ] || continue
        resumed=$((resumed + 1))
        goes_on "$name" "$(sweeps_of "$name")" "$name.h5"
        "$here/chains/record.sh" --of "$here/chains/$name.ini" "$name.h5" >found || fail "h5dump"
        grep "^$name " "$here/chains/cpu.txt" >recorded
        # series that are new have no line, and may be
        grep -vxFf found recorded >lost && fail "$name ends otherwise: $(cat lost)"
    done
    [ "$resumed" -ge 2 ] || fail "$resumed files of these are there"
}

chains() { (cd "$here/chains" && ls $1) | sed 's/\.ini$//'; }

test_outputs_of_format_3_of_movers_of_particles()
{
    # trajectories of hmc: see below
    ends_as_recorded $(chains '[abcdefgh]*.ini' | grep -v hmc-liquid)
}
test_outputs_of_format_3_of_changing_numbers() { ends_as_recorded $(chains 'i*.ini'); }
test_outputs_of_format_3_of_ladders_and_others() { ends_as_recorded $(chains '[lt]*.ini' | grep -v trajectories); }
test_outputs_of_format_3_of_serial_and_swaps() { ends_as_recorded $(chains 's*.ini'); }
test_outputs_of_format_3_of_boxes_and_wave_functions()
{
    # of transition matrices: see below
    ends_as_recorded $(chains '[uvw]*.ini' | grep -vE 'trajectories|weights-of-(energies|transitions)')
}

# transition_matrix gives a step its weight later than it did, so half of a chain of then and half of one of now are neither of the two; it is
# said that the plugin has changed. The transitions of the first half are kept.
samples_of() { h5dump -a "/plugmc/observables/transition_matrix/transitions/samples" "$1" | sed -n 's/.*(0): \([0-9]*\).*/\1/p'; }

test_outputs_of_format_3_of_transition_matrices()
{
    unpacked
    local name half
    for name in weights-of-energies weights-of-transitions; do
        half=$(samples_of "$name.h5")
        goes_on "$name" "$(sweeps_of "$name")" "$name.h5"
        grep -q "$name.h5: warning: plugin mover transition_matrix has changed" "$err" || fail "nothing is said of transition_matrix"
        must run "$here/chains/$name.ini" --set run.output=whole.h5
        [ "$half" -gt 0 ] && [ "$half" -lt "$(samples_of whole.h5)" ] || fail "'$half' samples in the first half"
        [ "$(samples_of "$name.h5")" = "$(samples_of whole.h5)" ] || fail "$(samples_of "$name.h5") samples of $name"
        rm whole.h5
    done
}

# Since version 2.1 of the plugin interface hmc takes each pair once, so last digits are others; it is said that the plugin
# has changed. Positions are those of a whole run to 9 digits.
positions_of() { h5dump -y -w 1 -m %.17g -d /plugmc/checkpoint/positions "$1" | sed -n '/DATA {/,/}/p' | grep -E '^ *-?[0-9]'; }

test_outputs_of_format_3_of_trajectories()
{
    unpacked
    local name
    for name in hmc-liquid ladder-trajectories volume-trajectories; do
        goes_on "$name" "$(sweeps_of "$name")" "$name.h5"
        grep -q "$name.h5: warning: plugin mover hmc has changed" "$err" || fail "nothing is said of hmc"
        must run "$here/chains/$name.ini" --set run.output=whole.h5
        positions_of "$name.h5" >resumed
        positions_of whole.h5 >whole
        paste -d, resumed whole | awk -F, '{ d = $1 - $(NF / 2 + 1); if (d < -1e-9 || d > 1e-9) far++ } END { exit far > 0 || NR < 300 }' ||
            fail "$name ends otherwise"
        rm whole.h5
    done
}

# An INI file that names such an output goes on with it: keys that are new have defaults, which are what 6284f28 did.
test_resume_if_there_on_format_3()
{
    unpacked
    local name
    cp "$here/chains/insert.ini" .
    refused 6 "insert.ini: cannot resume from insert.h5: [initial] frame was not there and is 2 now; another [run] output begins another run" \
        run insert.ini --resume-if-there --set run.output=insert.h5 --set initial.frame=2 --set run.device=cpu --set run.threads=1
    for name in serial-disks insert volume-axes; do
        cp "$here/chains/$name.ini" .
        must run "$name.ini" --resume-if-there --quiet --accept-changed-plugins \
            --set run.threads=1 --set run.device=cpu --set run.output="$name.h5"
        "$here/chains/record.sh" --of "$here/chains/$name.ini" "$name.h5" >found || fail "h5dump"
        grep "^$name " "$here/chains/cpu.txt" >recorded
        grep -vxFf found recorded >lost && fail "$name ends otherwise: $(cat lost)"
    done
    return 0
}

# Their frames come into files of their own, and those that follow continue them: hashes of what `plugmc export` of 6284f28
# has written of the whole runs.
test_trajectories_of_format_3()
{
    unpacked
    local name expected w
    while read -r name expected; do
        must export "traj-$name.h5" --to half.csv --walker 1 --force
        [ "$(sed 1d half.csv | cut -d, -f1 | uniq | wc -l)" = 6 ] || fail "frames in the output file are not read"
        goes_on "$name" "$(sweeps_of "$name")" "traj-$name.h5"
        grep -q "its 6 frames are in files of their own now, traj-$name.gsd" "$err" ||
            [ -e "traj-${name}_1.gsd" ] || fail "there is no trajectory of its own"
        must export "traj-$name.h5" --to whole.csv --walker all --force
        for w in 0 1; do
            [ "$(sha256sum <whole_$w.csv | cut -c1-16)" = "$(echo "$expected" | cut -d' ' -f$((w + 1)))" ] ||
                fail "other frames of walker $w of $name"
        done
    done <<-END
	insert f201af0c6106f407 c5103a5fbb312bcc
	serial-oblique 69d8befba564d707 d10a4aab6be87dbe
	volume-axes 211e40ee252d377b f5b3af700a8fb96f
	END
}

test_programs_read_outputs_of_format_3()
{
    unpacked
    local file
    for file in serial-disks insert volume-axes ladder-temperature hmc-liquid; do
        must analyse $file.h5
        must export $file.h5 --to $file.xyz --last
        must report $file.h5 --output $file.html
    done
    must reweight ladder-temperature.h5 --at run.temperature=1
    # a state to begin with
    { sed '/^\[initial\]/,$d' "$here/chains/serial-disks.ini"
      printf '[initial]\nstate = file\nfile = serial-disks.xyz\n'
      sed -n '/^\[initial\]/,$p' "$here/chains/serial-disks.ini" | sed '1,/^$/{/^\[initial\]/d;/^state/d}'; } >again.ini
    must run again.ini
}

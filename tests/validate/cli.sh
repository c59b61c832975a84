#!/bin/bash
# cli.sh PLUGMC FOLDER: the command line of plugmc validate: its codes, its sentences, and its JSON.
plugmc=$1 folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# says CODE REGEX ARGUMENT...: the code and a line of what is printed.
says() {
    local code=$1 sentence=$2
    shift 2
    "$plugmc" validate "$@" >"$work/out" 2>&1
    local found=$?
    [ $found = "$code" ] && grep -qE -- "$sentence" "$work/out" && return
    echo "plugmc validate $*: code $found instead of $code, or nothing says '$sentence':"
    cat "$work/out"
    failures=$((failures + 1))
}

says 2 'which plugin\?'
says 2 "unknown option, or no value behind it: '--fast'" hard_disk --fast
says 2 "unknown option, or no value behind it: '--json'" hard_disk --json
says 2 "not 'tpu'" hard_disk --device tpu
says 2 "one too many: 'c'" a b c
says 0 'usage: plugmc validate PLUGIN' --help
says 4 "there is no plugin 'hard_dsk'; did you mean 'hard_disk'" hard_dsk
says 3 "lennard_jones: key 'epsilon' has no default: give FILE.ini" lennard_jones
says 3 'the wall is a sphere around the origin.*; give FILE.ini with a system that suits' spherical_wall
says 3 'missing.ini' hard_disk "$work/missing.ini"
printf '[run]\nsweeps = 1\n' >"$work/no.ini"
says 3 "there is no section for the potential 'hard_disk': plugmc info hard_disk prints one" hard_disk "$work/no.ini"
says 0 '^not covered +energies on the GPU' hard_disk --quick --device cpu
says 0 '^ +no GPU: --device cpu' hard_disk --quick --device cpu
says 5 'cannot write /none/x.json' hard_disk --quick --device cpu --json /none/x.json

says 2 "--seed is an integer from 0 to 999999, not '-1'" serial --seed -1
says 0 '^passed +law: hard pair, 2 dimensions' serial --quick --device cpu --seed 3

# A cutoff of half the box, as that of `plugmc new potential`: smaller boxes cannot be tried.
printf '[run]\nsweeps = 1\n[box]\ndimension = 3\nlx = 5\n[species a]\ncount = 20\n[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2.5\n' >"$work/half.ini"
says 0 '^passed +other boxes' lennard_jones "$work/half.ini" --quick --device cpu

# Without a file: which box was taken.
says 0 "^potential 'hard_disk' .*, with default parameters, in a periodic box in (two|three) dimensions" hard_disk --quick --device cpu

# What may be meant is a warning, and no failure.
printf '[run]\nsweeps = 1\nwalkers = 2\n[box]\ndimension = 3\nlx = 7\n[species a]\ncount = 60\n[potential lennard_jones]\nepsilon = 0.5\nsigma = 0.8\ncutoff = 2\n[mover serial]\nstep = 0.3\n[observable x]\nplugin = %s\nfault = difference_of_squares\n' "$folder/wrong_observable.so" >"$work/squares.ini"
says 0 '^warning +across the faces' "$folder/wrong_observable.so" "$work/squares.ini" --quick --device cpu
says 0 'when all particles are shifted together by .* is that meant' "$folder/wrong_observable.so" "$work/squares.ini" --quick --device cpu

# Particles of a species are alike, also where there is one species alone; chains are meant so.
one_species='[run]\nsweeps = 1\n[box]\ndimension = 3\nlx = 7\n[species a]\ncount = 60\n'
printf "$one_species"'[potential x]\nplugin = %s\nfault = by_number\n' "$folder/wrong_total.so" >"$work/number.ini"
says 0 'after particles of a species have exchanged places: right for chains' "$folder/wrong_total.so" "$work/number.ini" --quick --device cpu
printf "$one_species"'[potential lennard_jones]\nepsilon = 0.5\nsigma = 0.8\ncutoff = 2\n[mover serial]\nstep = 0.3\n[observable x]\nplugin = %s\nfault = every_second\n' "$folder/wrong_observable.so" >"$work/second.ini"
says 0 'results depend on which number a particle has: right for chains' "$folder/wrong_observable.so" "$work/second.ini" --quick --device cpu

# Sentences have the lines of the file, also those of runs whose input is another text.
printf '[run]\nsweeps = 1\n\n[box]\ndimension = 3\nlx = 7\n\n[species a]\ncount = 40\n\n[potential x]\nplugin = %s\nfault = nan_change\n' "$folder/wrong_total.so" >"$work/lines.ini"
says 4 "such a run ends: .*lines.ini:11: what 'many-body term' says" "$folder/wrong_total.so" "$work/lines.ini" --quick --device cpu

# Faces of an oblique box.
printf '[run]\nsweeps = 1\n[box]\ndimension = 3\nshape = oblique\na = 8 0 0\nb = 2 8 0\nc = 1 2 8\n[species a]\ncount = 40\n[potential x]\nplugin = %s\nfault = no_whole_waves\n' "$folder/wrong_field.so" >"$work/oblique.ini"
says 4 'the field jumps from .* where a particle leaves the periodic box along lattice vector a' "$folder/wrong_field.so" "$work/oblique.ini" --quick --device cpu

# In a sphere moves out of it are refused, by the box.
printf '[run]\nsweeps = 1\n[box]\ndimension = 3\nshape = sphere\nradius = 4\n[species a]\ncount = 40\n[potential x]\nplugin = %s\n' "$folder/wrong_field.so" >"$work/sphere.ini"
says 0 '^passed +displacements' "$folder/wrong_field.so" "$work/sphere.ini" --quick --device cpu

# A failed check, as programs read it.
sed 's/^ *//' >"$work/x.ini" <<END
    [run]
    sweeps = 1
    [box]
    dimension = 3
    lx = 8
    [species a]
    count = 20
    [potential x]
    plugin = $folder/wrong_pair.so
    fault = wrong_first
END
says 4 '^1 passed|failed' "$folder/wrong_pair.so" "$work/x.ini" --quick --device cpu --json "$work/x.json"
python3 - "$work/x.json" <<'END' || failures=$((failures + 1))
import json
import sys
found = json.load(open(sys.argv[1]))
checks = {c['check']: c for c in found['checks']}
assert found['plugin'] == 'wrong_pair' and found['kind'] == 'potential' and found['quick'] is True, found
assert checks['two particles']['result'] == 'failed', checks
assert 'finite differences' in checks['two particles']['sentence'], checks
assert checks['displacements']['result'] == 'passed' and checks['displacements']['worst'] <= checks['displacements']['limit']
assert checks['field']['result'] == 'not_covered' and checks['field']['sentence']
assert found['failed'] == sum(c['result'] == 'failed' for c in found['checks']) >= 1
assert found['passed'] == sum(c['result'] == 'passed' for c in found['checks']) >= 5
END
# The JSON alone.
"$plugmc" validate "$folder/wrong_pair.so" "$work/x.ini" --quick --device cpu --json - 2>&1 | python3 -m json.tool >/dev/null ||
    failures=$((failures + 1))

# Source that a GPU cannot have: where there is a compiler for it.
if "$plugmc" validate "$folder/wrong_source.so" --quick --device cpu >"$work/out"; then
    grep -q '^not covered *GPU source' "$work/out" || { echo "wrong_source passes"; failures=$((failures + 1)); }
else
    grep -q 'what is for the CPU alone stands in #if PLUGMC_HOST' "$work/out" || { cat "$work/out"; failures=$((failures + 1)); }
fi
[ $failures = 0 ]

#!/bin/sh
# Energies of silicon, in two precisions and two ways of moving electrons.
#
# Of 3 x 3 x 3 cells (216 electrons), in double precision against single, particle by
# particle against quasi-simultaneous: tables IX and X of Y. Uejima, R. Maezono, J. Comput. Chem. 34,
# 83 (2013), Hartree a primitive cell.
#
#     silicon_energies.sh FOLDER [STEPS] [WALKERS]
#
# FOLDER has si-3x3x3.bwfn.data.b1 and Si.pz-vbc.UPF (docs/vmc.md says how to make them). STEPS (10^6,
# as in the paper) are sweeps of all WALKERS (16) together; every tenth is measured. PLUGMC= says
# where the program is, if common.sh does not find it. Rows for a GPU are left out where there is none;
# instead single precision runs on the CPU. ROWS= are those wanted of "X double single": table X, and the rows of
# table IX in double precision on the CPU and in single precision on the GPU. THREADS= of the CPU. LIMIT= seconds after which
# a row ends, however many steps it has made.
#
# The Jastrow factor is that of electrons/silicon_jastrow.ini, which plugmc optimise has found. JASTROW=FILE has another one,
# sections of [potential ...]; JASTROW=gas is that of the electron gas of the same mean density, with a higher
# energy and twice the variance. The paper's energy, -7.9590865(1749), is that of another Hamiltonian: its
# pseudopotential is not named.
#
# Decisions one after the other (sequential) are exact; the paper's are simultaneous, which is biased, the more the
# larger the step: it is 0.1 bohr there, and elsewhere what half of the moves are accepted with. Such small steps
# take thousands of sweeps to forget a random start, so all rows begin with walkers that have made 200 exact sweeps.
set -eu
if [ $# -lt 1 ] || [ ! -r "$1/si-3x3x3.bwfn.data.b1" ] || [ ! -r "$1/Si.pz-vbc.UPF" ]; then
    echo "usage: silicon_energies.sh FOLDER [STEPS] [WALKERS]: the folder must have" \
         "si-3x3x3.bwfn.data.b1 and Si.pz-vbc.UPF" >&2
    exit 2
fi
files=$(cd "$1" && pwd)
steps=${2:-1000000} walkers=${3:-16} rows=${ROWS:-X double single}
factor=${JASTROW:-$(cd "$(dirname "$0")" && pwd)/electrons/silicon_jastrow.ini}
if [ "$factor" != gas ]; then
    [ -r "$factor" ] || {
        echo "silicon_energies.sh: JASTROW=$factor cannot be read" >&2
        exit 2
    }
    factor=$(cd "$(dirname "$factor")" && pwd)/$(basename "$factor")
fi
. "$(dirname "$0")/common.sh"
ln -s "$files/si-3x3x3.bwfn.data.b1" "$files/Si.pz-vbc.UPF" .
sed 's/^nonlocal = .*/nonlocal = semilocal/' "$here/../examples/silicon-3x3x3.ini" >silicon.ini
echo >>silicon.ini
if [ "$factor" = gas ]; then
    cat >>silicon.ini <<END
[potential jastrow]
like = 0.754 0.5091 0.3484 0.24 0.1647 0.1109 0.0713 0.0414
unlike = 1.1279 0.6762 0.4234 0.2737 0.1799 0.1177 0.0743 0.0426
END
else
    cat "$factor" >>silicon.ini
fi

# run FILE DEVICE PRECISION MOVER [--set ...]: PRECISION double or single; what it says is in `said`.
run()
{
    file=$1 on=$2 precision=$3 mover=$4
    shift 4
    table=$precision
    [ "$precision" = double ] || table=float
    "$plugmc" run "$file" --set run.device="$on" --set run.threads="${THREADS:-$(nproc)}" \
        --set mover.plugin="$mover" --set mover.precision="$precision" \
        --set "potential bspline_orbitals.precision=$table" --set run.output=out.h5 \
        --set run.csv=out.csv "$@" >said 2>messages && return
    [ $? -eq 11 ] && [ -n "${LIMIT:-}" ] && return # the time limit
    cat messages >&2
    exit 1
}

# row NAME DEVICE PRECISION MOVER [--set ...]: a line of table IX.
row()
{
    name=$1
    shift
    start=$(date +%s)
    run silicon.ini "$@" --set run.walkers="$walkers" --set run.sweeps=$((steps / walkers)) \
        --set "observable local_energy.period=10" --set initial.state=file --set initial.file=begun.h5 \
        --set run.time_limit="${LIMIT:-0}"
    awk -v name="$name" -v seconds=$(($(date +%s) - start)) '
        $1 == "local_energy.energy" { energy = $2; samples = $4 }
        $1 == "local_energy.variance" { variance = $2 }
        $1 == "acceptance" { acceptance = $2; for (i = 3; i < NF; i++) if ($i == "step") step = $(i + 1) + 0 }
        END {
            printf "%-42s %-16s %-14s %-6.4g %.4f %8d %6d s\n", name, energy, variance, step, acceptance, samples, seconds
        }' said messages
}

# after_steps DEVICE PRECISION: the energy of one walker after 50 sweeps and one more.
after_steps()
{
    run silicon.ini "$1" "$2" particle_by_particle --set run.walkers=1 --set run.sweeps=1 \
        --set run.equilibrate=50 --set run.threads=1 --set mover.target_acceptance=0 \
        --set "observable local_energy.period=1"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "local_energy.energy") column = i }
             NR == 2 { print $column }' out.csv
}

where=CPU device=cpu
if "$plugmc" doctor | grep '^GPU' | grep -q 'sm_'; then where=GPU device=gpu; fi
echo "# $("$plugmc" --version), $steps steps of $walkers walkers, every 10th measured"
"$plugmc" doctor | grep -E '^(GPU|CPU)' | sed 's/^/# /'
case " $rows " in *" X "*)
    echo "# table X: the same walker after 51 sweeps"
    double=$(after_steps cpu double) single=$(after_steps $device single)
    echo "CPU/PbP, double                              $double"
    echo "$where/PbP, single                              $single"
    echo "relative difference                          $(awk -v a="$double" -v b="$single" \
        'BEGIN { printf "%.2g", (b - a) / a }')"
    ;;
esac
case " $rows " in *" double "* | *" single "*) ;; *) exit 0 ;; esac

start=$(date +%s)
{ cat silicon.ini; printf '\n[observable trajectory]\nperiod = 1\n'; } >begin.ini
run begin.ini $device double quasi_simultaneous --set run.walkers="$walkers" --set run.sweeps=1 \
    --set run.equilibrate="${BEGIN:-200}"
mv out.h5 begun.h5
echo "# table IX: energy (error), variance, step, acceptance, samples, time of the whole run; the walkers' beginning took" \
    "$(($(date +%s) - start)) s"
exact="--set run.equilibrate=50"
all_at_once="--set mover.acceptance=simultaneous --set mover.step=0.1 --set mover.target_acceptance=0 \
    --set run.equilibrate=300"
case " $rows " in *" single "*)
    row "(1)   $where/PbP, single" $device single particle_by_particle $exact --set run.seed=217
    row "(2,3) $where/Q.S., single, simultaneous" $device single quasi_simultaneous $all_at_once --set run.seed=220
    row "      $where/Q.S., single, sequential" $device single quasi_simultaneous $exact --set run.seed=221
    ;;
esac
case " $rows " in *" double "*)
    row "(0a) CPU/PbP, double" cpu double particle_by_particle $exact
    row "(0b) CPU/Q.S., double, simultaneous" cpu double quasi_simultaneous $all_at_once --set run.seed=218
    row "     CPU/Q.S., double, sequential" cpu double quasi_simultaneous $exact --set run.seed=219
    ;;
esac

# Where a run goes that names no device.

# by_core: 80 particles whose movers, from standard input, all ask the core for energies.
by_core()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20
	seed = 3
	walkers = 2
	threads = 1
	$1
	[box]
	dimension = 2
	density = 0.3
	[species a]
	count = 40
	diameter = 0.8
	[species b]
	count = 40
	[initial]
	state = lattice
	[potential hard_disk]
	END
    cat >>sim.ini
}

# goes_to_the_cpu REASON: check and run do, and say why.
goes_to_the_cpu()
{
    must check sim.ini
    expect_output "runs on the CPU ($1)"
    must run sim.ini
    grep -Fq "on the CPU, 1 thread (" "$err" && grep -Fq "; $1)" "$err" || fail "expected where it runs: $1"
}

many_walkers="for many walkers a GPU may be faster: [run] device = gpu"

# Movers that a GPU has, but none of which it can be said that they are faster there.
test_movers_by_the_core_choose_the_cpu()
{
    local reason=$many_walkers
    by_core "pressure = 1" <<<"[mover volume]"
    goes_to_the_cpu "$reason"
    must run sim.ini --set run.device=auto
    by_core "" <<<$'[mover swap]\na = a\nb = b'
    goes_to_the_cpu "$reason"
    by_core "temperature = 1 2" <<<"[mover exchange]"
    goes_to_the_cpu "$reason"
    by_core $'pressure = 1\ntemperature = 1 2' <<<$'[mover volume]\n[mover exchange]\n[mover swap]\na = a\nb = b'
    goes_to_the_cpu "$reason"
}

# Movers that follow forces are where all forces are; those of waves and of a mesh are on a GPU, too.
test_forces_of_charges_choose_the_gpu()
{
    sed '/^device = /d' "$here/chains/hmc-water.ini" >sim.ini
    must check sim.ini
    grep -Eq "runs on the CPU \((there is no|no )|NVIDIA" "$out" || fail "expected a GPU, or why there is none"
    change 's/^\[potential coulomb_ewald/[potential coulomb_spme/; s/^k_max = .*/grid = 20/'
    must check sim.ini
    grep -Eq "runs on the CPU \((there is no|no )|NVIDIA" "$out" || fail "expected a GPU, or why there is none"
}

# Of a many-body term that is on the CPU alone the forces would be there; this one has none, which is refused.
test_forces_of_a_term_on_the_cpu_choose_it()
{
    printf '%s\n' '[run]' 'sweeps = 1' '[box]' 'dimension = 3' 'density = 0.1' '[species a]' 'count = 64' \
        '[initial]' 'state = lattice' '[potential wca]' 'epsilon = 1' 'sigma = 1' \
        '[potential distance_umbrella]' 'strength = 1' '[mover hmc]' >sim.ini
    plugmc run sim.ini
    expect_exit 4
    grep -Fq "; potential 'distance_umbrella' is evaluated on the CPU only)" "$err" || fail "expected where it runs"
    grep -Fq "gives no forces" "$err" || fail "expected what is missing"
}

# Many walkers are looked for a GPU for; where there is none, that is why. Of hard spheres, which meet few others on
# the CPU, many more walkers are needed, and what a GPU would give is said.
test_many_walkers_by_the_core_choose_the_gpu()
{
    by_core "" <<<"[mover serial]"
    must check sim.ini --set run.walkers=64 --set run.threads=1
    ! grep -q "runs on the CPU (for many walkers" "$out" || fail "no GPU was looked for"
    grep -Eq "runs on the CPU \((there is no|no )|NVIDIA" "$out" || fail "expected a GPU, or why there is none"
    must check sim.ini --set run.walkers=2000 --set run.threads=2 # 80 particles: half a million trials/s and more
    ! grep -q "runs on the CPU (for many walkers\|a GPU would" "$out" || fail "no GPU was looked for"
    must check sim.ini --set run.walkers=32 --set run.threads=32
    expect_output "runs on the CPU (a GPU would make about 0."
    expect_output "times as many trial moves a second: [run] device = gpu)"
}

test_many_walkers_by_the_core_use_the_gpu_on_a_gpu()
{
    gpu
    by_core "" <<<"[mover serial]"
    must run sim.ini --set run.walkers=2000 --set run.threads=2
    grep -Eq "^on .*; about [0-9.e+]+ times as many trial moves a second as with 2 threads$" "$err" || fail "expected the gain"
}

test_serial_among_movers_by_the_core_chooses_the_cpu()
{
    local reason=$many_walkers
    by_core "" <<<"[mover serial]"
    goes_to_the_cpu "$reason"
    by_core "pressure = 1" <<<$'[mover volume]\n[mover serial]'
    goes_to_the_cpu "$reason"
    by_core "temperature = 1 2" <<<$'[mover swap]\na = a\nb = b\n[mover serial]\n[mover exchange]'
    goes_to_the_cpu "$reason"
}

# Pair energies without a lower bound are refused, whatever makes them so; deep wells, and negative couplings of what is
# bounded, are not.

# system POTENTIALS: floor.ini, 30 particles of each of two species of opposite charge in a box of 20
system()
{
    cat >floor.ini <<-END
	[run]
	sweeps = 20
	equilibrate = 0
	seed = 7
	threads = 1
	device = cpu
	walkers = 3
	[box]
	dimension = 3
	density = 0.0075
	[species blob]
	count = 30
	charge = 1
	diameter = 0.5
	[species blub]
	count = 30
	charge = -1
	diameter = 0.5
	[mover serial]
	$1
	END
}

# bottomless LINE SENTENCE: refused with that line, and a part of the sentence
bottomless()
{
    plugmc check floor.ini
    expect_exit 3
    grep -E "^floor.ini:$1: \[.*has no lower bound" "$err" | grep -Eq -- "$2" || fail "expected line $1 and: $2"
}

lennard_jones="[potential lennard_jones]
epsilon = 1
cutoff = 2.5"

formula()
{
    echo "[potential expression]
cutoff = 3
energy = $1"
}

test_negative_coupling_of_a_repulsion()
{
    system "$lennard_jones
coupling = -1"
    bottomless 23 "A negative coupling turns repulsion into attraction"
    system "$(formula '10*exp(-r)/r')
coupling = -0.5"
    bottomless 23 "'blob' and 'blob'.*A negative coupling"
    system "[potential yukawa]
bjerrum_length = 1
kappa = 1
cutoff = 3
coupling = -1
$lennard_jones
coupling = 0"
    bottomless 24 "'blob' and 'blob'"
    system "$(formula 'exp(-r^2)')
coupling = -3"
    must check floor.ini
    system "[potential hard_sphere]
$(formula '10*exp(-r)/r')
coupling = -0.5"
    must check floor.ini
    system "$(formula '-1/r^6')
coupling = -1"
    must check floor.ini
}

# Spheres inside of hard bodies are cores, if both species have one.
test_charges_in_hard_bodies()
{
    local yukawa="[potential yukawa]
bjerrum_length = 1
kappa = 1
cutoff = 3
[potential spherocylinder]
length = 0.5"
    system "$yukawa
diameter = 0.5"
    must run floor.ini
    system "$yukawa 0
diameter = 0.5 0"
    refused 3 "floor.ini:20: [potential yukawa] species 'blob' and 'blub' attract each other without a core, so they would collapse: add a potential with a core, such as hard_sphere with diameters above 0" check floor.ini
    system "$lennard_jones
coupling = -1
[potential spherocylinder]
length = 0.5"
    must check floor.ini
    system "$lennard_jones
coupling = -1
[potential spherocylinder]
length = 0.5 0
diameter = 0.5 0"
    bottomless 23 "'blob' and 'blub'"
}

test_negative_coupling_of_a_guard()
{
    printf '0.5 3\n1 1\n1.5 0\n' >t.dat
    system "$(formula 'exp(-r^2)')
guard = 0.3
coupling = -1"
    bottomless 24 "e\+30 kT at r = 0\.[0-9]+, .*A negative coupling"
    system "[potential tabulated]
files = t.dat
coupling = -1"
    bottomless 22 "A negative coupling"
    system "[potential tabulated]
files = t.dat
inside = extrapolate
coupling = -1"
    must check floor.ini
    system "[potential tabulated]
files = t.dat
inside = extrapolate
guard = 0.6
coupling = -1"
    bottomless 24 "A negative coupling"
}

test_pole_at_a_distance()
{
    local energy
    for energy in '-1/(r-1)^2' '-0.01/(r-1.2345)^2' '-1/abs(r-2)' '1/(r-2)' '-300/sqrt(abs(r-2))'; do
        system "$(formula "4*(1/r^12-1/r^6) + $energy")"
        bottomless 20 "no hard core keeps them apart"
    done
    system "$(formula '1/(r-1)^2')
coupling = -1"
    bottomless 23 "at r = 1,"
    # too weak for a minimum on the slope of the others
    for energy in '-1e-8/(r-1.05)^2' '-1e-10/(r-1.2345)^2' '-1e-12/(r-1.7)^2' '-1e-10/(r-1.23)^4' '-1e-7/abs(r-1.3)'; do
        system "$(formula "4*(1/r^12-1/r^6) + $energy")"
        bottomless 20 "no hard core keeps them apart"
    done
    # a pole that is a barrier, wells that are deep or narrow, a logarithm, a jump; poles that nobody reaches
    for energy in '1/(r-1)^2' '-1e6*exp(-(r-1)^2)' '-1e5*exp(-(1e3*(r-1))^2)' 'log(abs(r-1))' \
        '-1e6*(1-tanh(1e9*(r-1)))' '1e-10/(r-1.2345)^2' '-1e-3*(1-tanh(1e9*(r-1)))' '-1e-3*abs(r-1.3)' \
        '-1e-2*exp(-(1e5*(r-1.2))^2)'; do
        system "$(formula "4*(1/r^12-1/r^6) + $energy")"
        must check floor.ini
    done
    system "[potential hard_sphere]
$(formula '-1/(r-0.3)^2')"
    must check floor.ini
}

# turned ENERGY: the same by a coupling of -1, of which the formula itself knows nothing
turned() { printf '%s\ncoupling = -1' "$(formula "-($1)")"; }

# However weak it is: down to 1e-6 kT at a trillionth of the range, which is 3.
test_weak_poles_where_particles_come_nearest()
{
    local energy
    for energy in -1/r -1e-6/r -1e-12/r -3e-18/r -9e-30/r^2 -1e-30/r^6 '-2e-12/sqrt(r)' '-exp(-r)*1e-15/r' '1-3e-18/r' \
        '4*log(r)' '-log(r)^2'; do
        system "$(turned "$energy")"
        bottomless 23 "no hard core keeps them apart"
    done
    for energy in -1 '-exp(-r^2)' '-1e5*exp(-r)' 'log(r)' '2.9*log(r)' '-log(r)' 1e-30/r 3e-18/r '-1/(r+0.01)' '-sin(r)/r' \
        '-(1-exp(-r))/r' '-sqrt(r)' '1e-20*(1/r^12-1/r^6)' '3e-18/r^2-3e-18/r' 'r*log(r)'; do
        system "$(turned "$energy")"
        must check floor.ini
    done
    for energy in '-1e-3/(r-0.5)' '-1e-9/(r-0.5)' '-1e-11/(r-0.5)' '-1e-25/(r-0.5)^2' '1.5*log(abs(r-0.5))'; do
        system "[potential hard_sphere]
$(turned "$energy")"
        bottomless 24 "no hard core keeps them apart"
    done
    for energy in '-1/(r-0.49)' '-exp(0.5-r)/r' '-sqrt(abs(r-0.5))' '0.5*log(abs(r-0.5))' '1e-9/(r-0.5)' -10; do
        system "[potential hard_sphere]
$(turned "$energy")"
        must check floor.ini
    done
}

# Opposite charges beside a core that one rung leaves out; a ladder of temperatures does not decide.
test_rungs_without_a_lower_bound()
{
    local charges="[potential yukawa]
bjerrum_length = 1
kappa = 1
cutoff = 3
[mover exchange]"
    system "$lennard_jones
$charges
[ladder]
vary = lennard_jones.coupling
values = 1 0.5 0.1"
    must check floor.ini
    sed -i 's/^values.*/values = 1 0.5 0/' floor.ini
    bottomless 23 "'blob' and 'blub' has no lower bound where lennard_jones.coupling = 0:"
    sed -i 's/^values.*/values = 1 0.5 -0.5/' floor.ini
    bottomless 20 "'blob' and 'blob' has no lower bound where lennard_jones.coupling = -0.5:.*A negative coupling"
    sed -i 's/^vary.*/vary = run.temperature/; s/^values.*/values = 1e-6 1 1e6/' floor.ini
    must check floor.ini
}

# A mover that asks about several places a walker at once, beside a total that positions change (plugins/heat_bath.c,
# which compares each answer with that of the place alone). Fixed seeds; a right program is beyond 4 errors once in
# 16,000.

# ions POTENTIAL-LINE...: eight ions; the mover comes from standard input.
ions()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 12000
	equilibrate = 200
	seed = 9
	device = cpu
	walkers = 4
	[box]
	dimension = 3
	lx = 5
	[species plus]
	count = 4
	charge = 1
	diameter = 1
	[species minus]
	count = 4
	charge = -1
	diameter = 1
	[initial]
	state = lattice
	[potential hard_sphere]
	END
    printf '%s\n' "$@" >>sim.ini
    cat >>sim.ini
    printf '%s\n' '[observable energy]' 'period = 4' >>sim.ini
}

heat_bath() { printf '%s\n' '[mover heat_bath]' "plugin = $TEST_PLUGINS/heat_bath.so" 'places = 5' 'trials = 4'; }
serial() { printf '%s\n' '[mover serial]' 'step = 2'; }

# Means of the last table in FILE: "mean error".
mean_of()
{
    awk '$1 == "energy.energy" { split($2, part, /[()]/); digits = part[1]; sub(/.*\./, "", digits)
        printf "%s %g\n", part[1], part[2] / 10 ^ length(digits) }' "$1"
}

same_means()
{
    heat_bath | ions "$@"
    must run sim.ini --set run.output=bath.h5
    mean_of "$out" >bath
    serial | ions "$@"
    must run sim.ini --set run.output=serial.h5
    mean_of "$out" >serial
    paste bath serial | awk '{ z = ($1 - $3) / sqrt($2 ^ 2 + $4 ^ 2); printf "%s +- %s, %s +- %s: z = %.2f\n", $1, $2, $3, $4, z
        exit !(z < 4 && z > -4 && $2 < 0.01) }' || fail "means differ"
}

test_several_places_beside_waves() { same_means '[potential coulomb_ewald]' 'bjerrum_length = 2' 'cutoff = 2.4' 'alpha = 1.2' 'k_max = 6'; }
test_several_places_among_pairs() { same_means '[potential coulomb]' 'bjerrum_length = 2' 'minimum_image = yes'; }

test_several_places_beside_a_mesh()
{
    heat_bath | ions '[potential coulomb_spme]' 'bjerrum_length = 2' 'cutoff = 2.4' 'grid = 10'
    must run sim.ini --set run.sweeps=20 --set run.equilibrate=0
}

test_several_places_beside_waves_are_cut()
{
    heat_bath | ions '[potential coulomb_ewald]' 'bjerrum_length = 2' 'cutoff = 2.4' 'alpha = 1.2' 'k_max = 6'
    change 's/^equilibrate.*/equilibrate = 0/; s/^sweeps = .*/sweeps = 60/'
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=23
    must run --resume sim.h5 --set run.sweeps=60
    same_chain whole.h5 sim.h5
}

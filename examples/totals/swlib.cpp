/* See swlib.h. */
#include "swlib.h"

#include <cmath>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>

namespace sw
{

namespace
{

/* Table I of the paper. */
constexpr double A = 7.049556277, B = 0.6022245584, a = 1.80, lambda = 21.0, gamma = 1.20;

/* Atoms are summed in parts whose number is fixed, and parts in their order: sums are then the same to the last bit,
 * however many threads there are. */
constexpr std::size_t parts = 16;

/* Threads that wait for each other cost more than fewer atoms take. */
constexpr std::size_t fewest_for_threads = 200;

constexpr int most_images = 4;

} // namespace

/* In units of sigma. */
struct StillingerWeber::Bond {
    std::size_t neighbour;
    double d[3], r;
};

/* In units of epsilon and sigma. */
struct StillingerWeber::Part {
    double energy = 0;
    std::vector<double> forces; /* [atoms][3]; empty: not wanted */
    double virial[3] = {0, 0, 0};

    /* The force on the neighbour that a bond leads to; the atom where it begins has the opposite one. */
    void add_force(std::size_t i, const Bond &bond, const double force[3])
    {
        for (int k = 0; k < 3; k++) {
            forces[3 * bond.neighbour + k] += force[k];
            forces[3 * i + k] -= force[k];
            virial[k] += bond.d[k] * force[k];
        }
    }
};

StillingerWeber::StillingerWeber(double epsilon, double sigma, int threads)
    : epsilon(epsilon), sigma(sigma), cutoff(a * sigma), threads(threads)
{
    if (!(epsilon > 0) || !(sigma > 0))
        throw std::invalid_argument("epsilon and sigma have to be positive");
}

double StillingerWeber::evaluate(std::size_t atoms, const double *positions, const double box[3],
                                 double *forces, double *virial) const
{
    const System system = system_of(atoms, positions, box);
    const int team = atoms < fewest_for_threads ? 1 : threads;
    std::vector<Part> all(parts);
    std::vector<std::exception_ptr> thrown(parts); /* no exception may leave a parallel loop */
#pragma omp parallel for num_threads(team) schedule(dynamic)
    for (std::size_t p = 0; p < parts; p++) {
        try {
            all[p] = part_of(system, p * atoms / parts, (p + 1) * atoms / parts, forces || virial);
        } catch (...) {
            thrown[p] = std::current_exception();
        }
    }
    double energy = 0;
    for (std::size_t p = 0; p < parts; p++) {
        if (thrown[p]) std::rethrow_exception(thrown[p]);
        energy += epsilon * all[p].energy;
        for (std::size_t k = 0; forces && k < 3 * atoms; k++)
            forces[k] += epsilon / sigma * all[p].forces[k];
        for (int k = 0; virial && k < 3; k++) virial[k] += epsilon * all[p].virial[k];
    }
    return energy;
}

double StillingerWeber::change(std::size_t atoms, const double *positions, const double box[3],
                               std::size_t i, const double to[3]) const
{
    std::vector<double> moved(positions, positions + 3 * atoms);
    for (int k = 0; k < 3; k++) moved[3 * i + k] = to[k];
    const System before = system_of(atoms, positions, box),
                 after = system_of(atoms, moved.data(), box);
    std::set<std::size_t> near = {i};
    for (const Bond &bond : bonds_of(before, i)) near.insert(bond.neighbour);
    for (const Bond &bond : bonds_of(after, i)) near.insert(bond.neighbour);
    double sum = 0;
    for (std::size_t j : near) sum += site_energy(after, j) - site_energy(before, j);
    return epsilon * sum;
}

/* Half of the pairs of an atom, and the triplets that it is the centre of. */
double StillingerWeber::site_energy(const System &system, std::size_t i) const
{
    Part part;
    const std::vector<Bond> bonds = bonds_of(system, i);
    add_pairs(bonds, i, part);
    add_triplets(bonds, i, part);
    return part.energy;
}

StillingerWeber::System StillingerWeber::system_of(std::size_t atoms, const double *positions,
                                                   const double box[3]) const
{
    System system = {atoms, positions, box, {0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        if (!(box[k] * most_images > cutoff))
            throw std::runtime_error("a box side of " + std::to_string(box[k]) +
                                     " is too short for the cutoff of " + std::to_string(cutoff));
        system.images[k] = static_cast<int>(cutoff / box[k] + 0.5);
    }
    return system;
}

StillingerWeber::Part StillingerWeber::part_of(const System &system, std::size_t first,
                                               std::size_t end, bool derivatives) const
{
    Part part;
    if (derivatives) part.forces.assign(3 * system.atoms, 0.0);
    for (std::size_t i = first; i < end; i++) {
        const std::vector<Bond> bonds = bonds_of(system, i);
        add_pairs(bonds, i, part);
        add_triplets(bonds, i, part);
    }
    return part;
}

std::vector<StillingerWeber::Bond> StillingerWeber::bonds_of(const System &system,
                                                             std::size_t i) const
{
    std::vector<Bond> bonds;
    const double *box = system.box;
    const int *images = system.images;
    for (std::size_t j = 0; j < system.atoms; j++) {
        double nearest[3];
        for (int k = 0; k < 3; k++) {
            const double d = system.positions[3 * j + k] - system.positions[3 * i + k];
            nearest[k] = d - box[k] * std::rint(d / box[k]);
        }
        for (int x = -images[0]; x <= images[0]; x++)
            for (int y = -images[1]; y <= images[1]; y++)
                for (int z = -images[2]; z <= images[2]; z++) {
                    const double d[3] = {(nearest[0] + x * box[0]) / sigma,
                                         (nearest[1] + y * box[1]) / sigma,
                                         (nearest[2] + z * box[2]) / sigma};
                    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                    const bool itself = j == i && !x && !y && !z;
                    if (r2 < a * a && !itself)
                        bonds.push_back({j, {d[0], d[1], d[2]}, std::sqrt(r2)});
                }
    }
    return bonds;
}

/* Each pair is met from both ends. */
void StillingerWeber::add_pairs(const std::vector<Bond> &bonds, std::size_t i, Part &part) const
{
    for (const Bond &bond : bonds) {
        const double r = bond.r, r4 = 1 / (r * r * r * r), tail = std::exp(1 / (r - a));
        part.energy += 0.5 * A * (B * r4 - 1) * tail;
        if (part.forces.empty()) continue;
        const double slope =
            0.5 * A * tail * (-4 * B * r4 / r - (B * r4 - 1) / ((r - a) * (r - a)));
        const double force[3] = {-slope * bond.d[0] / r, -slope * bond.d[1] / r,
                                 -slope * bond.d[2] / r};
        part.add_force(i, bond, force);
    }
}

void StillingerWeber::add_triplets(const std::vector<Bond> &bonds, std::size_t i, Part &part) const
{
    for (std::size_t p = 0; p < bonds.size(); p++)
        for (std::size_t q = 0; q < p; q++) {
            const Bond &b = bonds[p], &c = bonds[q];
            const double cosine =
                (b.d[0] * c.d[0] + b.d[1] * c.d[1] + b.d[2] * c.d[2]) / (b.r * c.r);
            const double angle = cosine + 1.0 / 3;
            const double tail = lambda * std::exp(gamma / (b.r - a) + gamma / (c.r - a));
            part.energy += tail * angle * angle;
            if (part.forces.empty()) continue;
            const double by_b = -gamma / ((b.r - a) * (b.r - a)) * tail * angle * angle,
                         by_c = -gamma / ((c.r - a) * (c.r - a)) * tail * angle * angle,
                         by_cosine = 2 * tail * angle;
            double on_b[3], on_c[3];
            for (int k = 0; k < 3; k++) {
                const double to_b = b.d[k] / b.r, to_c = c.d[k] / c.r;
                on_b[k] = -by_b * to_b - by_cosine * (to_c - cosine * to_b) / b.r;
                on_c[k] = -by_c * to_c - by_cosine * (to_b - cosine * to_c) / c.r;
            }
            part.add_force(i, b, on_b);
            part.add_force(i, c, on_c);
        }
}

} // namespace sw

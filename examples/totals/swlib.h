/* The Stillinger-Weber potential of silicon as a C++ library. It stands for a code of one's own: it knows nothing of plugmc.
 *
 *     U = sum_pairs v2(r_ij) + sum_triplets h(r_ij, r_ik, theta_jik)
 *
 * F. H. Stillinger, T. A. Weber, Phys. Rev. B 31, 5262 (1985), eqs. (2.1) to (2.6) */
#ifndef SWLIB_H
#define SWLIB_H

#include <cstddef>
#include <vector>

namespace sw
{

class StillingerWeber
{
  public:
    /* epsilon: energy; sigma: length. Throws std::invalid_argument unless both are positive. */
    StillingerWeber(double epsilon, double sigma, int threads);

    /* The energy of atoms in a rectangular periodic box of any size: neighbours are sought in all periodic images.
     * positions [atoms][3], length. forces [atoms][3], energy/length, and virial [3], energy, are added to; NULL: not
     * wanted. Results do not depend on the number of threads. Throws std::runtime_error if the box is too thin. */
    double evaluate(std::size_t atoms, const double *positions, const double box[3], double *forces,
                    double *virial) const;

    /* The change of energy if atom i goes to another position, from the atoms near it alone. Throws as `evaluate`. */
    double change(std::size_t atoms, const double *positions, const double box[3], std::size_t i,
                  const double to[3]) const;

  private:
    struct Bond; /* from an atom to a neighbour */
    struct Part; /* what some of the atoms contribute */
    struct System {
        std::size_t atoms;
        const double *positions, *box;
        int images[3]; /* on either side of the nearest one */
    };

    System system_of(std::size_t atoms, const double *positions, const double box[3]) const;
    std::vector<Bond> bonds_of(const System &system, std::size_t i) const;
    void add_pairs(const std::vector<Bond> &bonds, std::size_t i, Part &part) const;
    void add_triplets(const std::vector<Bond> &bonds, std::size_t i, Part &part) const;
    double site_energy(const System &system, std::size_t i) const;
    Part part_of(const System &system, std::size_t first, std::size_t end, bool derivatives) const;

    double epsilon, sigma, cutoff;
    int threads;
};

} // namespace sw

#endif

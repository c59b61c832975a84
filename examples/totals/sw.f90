! The Stillinger-Weber potential of silicon as a Fortran module. It stands for a code of one's own: of plugmc it knows only
! that C will call it.
!
!     U = sum_pairs v2(r_ij) + sum_triplets h(r_ij, r_ik, theta_jik)
!
! F. H. Stillinger, T. A. Weber, Phys. Rev. B 31, 5262 (1985), eqs. (2.1) to (2.6)
module stillinger_weber
   use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_char
   implicit none
   private
   public :: sw_fortran_evaluate

   ! Table I of the paper.
   real(c_double), parameter :: big_a = 7.049556277_c_double, big_b = 0.6022245584_c_double, a = 1.8_c_double, &
                                lambda = 21.0_c_double, gamma = 1.2_c_double
   integer, parameter :: most_images = 4

   ! Bonds of an atom, in units of sigma. Arrays are longer than `count`.
   type bond_list
      integer :: count = 0
      integer, allocatable :: neighbour(:)
      real(c_double), allocatable :: d(:, :), r(:)
   end type

contains

   ! Adds the energy of n atoms in a rectangular periodic box of any size, and forces (energy/length) and virial (energy)
   ! if they are present. Returns 0, or 1 with a sentence in `why`, which ends in a null character.
   function sw_fortran_evaluate(n, x, box, epsilon, sigma, energy, forces, virial, why, length) result(failed) &
      bind(c, name='sw_fortran_evaluate')
      integer(c_int64_t), value :: n, length
      real(c_double), intent(in) :: x(3, n), box(3)
      real(c_double), value :: epsilon, sigma
      real(c_double), intent(inout) :: energy
      real(c_double), intent(inout), optional :: forces(3, n), virial(3)
      character(kind=c_char), intent(out) :: why(length)
      integer(c_int) :: failed
      type(bond_list) :: bonds
      real(c_double) :: sum, scaled(3, n), f(3, n), w(3)
      logical :: derivatives
      integer :: i

      failed = 1
      if (.not. (epsilon > 0 .and. sigma > 0)) then
         call explain('epsilon and sigma have to be positive', why)
         return
      end if
      if (.not. all(box*most_images > a*sigma)) then
         call explain('a box side is too short for the cutoff of 1.8 sigma', why)
         return
      end if
      derivatives = present(forces) .or. present(virial)
      scaled = x/sigma
      sum = 0
      f = 0
      w = 0
      do i = 1, int(n)
         call find_bonds(scaled, box/sigma, i, bonds)
         call add_pairs(bonds, i, derivatives, sum, f, w)
         call add_triplets(bonds, i, derivatives, sum, f, w)
      end do
      energy = energy + epsilon*sum
      if (present(forces)) forces = forces + epsilon/sigma*f
      if (present(virial)) virial = virial + epsilon*w
      failed = 0
   end function

   subroutine explain(sentence, why)
      character(*), intent(in) :: sentence
      character(kind=c_char), intent(out) :: why(:)
      integer :: k, last
      last = min(len(sentence), size(why) - 1)
      do k = 1, last
         why(k) = sentence(k:k)
      end do
      why(last + 1) = c_null_char
   end subroutine

   subroutine find_bonds(x, box, i, bonds)
      real(c_double), intent(in) :: x(:, :), box(3)
      integer, intent(in) :: i
      type(bond_list), intent(inout) :: bonds
      integer :: images(3), j, kx, ky, kz
      real(c_double) :: nearest(3), d(3), r2
      images = int(a/box + 0.5_c_double) ! on either side of the nearest one
      bonds%count = 0
      do j = 1, size(x, 2)
         nearest = x(:, j) - x(:, i)
         nearest = nearest - box*anint(nearest/box)
         do kx = -images(1), images(1)
            do ky = -images(2), images(2)
               do kz = -images(3), images(3)
                  if (j == i .and. kx == 0 .and. ky == 0 .and. kz == 0) cycle
                  d = nearest + [kx, ky, kz]*box
                  r2 = dot_product(d, d)
                  if (r2 < a*a) call add_bond(bonds, j, d, sqrt(r2))
               end do
            end do
         end do
      end do
   end subroutine

   subroutine add_bond(bonds, j, d, r)
      type(bond_list), intent(inout) :: bonds
      integer, intent(in) :: j
      real(c_double), intent(in) :: d(3), r
      integer, allocatable :: neighbour(:)
      real(c_double), allocatable :: longer(:, :), lengths(:)
      integer :: n
      n = bonds%count
      if (.not. allocated(bonds%r)) allocate (bonds%neighbour(32), bonds%d(3, 32), bonds%r(32))
      if (n == size(bonds%r)) then
         allocate (neighbour(2*n), longer(3, 2*n), lengths(2*n))
         neighbour(:n) = bonds%neighbour
         longer(:, :n) = bonds%d
         lengths(:n) = bonds%r
         call move_alloc(neighbour, bonds%neighbour)
         call move_alloc(longer, bonds%d)
         call move_alloc(lengths, bonds%r)
      end if
      bonds%count = n + 1
      bonds%neighbour(n + 1) = j
      bonds%d(:, n + 1) = d
      bonds%r(n + 1) = r
   end subroutine

   ! Each pair is met from both ends.
   subroutine add_pairs(bonds, i, derivatives, energy, f, w)
      type(bond_list), intent(in) :: bonds
      integer, intent(in) :: i
      logical, intent(in) :: derivatives
      real(c_double), intent(inout) :: energy, f(:, :), w(3)
      real(c_double) :: r, tail, slope
      integer :: p
      do p = 1, bonds%count
         r = bonds%r(p)
         tail = exp(1/(r - a))
         energy = energy + 0.5_c_double*big_a*(big_b/r**4 - 1)*tail
         if (.not. derivatives) cycle
         slope = 0.5_c_double*big_a*tail*(-4*big_b/r**5 - (big_b/r**4 - 1)/(r - a)**2)
         call add_force(bonds, p, i, -slope*bonds%d(:, p)/r, f, w)
      end do
   end subroutine

   subroutine add_triplets(bonds, i, derivatives, energy, f, w)
      type(bond_list), intent(in) :: bonds
      integer, intent(in) :: i
      logical, intent(in) :: derivatives
      real(c_double), intent(inout) :: energy, f(:, :), w(3)
      real(c_double) :: rp, rq, up(3), uq(3), cosine, angle, tail
      integer :: p, q
      do p = 2, bonds%count
         rp = bonds%r(p)
         up = bonds%d(:, p)/rp
         do q = 1, p - 1
            rq = bonds%r(q)
            uq = bonds%d(:, q)/rq
            cosine = dot_product(up, uq)
            angle = cosine + 1.0_c_double/3
            tail = lambda*exp(gamma/(rp - a) + gamma/(rq - a))
            energy = energy + tail*angle**2
            if (.not. derivatives) cycle
            call add_force(bonds, p, i, gamma/(rp - a)**2*tail*angle**2*up - 2*tail*angle*(uq - cosine*up)/rp, f, w)
            call add_force(bonds, q, i, gamma/(rq - a)**2*tail*angle**2*uq - 2*tail*angle*(up - cosine*uq)/rq, f, w)
         end do
      end do
   end subroutine

   ! The force on the neighbour that bond p leads to; the atom where it begins has the opposite one.
   subroutine add_force(bonds, p, i, force, f, w)
      type(bond_list), intent(in) :: bonds
      integer, intent(in) :: p, i
      real(c_double), intent(in) :: force(3)
      real(c_double), intent(inout) :: f(:, :), w(3)
      f(:, bonds%neighbour(p)) = f(:, bonds%neighbour(p)) + force
      f(:, i) = f(:, i) - force
      w = w + bonds%d(:, p)*force
   end subroutine

end module

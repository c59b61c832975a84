! A program that holds an engine: energies on the way, positions read and replaced.
! gfortran sweeps.f90 -L... -lplugmc -o sweeps
program sweeps
  use iso_c_binding
  implicit none
  type, bind(c) :: engine_array
    type(c_ptr) :: data
    integer(c_int32_t) :: kind, rank
    integer(c_int64_t) :: shape(4)
  end type
  interface
    function engine_new() bind(c, name='plugmc_engine_new')
      import; type(c_ptr) :: engine_new
    end function
    integer(c_int) function engine_open_text(e, name, text) bind(c, name='plugmc_engine_open_text')
      import; type(c_ptr), value :: e; character(c_char), intent(in) :: name(*), text(*)
    end function
    integer(c_int) function engine_sweep(e, n) bind(c, name='plugmc_engine_sweep')
      import; type(c_ptr), value :: e; integer(c_int64_t), value :: n
    end function
    integer(c_int) function engine_get(e, name, array) bind(c, name='plugmc_engine_get')
      import; type(c_ptr), value :: e; character(c_char), intent(in) :: name(*); type(engine_array) :: array
    end function
    integer(c_int) function engine_replace(e, name, data, n) bind(c, name='plugmc_engine_replace')
      import; type(c_ptr), value :: e; character(c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: data(*); integer(c_int64_t), value :: n
    end function
    integer(c_int) function engine_energies(e, terms, sums) bind(c, name='plugmc_engine_energies')
      import; type(c_ptr), value :: e, terms; real(c_double) :: sums(*)
    end function
    subroutine engine_close(e) bind(c, name='plugmc_engine_close')
      import; type(c_ptr), value :: e
    end subroutine
  end interface
  character, parameter :: nl = new_line('a')
  character(*), parameter :: liquid = '[run]' // nl // 'sweeps = 400' // nl // 'equilibrate = 100' // nl // &
    'seed = 5' // nl // 'walkers = 2' // nl // 'device = cpu' // nl // '[box]' // nl // 'dimension = 3' // nl // &
    'density = 0.5' // nl // '[species a]' // nl // 'count = 216' // nl // '[potential lennard_jones]' // nl // &
    'epsilon = 1' // nl // 'sigma = 1' // nl // 'cutoff = 2.5' // nl // '[mover serial]' // nl // &
    'step = 0.2' // nl // '[observable energy]' // nl // 'period = 10' // nl // c_null_char
  type(c_ptr) :: engine
  type(engine_array) :: array
  real(c_double), pointer :: positions(:, :, :)
  real(c_double), allocatable :: copy(:, :, :)
  real(c_double) :: sums(2)
  engine = engine_new()
  call check(engine_open_text(engine, 'liquid' // c_null_char, liquid))
  call check(engine_sweep(engine, 500_c_int64_t))
  call check(engine_energies(engine, c_null_ptr, sums))
  print '(a, 2f16.6)', '-ln p =', sums
  call check(engine_get(engine, 'positions' // c_null_char, array))
  call c_f_pointer(array%data, positions, [array%shape(3), array%shape(2), array%shape(1)])
  allocate (copy, source=positions) ! the second walker goes on from where the first one is
  copy(:, :, 2) = copy(:, :, 1)
  call check(engine_replace(engine, 'positions' // c_null_char, copy, size(copy, kind=c_int64_t)))
  call check(engine_sweep(engine, 100_c_int64_t))
  call engine_close(engine)
contains
  subroutine check(code)
    integer(c_int), intent(in) :: code
    if (code /= 0) stop 'plugmc has failed'
  end subroutine
end program

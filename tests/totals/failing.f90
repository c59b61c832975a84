! A module that ends the program.
subroutine stop_program() bind(c, name='stop_program')
   error stop 'the table of the module ends at 3'
end subroutine

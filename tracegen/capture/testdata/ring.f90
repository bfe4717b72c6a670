! A ring in Fortran. REQUEST and MODULE are replaced by what a binding has.
program ring
  MODULE
  REQUEST :: both(2)
  integer :: rank, size, ierr, i
  double precision :: in(100), out(100), sums(3)
  in = 0
  out = 0
  sums = 1
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  do i = 1, 4
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, both(1), ierr)
    call MPI_Isend(out, 10 * i, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 7, MPI_COMM_WORLD, both(2), ierr)
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call MPI_Sendrecv(out, 5, MPI_INTEGER, mod(rank + 1, size), 1, in, 50, MPI_INTEGER, mod(rank + size - 1, size), 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program

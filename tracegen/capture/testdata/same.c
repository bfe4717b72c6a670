// Many requests at once, all but the last four of them of messages to nobody, for which MPI may
// give out one handle; a test that ends none of the last comes before.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, count = atoi(argv[1]), index, flag, in[2], out = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Request *all = malloc((count + 4) * sizeof *all), *last = all + count;
	for (int i = 0; i < count; i++) {
		MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[i]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &last[i]);
	}
	MPI_Testany(2, last, &index, &flag, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++) {
		MPI_Isend(&out, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &last[2 + i]);
	}
	MPI_Waitall(count + 4, all, MPI_STATUSES_IGNORE);
	MPI_Finalize();
	return 0;
}

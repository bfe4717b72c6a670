// A ring of messages that grow, reductions, and a message that is received from anybody, into
// more room than it needs.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double in[100] = {0}, out[100] = {0}, sum;
	for (int i = 0; i < 20; i++) {
		MPI_Request both[2];
		MPI_Irecv(in, 100, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &both[0]);
		MPI_Isend(out, 50 + i, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &both[1]);
		MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
		MPI_Allreduce(out, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Send(out, 3, MPI_INT, 1, 1, MPI_COMM_WORLD);
		}
		if (rank == 1) {
			MPI_Recv(in, 30, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	printf("rank %d of %d\n", rank, size);
	MPI_Finalize();
	return 0;
}

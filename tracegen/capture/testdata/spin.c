// Rank 1 waits for a message that comes late by asking again and again, in three ways, and asks once
// before work of its own. Then it asks in turns for two messages of which one comes, and once for each.
#include <mpi.h>

static void late(int tag)
{
	double until = MPI_Wtime() + 0.02;
	while (MPI_Wtime() < until) {
	}
	MPI_Send(&until, 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rank, done = 0, other, index;
	double x;
	MPI_Request r, never;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		for (int tag = 1; tag <= 3; tag++) {
			late(tag);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Send(&x, 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
		late(5);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Send(&x, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
	} else {
		MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &r);
		while (!done) {
			MPI_Test(&r, &done, MPI_STATUS_IGNORE);
		}
		MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &r);
		for (done = 0; !done;) {
			MPI_Testany(1, &r, &index, &done, MPI_STATUS_IGNORE);
		}
		for (done = 0; !done;) {
			MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
		}
		MPI_Recv(&x, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &r);
		MPI_Test(&r, &done, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &r);
		MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &never);
		for (done = 0; !done;) {
			MPI_Test(&never, &other, MPI_STATUS_IGNORE);
			MPI_Iprobe(0, 7, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
			MPI_Testall(1, &r, &done, MPI_STATUSES_IGNORE);
		}
		MPI_Test(&never, &other, MPI_STATUS_IGNORE);
		MPI_Iprobe(0, 7, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Wait(&never, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}

// Messages of persistent requests and such that a blocking probe has found, around a ring.
#include <mpi.h>
static char in[100000], out[100000];
int main(int argc, char **argv)
{
	int rank, size;
	MPI_Request r[2];
	MPI_Status s;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Send_init(out, 20000, MPI_CHAR, next, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_init(in, 20000, MPI_CHAR, prev, 1, MPI_COMM_WORLD, &r[1]);
	for (int i = 0; i < 20; i++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	for (int i = 0; i < 10; i++) {
		MPI_Isend(out, 1000 + 10 * i, MPI_CHAR, next, 2, MPI_COMM_WORLD, &r[0]);
		MPI_Probe(prev, 2, MPI_COMM_WORLD, &s);
		MPI_Recv(in, 100000, MPI_CHAR, prev, 2, MPI_COMM_WORLD, &s);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}

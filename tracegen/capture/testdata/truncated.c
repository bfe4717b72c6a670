// Rank 1 has room for one of ten numbers in the messages with even tags, and receives them in
// each way there is; those with odd tags are of one.
#include <mpi.h>

enum { TAGS = 11 };
static int data[10], small[TAGS];

// receive begins receives of the tags from first on.
static void receive(int first, int n, MPI_Request *all)
{
	for (int i = 0; i < n; i++) {
		MPI_Irecv(&small[first + i], 1, MPI_INT, 0, first + i, MPI_COMM_WORLD, &all[i]);
	}
}

// finish waits for those that a call that failed has left.
static void finish(int n, MPI_Request *all)
{
	for (int i = 0; i < n; i++) {
		MPI_Wait(&all[i], MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank, flag = 0, left, err = MPI_SUCCESS, which[2];
	MPI_Request all[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int tag = 0; rank == 0 && tag < TAGS; tag++) {
		MPI_Send(data, tag % 2 ? 1 : 10, MPI_INT, 1, tag, MPI_COMM_WORLD);
	}
	if (rank == 0) {
		MPI_Recv(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		receive(1, 2, all);
		MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
		finish(2, all);
		receive(3, 2, all);
		while (!flag && err == MPI_SUCCESS) {
			err = MPI_Testall(2, all, &flag, MPI_STATUSES_IGNORE);
		}
		finish(2, all);
		receive(5, 2, all);
		do {
			MPI_Waitsome(2, all, &left, which, MPI_STATUSES_IGNORE);
		} while (left != MPI_UNDEFINED);
		receive(7, 2, all);
		finish(2, all);
		MPI_Recv(small, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(data, 1, MPI_INT, 0, 0, small, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}

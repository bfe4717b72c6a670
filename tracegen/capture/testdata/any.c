// Rank 0 receives from all others in the order in which their messages come: all of them in each
// of ten turns, by MPI_Waitany and by MPI_Waitsome, and then so that a receive is begun anew as
// soon as it has ended.
#include <mpi.h>

enum { TURNS = 10, MOST = 8 };

static int rank, size, in[MOST], out;
static MPI_Request r[MOST];

static void post(int other) { MPI_Irecv(&in[other], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[other]); }

static void turn(int some)
{
	int n, which[MOST];
	r[0] = MPI_REQUEST_NULL;
	for (int i = 1; i < size; i++) {
		post(i);
	}
	for (int left = size - 1; left > 0; left -= n) {
		n = 1;
		if (some) {
			MPI_Waitsome(size, r, &n, which, MPI_STATUSES_IGNORE);
		} else {
			MPI_Waitany(size, r, which, MPI_STATUS_IGNORE);
		}
	}
}

static void anew(void)
{
	for (int i = 1; i < size; i++) {
		post(i);
	}
	for (int left = (size - 1) * TURNS; left > 0; left--) {
		int which;
		MPI_Waitany(size, r, &which, MPI_STATUS_IGNORE);
		if (left > size - 1) {
			post(which);
		}
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 2 * TURNS; i++) {
		if (rank == 0) {
			turn(i >= TURNS);
		} else {
			MPI_Ssend(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0 && size == 2) {
		anew();
	} else if (rank == 1 && size == 2) {
		for (int i = 0; i < TURNS; i++) {
			MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}

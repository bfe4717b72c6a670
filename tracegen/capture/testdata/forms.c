// A molecular dynamics in outline, on a ring: in each of 240 steps borders of sizes that the data decide, in every
// twentieth new lists of neighbours, in every tenth an output. Rank 0 hands out the input, and half of the ranks have a
// communicator of their own before the first step.
#include <mpi.h>

static char out[4096], in[4096];

int main(int argc, char **argv)
{
	int rank, size, most, n = 1;
	unsigned data;
	double sum = 0, energy;
	MPI_Comm half;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int other = 1; other < size; other++) {
		if (rank == 0) {
			MPI_Send(out, 100 * other, MPI_CHAR, other, 1, MPI_COMM_WORLD);
		} else if (rank == other) {
			MPI_Recv(in, 4096, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 ? 0 : MPI_UNDEFINED, 0, &half);
	for (int turn = 0; half != MPI_COMM_NULL && turn < 9; turn++) {
		MPI_Allreduce(&sum, &energy, 1, MPI_DOUBLE, MPI_SUM, half);
	}
	data = 7 + rank;
	for (int turn = 0; turn < 240; turn++) {
		data = data * 1103515245 + 12345;
		if (turn % 20 == 0) {
			MPI_Allreduce(&n, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
			for (int i = 0; i < 3; i++) {
				MPI_Sendrecv(out, 1000 + (data >> 24), MPI_CHAR, right, 2, in, 4096, MPI_CHAR, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
		}
		MPI_Sendrecv(out, 2000 + (data >> 22), MPI_CHAR, right, 3, in, 4096, MPI_CHAR, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < 100000; i++) {
			sum = 0.5 * (sum + turn + i);
		}
		MPI_Sendrecv(out, 2000 + (data >> 22), MPI_CHAR, left, 4, in, 4096, MPI_CHAR, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (turn % 10 == 9) {
			MPI_Reduce(&sum, &energy, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
			if (rank == 0) {
				for (int other = 1; other < size; other++) {
					MPI_Recv(in, 4096, MPI_CHAR, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				}
			} else {
				MPI_Send(out, 1000 + (data >> 24), MPI_CHAR, 0, 5, MPI_COMM_WORLD);
			}
		}
	}
	MPI_Finalize();
	return sum < 0;
}

// A stencil on a torus of 4 columns, as hydrodynamics codes are: borders go to four
// neighbours, each of its own size, while the inside is computed; then a time step is agreed on.
#include <mpi.h>
#include <stdlib.h>

enum { COLUMNS = 4, TURNS = 20, BORDER = 3000 };

static double out[4][BORDER], in[4][BORDER], cell[1 << 16];

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int rows = size / COLUMNS, x = rank % COLUMNS, y = rank / COLUMNS;
	int to[4] = {y * COLUMNS + (x + 1) % COLUMNS, y * COLUMNS + (x + COLUMNS - 1) % COLUMNS, (y + 1) % rows * COLUMNS + x, (y + rows - 1) % rows * COLUMNS + x};
	double parameters[64] = {0}, step = 1 + rank, least, sum;
	MPI_Bcast(parameters, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Request r[8];
		for (int d = 0; d < 4; d++) {
			MPI_Irecv(in[d], BORDER, MPI_DOUBLE, to[d ^ 1], d, MPI_COMM_WORLD, &r[d]);
		}
		for (int d = 0; d < 4; d++) {
			MPI_Isend(out[d], BORDER >> d, MPI_DOUBLE, to[d], d, MPI_COMM_WORLD, &r[4 + d]);
		}
		for (int i = 1; i < 1 << 16; i++) {
			cell[i] = 0.5 * (cell[i] + cell[i - 1]) + turn;
		}
		MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
		MPI_Allreduce(&step, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
		if (turn % 5 == 4) {
			MPI_Allgather(out[0], 100, MPI_DOUBLE, in[0], 100, MPI_DOUBLE, MPI_COMM_WORLD);
			MPI_Reduce(&step, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return cell[99] < 0 || least != 1;
}

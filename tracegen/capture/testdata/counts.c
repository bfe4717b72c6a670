// 40 turns of operations with a count for each rank, which are the same in each turn.
#include <mpi.h>

enum { MOST = 8, TURNS = 40 };

int main(int argc, char **argv)
{
	int rank, size, out[MOST], in[MOST], from[MOST], to[MOST], parts[MOST], at[MOST];
	static int a[256], b[256];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < size; i++) {
		out[i] = 1 + rank + 2 * i;
		in[i] = 1 + i + 2 * rank;
		parts[i] = 3 + i;
		from[i] = to[i] = at[i] = 20 * i;
	}
	for (int i = 0; i < TURNS; i++) {
		MPI_Alltoallv(a, out, from, MPI_INT, b, in, to, MPI_INT, MPI_COMM_WORLD);
		MPI_Allgatherv(a, parts[rank], MPI_INT, b, parts, at, MPI_INT, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}

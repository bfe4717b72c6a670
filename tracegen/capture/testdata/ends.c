// A program that ends as its argument says.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, size, sum;
	MPI_Comm parent, children;
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) { // spawned
		MPI_Comm_disconnect(&parent);
		MPI_Finalize();
		return 0;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	if (!strcmp(argv[1], "abort") && rank == 1) {
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	if (!strcmp(argv[1], "kill")) {
		raise(SIGKILL);
	}
	if (!strcmp(argv[1], "code")) {
		MPI_Finalize();
		return 5;
	}
	for (int i = 0; i < 500000 && !strcmp(argv[1], "many"); i++) {
		int flag;
		MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	if (!strcmp(argv[1], "spawn")) {
		MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
		MPI_Comm_disconnect(&children);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(argv[1], "exit")) {
		_Exit(0);
	}
	MPI_Finalize();
	return 0;
}

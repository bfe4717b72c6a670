// Five times, each rank sends messages that their receivers do not know of, and all agree when there
// are no more (NBX: Hoefler, Siebert, Lumsdaine 2010): it asks in turns whether a message
// has come, and whether its own have been received, then whether all ranks have come so far.
#include <mpi.h>

int main(int argc, char **argv)
{
	static char out[1 << 16], in[1 << 16];
	int rank, ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int turn = 0; turn < 5; turn++) {
		MPI_Request sends[64], barrier;
		int n = 0, begun = 0, done = 0;
		for (int to = 0; to < ranks; to++) {
			if ((rank * 7 + to * 3 + turn) % 3 == 0 && to != rank) {
				MPI_Issend(out, 100 + 1000 * to, MPI_CHAR, to, turn, MPI_COMM_WORLD, &sends[n++]);
			}
		}
		while (!done) {
			int found;
			MPI_Status status;
			MPI_Iprobe(MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &found, &status);
			if (found) {
				MPI_Recv(in, sizeof in, MPI_CHAR, status.MPI_SOURCE, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
			if (begun) {
				MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
				continue;
			}
			MPI_Testall(n, sends, &begun, MPI_STATUSES_IGNORE);
			if (begun) {
				MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
			}
		}
	}
	MPI_Finalize();
	return 0;
}

// Four threads of each of two ranks send and receive 1000 messages each, all at once.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

static int peer;

static void *talk(void *tag)
{
	int out = 0, in;
	for (int i = 0; i < 1000; i++) {
		MPI_Send(&out, 1, MPI_INT, peer, (int)(intptr_t)tag, MPI_COMM_WORLD);
		MPI_Recv(&in, 1, MPI_INT, peer, (int)(intptr_t)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int level, rank;
	pthread_t threads[4];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	peer = 1 - rank;
	for (intptr_t i = 0; i < 4; i++) {
		pthread_create(&threads[i], 0, talk, (void *)i);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], 0);
	}
	MPI_Finalize();
	return level != MPI_THREAD_MULTIPLE;
}

// Four threads of each of two ranks exchange 200 messages each, all at once: with an operation of both in
// front, synchronously, of 100,000 bytes, and by matched probes. A fifth makes 20 communicators, and sends a
// message on each.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

enum { TURNS = 200, LONG = 100000 };

static int rank, peer;
static MPI_Comm both, fifths;

static void *talk(void *number)
{
	static char buffers[5][2][LONG];
	int tag = (int)(intptr_t)number;
	char *out = buffers[tag][0], *in = buffers[tag][1];
	MPI_Message found;
	for (int i = 0; i < TURNS; i++) {
		switch (tag) {
		case 0:
			MPI_Barrier(both);
			MPI_Sendrecv(out, 4, MPI_CHAR, peer, tag, in, 4, MPI_CHAR, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		case 1:
			if ((i + rank) % 2) {
				MPI_Ssend(out, 4, MPI_CHAR, peer, tag, MPI_COMM_WORLD);
			} else {
				MPI_Recv(in, 4, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
			break;
		case 2:
			if ((i + rank) % 2) {
				MPI_Send(out, LONG, MPI_CHAR, peer, tag, MPI_COMM_WORLD);
			} else {
				MPI_Recv(in, LONG, MPI_CHAR, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
			break;
		case 3:
			MPI_Send(out, 4, MPI_CHAR, peer, tag, MPI_COMM_WORLD);
			MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
			MPI_Mrecv(in, 4, MPI_CHAR, &found, MPI_STATUS_IGNORE);
			break;
		case 4:
			if (i % 10 == 0) {
				MPI_Comm copy;
				MPI_Comm_dup(fifths, &copy);
				MPI_Sendrecv(out, 4, MPI_CHAR, peer, tag, in, 4, MPI_CHAR, peer, tag, copy, MPI_STATUS_IGNORE);
			}
		}
	}
	return 0;
}

// With the argument "fences" two threads fence a window each, in an order of their own.
static void *fence(void *window)
{
	for (int i = 0; i < TURNS; i++) {
		MPI_Win_fence(0, *(MPI_Win *)window);
	}
	return 0;
}

static void fences(void)
{
	MPI_Win windows[2];
	pthread_t thread;
	for (int i = 0; i < 2; i++) {
		MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
	}
	pthread_create(&thread, 0, fence, &windows[1]);
	fence(&windows[0]);
	pthread_join(thread, 0);
	for (int i = 0; i < 2; i++) {
		MPI_Win_free(&windows[i]);
	}
}

int main(int argc, char **argv)
{
	int level;
	pthread_t threads[5];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &both);
	MPI_Comm_dup(MPI_COMM_WORLD, &fifths);
	peer = 1 - rank;
	if (argc > 1) {
		fences();
		return MPI_Finalize();
	}
	for (intptr_t i = 0; i < 5; i++) {
		pthread_create(&threads[i], 0, talk, (void *)i);
	}
	for (int i = 0; i < 5; i++) {
		pthread_join(threads[i], 0);
	}
	MPI_Finalize();
	return level != MPI_THREAD_MULTIPLE;
}

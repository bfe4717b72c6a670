// What is legal and rare, by the argument; on 3 ranks.
#include <mpi.h>
#include <string.h>

static int rank, size;
static MPI_Comm inner;

static int copies(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	*flag = 0;
	return MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &inner);
}

// Ranks 0 and 1 are each other's neighbours, 2 has none: 2 messages of 4 bytes. Then each sends 4
// bytes to both of its neighbours on a ring, which is a duplicate: 6 messages.
static void neighbours(void)
{
	int other = 1 - rank, degree = rank < 2, from[2] = {0}, to[2] = {0}, whole = 1;
	MPI_Comm graph, ring, copy;
	MPI_Request request;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &other, MPI_UNWEIGHTED, degree, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Neighbor_allgather(to, 1, MPI_INT, from, 1, MPI_INT, graph);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &whole, 0, &ring);
	MPI_Comm_idup(ring, &copy, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Neighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, copy);
}

// Each sends 4 bytes around, and lets go of receives that never get anything.
static void cancelled(void)
{
	int left, here = 0;
	for (int source = 0; source < 2; source++) {
		MPI_Request request;
		MPI_Irecv(&left, 1, MPI_INT, source ? MPI_ANY_SOURCE : (rank + 1) % size, 99, MPI_COMM_WORLD, &request);
		MPI_Sendrecv(&here, 1, MPI_INT, (rank + 1) % size, 1, &left, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Cancel(&request);
		MPI_Request_free(&request);
	}
}

// Each looks whether 4 bytes from anybody have come until they have, and lets go of the receive.
static void looked(void)
{
	int left, here = 0, done = 0;
	MPI_Request request;
	MPI_Irecv(&left, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
	MPI_Send(&here, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
	while (!done) {
		MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}

// Rank 0 sends 4, 8 and 12 bytes; rank 1 has found them in this order, and receives the second, the
// third, which is not probed for, and the first, when the communicator is gone.
static void matched(void)
{
	int data[3] = {0};
	MPI_Comm copy;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	for (int n = 1; n <= 3 && rank == 0; n++) {
		MPI_Send(data, n, MPI_INT, 1, 9, copy);
	}
	MPI_Message first = MPI_MESSAGE_NULL, second;
	MPI_Request request;
	if (rank == 1) {
		MPI_Mprobe(0, 9, copy, &first, MPI_STATUS_IGNORE);
		MPI_Mprobe(0, MPI_ANY_TAG, copy, &second, MPI_STATUS_IGNORE);
		MPI_Imrecv(data, 3, MPI_INT, &second, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Recv(data, 3, MPI_INT, 0, 9, copy, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&copy);
	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &copy);
	if (rank == 1) {
		MPI_Mrecv(data, 3, MPI_INT, &first, MPI_STATUS_IGNORE);
	}
}

// A communicator is made by a callback: 3 messages on it, and one on the copy that was made meanwhile.
static void callback(void)
{
	int key, here = 0, left;
	MPI_Comm copy;
	MPI_Request request;
	MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &here);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Irecv(&left, 1, MPI_INT, (rank + size - 1) % size, 1, inner, &request);
	MPI_Send(&here, 1, MPI_INT, (rank + 1) % size, 1, inner);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 0) {
		MPI_Send(&here, 1, MPI_INT, 1, 1, copy);
	} else if (rank == 1) {
		MPI_Recv(&left, 1, MPI_INT, 0, 1, copy, MPI_STATUS_IGNORE);
	}
}

// Rank 0 and the two others are two groups, of which the first sends 4 bytes to each of these.
static void groups(void)
{
	int here = 0;
	MPI_Comm half, both;
	MPI_Request request;
	MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &both);
	MPI_Ibarrier(both, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 0; i < 2 && rank == 0; i++) {
		MPI_Send(&here, 1, MPI_INT, i, 3, both);
	}
	if (rank > 0) {
		MPI_Recv(&here, 1, MPI_INT, 0, 3, both, MPI_STATUS_IGNORE);
	}
}

// Over a duplicate of two such groups, and a duplicate of that, neither of which may be asked for
// its groups before it is ready, rank 0 sends 4 bytes to the first of the others, which sends as many back.
// Over a duplicate of MPI_COMM_SELF each rank sends itself 4 bytes.
static void duplicates(void)
{
	int here = 0, there;
	MPI_Comm half, both, copies[2], self;
	MPI_Request request;
	MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &both);
	MPI_Comm_idup(both, &copies[0], &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
	MPI_Comm_idup_with_info(copies[0], MPI_INFO_NULL, &copies[1], &request);
#else
	MPI_Comm_idup(copies[0], &copies[1], &request);
#endif
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 0; i < 2 && rank < 2; i++) {
		MPI_Sendrecv(&here, 1, MPI_INT, 0, i, NULL, 0, MPI_INT, MPI_PROC_NULL, i, copies[i], MPI_STATUS_IGNORE);
		MPI_Recv(&here, 1, MPI_INT, 0, i, copies[i], MPI_STATUS_IGNORE);
	}
	MPI_Comm_idup(MPI_COMM_SELF, &self, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&here, 1, MPI_INT, 0, 9, &there, 1, MPI_INT, 0, 9, self, MPI_STATUS_IGNORE);
}

// A broadcast and a barrier that are started in one order by rank 0, and in the other by the others.
static void crossed(void)
{
#if MPI_VERSION >= 4
	int here = 0;
	MPI_Request requests[2];
	MPI_Bcast_init(&here, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&requests[rank > 0]);
		MPI_Start(&requests[rank == 0]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
#endif
}

// MPI_Finalize itself has each rank send 4 bytes around, on a communicator that it makes there.
static int ends(MPI_Comm c, int key, void *value, void *extra)
{
	int left, here = 0;
	MPI_Comm copy;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Sendrecv(&here, 1, MPI_INT, (rank + 1) % size, 1, &left, 1, MPI_INT, (rank + size - 1) % size, 1, copy, MPI_STATUS_IGNORE);
	return MPI_Comm_free(&copy);
}

static void finalized(void)
{
	int key;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, &size);
}

// A communicator holds another one, which goes with it: 3 messages on each, twice.
static int frees(MPI_Comm c, int key, void *value, void *extra) { return MPI_Comm_free(value); }

static void held(void)
{
	int key, left, here = 0;
	MPI_Comm outer, inner;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees, &key, NULL);
	for (int turn = 0; turn < 2; turn++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &outer);
		MPI_Comm_dup(outer, &inner);
		MPI_Comm_set_attr(outer, key, &inner);
		MPI_Sendrecv(&here, 1, MPI_INT, (rank + 1) % size, 1, &left, 1, MPI_INT, (rank + size - 1) % size, 1, outer, MPI_STATUS_IGNORE);
		MPI_Sendrecv(&here, 1, MPI_INT, (rank + 1) % size, 1, &left, 1, MPI_INT, (rank + size - 1) % size, 1, inner, MPI_STATUS_IGNORE);
		MPI_Comm_free(&outer);
	}
}

// Receives that nobody sees end: one from anybody is started and cancelled, of two that are let go of
// each gets a message of 4 bytes on a copy of the world, one of any tag, and one gets one in the end.
static void unended(void)
{
	static int data[5];
	int left = (rank + size - 1) % size, right = (rank + 1) % size, here = 0;
	MPI_Comm copy;
	MPI_Request request;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Recv_init(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	MPI_Start(&request);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Cancel(&request);
	MPI_Irecv(&data[1], 1, MPI_INT, left, MPI_ANY_TAG, copy, &request);
	MPI_Request_free(&request);
	MPI_Irecv(&data[2], 1, MPI_INT, MPI_ANY_SOURCE, 5, copy, &request);
	MPI_Request_free(&request);
	MPI_Irecv(&data[3], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
	MPI_Irecv(&data[4], 1, MPI_INT, left, 99, copy, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(&here, 1, MPI_INT, right, 6, copy);
	MPI_Send(&here, 1, MPI_INT, right, 5, copy);
	MPI_Send(&here, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
}

// A send of 4 bytes is cancelled; where a library does that it is repeated. Rank 0 tells which with 8.
// So it is with one to itself, which a probe has found.
static void withdrawn(void)
{
	int gone[2] = {0}, here = 0;
	MPI_Request request;
	MPI_Status status;
	if (rank == 0) {
		MPI_Isend(&here, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
		MPI_Probe(0, 7, MPI_COMM_SELF, &status);
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
		MPI_Test_cancelled(&status, &gone[0]);
		if (!gone[0]) {
			MPI_Recv(&here, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &status);
		} else {
			MPI_Sendrecv(&here, 1, MPI_INT, 0, 7, &gone[1], 1, MPI_INT, 0, 7, MPI_COMM_SELF, &status);
		}
		MPI_Isend(&here, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
		MPI_Test_cancelled(&status, &gone[0]);
		MPI_Send(gone, 2, MPI_INT, 1, 9, MPI_COMM_WORLD);
		if (gone[0]) {
			MPI_Send(&here, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
		}
	} else if (rank == 1) {
		MPI_Recv(gone, 2, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(&here, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"neighbours", neighbours}, {"cancelled", cancelled}, {"looked", looked}, {"matched", matched}, {"callback", callback}, {"groups", groups},
		{"duplicates", duplicates}, {"crossed", crossed}, {"finalized", finalized}, {"held", held}, {"unended", unended}, {"withdrawn", withdrawn}};
	const int cases = sizeof all / sizeof *all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < cases; i++) {
		if (!strcmp(argv[1], all[i].name)) {
			all[i].run();
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}

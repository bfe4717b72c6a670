// Messages of all kinds, between an even number of ranks, 4 or more.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static char in[1 << 16], out[1 << 16], space[1 << 18];
static int rank, size;

static void modes(MPI_Comm comm, int peer)
{
	MPI_Request r[4];
	MPI_Status s;
	int done = 0;
	MPI_Irecv(in, 1000, MPI_INT, peer, 1, comm, &r[0]);
	MPI_Send(out, 100, MPI_INT, peer, 1, comm);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Irecv(in, 1000, MPI_CHAR, peer, 2, comm, &r[0]);
	MPI_Ssend(out, 1000, MPI_CHAR, peer, 2, comm);
	while (!done) {
		MPI_Test(&r[0], &done, &s);
	}
	MPI_Irecv(in, 10, MPI_DOUBLE, peer, 3, comm, &r[0]);
	MPI_Barrier(comm);
	MPI_Rsend(out, 10, MPI_DOUBLE, peer, 3, comm);
	MPI_Wait(&r[0], &s);
	MPI_Irecv(in, 4000, MPI_FLOAT, MPI_ANY_SOURCE, 4, comm, &r[0]);
	MPI_Bsend(out, 400, MPI_FLOAT, peer, 4, comm);
	MPI_Ibsend(out, 500, MPI_FLOAT, peer, 5, comm, &r[1]);
	MPI_Issend(out, 600, MPI_FLOAT, peer, 6, comm, &r[2]);
	MPI_Irecv(in, 4000, MPI_FLOAT, peer, MPI_ANY_TAG, comm, &r[3]);
	MPI_Recv(in, 4000, MPI_FLOAT, peer, 6, comm, MPI_STATUS_IGNORE);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void several(MPI_Comm comm, int peer)
{
	enum { N = 20 };
	MPI_Request r[2 * N];
	int left = 2 * N, index, found, indices[2 * N], done = 0;
	for (int i = 0; i < N; i++) {
		MPI_Irecv(in + 100 * i, 100, MPI_CHAR, peer, 10 + i, comm, &r[i]);
	}
	for (int i = 0; i < N; i++) {
		MPI_Isend(out, 5 * i, MPI_CHAR, peer, 10 + i, comm, &r[N + i]);
	}
	for (int i = 0; i < 5; i++, left--) {
		MPI_Waitany(2 * N, r, &index, MPI_STATUS_IGNORE);
	}
	MPI_Waitsome(2 * N, r, &found, indices, MPI_STATUSES_IGNORE);
	for (left -= found; left > 20;) {
		MPI_Testany(2 * N, r, &index, &done, MPI_STATUS_IGNORE);
		left -= done && index != MPI_UNDEFINED;
		if (done && index == MPI_UNDEFINED) {
			break;
		}
	}
	for (int i = 0; i < 3; i++) {
		MPI_Testsome(2 * N, r, &found, indices, MPI_STATUSES_IGNORE);
	}
	for (done = 0; !done;) {
		MPI_Testall(2 * N, r, &done, MPI_STATUSES_IGNORE);
	}
}

static void persistent(MPI_Comm comm, int peer)
{
	MPI_Request r[3];
	MPI_Send_init(out, 30, MPI_LONG, peer, 20, comm, &r[0]);
	MPI_Recv_init(in, 60, MPI_LONG, peer, 20, comm, &r[1]);
	MPI_Send_init(out, 1, MPI_LONG, MPI_PROC_NULL, 20, comm, &r[2]);
	for (int i = 0; i < 7; i++) {
		MPI_Startall(3, r);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
	}
	MPI_Start(&r[1]);
	MPI_Start(&r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE); // it is not under way
	for (int i = 0; i < 3; i++) {
		MPI_Request_free(&r[i]);
	}
}

static void probes(MPI_Comm comm, int peer)
{
	MPI_Status s;
	MPI_Message m;
	MPI_Request r;
	int there = 0, n;
	MPI_Isend(out, 77, MPI_SHORT, peer, 30, comm, &r);
	MPI_Probe(MPI_ANY_SOURCE, 30, comm, &s);
	MPI_Get_count(&s, MPI_SHORT, &n);
	MPI_Recv(in, n, MPI_SHORT, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Isend(out, 78, MPI_SHORT, peer, 31, comm, &r);
	while (!there) {
		MPI_Iprobe(peer, MPI_ANY_TAG, comm, &there, &s);
	}
	MPI_Mprobe(peer, 31, comm, &m, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 100, MPI_SHORT, &m, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 999, comm, &r); // nobody sends it
	MPI_Cancel(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 9, MPI_INT, peer, 32, comm, &r);
	MPI_Sendrecv(out, 9, MPI_INT, peer, 32, in + 1000, 5, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
	MPI_Wait(&r, &s);
	MPI_Sendrecv(out, 33, MPI_INT, peer, 33, in, 40, MPI_INT, MPI_ANY_SOURCE, 33, comm, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(in, 34, MPI_INT, peer, 34, peer, 34, comm, &s);
	MPI_Isend(out, 11, MPI_INT, peer, 35, comm, &r);
	MPI_Request_free(&r);
	MPI_Recv(in, 11, MPI_INT, peer, 35, comm, MPI_STATUS_IGNORE);
}

static void all(MPI_Comm comm, int own, int n)
{
	int peer = own ^ 1;
	modes(comm, peer);
	several(comm, peer);
	persistent(comm, peer);
	probes(comm, peer);
	(void)n;
}

int main(int argc, char **argv)
{
	MPI_Comm half, dup, cart, none;
	MPI_Datatype vector;
	int dims[2] = {2, 0}, periods[2] = {0, 1}, from, to, own;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Buffer_attach(space, sizeof space);
	all(MPI_COMM_WORLD, rank, size);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_split(dup, rank / 2 % 2, -rank, &half); // the order turned round
	MPI_Comm_rank(half, &own);
	all(half, own, size / 2);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_split(half, own == 0 ? MPI_UNDEFINED : 7, own, &none);
		if (none != MPI_COMM_NULL) {
			MPI_Barrier(none);
			MPI_Comm_free(&none);
		}
	}
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(dup, 2, dims, periods, 0, &cart);
	MPI_Type_vector(10, 2, 5, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	for (int d = 0; d < 2; d++) {
		MPI_Cart_shift(cart, d, 1, &from, &to);
		MPI_Sendrecv(out, 3, vector, to, 40 + d, in, 60, MPI_DOUBLE, from, 40 + d, cart, MPI_STATUS_IGNORE);
	}
	MPI_Type_free(&vector);
	// The same envelope on two communicators, received the other way round.
	MPI_Request r[2];
	MPI_Irecv(in, 100, MPI_CHAR, rank ^ 1, 50, dup, &r[0]);
	MPI_Irecv(in + 100, 200, MPI_CHAR, rank ^ 1, 50, MPI_COMM_WORLD, &r[1]);
	MPI_Send(out, 200, MPI_CHAR, rank ^ 1, 50, MPI_COMM_WORLD);
	MPI_Send(out, 100, MPI_CHAR, rank ^ 1, 50, dup);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	void *buffer;
	MPI_Buffer_detach(&buffer, &size);
	MPI_Comm_free(&half);
	MPI_Comm_free(&cart);
	MPI_Comm_free(&dup);
	MPI_Finalize();
	return 0;
}

// With -DLIBRARY a library that has MPI_Isendrecv, for an MPI without it, or in which it does not
// work (MPICH 4.0.2 of Debian): it blocks. Else a program that calls it.
#include <mpi.h>
#include <stdlib.h>

#define ARGUMENTS const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int room, MPI_Datatype other, int from, int with, MPI_Comm comm, MPI_Request *request

#ifdef LIBRARY
static int query(void *found, MPI_Status *status)
{
	MPI_Status *s = found;
	int bytes;
	PMPI_Get_count(s, MPI_BYTE, &bytes);
	PMPI_Status_set_elements(status, MPI_BYTE, bytes);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = s->MPI_SOURCE;
	status->MPI_TAG = s->MPI_TAG;
	return MPI_SUCCESS;
}

static int release(void *found)
{
	free(found);
	return MPI_SUCCESS;
}

static int cancel(void *found, int complete) { return found && complete ? MPI_SUCCESS : MPI_ERR_OTHER; }

int PMPI_Isendrecv(ARGUMENTS)
{
	MPI_Status *s = malloc(sizeof *s);
	PMPI_Sendrecv(out, n, type, to, tag, in, room, other, from, with, comm, s);
	PMPI_Grequest_start(query, release, cancel, s, request);
	return PMPI_Grequest_complete(*request);
}

int MPI_Isendrecv(ARGUMENTS) __attribute__((alias("PMPI_Isendrecv")));
#else
int MPI_Isendrecv(ARGUMENTS);

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, size, one[64] = {0}, two[64];
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Request request;
	for (int turn = 0; turn < 10; turn++) {
		MPI_Isendrecv(one, 3, MPI_INT, (rank + 1) % size, 7, two, 64, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Isendrecv(one, 3, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 8, two, 64, MPI_INT, rank == 1 ? 0 : MPI_PROC_NULL, 8, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
#endif

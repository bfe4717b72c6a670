// Each of two ranks counts how often its error handler is called, by calls that fail and by others that
// a library may let pass: arguments that are none, or that do not matter.
#include <mpi.h>
#include <stdio.h>

static int called;

static void handler(MPI_Comm *comm, int *code, ...) { called++; }

static int copies(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	*flag = 0;
	return 123456; // no error code of MPI
}

int main(int argc, char **argv)
{
	int rank, key, x = 0;
	MPI_Comm none = MPI_COMM_NULL, copy, half, both;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Datatype pair;
	MPI_Errhandler counts;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_create_errhandler(handler, &counts);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, counts);
	MPI_Errhandler_free(&counts);

	MPI_Send(0, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	MPI_Recv(0, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Bcast(0, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Send(0, 0, pair, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	MPI_Type_free(&pair);
	MPI_Gather(&x, 1, MPI_INT, 0, 0, MPI_DATATYPE_NULL, 1 - rank, MPI_COMM_SELF);
	MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
	MPI_Comm_free(&none);
	MPI_Comm_dup(none, &copy);
	MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE);
	MPI_Start(&request);
	MPI_Cancel(&request);
	MPI_Request_free(&request);
	MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, &x);
	MPI_Comm_dup(MPI_COMM_SELF, &copy);
	MPI_Comm_delete_attr(MPI_COMM_SELF, key);

	MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request); // too long a message
	MPI_Send(argv, 8, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);

	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank, 3, &both);
	MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, both, &request);
	MPI_Send(&x, 1, MPI_INT, 0, 2, both);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);

	printf("rank %d: %d\n", rank, called);
	MPI_Finalize();
	return 0;
}

// Every collective operation of two groups, rank 0 and ranks 1 and 2, and a generalized request.
#include <mpi.h>
#include <stddef.h>

static int query(void *state, MPI_Status *status)
{
	(void)state;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int nothing(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm own, both;
	MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
	MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 5, &both);
	int one[16] = {0}, two[16] = {0}, counts[2] = {3, 4}, places[2] = {0, 4};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	int root = rank == 0 ? MPI_ROOT : 0;         // rank 0
	int last = rank == 2 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 1; // rank 2, which rank 0 knows as 1
	MPI_Barrier(both);
	MPI_Bcast(one, 10, MPI_INT, root, both);
	MPI_Bcast(one, 11, MPI_INT, last, both);
	MPI_Reduce(one, two, 5, MPI_INT, MPI_SUM, root, both);
	MPI_Gather(one, 2, MPI_INT, two, 2, MPI_INT, root, both);
	MPI_Scatter(one, 2, MPI_INT, two, 2, MPI_INT, last, both);
	MPI_Gatherv(one, rank == 0 ? 0 : 2 + rank, MPI_INT, two, counts, places, MPI_INT, root, both);
	MPI_Scatterv(one, counts, places, MPI_INT, two, rank == 0 ? 0 : 2 + rank, MPI_INT, root, both);
	MPI_Allreduce(one, two, 7, MPI_INT, MPI_MAX, both);
	MPI_Allgather(one, 1, MPI_INT, two, 1, MPI_INT, both);
	int first[1] = {2}, none[1] = {0};
	MPI_Allgatherv(one, rank == 0 ? 2 : 2 + rank, MPI_INT, two, rank == 0 ? counts : first, rank == 0 ? places : none, MPI_INT, both);
	MPI_Alltoall(one, 2, MPI_INT, two, 2, MPI_INT, both);
	int send[2] = {3, 4}, recv[1] = {2 + rank}; // to rank i 2 + i, and back
	MPI_Alltoallv(one, rank == 0 ? send : recv, places, MPI_INT, two, rank == 0 ? send : recv, places, MPI_INT, both);
	MPI_Alltoallw(one, rank == 0 ? send : recv, places, types, two, rank == 0 ? send : recv, places, types, both);
	int parts[2] = {rank == 0 ? 6 : 2, 4};
	MPI_Reduce_scatter(one, two, parts, MPI_INT, MPI_SUM, both);
	MPI_Reduce_scatter_block(one, two, rank == 0 ? 4 : 2, MPI_INT, MPI_SUM, both);
	MPI_Request request;
	MPI_Ibarrier(both, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Grequest_start(query, nothing, cancel, NULL, &request);
	MPI_Grequest_complete(request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&both);
	MPI_Comm_free(&own);
	MPI_Finalize();
	return 0;
}

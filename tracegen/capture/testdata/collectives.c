// Each collective operation on the world and on half of it turned round, blocking and not.
#include <mpi.h>
#include <stdlib.h>

#define N 64
static int a[N * N], b[N * N], counts[N], other[N], places[N], others[N], sizes[N];
static MPI_Datatype types[N];

static void blocking(MPI_Comm c)
{
	int rank, size;
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	int last = size - 1, sum = 0;
	for (int i = 0; i < size; i++) { // i elements from rank i
		counts[i] = i;
		places[i] = sum;
		sum += i;
	}
	MPI_Barrier(c);
	MPI_Bcast(a, 3, MPI_INT, last, c);
	MPI_Reduce(rank == last ? MPI_IN_PLACE : a, rank == last ? b : NULL, 4, MPI_INT, MPI_MAX, last, c);
	MPI_Allreduce(MPI_IN_PLACE, b, 5, MPI_INT, MPI_BOR, c);
	MPI_Alltoall(a, 2, MPI_INT, b, 8, MPI_CHAR, c);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, c);
	MPI_Gather(rank == last ? MPI_IN_PLACE : a, 6, MPI_INT, rank == last ? b : NULL, rank == last ? 6 : -1, rank == last ? MPI_INT : MPI_DATATYPE_NULL, last, c);
	MPI_Gatherv(a, rank, MPI_INT, b, counts, places, MPI_INT, last, c);
	MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, c);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 7, MPI_INT, c);
	MPI_Allgatherv(a, rank, MPI_INT, b, counts, places, MPI_INT, c);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, places, MPI_INT, c);
	MPI_Scatter(rank == last ? a : NULL, rank == last ? 5 : -7, rank == last ? MPI_INT : MPI_DATATYPE_NULL, rank == last ? MPI_IN_PLACE : b, 5, MPI_INT, last, c);
	MPI_Scatterv(a, counts, places, MPI_INT, b, rank, MPI_INT, 0, c);
	MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, c);
	MPI_Reduce_scatter_block(a, b, 9, MPI_INT, MPI_SUM, c);
	MPI_Scan(a, b, 10, MPI_INT, MPI_SUM, c);
	MPI_Exscan(a, b, 11, MPI_INT, MPI_SUM, c);
	for (int i = 0; i < size; i++) {
		counts[i] = rank * size + i;
		other[i] = i * size + rank;
		places[i] = N * i;
		others[i] = N * i * (int)sizeof(int);
		types[i] = MPI_INT;
	}
	MPI_Alltoallv(a, counts, places, MPI_INT, b, other, places, MPI_INT, c);
	MPI_Alltoallw(a, counts, others, types, b, other, others, types, c);
}

static void nonblocking(MPI_Comm c)
{
	int rank, size, n = 0;
	MPI_Request r[8];
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	MPI_Ibarrier(c, &r[n++]);
	MPI_Ibcast(a, 3, MPI_INT, 1, c, &r[n++]);
	MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, c, &r[n++]);
	MPI_Irecv(a + 100, 5, MPI_INT, (rank + 1) % size, 3, c, &r[n++]);
	MPI_Send(a, 5, MPI_INT, (rank + size - 1) % size, 3, c);
	MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	MPI_Ialltoall(a, 2, MPI_INT, b, 2, MPI_INT, c, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Iallgather(a, 1, MPI_INT, b, 1, MPI_INT, c, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Igather(a, 1, MPI_INT, b, 1, MPI_INT, 0, c, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size, dims[2] = {0, 0}, periods[2] = {1, 0};
	MPI_Comm half, grid, copy;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Pcontrol(1);
	blocking(MPI_COMM_WORLD);
	nonblocking(MPI_COMM_WORLD);
	blocking(MPI_COMM_SELF);
	MPI_Pcontrol(2);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	blocking(half);
	nonblocking(half);
	MPI_Comm_dup(half, &copy);
	blocking(copy);
	MPI_Pcontrol(0);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Neighbor_alltoall(a, 3, MPI_INT, b, 3, MPI_INT, grid);
	MPI_Request r;
	MPI_Ineighbor_allgather(a, 4, MPI_INT, b, 4, MPI_INT, grid, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}

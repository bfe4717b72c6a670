// One-sided communication of every kind on windows of every kind, of the world and of halves of
// it, in 20 turns; and files. Open MPI 4 ends in some of it when it runs without an interconnect
// that accesses memory by itself, on its own: these are left to MPICH.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

// fences: each rank puts 80 bytes to the next and gets 40 from it.
static void fences(MPI_Win win, int next, double *own)
{
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	MPI_Put(own, 10, MPI_DOUBLE, next, 0, 10, MPI_DOUBLE, win);
	MPI_Get(own + 10, 5, MPI_DOUBLE, next, 20, 5, MPI_DOUBLE, win);
	MPI_Put(own, 3, MPI_DOUBLE, MPI_PROC_NULL, 0, 3, MPI_DOUBLE, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

// epochs: each rank accumulates 24 bytes at the next, between start and complete.
static void epochs(MPI_Win win, MPI_Comm comm, int next, int before, double *own)
{
	MPI_Group all, to, from;
	MPI_Comm_group(comm, &all);
	MPI_Group_incl(all, 1, &next, &to);
	MPI_Group_incl(all, 1, &before, &from);
	MPI_Win_post(from, 0, win);
	MPI_Win_start(to, 0, win);
	MPI_Accumulate(own, 3, MPI_DOUBLE, next, 30, 3, MPI_DOUBLE, MPI_SUM, win);
	MPI_Win_complete(win);
#ifdef MPICH_VERSION
	int done = 0;
	while (!done) {
		MPI_Win_test(win, &done);
	}
#else
	MPI_Win_wait(win);
#endif
	MPI_Group_free(&all);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

// locks: each rank fetches 8 bytes from rank 0 in four ways, and 16 in a request.
static void locks(MPI_Win win, double *own)
{
	long one = 1, was, zero = 0;
	MPI_Request request;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Get_accumulate(&one, 1, MPI_LONG, &was, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
	MPI_Win_flush(0, win);
	MPI_Get_accumulate(NULL, 0, MPI_LONG, &was, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_NO_OP, win);
	MPI_Win_unlock(0, win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 1, MPI_SUM, win);
	MPI_Compare_and_swap(&one, &zero, &was, MPI_LONG, 0, 2, win);
	MPI_Win_flush_local_all(win);
	MPI_Rget(own, 2, MPI_DOUBLE, 0, 30, 2, MPI_DOUBLE, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm half;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	int mine, halves;
	MPI_Comm_rank(half, &mine);
	MPI_Comm_size(half, &halves);
	double own[64] = {0}, memory[64] = {0}, *base, *at;
	MPI_Win created, allocated, shared, dynamic, self;
	MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &created);
#ifdef MPICH_VERSION
	MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_SELF, &self);
	fences(self, 0, own);
	MPI_Win_free(&self);
	MPI_Win_allocate(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, half, &base, &allocated);
#endif
	for (int turn = 0; turn < 20; turn++) {
		fences(created, (rank + 1) % size, own);
#ifdef MPICH_VERSION
		epochs(allocated, half, (mine + 1) % halves, (mine + halves - 1) % halves, own);
		locks(allocated, own);
#else
		epochs(created, MPI_COMM_WORLD, (rank + 1) % size, (rank + size - 1) % size, own);
#endif
	}
#ifdef MPICH_VERSION
	MPI_Win_allocate_shared(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &at, &shared);
	fences(shared, 0, own);
	MPI_Win_free(&shared);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
	MPI_Win_fence(0, dynamic);
	MPI_Win_free(&dynamic);
	MPI_Win_free(&allocated);
#endif
	MPI_Win_free(&created);

	// Files: 512 bytes by each rank alone, 256 together, 128 without waiting, and half of 512 read.
	MPI_File file;
	MPI_Status status;
	MPI_Request request;
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_File_set_size(file, 0);
	MPI_File_write_at(file, 512 * rank, own, 64, MPI_DOUBLE, MPI_STATUS_IGNORE);
	MPI_File_write_at_all(file, 512 * rank, own, 32, MPI_DOUBLE, &status);
#ifdef MPICH_VERSION
	MPI_File_iwrite_at(file, 512 * rank, own, 16, MPI_DOUBLE, &request);
	MPI_Wait(&request, &status);
#endif
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1) {
		MPI_File_read_at(file, 512 * rank + 256, own, 64, MPI_DOUBLE, &status);
	}
	MPI_File_read_at_all_begin(file, 0, own, 8, MPI_DOUBLE);
	MPI_File_read_at_all_end(file, own, &status);
	MPI_File_close(&file);
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}

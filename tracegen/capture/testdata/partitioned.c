// Messages of partitions, in ten turns, in the world or in a session.
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	MPI_Session session;
	MPI_Group group;
	int alone = argc > 1 && !strcmp(argv[1], "session");
	if (alone) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
		MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
		MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
		MPI_Group_free(&group);
	} else {
		MPI_Init(&argc, &argv);
	}
	int rank, size, one[64] = {0}, two[64] = {0};
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Request out, in;
	MPI_Psend_init(one, 8, 4, MPI_INT, (rank + 1) % size, 9, comm, MPI_INFO_NULL, &out);
	MPI_Precv_init(two, 4, 8, MPI_INT, (rank + size - 1) % size, 9, comm, MPI_INFO_NULL, &in);
	for (int turn = 0; turn < 10; turn++) {
		int some[] = {3, 5, 7}, arrived = 0;
		MPI_Start(&in);
		MPI_Start(&out);
		MPI_Pready(4, out);
		MPI_Pready_range(0, 2, out);
		MPI_Pready(6, out);
		MPI_Pready_list(3, some, out);
		while (!arrived) {
			MPI_Parrived(in, 2, &arrived);
		}
		MPI_Wait(&out, MPI_STATUS_IGNORE);
		MPI_Wait(&in, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&out);
	MPI_Request_free(&in);
	if (alone) {
		MPI_Comm_free(&comm);
		MPI_Session_finalize(&session);
	} else {
		MPI_Finalize();
	}
	return 0;
}

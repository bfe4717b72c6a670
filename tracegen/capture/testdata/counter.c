// A second tool, independent of the recorder: it prints for each message that is sent the
// ranks of the world, the tag and the bytes, a line each, into COUNTS.RANK.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *out;
static int own;

static void sent(int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	int size, to;
	MPI_Group group, world;
	if (dest == MPI_PROC_NULL) {
		return;
	}
	if (!out) {
		char name[4096];
		PMPI_Comm_rank(MPI_COMM_WORLD, &own);
		snprintf(name, sizeof name, "%s.%d", getenv("COUNTS"), own);
		out = fopen(name, "w");
	}
	PMPI_Type_size(type, &size);
	PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, 1, &dest, world, &to);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	fprintf(out, "%d %d %d %ld\n", own, to, tag, (long)count * size);
	fflush(out);
}

#define SEND(name) \
	int MPI_##name(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c) { sent(n, t, d, g, c); return PMPI_##name(b, n, t, d, g, c); }
#define ISEND(name) \
	int MPI_##name(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r) { sent(n, t, d, g, c); return PMPI_##name(b, n, t, d, g, c, r); }
SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)
ISEND(Isend)
ISEND(Issend)
ISEND(Irsend)
ISEND(Ibsend)

int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int d, int g, void *rb, int rn, MPI_Datatype rt, int s, int rg, MPI_Comm c, MPI_Status *st)
{
	sent(n, t, d, g, c);
	return PMPI_Sendrecv(b, n, t, d, g, rb, rn, rt, s, rg, c, st);
}

int MPI_Sendrecv_replace(void *b, int n, MPI_Datatype t, int d, int g, int s, int rg, MPI_Comm c, MPI_Status *st)
{
	sent(n, t, d, g, c);
	return PMPI_Sendrecv_replace(b, n, t, d, g, s, rg, c, st);
}

// Persistent sends, which are sent when they are started.
static struct { MPI_Request r; int n, d, g; MPI_Datatype t; MPI_Comm c; } plans[64];
static int planned;

int MPI_Send_init(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r)
{
	int err = PMPI_Send_init(b, n, t, d, g, c, r);
	plans[planned].r = *r, plans[planned].n = n, plans[planned].d = d, plans[planned].g = g, plans[planned].t = t, plans[planned].c = c;
	planned++;
	return err;
}

static void started(MPI_Request r)
{
	for (int i = 0; i < planned; i++) {
		if (plans[i].r == r) {
			sent(plans[i].n, plans[i].t, plans[i].d, plans[i].g, plans[i].c);
		}
	}
}

int MPI_Start(MPI_Request *r)
{
	started(*r);
	return PMPI_Start(r);
}

int MPI_Startall(int n, MPI_Request *r)
{
	for (int i = 0; i < n; i++) {
		started(r[i]);
	}
	return PMPI_Startall(n, r);
}

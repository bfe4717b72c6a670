/* Times messages between ranks: bench FILE SEED SIZES MAX REPS BUDGET BETWEEN
 *
 * SIZES message sizes up to MAX bytes, uniform in their logarithm, each timed REPS times, until BUDGET seconds are
 * over; BETWEEN is cores, nodes or both. All timings are in one random order, the same in all ranks. Nothing is
 * printed, which would wake the launcher: rank 0 gathers what was timed about once a second, when nothing is being
 * timed, and appends it to FILE. Its lines (results.go reads them):
 *
 *	mpi LIBRARY
 *	rank NUMBER|HOST|PROCESSOR|CPUS ALLOWED|LOAD
 *	planned TIMINGS
 *	t OPERATION BETWEEN PAIRS BYTES SECONDS
 *	busy RANK CPU_SECONDS WALL_SECONDS        of the rank that had the smallest part of its processor so far
 *	end complete|budget
 *	error TEXT
 *
 * Each operation is timed by one rank of a pair, a or b. Before it, b tells a by an empty message that it is ready.
 * The plan has iprobe-first-hit for any first poll; those that miss are recorded as iprobe-first-miss.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READY = 1, DATA = 2, NEVER = 3 }; /* tags */
enum { POLLS = 16, POLL_TIMINGS = 8, FLUSH_TRIALS = 1000, LEAST_SHARED = 32768, WARM_UP = 12 };
enum operation {
	SEND, SEND_LATE, ISEND, RECV, PINGPONG, EXCHANGE,
	IPROBE_MISS, IPROBE_HIT, TEST_MISS, TEST_HIT, IPROBE_FIRST_HIT, IPROBE_FIRST_MISS
};
enum { CORES, NODES, PLACEMENTS };
enum order { GO, FLUSH, STOP }; /* what rank 0 says before each trial */

static const char *const operations[] = {"send",        "send-late",  "isend",     "recv",    "pingpong", "exchange",
                                         "iprobe-miss", "iprobe-hit", "test-miss", "test-hit",
                                         "iprobe-first-hit", "iprobe-first-miss"};
static const char *const placements[] = {"cores", "nodes"};

struct about { /* a rank */
	char host[MPI_MAX_PROCESSOR_NAME], processor[128], cpus[128], load[64];
};

struct trial {
	enum operation operation;
	int placement, pairs;
	int64_t bytes;
};

struct record {
	struct trial trial;
	double seconds;
};

struct placement { /* the pairs of ranks (a[i], b[i]) of a placement */
	int number, *a, *b;
	double latency, per_byte; /* rough, for delays */
};

static int rank, ranks;
static FILE *out; /* of rank 0 */
static struct placement of[PLACEMENTS];
static struct trial *plan;
static size_t trials, timings; /* of one repetition */
static struct record records[FLUSH_TRIALS + 1];
static int recorded;
static char *sent, *received; /* buffers of the largest size */
static double spun_cpu, spun_wall;

static double clock_of(clockid_t id) {
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return clock_of(CLOCK_MONOTONIC); }

/* Lets time pass outside of MPI, and adds up how much of it this process had a processor. */
static void spin(double seconds) {
	double cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID), begin = now(), end;
	do
		end = now();
	while (end - begin < seconds);
	spun_wall += end - begin;
	spun_cpu += clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

static uint64_t state;

/* The next number of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(void) {
	uint64_t z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(void) { return (double)(next_random() >> 11) * 0x1p-53; }

static void *need(void *memory, size_t bytes) {
	if (memory == NULL) {
		fprintf(stderr, "rank %d: no memory for %zu bytes\n", rank, bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return memory;
}

/* Ends all ranks with an error that rank 0 writes. */
static int refuse(const char *text) {
	if (rank == 0) {
		fprintf(out, "error %s\n", text);
		fclose(out);
	}
	MPI_Finalize();
	return 3;
}

/* The value of the first line "key : value" of a file, or its first line if key is empty. */
static void read_field(const char *path, const char *key, char *value, size_t room) {
	char line[512];
	FILE *f = fopen(path, "r");
	snprintf(value, room, "unknown");
	if (f == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0) {
			char *colon = strchr(line, ':'), *text = *key != 0 && colon != NULL ? colon + 1 : line;
			text += strspn(text, " \t");
			text[strcspn(text, "\n|")] = 0;
			snprintf(value, room, "%.*s", (int)room - 1, text);
			break;
		}
	fclose(f);
}

/* Tells all ranks about all, and writes it. */
static struct about *introduce(void) {
	struct about *all = need(calloc((size_t)ranks, sizeof *all), sizeof *all * (size_t)ranks), me;
	int length;
	memset(&me, 0, sizeof me);
	MPI_Get_processor_name(me.host, &length);
	read_field("/proc/cpuinfo", "model name", me.processor, sizeof me.processor);
	read_field("/proc/self/status", "Cpus_allowed_list", me.cpus, sizeof me.cpus);
	read_field("/proc/loadavg", "", me.load, sizeof me.load);
	MPI_Allgather(&me, sizeof me, MPI_BYTE, all, sizeof me, MPI_BYTE, MPI_COMM_WORLD);
	if (rank == 0) {
		char version[MPI_MAX_LIBRARY_VERSION_STRING];
		MPI_Get_library_version(version, &length);
		version[strcspn(version, "\n")] = 0;
		fprintf(out, "mpi %s\n", version);
		for (int i = 0; i < ranks; i++)
			fprintf(out, "rank %d|%s|%s|%s|%s\n", i, all[i].host, all[i].processor, all[i].cpus, all[i].load);
	}
	return all;
}

/* The ranks on the host of the rank first, in order; their number is the result. */
static int ranks_beside(const struct about *all, int first, int *list) {
	int n = 0;
	for (int i = 0; i < ranks; i++)
		if (strcmp(all[i].host, all[first].host) == 0)
			list[n++] = i;
	return n;
}

/* Finds the pairs: within the host that has most ranks, and between the two that have most. */
static void place(const struct about *all) {
	size_t bytes = sizeof(int) * (size_t)ranks;
	int *most = need(calloc((size_t)ranks, sizeof(int)), bytes), *second = need(calloc((size_t)ranks, sizeof(int)), bytes);
	int *list = need(calloc((size_t)ranks, sizeof(int)), bytes), n = 0, m = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < ranks; i++) {
			int here = ranks_beside(all, i, list);
			if (list[0] != i) /* one look at each host */
				continue;
			if (pass == 0 && here > n) {
				n = here;
				memcpy(most, list, bytes);
			} else if (pass == 1 && here > m && i != most[0]) {
				m = here;
				memcpy(second, list, bytes);
			}
		}
	of[CORES].number = n / 2;
	of[NODES].number = n < m ? n : m;
	for (int p = 0; p < PLACEMENTS; p++) {
		of[p].a = need(calloc((size_t)ranks, sizeof(int)), bytes);
		of[p].b = need(calloc((size_t)ranks, sizeof(int)), bytes);
	}
	for (int i = 0; i < of[CORES].number; i++) {
		of[CORES].a[i] = most[2 * i];
		of[CORES].b[i] = most[2 * i + 1];
	}
	for (int i = 0; i < of[NODES].number; i++) {
		of[NODES].a[i] = most[i];
		of[NODES].b[i] = second[i];
	}
	free(most);
	free(second);
	free(list);
}

/* a's part of a trial with b: what it timed, below zero for nothing. */
static double first_part(enum operation operation, int b, int bytes) {
	MPI_Request request;
	double begin, end;
	MPI_Recv(received, 0, MPI_BYTE, b, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	switch (operation) {
	case SEND:
		spin(5e-6); /* b is waiting by then */ /* fall through */
	case SEND_LATE:
		begin = now();
		MPI_Send(sent, bytes, MPI_BYTE, b, DATA, MPI_COMM_WORLD);
		return now() - begin;
	case ISEND:
		spin(5e-6);
		begin = now();
		MPI_Isend(sent, bytes, MPI_BYTE, b, DATA, MPI_COMM_WORLD, &request);
		end = now();
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		return end - begin;
	case PINGPONG:
		begin = now();
		MPI_Send(sent, bytes, MPI_BYTE, b, DATA, MPI_COMM_WORLD);
		MPI_Recv(received, bytes, MPI_BYTE, b, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return now() - begin;
	case EXCHANGE:
		MPI_Send(sent, 0, MPI_BYTE, b, READY, MPI_COMM_WORLD);
		begin = now();
		MPI_Sendrecv(sent, bytes, MPI_BYTE, b, DATA, received, bytes, MPI_BYTE, b, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return now() - begin;
	case IPROBE_MISS:
		return -1;
	case RECV:
	case IPROBE_HIT:
	case TEST_MISS:
	case TEST_HIT:
	case IPROBE_FIRST_HIT:
	case IPROBE_FIRST_MISS:
		MPI_Send(sent, bytes, MPI_BYTE, b, DATA, MPI_COMM_WORLD);
	}
	return -1;
}

/* Times the first poll after a message of a has come, and says in the trial whether it missed it. */
static double first_poll(struct trial *t, int a, double delay) {
	double begin, seconds;
	int flag = 0;
	spin(delay + 2e-4); /* without a call of MPI, which could let the message in */
	begin = now();
	MPI_Iprobe(a, DATA, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	seconds = now() - begin;
	t->operation = flag ? IPROBE_FIRST_HIT : IPROBE_FIRST_MISS;
	MPI_Recv(received, (int)t->bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return seconds;
}

/* b's part of a trial with a, after a delay where a message has to be there, or a send to wait. */
static double second_part(struct trial *t, int a, double delay) {
	enum operation operation = t->operation;
	int bytes = (int)t->bytes;
	MPI_Request request = MPI_REQUEST_NULL;
	double begin, seconds = -1;
	int flag = 0;
	if (operation == SEND || operation == ISEND || operation == TEST_MISS || operation == TEST_HIT)
		MPI_Irecv(received, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, &request);
	if (operation == TEST_MISS) {
		begin = now();
		for (int i = 0; i < POLLS; i++)
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		seconds = (now() - begin) / POLLS;
	}
	MPI_Send(sent, 0, MPI_BYTE, a, READY, MPI_COMM_WORLD);
	switch (operation) {
	case SEND:
	case ISEND:
	case TEST_MISS:
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case SEND_LATE:
		spin(delay);
		MPI_Recv(received, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	case RECV:
		spin(delay);
		begin = now();
		MPI_Recv(received, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		seconds = now() - begin;
		break;
	case PINGPONG:
		MPI_Recv(received, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(sent, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD);
		break;
	case EXCHANGE:
		MPI_Recv(received, 0, MPI_BYTE, a, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(sent, bytes, MPI_BYTE, a, DATA, received, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	case IPROBE_MISS:
		begin = now();
		for (int i = 0; i < POLLS; i++)
			MPI_Iprobe(a, NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		seconds = (now() - begin) / POLLS;
		break;
	case IPROBE_HIT:
		spin(delay);
		while (!flag) { /* some libraries look before they fetch what has come */
			begin = now();
			MPI_Iprobe(a, DATA, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
			seconds = now() - begin;
		}
		MPI_Recv(received, bytes, MPI_BYTE, a, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	case TEST_HIT:
		spin(delay);
		while (!flag) {
			begin = now();
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
			seconds = now() - begin;
		}
		break;
	case IPROBE_FIRST_HIT:
	case IPROBE_FIRST_MISS:
		seconds = first_poll(t, a, delay);
	}
	return seconds;
}

/* This rank's part of a trial: what it timed, below zero for nothing. */
static double part(struct trial *t) {
	const struct placement *p = &of[t->placement];
	if (t->pairs > 1)
		MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < t->pairs; i++) {
		if (rank == p->a[i])
			return first_part(t->operation, p->b[i], (int)t->bytes);
		if (rank == p->b[i])
			return second_part(t, p->a[i], 5e-5 + 4 * (p->latency + (double)t->bytes * p->per_byte));
	}
	return -1;
}

static void add(enum operation operation, int placement, int pairs, int64_t bytes) {
	static size_t room;
	if (trials == room) {
		room = 2 * room + 64;
		plan = need(realloc(plan, room * sizeof *plan), room * sizeof *plan);
	}
	plan[trials++] = (struct trial){operation, placement, pairs, bytes};
	timings += (size_t)pairs;
}

/* Plans a timing of everything. */
static void make_plan(int sizes, int64_t largest, const int *wanted) {
	for (int i = 0; i < sizes; i++) {
		/* One size in each part of the logarithms; the largest is one of them. */
		double at = i == sizes - 1 ? 1 : (i + uniform()) / sizes;
		int64_t bytes = (int64_t)(exp(at * log((double)largest)) + 0.5);
		for (int p = 0; p < PLACEMENTS; p++) {
			if (!wanted[p])
				continue;
			for (int operation = SEND; operation <= EXCHANGE; operation++)
				add(operation, p, 1, bytes);
			for (int k = 2; bytes >= LEAST_SHARED && k / 2 < of[p].number; k *= 2)
				add(PINGPONG, p, k < of[p].number ? k : of[p].number, bytes);
		}
	}
	for (int p = 0; p < PLACEMENTS; p++)
		for (int operation = IPROBE_MISS; wanted[p] && operation <= IPROBE_FIRST_HIT; operation++)
			for (int i = 0; i < POLL_TIMINGS; i++)
				add(operation, p, 1, 8);
}

static void shuffle(void) {
	for (size_t i = trials; i > 1; i--) {
		size_t j = (size_t)(next_random() % i);
		struct trial t = plan[i - 1];
		plan[i - 1] = plan[j];
		plan[j] = t;
	}
}

/* Some messages that are not recorded; latency and time per byte roughly. */
static void warm_up(int placement, int64_t largest) {
	struct placement *p = &of[placement];
	double small = HUGE_VAL, large = HUGE_VAL;
	for (int i = 0; i < WARM_UP; i++) {
		struct trial t = {PINGPONG, placement, 1, 1}, whole = {PINGPONG, placement, 1, largest};
		double seconds = part(&t);
		small = seconds < small ? seconds : small;
		seconds = part(&whole);
		large = seconds < large ? seconds : large;
	}
	MPI_Bcast(&small, 1, MPI_DOUBLE, p->a[0], MPI_COMM_WORLD);
	MPI_Bcast(&large, 1, MPI_DOUBLE, p->a[0], MPI_COMM_WORLD);
	p->latency = small / 2;
	p->per_byte = large > small ? (large - small) / 2 / (double)largest : 0;
}

/* Writes what all ranks have recorded, and which of them had the smallest part of its processor. */
static void flush(void) {
	int *bytes = NULL, *from = NULL, mine = recorded * (int)sizeof *records, total = 0;
	struct record *all = NULL;
	struct { double part; int rank; } least, own = {0, rank};
	double times[2] = {spun_cpu, spun_wall}, *spun = NULL;
	spin(1e-3); /* all at once */
	own.part = spun_cpu / spun_wall;
	times[0] = spun_cpu;
	times[1] = spun_wall;
	if (rank == 0) {
		bytes = need(calloc((size_t)ranks, sizeof(int)), sizeof(int) * (size_t)ranks);
		from = need(calloc((size_t)ranks, sizeof(int)), sizeof(int) * (size_t)ranks);
		spun = need(calloc((size_t)ranks, sizeof times), sizeof times * (size_t)ranks);
	}
	MPI_Reduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, 0, MPI_COMM_WORLD);
	MPI_Gather(times, 2, MPI_DOUBLE, spun, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Gather(&mine, 1, MPI_INT, bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < ranks; i++) {
		from[i] = total;
		total += bytes[i];
	}
	if (rank == 0)
		all = need(malloc((size_t)total + 1), (size_t)total + 1);
	MPI_Gatherv(records, mine, MPI_BYTE, all, bytes, from, MPI_BYTE, 0, MPI_COMM_WORLD);
	recorded = 0;
	if (rank != 0)
		return;
	for (int i = 0; i < total / (int)sizeof *all; i++) {
		const struct trial *t = &all[i].trial;
		fprintf(out, "t %s %s %d %" PRId64 " %.9e\n", operations[t->operation], placements[t->placement], t->pairs, t->bytes, all[i].seconds);
	}
	fprintf(out, "busy %d %.6f %.6f\n", least.rank, spun[2 * least.rank], spun[2 * least.rank + 1]);
	if (fflush(out) != 0) {
		fprintf(stderr, "cannot write the timings: ");
		perror("");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	free(bytes);
	free(from);
	free(spun);
	free(all);
}

/* What rank 0 says comes next. */
static enum order next_order(double *flushed, double deadline, int *since) {
	int order = GO;
	if (rank == 0 && now() >= deadline)
		order = STOP;
	else if (rank == 0 && (now() - *flushed > 1 || *since >= FLUSH_TRIALS))
		order = FLUSH;
	MPI_Bcast(&order, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (order == FLUSH) {
		flush();
		*flushed = now();
		*since = 0;
	}
	return order;
}

/* Times everything reps times; 0 if there was not enough time. */
static int measure(int reps, double budget) {
	double begin = now(), flushed = begin;
	int since = 0;
	for (int i = 0; i < reps; i++) {
		shuffle();
		for (size_t j = 0; j < trials; j++, since++) {
			enum order order = next_order(&flushed, begin + budget, &since);
			struct record r = {plan[j], -1};
			if (order == STOP)
				return 0;
			if (order == FLUSH) { /* whose traces in the caches a message that does not count removes */
				struct trial t = {PINGPONG, plan[j].placement, 1, 8};
				part(&t);
			}
			r.seconds = part(&r.trial);
			if (r.seconds > 0)
				records[recorded++] = r;
		}
	}
	return 1;
}

int main(int argc, char **argv) {
	int wanted[PLACEMENTS], complete;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 8) {
		fprintf(stderr, "usage: bench FILE SEED SIZES MAX REPS BUDGET BETWEEN\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	state = strtoull(argv[2], NULL, 10);
	int sizes = atoi(argv[3]), reps = atoi(argv[5]);
	int64_t largest = strtoll(argv[4], NULL, 10);
	double budget = strtod(argv[6], NULL);
	if (rank == 0 && (out = fopen(argv[1], "a")) == NULL) {
		perror(argv[1]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (ranks < 2)
		return refuse("one rank");
	struct about *all = introduce();
	place(all);
	free(all);
	for (int p = 0; p < PLACEMENTS; p++)
		wanted[p] = of[p].number > 0 && (strcmp(argv[7], "both") == 0 || strcmp(argv[7], placements[p]) == 0);
	if (!wanted[CORES] && !wanted[NODES])
		return refuse(strcmp(argv[7], "cores") == 0 ? "no two ranks on one host" : "all ranks on one host");
	sent = need(malloc((size_t)largest), (size_t)largest);
	received = need(malloc((size_t)largest), (size_t)largest);
	make_plan(sizes, largest, wanted);
	for (int64_t i = 0; i < largest; i++)
		sent[i] = received[i] = (char)next_random(); /* the same in all ranks, as the order must be */
	if (rank == 0)
		fprintf(out, "planned %zu\n", timings * (size_t)reps);
	for (int p = 0; p < PLACEMENTS; p++)
		if (wanted[p])
			warm_up(p, largest);
	complete = measure(reps, budget);
	flush();
	if (rank == 0) {
		fprintf(out, "end %s\n", complete ? "complete" : "budget");
		fclose(out);
	}
	MPI_Finalize();
	return 0;
}

/* Times the kernels of a run, in one process of several that do so at once:
 *
 *   program LIBRARY PLAN SHARED SECONDS SEED RANK RANKS ROWS COLUMNS NB ORDER ELEMENTS SWEPT IN_PLACE
 *
 * The plan has a call on each line, "KERNEL LETTERS D0 D1 D2 D3 WARMTH", the same for all
 * processes, which meet in the shared memory before each call. Prints "ready LIBRARY,
 * VERSION" or "error ...", then for each call "NUMBER SECONDS CPUSECONDS" and at last "end".
 * After SECONDS no call begins; 0: there is no limit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "blas.h"
#include "swaps.h"
#include "operands.h"
#include "calls.h"

/* What the processes share. */
struct meeting {
	_Atomic int64_t arrived, generation, last; /* last: the call before which all end, from 1 on */
};

static struct meeting *meeting;
static int64_t rank, ranks;
static double clock_cost; /* seconds between two looks at the clock, at least */

static int fail(const char *what, const char *why) {
	printf("error %s: %s\n", what, why);
	return 1;
}

static double seconds_of(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return seconds_of(CLOCK_MONOTONIC); }

static void weigh_clock(void) {
	clock_cost = 1;
	for (int i = 0; i < 1000; i++) {
		const double begin = now(), took = now() - begin;
		if (took < clock_cost)
			clock_cost = took;
	}
}

/* Waits until all processes are here. Those that share a core give way to one another. */
static void meet(void) {
	const int64_t generation = atomic_load(&meeting->generation);
	if (atomic_fetch_add(&meeting->arrived, 1) + 1 == ranks) {
		atomic_store(&meeting->arrived, 0);
		atomic_fetch_add(&meeting->generation, 1);
		return;
	}
	for (int64_t spins = 1; atomic_load(&meeting->generation) == generation; spins++)
		if (spins % 4096 == 0)
			sched_yield();
}

static int read_call(const char *line) {
	char name[32], dims[128];
	if (sscanf(line, "%31s %7s %127[0-9 ] %c", name, call.letters, dims, &warmth) != 4 ||
	    sscanf(dims, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &call.d[0], &call.d[1], &call.d[2], &call.d[3]) != 4)
		return 0;
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
		if (strcmp(kernels[i].name, name) == 0) {
			call.kernel = &kernels[i];
			return 1;
		}
	return 0;
}

static double size_of_call(void) {
	double size = 1;
	for (int i = 0; i < 4; i++)
		size *= call.d[i] > 0 ? (double)call.d[i] : 1;
	return size;
}

/* Short calls on what is in the caches come in a row in a run, so that their code is there,
 * too: each is made once before. */
enum { SHORT = 1000000 };

static void prepare(int64_t number) {
	state += (uint64_t)number * 0x9e3779b97f4a7c15u;
	signed_one = number % 2 == 0 ? 1 : -1;
	taken = far = 0;
	if (warmth == COLD) {
		touch(sweep, shape.swept, 1, 1);
		far = 1;
	}
	call.panel = NULL;
	call.kernel->prepare();
	if (!far && !overdrawn && size_of_call() <= SHORT)
		call.kernel->run();
	if (call.panel != NULL)
		call.a = call.panel + below(shape.rows); /* another row than that before */
}

/* Makes the calls of the plan. Only the first process looks at the limit of time, and
 * says before a meeting at which all end. */
static int make_calls(FILE *plan, double limit) {
	char line[256];
	const double deadline = limit > 0 ? now() + limit : 1e300;
	for (int64_t number = 0; fgets(line, sizeof line, plan) != NULL; number++) {
		if (!read_call(line))
			return fail("plan", line);
		prepare(number);
		if (overdrawn)
			return fail("work space is too small for", line);
		if (rank == 0 && now() >= deadline)
			atomic_store(&meeting->last, number + 1);
		meet();
		const int64_t last = atomic_load(&meeting->last);
		if (last > 0 && number + 1 >= last)
			break;
		const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), begin = now();
		call.kernel->run();
		const double took = now() - begin - clock_cost, used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		printf("%" PRId64 " %.9e %.9e\n", number, took > 1e-9 ? took : 1e-9, used);
	}
	printf("end\n");
	return 0;
}

static int share(const char *path) {
	const int file = open(path, O_RDWR);
	if (file < 0)
		return 0;
	void *p = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	meeting = p;
	return p != MAP_FAILED;
}

int main(int argc, char **argv) {
	char version[256];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 15)
		return fail("arguments", "want 14");
	int64_t *const numbers[] = {&rank, &ranks, &shape.rows, &shape.columns, &shape.nb, &shape.order, &shape.elements, &shape.swept, &shape.in_place};
	for (int i = 0; i < 9; i++)
		*numbers[i] = strtoll(argv[6 + i], NULL, 10);
	void *library = open_library(argv[1]);
	if (library == NULL)
		return fail("loading", *argv[1] != 0 ? dlerror() : "no BLAS found: install one, as by apt install libopenblas0-pthread, or name it (--blas)");
	const char *missing = find_routines(library), *file = library_file(library, argv[1]);
	if (missing != NULL) {
		printf("error %s: has no %s: is it a BLAS?\n", file, missing);
		return 1;
	}
	if (!is_right())
		return fail(file, "a product or a search came out wrong: is this a BLAS?");
	state = strtoull(argv[5], NULL, 10) * 1000003u + (uint64_t)rank;
	FILE *plan = fopen(argv[2], "r");
	if (plan == NULL || !share(argv[3]))
		return fail("opening", argv[2]);
	if (!make_operands())
		return fail("memory", "not enough for the operands: give less --memory");
	library_version(library, version, sizeof version);
	printf("ready %s, %s\n", file, version);
	weigh_clock();
	meet(); /* the time begins when all have their memory */
	return make_calls(plan, strtod(argv[4], NULL));
}

/* Times the kernels of a run, in one process of several that do so at once:
 *
 *   program LIBRARY PLAN SHARED SECONDS SEED RANK RANKS RUNS ELEMENTS SWEPT CACHED
 *
 * The plan has the shape of each of RUNS runs, "ROWS COLUMNS NB IN_PLACE WHOLE_ROWS", then a call on
 * each line, "RUN KERNEL LETTERS D0 D1 D2 D3 WARMTH ALONE", the same for all processes, which meet in the shared memory
 * before each call, but for those that the first makes alone (ALONE is 1). Prints "ready LIBRARY, VERSION" or "error ...", then for each call "NUMBER SECONDS CPUSECONDS" and at last "end".
 * After SECONDS no call begins; 0: there is no limit.
 */
#include "meeting.h"

#include <dlfcn.h>
#include <link.h>

#include "blas.h"
#include "swaps.h"
#include "operands.h"
#include "calls.h"

static int read_shapes(FILE *plan) {
	shapes = calloc((size_t)runs + 1, sizeof *shapes);
	for (int64_t i = 0; shapes != NULL && i < runs; i++) {
		struct shape *s = &shapes[i];
		if (fscanf(plan, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "\n", &s->rows, &s->columns, &s->nb, &s->in_place, &s->whole_rows) != 5)
			return 0;
	}
	return shapes != NULL;
}

static int read_call(const char *line) {
	char name[32], dims[128];
	int64_t run;
	if (sscanf(line, "%" SCNd64 " %31s %7s %127[0-9 ] %c %d", &run, name, call.letters, dims, &warmth, &call.alone) != 6 || run < 0 || run >= runs ||
	    sscanf(dims, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &call.d[0], &call.d[1], &call.d[2], &call.d[3]) != 4)
		return 0;
	shape = shapes[run];
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

/* Calls that take less than a look at the clock tells apart are timed many in a row. */
enum { MANY = 64 };
static const double tiny = 1e-6; /* seconds */
static int repeats;              /* of the call at hand */

static void rehearse(void) {
	const double begin = now();
	call.kernel->run();
	repeats = now() - begin < tiny && call.panel == NULL ? MANY : 1;
}

static void prepare(int64_t number) {
	state += (uint64_t)number * 0x9e3779b97f4a7c15u;
	signed_one = number % 2 == 0 ? 1 : -1;
	taken = picked = far = 0;
	call.panel = NULL;
	call.kernel->prepare();
	if (warmth == COLD) {
		touch(sweep, space.swept, 1, 1);
		far = 1;
	}
	repeats = 1;
	if (!far && size_of_call() <= SHORT)
		rehearse();
	if (call.panel != NULL)
		call.a = call.panel + below(call.rows); /* another row than that before */
}

static void time_call(int64_t number) {
	const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), begin = now();
	for (int i = 0; i < repeats; i++)
		call.kernel->run();
	const double took = (now() - begin - clock_cost) / repeats, used = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / repeats;
	tell(number, took, used);
}

static int end(void) {
	if (!is_finite())
		return fail("operands", "numbers grew beyond all that a run has: timings are of infinite ones");
	printf("end\n");
	return 0;
}

/* Makes the calls of the plan. */
static int make_calls(FILE *plan, double limit) {
	char line[256];
	const double deadline = deadline_after(limit);
	for (int64_t number = 0; fgets(line, sizeof line, plan) != NULL; number++) {
		if (!read_call(line))
			return fail("plan", line);
		flush(number);
		if (!takes_part(call.alone, deadline))
			continue;
		prepare(number);
		if (!call.alone && !begin_call(number, deadline))
			break;
		time_call(number);
	}
	return end();
}

int main(int argc, char **argv) {
	char version[256];
	keep_lines();
	if (argc != 12)
		return fail("arguments", "want 11");
	int64_t *const numbers[] = {&rank, &ranks, &runs, &space.elements, &space.swept, &space.cached};
	for (int i = 0; i < 6; i++)
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
	if (!read_shapes(plan))
		return fail("plan", "no shapes of runs");
	if (!make_operands())
		return fail("memory", "not enough for the operands: give less --memory");
	library_version(library, version, sizeof version);
	printf("ready %s, %s\n", file, version);
	fflush(stdout);
	weigh_clock();
	meet(0); /* the time begins when all have their memory */
	return make_calls(plan, strtod(argv[4], NULL));
}

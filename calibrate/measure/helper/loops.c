/* Times HPCG's kernels as a run calls them, one after the other, in one process of several that do so at once:
 *
 *   program PLAN SHARED SECONDS RANK RANKS BOXES
 *
 * The plan has a line for each box, "NX NY NZ NEAR_X NEAR_Y NEAR_Z", then one for each call, "BOX KERNEL LEVEL VECTORS N
 * BETA ALONE", the same for all processes, which meet in the shared memory before each call, but for those that the first
 * makes alone (ALONE is 1). Prints "ready" or "error
 * ...", then for each call "NUMBER SECONDS CPUSECONDS" and at last "end". After SECONDS no call begins; 0: there is
 * no limit.
 */
#include "meeting.h"

#include "loops.h"

static struct level (*boxes)[LEVELS];
static int64_t number_of_boxes;

static struct {
	const struct kernel *kernel;
	const struct level *level, *coarse;
	double *v[3]; /* vectors, in the order of the call */
	int32_t n;
	double beta;
	int alone;
} call;

struct kernel {
	const char *name;
	void (*run)(void);
};

static volatile double sink;

static void run_multiply(void) { multiply(call.level, call.v[0], call.v[1]); }
static void run_smooth(void) { smooth(call.level, call.v[0], call.v[1]); }
static void run_restrict(void) { restrict_residual(call.coarse, call.v[0], call.v[1], call.coarse->vector[1]); }
static void run_prolong(void) { prolong(call.coarse, call.coarse->vector[0], call.v[0]); }
static void run_dot(void) { sink = dot(call.n, call.v[0], call.v[1]); }
static void run_add(void) { add(call.n, call.v[0], call.beta, call.v[1], call.v[2]); }
static void run_zero(void) { zero(call.n, call.v[0]); }
static void run_copy(void) { copy(call.n, call.v[0], call.v[1]); }
static void run_pack(void) { pack(call.level, call.v[0]); }

static const struct kernel kernels[] = {
	{"spmv", run_multiply}, {"symgs", run_smooth}, {"restrict", run_restrict}, {"prolong", run_prolong}, {"dot", run_dot},
	{"waxpby", run_add}, {"zero", run_zero}, {"copy", run_copy}, {"pack", run_pack},
};

static int read_boxes(FILE *plan) {
	boxes = calloc((size_t)number_of_boxes + 1, sizeof *boxes);
	for (int64_t i = 0; boxes != NULL && i < number_of_boxes; i++) {
		int64_t n[3];
		int near[3];
		if (fscanf(plan, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %d %d %d\n", &n[0], &n[1], &n[2], &near[0], &near[1], &near[2]) != 6)
			return 0;
		make_box(boxes[i], n, near);
	}
	return boxes != NULL;
}

/* Sets the vectors of a call by their names. */
static int find_vectors(const char *names) {
	for (int i = 0; names[i] != 0; i++) {
		const char *at = strchr(vector_names, names[i]);
		if (at == NULL || i == 3 || (call.v[i] = call.level->vector[at - vector_names]) == NULL)
			return 0;
	}
	return 1;
}

static int read_call(const char *line) {
	char name[32], vectors[8];
	int64_t box;
	int level;
	if (sscanf(line, "%" SCNd64 " %31s %d %7s %" SCNd32 " %lf %d", &box, name, &level, vectors, &call.n, &call.beta, &call.alone) != 7 || box < 0 || box >= number_of_boxes ||
	    level < 0 || level >= LEVELS)
		return 0;
	call.level = &boxes[box][level];
	call.coarse = &boxes[box][level + 1 < LEVELS ? level + 1 : level];
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
		if (strcmp(kernels[i].name, name) == 0) {
			call.kernel = &kernels[i];
			return find_vectors(vectors);
		}
	return 0;
}

/* Whether the residual is made of numbers as those of a run, which fall from set to set of iterations: by their bits, as
 * compilers may take it for granted that there are no others. */
static int is_finite(void) {
	enum { MOST = 1023 + 40 }; /* exponent of 2^40 */
	for (int64_t b = 0; b < number_of_boxes; b++)
		for (int64_t i = 0; i < boxes[b][0].rows; i++) {
			uint64_t bits;
			memcpy(&bits, &boxes[b][0].vector[1][i], sizeof bits);
			if ((bits >> 52 & 0x7ff) > MOST)
				return 0;
		}
	return 1;
}

static int make_calls(FILE *plan, double limit) {
	char line[256];
	const double deadline = deadline_after(limit);
	for (int64_t number = 0; fgets(line, sizeof line, plan) != NULL; number++) {
		if (!read_call(line))
			return fail("plan", line);
		flush(number);
		if (!takes_part(call.alone, deadline))
			continue;
		if (!call.alone && !begin_call(number, deadline))
			break;
		const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), begin = now();
		call.kernel->run();
		const double took = now() - begin - clock_cost;
		tell(number, took, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	}
	if (!is_finite())
		return fail("numbers", "they grew beyond all that a run has: the compiler's flags (--cflags) make wrong code of the loops");
	printf("end\n");
	return 0;
}

int main(int argc, char **argv) {
	keep_lines();
	if (argc != 7)
		return fail("arguments", "want 6");
	int64_t *const numbers[] = {&rank, &ranks, &number_of_boxes};
	for (int i = 0; i < 3; i++)
		*numbers[i] = strtoll(argv[4 + i], NULL, 10);
	FILE *plan = fopen(argv[1], "r");
	if (plan == NULL || !share(argv[2]))
		return fail("opening", argv[1]);
	if (!read_boxes(plan))
		return fail("plan", "no boxes");
	printf("ready \n");
	fflush(stdout);
	weigh_clock();
	meet(0); /* the time begins when all have their memory */
	return make_calls(plan, strtod(argv[3], NULL));
}

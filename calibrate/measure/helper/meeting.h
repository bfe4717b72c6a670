/* What the measuring programs share: processes that meet before each call, clocks, and lines for who started them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* What the processes share. */
struct meeting {
	_Atomic int64_t arrived, generation, last; /* last: the call before which all end, from 1 on */
};

static struct meeting *meeting;
static int64_t rank, ranks;
static double clock_cost; /* seconds between two looks at the clock */

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
	enum { LOOKS = 10000 };
	const double begin = now();
	for (int i = 1; i < LOOKS; i++)
		now();
	clock_cost = (now() - begin) / LOOKS;
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

/* Waits until all processes are here. Those that share a core give way to one another; one that rests leaves its core
 * idle. */
static void meet(int rests) {
	const struct timespec rest = {.tv_nsec = 1000000};
	const int64_t generation = atomic_load(&meeting->generation);
	if (atomic_fetch_add(&meeting->arrived, 1) + 1 == ranks) {
		atomic_store(&meeting->arrived, 0);
		atomic_fetch_add(&meeting->generation, 1);
		return;
	}
	for (int64_t spins = 1; atomic_load(&meeting->generation) == generation; spins++)
		if (rests)
			nanosleep(&rest, NULL);
		else if (spins % 4096 == 0)
			sched_yield();
}

/* Whether this process makes the next call. The first process makes some alone: they begin when all others have ended
 * theirs, who rest until the next call that all make. After the deadline there are none. */
static int takes_part(int alone, double deadline) {
	static int was_alone;
	if (alone != was_alone) {
		was_alone = alone;
		meet(!alone && rank != 0);
	}
	return !alone || (rank == 0 && now() < deadline);
}

/* Meets before a call; 0: it is made by none, as there is no time left. Only the first process looks at the limit, and
 * says before a meeting at which all end. */
static int begin_call(int64_t number, double deadline) {
	if (rank == 0 && now() >= deadline)
		atomic_store(&meeting->last, number + 1);
	meet(0);
	const int64_t last = atomic_load(&meeting->last);
	return last == 0 || number + 1 < last;
}

/* When a limit of seconds from now on is reached; 0: never. */
static double deadline_after(double limit) { return limit > 0 ? now() + limit : 1e300; }

/* What was found of a call, between two looks at the clock. */
static void tell(int64_t number, double seconds, double processor) {
	printf("%" PRId64 " %.9e %.9e\n", number, seconds > 1e-12 ? seconds : 1e-12, processor);
}

/* Writes what there is once a second, in whole lines: whoever reads it takes a core from those that measure. */
static char lines[1 << 20];
enum { MOST_LINES = 1 << 14 };

static void keep_lines(void) { setvbuf(stdout, lines, _IOFBF, sizeof lines); }

static void flush(int64_t number) {
	static double flushed;
	static int64_t last;
	const double t = now();
	if (t - flushed < 1 && number - last < MOST_LINES)
		return;
	fflush(stdout);
	flushed = t;
	last = number;
}

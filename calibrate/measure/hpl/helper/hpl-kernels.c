/* Times the kernels of the HPL that it is linked into, where they are called: each call of a kernel
 * comes here first, by the linker's --wrap. At the end each rank writes the table
 *
 *   $REPRISE_KERNELS-RANK.csv    (hpl-kernels-RANK.csv without that variable)
 *
 * which calibrate kernels reads. Calls are sampled: long ones are all timed, of those that take less than a
 * microsecond one in ten or so, at random, so that looks at the clock take a fifth of their time at most,
 * and less than 2 % of a run. dlocmax and dlocswp, as little of a run, are not timed: their sizes are in
 * structures of HPL's own.
 *
 * Compile it with -DCBLAS for an HPL that calls BLAS by CBLAS (HPL_CALL_CBLAS):
 * without it the linker finds no HPL_dgemm.
 *
 * Made by calibrate measure hpl.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 18 }; /* timings that are kept */

struct kernel {
	const char *name, *dims; /* dims: columns of the table, as "mnk" */
	int64_t wait[64];        /* by the size of a call, in powers of two: calls until the next that is timed */
};

struct timing {
	const struct kernel *kernel;
	char letters[8]; /* of side, uplo, trans, diag, transa, transb; - for none */
	int32_t d[3];
	float at; /* seconds after the start */
	double seconds;
};

static struct timing *timings;
static int64_t kept, thinned = 1; /* of so many timings one is kept */
static double started, cost;      /* cost: seconds of a timing */
static struct timespec start;
static uint64_t state = 88172645463325252u;

static uint64_t below(uint64_t n) {
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n > 0 ? state % n : 0;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((constructor)) static void prepare(void) {
	enum { LOOKS = 1000 };
	timings = malloc(MOST * sizeof *timings);
	clock_gettime(CLOCK_REALTIME, &start);
	state += (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
	started = now();
	for (int i = 1; i < LOOKS; i++)
		now();
	cost = (now() - started) / LOOKS;
}

/* A call: when it began, 0 if it is not timed, its dimensions, and what is counted of its like. */
struct call {
	double begun;
	int64_t d[3], *wait;
};

static struct call begin(struct kernel *k, int64_t d0, int64_t d1, int64_t d2) {
	struct call c = {0, {d0, d1, d2}, NULL};
	double size = 1;
	int class = 0;
	for (int i = 0; k->dims[i] != 0; i++)
		size *= k->dims[i] == '0' ? 1 : (double)c.d[i]; /* of m0 there may be none */
	frexp(size < 1 ? 1 : size, &class);
	c.wait = &k->wait[class < 64 ? class : 63];
	if (size <= 0 || timings == NULL)
		return c;
	if (*c.wait > 0)
		--*c.wait;
	else
		c.begun = now();
	return c;
}

/* Keeps one in two of the timings, from now on as well. */
static void thin(void) {
	int64_t left = 0;
	for (int64_t i = 0; i < kept; i++)
		if (below(2) == 0)
			timings[left++] = timings[i];
	kept = left;
	thinned *= 2;
}

/* Keeps the timing of a call, if it is timed, and draws when to time the next. */
static void end(const struct kernel *k, const struct call *c, const char *letters) {
	if (c->begun == 0)
		return;
	const double took = now() - c->begun - cost, least = cost / 10 > 1e-12 ? cost / 10 : 1e-12, seconds = took > least ? took : least;
	const double part = 0.2, between = (double)thinned * 3 * cost / (part * seconds);
	*c->wait = (int64_t)below(2 * (uint64_t)(between < 1e6 ? between : 1e6) + 2 * (uint64_t)thinned - 1);
	if (kept == MOST)
		thin();
	struct timing *t = &timings[kept++];
	t->kernel = k;
	memcpy(t->letters, letters, 7);
	for (int i = 0; i < 3; i++)
		t->d[i] = (int32_t)c->d[i];
	t->at = (float)(c->begun - started);
	t->seconds = seconds;
}

/* The letters of CBLAS's numbers. */
static char trans_of(int t) { return t == 111 ? 'N' : 'T'; }
static char uplo_of(int u) { return u == 121 ? 'U' : 'L'; }
static char diag_of(int d) { return d == 131 ? 'N' : 'U'; }
static char side_of(int s) { return s == 141 ? 'L' : 'R'; }

static const char none[8] = "------";

/* BLAS as HPL calls it: by functions of its own, which call Fortran's, or by those of CBLAS. */
#ifdef CBLAS
#define REAL(f) __real_cblas_##f
#define WRAP(f) __wrap_cblas_##f
typedef size_t place;
#else
#define REAL(f) __real_HPL_##f
#define WRAP(f) __wrap_HPL_##f
typedef int place;
#endif

void REAL(dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void WRAP(dgemm)(int o, int ta, int tb, int m, int n, int k, double f, const double *a, int lda, const double *b, int ldb, double g, double *c, int ldc) {
	static struct kernel this = {"dgemm", "mnk", {0}};
	const char letters[8] = {'-', '-', '-', '-', trans_of(ta), trans_of(tb)};
	const struct call made = begin(&this, m, n, k);
	REAL(dgemm)(o, ta, tb, m, n, k, f, a, lda, b, ldb, g, c, ldc);
	end(&this, &made, letters);
}

void REAL(dtrsm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void WRAP(dtrsm)(int o, int s, int u, int tr, int di, int m, int n, double f, const double *a, int lda, double *b, int ldb) {
	static struct kernel this = {"dtrsm", "mn", {0}};
	const char letters[8] = {side_of(s), uplo_of(u), trans_of(tr), diag_of(di), '-', '-'};
	const struct call made = begin(&this, m, n, 0);
	REAL(dtrsm)(o, s, u, tr, di, m, n, f, a, lda, b, ldb);
	end(&this, &made, letters);
}

void REAL(dgemv)(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void WRAP(dgemv)(int o, int tr, int m, int n, double f, const double *a, int lda, const double *x, int ix, double g, double *y, int iy) {
	static struct kernel this = {"dgemv", "mn", {0}};
	const char letters[8] = {'-', '-', trans_of(tr), '-', '-', '-'};
	const struct call made = begin(&this, m, n, 0);
	REAL(dgemv)(o, tr, m, n, f, a, lda, x, ix, g, y, iy);
	end(&this, &made, letters);
}

void REAL(dger)(int, int, int, double, const double *, int, double *, int, double *, int);
void WRAP(dger)(int o, int m, int n, double f, const double *x, int ix, double *y, int iy, double *a, int lda) {
	static struct kernel this = {"dger", "mn", {0}};
	const struct call made = begin(&this, m, n, 0);
	REAL(dger)(o, m, n, f, x, ix, y, iy, a, lda);
	end(&this, &made, none);
}

void REAL(dtrsv)(int, int, int, int, int, const double *, int, double *, int);
void WRAP(dtrsv)(int o, int u, int tr, int di, int n, const double *a, int lda, double *x, int ix) {
	static struct kernel this = {"dtrsv", "n", {0}};
	const char letters[8] = {'-', uplo_of(u), trans_of(tr), diag_of(di), '-', '-'};
	const struct call made = begin(&this, n, 0, 0);
	REAL(dtrsv)(o, u, tr, di, n, a, lda, x, ix);
	end(&this, &made, letters);
}

void REAL(dscal)(int, double, double *, int);
void WRAP(dscal)(int n, double f, double *x, int ix) {
	static struct kernel this = {"dscal", "n", {0}};
	const struct call made = begin(&this, n, 0, 0);
	REAL(dscal)(n, f, x, ix);
	end(&this, &made, none);
}

void REAL(daxpy)(int, double, const double *, int, double *, int);
void WRAP(daxpy)(int n, double f, const double *x, int ix, double *y, int iy) {
	static struct kernel this = {"daxpy", "n", {0}};
	const struct call made = begin(&this, n, 0, 0);
	REAL(daxpy)(n, f, x, ix, y, iy);
	end(&this, &made, none);
}

void REAL(dcopy)(int, const double *, int, double *, int);
void WRAP(dcopy)(int n, const double *x, int ix, double *y, int iy) {
	static struct kernel this = {"dcopy", "n", {0}};
	const struct call made = begin(&this, n, 0, 0);
	REAL(dcopy)(n, x, ix, y, iy);
	end(&this, &made, none);
}

place REAL(idamax)(int, const double *, int);
place WRAP(idamax)(int n, const double *x, int ix) {
	static struct kernel this = {"idamax", "n", {0}};
	const struct call made = begin(&this, n, 0, 0);
	const place at = REAL(idamax)(n, x, ix);
	end(&this, &made, none);
	return at;
}

/* HPL's copies and exchanges of rows: the arguments behind the sizes differ. */
#define MOVE(f, types, names, values) \
	void __real_HPL_##f types; \
	void __wrap_HPL_##f names { \
		static struct kernel this = {#f, "mn", {0}}; \
		const struct call made = begin(&this, m, n, 0); \
		__real_HPL_##f values; \
		end(&this, &made, none); \
	}

MOVE(dlacpy, (int, int, const double *, int, double *, int), (int m, int n, const double *a, int lda, double *b, int ldb), (m, n, a, lda, b, ldb))
MOVE(dlatcpy, (int, int, const double *, int, double *, int), (int m, int n, const double *a, int lda, double *b, int ldb), (m, n, a, lda, b, ldb))
MOVE(dlaswp00N, (int, int, double *, int, const int *), (int m, int n, double *a, int lda, const int *p), (m, n, a, lda, p))
MOVE(dlaswp10N, (int, int, double *, int, const int *), (int m, int n, double *a, int lda, const int *p), (m, n, a, lda, p))
MOVE(dlaswp02N, (int, int, const double *, int, double *, double *, int, const int *, const int *), (int m, int n, const double *a, int lda, double *v, double *w, int ldw, const int *p, const int *q), (m, n, a, lda, v, w, ldw, p, q))

#define INTO_U(f) \
	MOVE(f, (int, int, double *, int, double *, int, const int *, const int *), (int m, int n, double *a, int lda, double *u, int ldu, const int *p, const int *q), (m, n, a, lda, u, ldu, p, q))
INTO_U(dlaswp01N)
INTO_U(dlaswp01T)
INTO_U(dlaswp05N)
INTO_U(dlaswp05T)

#define OF_MESSAGE(f) \
	MOVE(f, (int, int, double *, int, const double *, const double *, int), (int m, int n, double *u, int ldu, const double *v, const double *w, int ldw), (m, n, u, ldu, v, w, ldw))
OF_MESSAGE(dlaswp03N)
OF_MESSAGE(dlaswp03T)

#define SWAP(f) \
	MOVE(f, (int, int, double *, int, double *, int, const int *), (int m, int n, double *a, int lda, double *u, int ldu, const int *p), (m, n, a, lda, u, ldu, p))
SWAP(dlaswp06N)
SWAP(dlaswp06T)

#define TWO_NUMBERS(f) \
	void __real_HPL_##f(int, int, int, double *, int, double *, int, const double *, const double *, int, const int *, const int *); \
	void __wrap_HPL_##f(int m0, int m1, int n, double *u, int ldu, double *a, int lda, const double *v, const double *w, int ldw, const int *p, const int *q) { \
		static struct kernel this = {#f, "01n", {0}}; \
		const struct call made = begin(&this, m0, m1, n); \
		__real_HPL_##f(m0, m1, n, u, ldu, a, lda, v, w, ldw, p, q); \
		end(&this, &made, none); \
	}
TWO_NUMBERS(dlaswp04N)
TWO_NUMBERS(dlaswp04T)

/* The first of some variables that is set, as launchers of MPI do for each process. */
static const char *variable(const char *const *names) {
	for (; *names != NULL; names++)
		if (getenv(*names) != NULL && *getenv(*names) != 0)
			return getenv(*names);
	return NULL;
}

static void write_row(FILE *f, const struct timing *t, const char *host, const char *slot) {
	static const char columns[] = "mnk01";
	fputs(t->kernel->name, f);
	for (int i = 0; i < 6; i++)
		fprintf(f, t->letters[i] == '-' ? "," : ",%c", t->letters[i]);
	for (const char *c = columns; *c != 0; c++) {
		const char *at = strchr(t->kernel->dims, *c);
		if (at == NULL)
			fputc(',', f);
		else
			fprintf(f, ",%d", t->d[at - t->kernel->dims]);
	}
	char date[32] = "";
	const time_t when = start.tv_sec + (time_t)t->at;
	struct tm tm;
	if (gmtime_r(&when, &tm) != NULL)
		strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(f, ",%.9e,%s,%s,%s\n", t->seconds, host, slot, date);
}

static void complain(const char *path) {
	fprintf(stderr, "hpl-kernels: writing %s failed: the timings of this rank are lost\n", path);
}

__attribute__((destructor)) static void finish(void) {
	static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
	static const char *const slots[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL};
	const char *name = getenv("REPRISE_KERNELS"), *rank = variable(ranks), *slot = variable(slots);
	char path[4096], part[4104], host[256] = "unknown", pid[24];
	snprintf(pid, sizeof pid, "%ld", (long)getpid());
	if (timings == NULL)
		fprintf(stderr, "hpl-kernels: no memory for timings: there are none\n");
	if (kept == 0)
		return;
	if (snprintf(path, sizeof path, "%s-%s.csv", name != NULL && *name != 0 ? name : "hpl-kernels", rank != NULL ? rank : pid) >= (int)sizeof path) {
		complain("$REPRISE_KERNELS, a path of over 4095 bytes,");
		return;
	}
	gethostname(host, sizeof host - 1);
	snprintf(part, sizeof part, "%s.part", path);
	FILE *f = fopen(part, "w");
	if (f == NULL) {
		complain(part);
		return;
	}
	fprintf(f, "# tool: calibrate measure hpl, in a run of HPL\n# timings: %lld, one of %lld\n", (long long)kept, (long long)thinned);
	fputs("function,side,uplo,trans,diag,transa,transb,m,n,k,m0,m1,seconds,host,rank,date\n", f);
	for (int64_t i = 0; i < kept; i++)
		write_row(f, &timings[i], host, slot != NULL ? slot : "0");
	if (ferror(f) != 0 || fclose(f) != 0 || rename(part, path) != 0) {
		unlink(part);
		complain(path);
	}
}

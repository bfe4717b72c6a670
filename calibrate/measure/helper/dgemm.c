/* Times dgemm of a BLAS that it loads: helper LIBRARY ELEMENTS.
 *
 * Prints "ready SYMBOL VERSION" or "error ...", then answers each line "M N K"
 * by the seconds of one call, C = C - A*B, column-major, on matrices that
 * together have at most ELEMENTS elements.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Integers are passed by reference as 64 bits: on little-endian machines a
 * library with 32 bits reads the lower half. The lengths of the strings come
 * last, as Fortran has them. */
typedef void fortran_dgemm(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, const double *,
                           const double *, const int64_t *, const double *, const int64_t *, const double *, double *,
                           const int64_t *, size_t, size_t);
typedef void cblas_dgemm32(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
typedef void cblas_dgemm64(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *, int64_t,
                           double, double *, int64_t);

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111 };

static const char *symbol;
static fortran_dgemm *by_reference;
static cblas_dgemm32 *by_value32;
static cblas_dgemm64 *by_value64;

static int fail(const char *what, const char *why) {
	printf("error %s: %s\n", what, why);
	return 1;
}

static int find(void *library) {
	static const struct { const char *name; int kind; } known[] = {
		{"dgemm_", 0}, {"dgemm_64_", 0}, {"cblas_dgemm", 32}, {"cblas_dgemm64_", 64}, {"cblas_dgemm_64", 64}, {"dgemm", 0},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		void *f = dlsym(library, known[i].name);
		if (f == NULL)
			continue;
		symbol = known[i].name;
		switch (known[i].kind) {
		case 0: *(void **)&by_reference = f; break;
		case 32: *(void **)&by_value32 = f; break;
		default: *(void **)&by_value64 = f;
		}
		return 1;
	}
	return 0;
}

/* c = c - a*b. */
static void multiply(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
	const double minus = -1, one = 1;
	if (by_reference != NULL)
		by_reference("N", "N", &m, &n, &k, &minus, a, &m, b, &k, &one, c, &m, 1, 1);
	else if (by_value32 != NULL)
		by_value32(COLUMN_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, (int)m, (int)n, (int)k, minus, a, (int)m, b, (int)k, one, c, (int)m);
	else
		by_value64(COLUMN_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, minus, a, m, b, k, one, c, m);
}

/* Whether small whole numbers come out exactly. */
static int is_right(void) {
	enum { M = 3, N = 2, K = 4 };
	double a[M * K], b[K * N], c[M * N];
	for (int i = 0; i < M * K; i++)
		a[i] = i + 1;
	for (int i = 0; i < K * N; i++)
		b[i] = 2 * i - 5;
	for (int i = 0; i < M * N; i++)
		c[i] = 100 * i;
	multiply(M, N, K, a, b, c);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double want = 100 * (i + M * j);
			for (int l = 0; l < K; l++)
				want -= a[i + M * l] * b[l + K * j];
			if (c[i + M * j] != want)
				return 0;
		}
	return 1;
}

/* The library's own word on its version, on one line. */
static void version(void *library, char *text, size_t size) {
	void *f;
	snprintf(text, size, "unknown");
	if ((f = dlsym(library, "openblas_get_config")) != NULL || (f = dlsym(library, "openblas_get_config64_")) != NULL) {
		char *(*get)(void);
		*(void **)&get = f;
		snprintf(text, size, "%s", get());
	} else if ((f = dlsym(library, "mkl_get_version_string")) != NULL) {
		void (*get)(char *, int);
		*(void **)&get = f;
		get(text, (int)size - 1);
		text[size - 1] = 0;
	} else if ((f = dlsym(library, "bli_info_get_version_str")) != NULL) {
		const char *(*get)(void);
		*(void **)&get = f;
		snprintf(text, size, "BLIS %s", get());
	}
	for (char *p = text; *p != 0; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Numbers in [-0.5, 0.5), none of them tiny: a linear congruential generator. */
static void fill(double *x, int64_t n) {
	uint64_t state = 1;
	for (int64_t i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		x[i] = (double)(state >> 40) / (1 << 24) - 0.5;
	}
}

int main(int argc, char **argv) {
	char line[128], text[256];
	if (argc != 3)
		return fail("arguments", "want LIBRARY ELEMENTS");
	int64_t elements = strtoll(argv[2], NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (library == NULL)
		return fail("loading", dlerror());
	if (!find(library))
		return fail(argv[1], "has neither dgemm_ nor cblas_dgemm: is it a BLAS?");
	if (!is_right())
		return fail(symbol, "a product came out wrong: is this a dgemm?");
	double *x = elements > 0 ? malloc((size_t)elements * sizeof *x) : NULL;
	if (x == NULL)
		return fail("memory", "not enough for the matrices");
	fill(x, elements);
	version(library, text, sizeof text);
	printf("ready %s %s\n", symbol, text);
	while (fgets(line, sizeof line, stdin) != NULL) {
		int64_t m, n, k;
		if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64, &m, &n, &k) != 3 || m < 1 || n < 1 || k < 1 ||
		    (double)m * k + (double)k * n + (double)m * n > (double)elements)
			return fail("size", line);
		const double *a = x, *b = a + m * k;
		double *c = x + m * k + k * n, begin = now();
		multiply(m, n, k, a, b, c);
		printf("%.9e\n", now() - begin);
	}
	return 0;
}

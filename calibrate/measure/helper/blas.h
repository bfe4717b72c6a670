/* Finds the routines of a BLAS in a shared library, by their names in Fortran. */

/* Integers are passed by reference as 64 bits: on little-endian machines a
 * library with 32 bits reads the lower half. The lengths of the strings come
 * last, as Fortran has them. */
typedef const int64_t *in;
typedef const double *real;
static struct {
	void (*gemm)(const char *, const char *, in, in, in, real, real, in, real, in, real, double *, in, size_t, size_t);
	void (*trsm)(const char *, const char *, const char *, const char *, in, in, real, real, in, double *, in, size_t, size_t, size_t, size_t);
	void (*gemv)(const char *, in, in, real, real, in, real, in, real, double *, in, size_t);
	void (*ger)(in, in, real, real, in, real, in, double *, in);
	void (*trsv)(const char *, const char *, const char *, in, real, in, double *, in, size_t, size_t, size_t);
	void (*scal)(in, real, double *, in);
	void (*axpy)(in, real, real, in, double *, in);
	void (*copy)(in, real, in, double *, in);
	int (*amax)(in, real, in); /* of 64 bits the lower half is what counts */
} blas;

static const struct { const char *name; void *routine; } routines[] = {
	{"dgemm", &blas.gemm}, {"dtrsm", &blas.trsm}, {"dgemv", &blas.gemv}, {"dger", &blas.ger}, {"dtrsv", &blas.trsv},
	{"dscal", &blas.scal}, {"daxpy", &blas.axpy}, {"dcopy", &blas.copy}, {"idamax", &blas.amax},
};

enum { ROUTINES = sizeof routines / sizeof routines[0] };

/* Libraries that a machine may have, the best first; the last is whatever the system has
 * chosen, which may be the slow reference. */
static const char *const libraries[] = {
	"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so", "libblis.so.4", "libblis.so", "libarmpl.so", "libflexiblas.so.3", "libblas.so.3",
};

static void *open_library(const char *name) {
	if (*name != 0)
		return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
		if (library != NULL)
			return library;
	}
	return NULL;
}

/* Sets all routines, which have the suffix of the first that is there. Returns the name of
 * one that is missing, else NULL. */
static const char *find_routines(void *library) {
	static const char *const suffixes[] = {"_", "_64_", "_64", ""};
	static char name[32];
	for (size_t s = 0; s < sizeof suffixes / sizeof suffixes[0]; s++) {
		snprintf(name, sizeof name, "%s%s", routines[0].name, suffixes[s]);
		if (dlsym(library, name) == NULL)
			continue;
		for (size_t i = 0; i < ROUTINES; i++) {
			snprintf(name, sizeof name, "%s%s", routines[i].name, suffixes[s]);
			void *f = dlsym(library, name);
			if (f == NULL)
				return name;
			memcpy(routines[i].routine, &f, sizeof f);
		}
		return NULL;
	}
	return "dgemm_";
}

/* Whether small whole numbers come out exactly, and a search finds its number. */
static int is_right(void) {
	enum { M = 3, N = 2, K = 4 };
	const int64_t m = M, n = N, k = K, one = 1;
	const double minus = -1, plus = 1;
	double a[M * K], b[K * N], c[M * N];
	for (int i = 0; i < M * K; i++)
		a[i] = i + 1;
	for (int i = 0; i < K * N; i++)
		b[i] = 2 * i - 5;
	for (int i = 0; i < M * N; i++)
		c[i] = 100 * i;
	blas.gemm("N", "N", &m, &n, &k, &minus, a, &m, b, &k, &plus, c, &m, 1, 1);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double want = 100 * (i + M * j);
			for (int l = 0; l < K; l++)
				want -= a[i + M * l] * b[l + K * j];
			if (c[i + M * j] != want)
				return 0;
		}
	return blas.amax(&k, a, &one) == K;
}

/* The library's own word on its version, on one line. */
static void library_version(void *library, char *text, size_t size) {
	void *f;
	snprintf(text, size, "version unknown");
	if ((f = dlsym(library, "openblas_get_config")) != NULL || (f = dlsym(library, "openblas_get_config64_")) != NULL) {
		char *(*get)(void);
		memcpy(&get, &f, sizeof f);
		snprintf(text, size, "%s", get());
	} else if ((f = dlsym(library, "mkl_get_version_string")) != NULL) {
		void (*get)(char *, int);
		memcpy(&get, &f, sizeof f);
		get(text, (int)size - 1);
		text[size - 1] = 0;
	} else if ((f = dlsym(library, "bli_info_get_version_str")) != NULL) {
		const char *(*get)(void);
		memcpy(&get, &f, sizeof f);
		snprintf(text, size, "BLIS %s", get());
	}
	for (char *p = text; *p != 0; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
}

/* The file from which a library was loaded. */
static const char *library_file(void *library, const char *name) {
	struct link_map *map;
	return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != NULL && *map->l_name != 0 ? map->l_name : name;
}

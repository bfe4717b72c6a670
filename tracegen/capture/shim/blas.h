// Kernels of BLAS, by their Fortran names and those of CBLAS, which may be called by either
// and may call each other: the outermost call counts. A record is the kernel, its options as
// characters, and its dimensions, as Fortran has them; matrices in rows are transposed ones.

enum { K_dgemm = P_PROCEDURES, K_dtrsm, K_dgemv, K_dger, K_dtrsv, K_dscal, K_daxpy, K_dcopy, K_idamax };
enum { ROWS = 101 };

static int in_any(struct dl_phdr_info *info, size_t size, void *name)
{
	void **found = name;
	(void)size;
	void *handle = info->dlpi_name[0] ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *symbol = handle ? dlsym(handle, found[0]) : NULL;
	Dl_info own, there;
	if (symbol && dladdr((void *)&abi, &own) && dladdr(symbol, &there) && own.dli_fbase != there.dli_fbase) {
		found[1] = symbol;
		return 1;
	}
	return 0;
}

// kernel finds one, in the global scope or in a library that was loaded privately.
static void *kernel(const char *name)
{
	void *found[2] = {(void *)name, dlsym(RTLD_NEXT, name)};
	if (!found[1]) {
		dl_iterate_phdr(in_any, found);
	}
	return found[1] ? found[1] : (void *)missing;
}

#define KERNEL(type, name) \
	static type (*real)(); \
	if (UNLIKELY(!real)) { \
		real = (type (*)())kernel(#name); \
	}

static void put_kernel(int number, const char *options, int count, const int64_t *dims)
{
	if (begin(number, SUCCESS)) {
		for (; *options; options++) {
			put((uint8_t)(*options & ~0x20)); // in capitals
		}
		for (int i = 0; i < count; i++) {
			put(dims[i] < 0 ? 0 : dims[i]);
		}
	}
	leave(SUCCESS);
}

#define DIMS(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}
#define INT(p) (*(int *)(p))
#define CHAR(p) (*(char *)(p))

EXPORT void dgemm_(W ta, W tb, W m, W n, W k, W alpha, W a, W lda, W b, W ldb, W beta, W c, W ldc, W l1, W l2)
{
	KERNEL(void, dgemm_)
	if (WITHIN) {
		real(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, l1, l2);
		return;
	}
	enter();
	real(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, l1, l2);
	put_kernel(K_dgemm, (char[]){CHAR(ta), CHAR(tb), 0}, DIMS(INT(m), INT(n), INT(k)));
}

EXPORT void dtrsm_(W side, W uplo, W ta, W diag, W m, W n, W alpha, W a, W lda, W b, W ldb, W l1, W l2, W l3, W l4)
{
	KERNEL(void, dtrsm_)
	if (WITHIN) {
		real(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb, l1, l2, l3, l4);
		return;
	}
	enter();
	real(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb, l1, l2, l3, l4);
	put_kernel(K_dtrsm, (char[]){CHAR(side), CHAR(uplo), CHAR(ta), CHAR(diag), 0}, DIMS(INT(m), INT(n)));
}

EXPORT void dgemv_(W ta, W m, W n, W alpha, W a, W lda, W x, W incx, W beta, W y, W incy, W l1)
{
	KERNEL(void, dgemv_)
	if (WITHIN) {
		real(ta, m, n, alpha, a, lda, x, incx, beta, y, incy, l1);
		return;
	}
	enter();
	real(ta, m, n, alpha, a, lda, x, incx, beta, y, incy, l1);
	put_kernel(K_dgemv, (char[]){CHAR(ta), 0}, DIMS(INT(m), INT(n)));
}

EXPORT void dger_(W m, W n, W alpha, W x, W incx, W y, W incy, W a, W lda)
{
	KERNEL(void, dger_)
	if (WITHIN) {
		real(m, n, alpha, x, incx, y, incy, a, lda);
		return;
	}
	enter();
	real(m, n, alpha, x, incx, y, incy, a, lda);
	put_kernel(K_dger, "", DIMS(INT(m), INT(n)));
}

EXPORT void dtrsv_(W uplo, W ta, W diag, W n, W a, W lda, W x, W incx, W l1, W l2, W l3)
{
	KERNEL(void, dtrsv_)
	if (WITHIN) {
		real(uplo, ta, diag, n, a, lda, x, incx, l1, l2, l3);
		return;
	}
	enter();
	real(uplo, ta, diag, n, a, lda, x, incx, l1, l2, l3);
	put_kernel(K_dtrsv, (char[]){CHAR(uplo), CHAR(ta), CHAR(diag), 0}, DIMS(INT(n)));
}

EXPORT void dscal_(W n, W alpha, W x, W incx)
{
	KERNEL(void, dscal_)
	if (WITHIN) {
		real(n, alpha, x, incx);
		return;
	}
	enter();
	real(n, alpha, x, incx);
	put_kernel(K_dscal, "", DIMS(INT(n)));
}

EXPORT void daxpy_(W n, W alpha, W x, W incx, W y, W incy)
{
	KERNEL(void, daxpy_)
	if (WITHIN) {
		real(n, alpha, x, incx, y, incy);
		return;
	}
	enter();
	real(n, alpha, x, incx, y, incy);
	put_kernel(K_daxpy, "", DIMS(INT(n)));
}

EXPORT void dcopy_(W n, W x, W incx, W y, W incy)
{
	KERNEL(void, dcopy_)
	if (WITHIN) {
		real(n, x, incx, y, incy);
		return;
	}
	enter();
	real(n, x, incx, y, incy);
	put_kernel(K_dcopy, "", DIMS(INT(n)));
}

EXPORT int idamax_(W n, W x, W incx)
{
	KERNEL(int, idamax_)
	if (WITHIN) {
		return real(n, x, incx);
	}
	enter();
	int at = real(n, x, incx);
	put_kernel(K_idamax, "", DIMS(INT(n)));
	return at;
}

// Options of CBLAS as characters, and the other one of two.
static char transposed(int t) { return t == 111 ? 'N' : t == 112 ? 'T' : 'C'; }
static char flipped(int t) { return t == 111 ? 'T' : 'N'; }
static char triangle(int u, int rows) { return (u == 121) != rows ? 'U' : 'L'; }
static char beside(int s, int rows) { return (s == 141) != rows ? 'L' : 'R'; }
static char diagonal(int d) { return d == 132 ? 'U' : 'N'; }

EXPORT void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, W a, int lda, W b, int ldb, double beta, W c, int ldc)
{
	KERNEL(void, cblas_dgemm)
	if (WITHIN) {
		real(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
		return;
	}
	enter();
	real(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
	if (order == ROWS) {
		put_kernel(K_dgemm, (char[]){transposed(tb), transposed(ta), 0}, DIMS(n, m, k));
	} else {
		put_kernel(K_dgemm, (char[]){transposed(ta), transposed(tb), 0}, DIMS(m, n, k));
	}
}

EXPORT void cblas_dtrsm(int order, int side, int uplo, int ta, int diag, int m, int n, double alpha, W a, int lda, W b, int ldb)
{
	KERNEL(void, cblas_dtrsm)
	if (WITHIN) {
		real(order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
		return;
	}
	enter();
	real(order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
	int rows = order == ROWS;
	char options[] = {beside(side, rows), triangle(uplo, rows), transposed(ta), diagonal(diag), 0};
	put_kernel(K_dtrsm, options, DIMS(rows ? n : m, rows ? m : n));
}

EXPORT void cblas_dgemv(int order, int ta, int m, int n, double alpha, W a, int lda, W x, int incx, double beta, W y, int incy)
{
	KERNEL(void, cblas_dgemv)
	if (WITHIN) {
		real(order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);
		return;
	}
	enter();
	real(order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);
	int rows = order == ROWS;
	put_kernel(K_dgemv, (char[]){rows ? flipped(ta) : transposed(ta), 0}, DIMS(rows ? n : m, rows ? m : n));
}

EXPORT void cblas_dger(int order, int m, int n, double alpha, W x, int incx, W y, int incy, W a, int lda)
{
	KERNEL(void, cblas_dger)
	if (WITHIN) {
		real(order, m, n, alpha, x, incx, y, incy, a, lda);
		return;
	}
	enter();
	real(order, m, n, alpha, x, incx, y, incy, a, lda);
	put_kernel(K_dger, "", DIMS(order == ROWS ? n : m, order == ROWS ? m : n));
}

EXPORT void cblas_dtrsv(int order, int uplo, int ta, int diag, int n, W a, int lda, W x, int incx)
{
	KERNEL(void, cblas_dtrsv)
	if (WITHIN) {
		real(order, uplo, ta, diag, n, a, lda, x, incx);
		return;
	}
	enter();
	real(order, uplo, ta, diag, n, a, lda, x, incx);
	int rows = order == ROWS;
	put_kernel(K_dtrsv, (char[]){triangle(uplo, rows), rows ? flipped(ta) : transposed(ta), diagonal(diag), 0}, DIMS(n));
}

EXPORT void cblas_dscal(int n, double alpha, W x, int incx)
{
	KERNEL(void, cblas_dscal)
	if (WITHIN) {
		real(n, alpha, x, incx);
		return;
	}
	enter();
	real(n, alpha, x, incx);
	put_kernel(K_dscal, "", DIMS(n));
}

EXPORT void cblas_daxpy(int n, double alpha, W x, int incx, W y, int incy)
{
	KERNEL(void, cblas_daxpy)
	if (WITHIN) {
		real(n, alpha, x, incx, y, incy);
		return;
	}
	enter();
	real(n, alpha, x, incx, y, incy);
	put_kernel(K_daxpy, "", DIMS(n));
}

EXPORT void cblas_dcopy(int n, W x, int incx, W y, int incy)
{
	KERNEL(void, cblas_dcopy)
	if (WITHIN) {
		real(n, x, incx, y, incy);
		return;
	}
	enter();
	real(n, x, incx, y, incy);
	put_kernel(K_dcopy, "", DIMS(n));
}

EXPORT size_t cblas_idamax(int n, W x, int incx)
{
	KERNEL(size_t, cblas_idamax)
	if (WITHIN) {
		return real(n, x, incx);
	}
	enter();
	size_t at = real(n, x, incx);
	put_kernel(K_idamax, "", DIMS(n));
	return at;
}

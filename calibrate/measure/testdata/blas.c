/* A slow BLAS for tests. INT is its type of numbers, SUFFIX what follows its names; MISSING
 * leaves out daxpy, WRONG makes products wrong, GROW makes them larger from call to call, TIRED makes
 * calls from the 100th on long and ends the process after some seconds, and MARK is a file that is
 * made in the 100th. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifndef INT
#define INT int32_t
#endif
#ifndef SUFFIX
#define SUFFIX _
#endif
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define NAME(name) JOIN(name, SUFFIX)
#define AT(a, i, j, ld) a[(i) + (size_t)(j) * (size_t)(ld)]

static void count(void) {
	static int calls;
	if (++calls < 100)
		return;
#ifdef TIRED
	static time_t first;
	if (first == 0)
		first = time(NULL);
	if (time(NULL) - first > 3)
		_Exit(7);
	usleep(10000);
#endif
#ifdef MARK
	FILE *file = fopen(MARK, "w");
	if (file != NULL)
		fclose(file);
#endif
}

void NAME(dgemm)(const char *ta, const char *tb, const INT *m, const INT *n, const INT *k, const double *alpha, const double *a, const INT *lda,
                 const double *b, const INT *ldb, const double *beta, double *c, const INT *ldc) {
	count();
	for (INT j = 0; j < *n; j++)
		for (INT i = 0; i < *m; i++) {
			double sum = 0;
			for (INT l = 0; l < *k; l++)
				sum += (*ta == 'N' ? AT(a, i, l, *lda) : AT(a, l, i, *lda)) * (*tb == 'N' ? AT(b, l, j, *ldb) : AT(b, j, l, *ldb));
#ifdef WRONG
			sum += 1;
#endif
#ifdef GROW
			AT(c, i, j, *ldc) *= *k > 4 ? 100 : 1; /* more than the check of a product has */
#endif
			AT(c, i, j, *ldc) = *alpha * sum + *beta * AT(c, i, j, *ldc);
		}
}

/* Reads what a solution would and scales what it would change. */
void NAME(dtrsm)(const char *side, const char *uplo, const char *trans, const char *diag, const INT *m, const INT *n, const double *alpha,
                 const double *a, const INT *lda, double *b, const INT *ldb) {
	count();
	(void)uplo, (void)trans, (void)diag;
	const INT order = *side == 'L' ? *m : *n;
	for (INT j = 0; j < *n; j++)
		for (INT i = 0; i < *m; i++)
			AT(b, i, j, *ldb) *= *alpha * (1 + 0 * AT(a, order - 1, order - 1, *lda));
}

void NAME(dgemv)(const char *trans, const INT *m, const INT *n, const double *alpha, const double *a, const INT *lda, const double *x,
                 const INT *incx, const double *beta, double *y, const INT *incy) {
	count();
	(void)beta;
	for (INT j = 0; j < *n; j++)
		for (INT i = 0; i < *m; i++)
			y[*trans == 'N' ? i * *incy : j * *incy] += *alpha * AT(a, i, j, *lda) * x[*trans == 'N' ? j * *incx : i * *incx];
}

void NAME(dger)(const INT *m, const INT *n, const double *alpha, const double *x, const INT *incx, const double *y, const INT *incy, double *a,
                const INT *lda) {
	count();
	for (INT j = 0; j < *n; j++)
		for (INT i = 0; i < *m; i++)
			AT(a, i, j, *lda) += *alpha * x[i * *incx] * y[j * *incy];
}

void NAME(dtrsv)(const char *uplo, const char *trans, const char *diag, const INT *n, const double *a, const INT *lda, double *x, const INT *incx) {
	count();
	(void)uplo, (void)trans, (void)diag;
	for (INT i = 0; i < *n; i++)
		x[i * *incx] *= AT(a, i, i, *lda);
}

void NAME(dscal)(const INT *n, const double *alpha, double *x, const INT *incx) {
	count();
	for (INT i = 0; i < *n; i++)
		x[i * *incx] *= *alpha;
}

#ifndef MISSING
void NAME(daxpy)(const INT *n, const double *alpha, const double *x, const INT *incx, double *y, const INT *incy) {
	count();
	for (INT i = 0; i < *n; i++)
		y[i * *incy] += *alpha * x[i * *incx];
}
#endif

void NAME(dcopy)(const INT *n, const double *x, const INT *incx, double *y, const INT *incy) {
	count();
	for (INT i = 0; i < *n; i++)
		y[i * *incy] = x[i * *incx];
}

INT NAME(idamax)(const INT *n, const double *x, const INT *incx) {
	count();
	INT at = 0;
	for (INT i = 1; i < *n; i++) {
		const double a = x[i * *incx], b = x[at * *incx];
		if ((a < 0 ? -a : a) > (b < 0 ? -b : b))
			at = i;
	}
	return at + 1;
}

#ifdef OPENBLAS
char *openblas_get_config(void) { return "OpenBLAS 9.9\nhere"; }
#endif

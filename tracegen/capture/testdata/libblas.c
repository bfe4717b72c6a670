// The routines of BLAS that testdata/blas.c calls. They compute nothing.
double seen[4];

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc, long l1, long l2) {}
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc)
{
	seen[0] = alpha, seen[1] = beta;
	dgemm_("N", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}
void cblas_dtrsm(int o, int side, int uplo, int ta, int diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb) { seen[2] = alpha; }
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy) { seen[3] = alpha; }

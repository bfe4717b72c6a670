// The routines of BLAS, LAPACK and FFTW that testdata/blas.c calls. They compute nothing.
double seen[4];

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc, long l1, long l2) {}
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc)
{
	seen[0] = alpha, seen[1] = beta;
	dgemm_("N", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}
void cblas_dtrsm(int o, int side, int uplo, int ta, int diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb) { seen[2] = alpha; }
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy) { seen[3] = alpha; }
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info)
{
	double one = 1;
	dgemm_("N", "N", m, n, n, &one, a, lda, a, lda, &one, a, lda, 1, 1);
}
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, long l1) {}
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork, int *info) {}
void fftw_execute(void *plan) {}
void fftwf_execute_dft_r2c(void *plan, float *in, float *out) {}
void fftw_flops(void *plan, double *added, double *multiplied, double *fused) { *added = 100, *multiplied = 30, *fused = 7; }
void fftwf_flops(void *plan, double *added, double *multiplied, double *fused) { *added = 50, *multiplied = 0, *fused = 0; }

// A program that multiplies matrices, by Fortran's name and by CBLAS, in columns and in rows,
// factors them, and transforms.
#include <mpi.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *, const double *, const int *, const double *, double *, const int *, long, long);
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_dtrsm(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void cblas_daxpy(int, double, const double *, int, double *, int);
void dgetrf_(const int *, const int *, double *, const int *, int *, int *);
void dpotrf_(const char *, const int *, double *, const int *, int *, long);
void dgeqrf_(const int *, const int *, double *, const int *, double *, double *, const int *, int *);
void fftw_execute(void *);
void fftwf_execute_dft_r2c(void *, float *, float *);
extern double seen[4];

int main(int argc, char **argv)
{
	int m = 7, n = 5, k = 3, ld = 8, ask = -1, work = 64, info, pivots[8];
	float x[8];
	double alpha = 2, beta = 3, a[64], b[64], c[64];
	MPI_Init(&argc, &argv);
	dgemm_("N", "t", &m, &n, &k, &alpha, a, &ld, b, &ld, &beta, c, &ld, 1, 1);
	cblas_dgemm(102, 112, 111, 7, 5, 3, 2.5, a, 8, b, 8, 3.5, c, 8);
	cblas_dgemm(101, 112, 111, 7, 5, 3, 2.5, a, 8, b, 8, 3.5, c, 8);
	cblas_dtrsm(101, 141, 122, 111, 132, 7, 5, 1.5, a, 8, b, 8);
	cblas_daxpy(9, 4.5, a, 1, b, 1);
	dgetrf_(&m, &n, a, &ld, pivots, &info);
	dpotrf_("l", &n, a, &ld, &info, 1);
	dgeqrf_(&n, &m, a, &ld, b, c, &ask, &info);
	dgeqrf_(&n, &m, a, &ld, b, c, &work, &info);
	fftw_execute(a);
	fftwf_execute_dft_r2c(b, x, x);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return seen[0] == 2.5 && seen[1] == 3.5 && seen[2] == 1.5 && seen[3] == 4.5 ? 0 : 9; // doubles arrive
}

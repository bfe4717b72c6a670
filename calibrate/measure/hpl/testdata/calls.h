/* The functions of HPL and BLAS that the C file stands before, as HPL 2.3 declares them, and the
 * arguments that program.c gives. */
#include <stddef.h>

#ifdef CBLAS
#define P(f) cblas_##f
#else
#define P(f) HPL_##f
#endif

enum { LONG_CALLS = 50, SHORT_CALLS = 100000 };

extern double a[], b[], c[], d[];
extern int p[], q[], calls, failed;
void fail(const char *what);

void P(dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void P(dtrsm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void P(dgemv)(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void P(dger)(int, int, int, double, const double *, int, double *, int, double *, int);
void P(dtrsv)(int, int, int, int, int, const double *, int, double *, int);
void P(dscal)(int, double, double *, int);
void P(daxpy)(int, double, const double *, int, double *, int);
void P(dcopy)(int, const double *, int, double *, int);
#ifdef CBLAS
size_t P(idamax)(int, const double *, int);
#else
int P(idamax)(int, const double *, int);
#endif
void HPL_dlacpy(int, int, const double *, int, double *, int);
void HPL_dlatcpy(int, int, const double *, int, double *, int);
void HPL_dlaswp00N(int, int, double *, int, const int *);
void HPL_dlaswp10N(int, int, double *, int, const int *);
void HPL_dlaswp01N(int, int, double *, int, double *, int, const int *, const int *);
void HPL_dlaswp01T(int, int, double *, int, double *, int, const int *, const int *);
void HPL_dlaswp02N(int, int, const double *, int, double *, double *, int, const int *, const int *);
void HPL_dlaswp03N(int, int, double *, int, const double *, const double *, int);
void HPL_dlaswp03T(int, int, double *, int, const double *, const double *, int);
void HPL_dlaswp04N(int, int, int, double *, int, double *, int, const double *, const double *, int, const int *, const int *);
void HPL_dlaswp04T(int, int, int, double *, int, double *, int, const double *, const double *, int, const int *, const int *);
void HPL_dlaswp05N(int, int, double *, int, const double *, int, const int *, const int *);
void HPL_dlaswp05T(int, int, double *, int, const double *, int, const int *, const int *);
void HPL_dlaswp06N(int, int, double *, int, double *, int, const int *);
void HPL_dlaswp06T(int, int, double *, int, double *, int, const int *);

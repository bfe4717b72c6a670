/* Stands in for HPL and BLAS: checks that the arguments are those that program.c gave. */
#define _GNU_SOURCE
#include "calls.h"
#include <stdio.h>
#include <time.h>

double a[8], b[8], c[8], d[8];
int p[8], q[8], calls, failed;

void fail(const char *what) {
	printf("%s: other arguments\n", what);
	failed = 1;
}

#define CHECK(what, is) do { calls++; if (!(is)) fail(what); } while (0)

void P(dgemm)(int o, int ta, int tb, int m, int n, int k, double f, const double *x, int ldx, const double *y, int ldy, double g, double *z, int ldz) {
	CHECK("dgemm", o == 102 && ta == 111 && tb == 112 && m == 3 && n == 4 && k == 5 && f == 2.5 && x == a && ldx == 6 && y == b && ldy == 7 && g == 3.5 && z == c && ldz == 8);
}
void P(dtrsm)(int o, int s, int u, int t, int di, int m, int n, double f, const double *x, int ldx, double *z, int ldz) {
	CHECK("dtrsm", o == 102 && s == 142 && u == 121 && t == 111 && di == 132 && m == 3 && n == 4 && f == 2.5 && x == a && ldx == 6 && z == c && ldz == 8);
}
void P(dgemv)(int o, int t, int m, int n, double f, const double *x, int ldx, const double *y, int iy, double g, double *z, int iz) {
	CHECK("dgemv", o == 102 && t == 112 && m == 3 && n == 4 && f == 2.5 && x == a && ldx == 6 && y == b && iy == 1 && g == 3.5 && z == c && iz == 2);
}
void P(dger)(int o, int m, int n, double f, const double *x, int ix, double *y, int iy, double *z, int ldz) {
	CHECK("dger", o == 102 && m == 3 && n == 4 && f == 2.5 && x == a && ix == 1 && y == c && iy == 2 && z == d && ldz == 6);
}
void P(dtrsv)(int o, int u, int t, int di, int n, const double *x, int ldx, double *z, int iz) {
	CHECK("dtrsv", o == 102 && u == 122 && t == 111 && di == 131 && n == 3 && x == a && ldx == 6 && z == c && iz == 1);
}
void P(dscal)(int n, double f, double *z, int iz) { CHECK("dscal", (n == 3 || n == 1) && f == 2.5 && z == c && iz == 1); }
void P(daxpy)(int n, double f, const double *x, int ix, double *z, int iz) { CHECK("daxpy", n == 3 && f == 2.5 && x == a && ix == 1 && z == c && iz == 2); }
void P(dcopy)(int n, const double *x, int ix, double *z, int iz) { CHECK("dcopy", n == 3 && x == a && ix == 1 && z == c && iz == 2); }
#ifdef CBLAS
size_t
#else
int
#endif
P(idamax)(int n, const double *x, int ix) {
	CHECK("idamax", n == 3 && x == a && ix == 1);
	return 2;
}
void HPL_dlacpy(int m, int n, const double *x, int ldx, double *z, int ldz) {
	const struct timespec half = {0, 500000};
	CHECK("dlacpy", x == a && ldx == 6 && z == c && ldz == 8);
	if (m == 100 && n == 100)
		nanosleep(&half, NULL);
}
void HPL_dlatcpy(int m, int n, const double *x, int ldx, double *z, int ldz) { CHECK("dlatcpy", m == 3 && n == 4 && x == a && ldx == 6 && z == c && ldz == 8); }
void HPL_dlaswp00N(int m, int n, double *z, int ldz, const int *r) { CHECK("dlaswp00N", m == 3 && n == 4 && z == c && ldz == 6 && r == p); }
void HPL_dlaswp10N(int m, int n, double *z, int ldz, const int *r) { CHECK("dlaswp10N", m == 3 && n == 4 && z == c && ldz == 6 && r == p); }
#define INTO_U(f, from) \
	CHECK(f, m == 3 && n == 4 && z == c && ldz == 6 && u == from && ldu == 8 && r == p && s == q)
void HPL_dlaswp01N(int m, int n, double *z, int ldz, double *u, int ldu, const int *r, const int *s) { INTO_U("dlaswp01N", d); }
void HPL_dlaswp01T(int m, int n, double *z, int ldz, double *u, int ldu, const int *r, const int *s) { INTO_U("dlaswp01T", d); }
void HPL_dlaswp05N(int m, int n, double *z, int ldz, const double *u, int ldu, const int *r, const int *s) { INTO_U("dlaswp05N", a); }
void HPL_dlaswp05T(int m, int n, double *z, int ldz, const double *u, int ldu, const int *r, const int *s) { INTO_U("dlaswp05T", a); }
void HPL_dlaswp02N(int m, int n, const double *x, int ldx, double *v, double *w, int ldw, const int *r, const int *s) {
	CHECK("dlaswp02N", m == 3 && n == 4 && x == a && ldx == 6 && v == c && w == d && ldw == 8 && r == p && s == q);
}
#define OF_MESSAGE(f) CHECK(f, m == 3 && n == 4 && z == c && ldz == 6 && v == a && w == b && ldw == 8)
void HPL_dlaswp03N(int m, int n, double *z, int ldz, const double *v, const double *w, int ldw) { OF_MESSAGE("dlaswp03N"); }
void HPL_dlaswp03T(int m, int n, double *z, int ldz, const double *v, const double *w, int ldw) { OF_MESSAGE("dlaswp03T"); }
#define TWO(f) CHECK(f, m0 == 2 && m1 == 3 && n == 4 && u == c && ldu == 6 && z == d && ldz == 8 && v == a && w == b && ldw == 7 && r == p && s == q)
void HPL_dlaswp04N(int m0, int m1, int n, double *u, int ldu, double *z, int ldz, const double *v, const double *w, int ldw, const int *r, const int *s) { TWO("dlaswp04N"); }
void HPL_dlaswp04T(int m0, int m1, int n, double *u, int ldu, double *z, int ldz, const double *v, const double *w, int ldw, const int *r, const int *s) { TWO("dlaswp04T"); }
void HPL_dlaswp06N(int m, int n, double *z, int ldz, double *u, int ldu, const int *r) { CHECK("dlaswp06N", m == 3 && n == 4 && z == c && ldz == 6 && u == d && ldu == 8 && r == p); }
void HPL_dlaswp06T(int m, int n, double *z, int ldz, double *u, int ldu, const int *r) { CHECK("dlaswp06T", m == 3 && n == 4 && z == c && ldz == 6 && u == d && ldu == 8 && r == p); }

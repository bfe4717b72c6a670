/* Calls each function that is timed once, with arguments that library.c knows, then one that takes
 * long and one that is short, many times. */
#include "calls.h"
#include <stdio.h>

int main(void) {
	P(dgemm)(102, 111, 112, 3, 4, 5, 2.5, a, 6, b, 7, 3.5, c, 8);
	P(dtrsm)(102, 142, 121, 111, 132, 3, 4, 2.5, a, 6, c, 8);
	P(dgemv)(102, 112, 3, 4, 2.5, a, 6, b, 1, 3.5, c, 2);
	P(dger)(102, 3, 4, 2.5, a, 1, c, 2, d, 6);
	P(dtrsv)(102, 122, 111, 131, 3, a, 6, c, 1);
	P(dscal)(3, 2.5, c, 1);
	P(daxpy)(3, 2.5, a, 1, c, 2);
	P(dcopy)(3, a, 1, c, 2);
	if (P(idamax)(3, a, 1) != 2)
		fail("idamax");
	HPL_dlacpy(3, 4, a, 6, c, 8);
	HPL_dlatcpy(3, 4, a, 6, c, 8);
	HPL_dlaswp00N(3, 4, c, 6, p);
	HPL_dlaswp10N(3, 4, c, 6, p);
	HPL_dlaswp01N(3, 4, c, 6, d, 8, p, q);
	HPL_dlaswp01T(3, 4, c, 6, d, 8, p, q);
	HPL_dlaswp02N(3, 4, a, 6, c, d, 8, p, q);
	HPL_dlaswp03N(3, 4, c, 6, a, b, 8);
	HPL_dlaswp03T(3, 4, c, 6, a, b, 8);
	HPL_dlaswp04N(2, 3, 4, c, 6, d, 8, a, b, 7, p, q);
	HPL_dlaswp04T(2, 3, 4, c, 6, d, 8, a, b, 7, p, q);
	HPL_dlaswp05N(3, 4, c, 6, a, 8, p, q);
	HPL_dlaswp05T(3, 4, c, 6, a, 8, p, q);
	HPL_dlaswp06N(3, 4, c, 6, d, 8, p);
	HPL_dlaswp06T(3, 4, c, 6, d, 8, p);
	HPL_dlacpy(3, 0, a, 6, c, 8); /* nothing to do: no timing */
	for (int i = 0; i < LONG_CALLS; i++)
		HPL_dlacpy(100, 100, a, 6, c, 8);
	for (int i = 0; i < SHORT_CALLS; i++)
		P(dscal)(1, 2.5, c, 1);
	printf("%d\n", calls);
	return failed;
}

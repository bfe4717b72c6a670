/* Prints what the loops of helper/loops.h make of known vectors on a box:
 *
 *   program NX NY NZ NEAR_X NEAR_Y NEAR_Z
 *
 * for each of two levels: rows, columns, nonzeros, then the results, a number on each line.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loops.h"

static double known(int64_t i, int64_t times) { return (double)(i * times % 1009) / 1024 - 0.5; }

static void set(double *v, int64_t n, int64_t times) {
	for (int64_t i = 0; i < n; i++)
		v[i] = known(i, times);
}

static void print(const double *v, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		printf("%.17g\n", v[i]);
}

static void print_level(const struct level *l, const struct level *coarse) {
	double *x = l->vector[0], *r = l->vector[1], *a = l->vector[2];
	int64_t nonzeros = 0;
	for (int64_t i = 0; i < l->rows; i++)
		nonzeros += l->count[i];
	printf("%" PRId64 "\n%" PRId64 "\n%" PRId64 "\n", l->rows, l->columns, nonzeros);
	set(x, l->columns, 7);
	set(r, l->columns, 11);
	multiply(l, x, a);
	print(a, l->rows);
	smooth(l, r, x);
	print(x, l->columns);
	restrict_residual(coarse, r, a, coarse->vector[1]);
	print(coarse->vector[1], coarse->rows);
	prolong(coarse, coarse->vector[1], x);
	print(x, l->rows);
	pack(l, x);
	print(l->buffer, l->columns - l->rows);
	printf("%.17g\n%.17g\n", dot((int32_t)l->rows, r, r), dot((int32_t)l->rows, r, a));
	add((int32_t)l->rows, r, 0.25, a, x);
	add((int32_t)l->rows, x, -0.5, r, x);
	copy((int32_t)l->rows, x, a);
	print(a, l->rows);
	zero((int32_t)l->columns, x);
	print(x, l->columns);
}

int main(int argc, char **argv) {
	static struct level levels[LEVELS];
	int64_t n[3];
	int near[3];
	if (argc != 7)
		return 2;
	for (int i = 0; i < 3; i++) {
		n[i] = strtoll(argv[1 + i], NULL, 10);
		near[i] = atoi(argv[4 + i]);
	}
	make_box(levels, n, near);
	print_level(&levels[0], &levels[1]);
	print_level(&levels[1], &levels[2]);
	return 0;
}

/* The memory that a run's kernels work in, and where in it a call finds its operands. */

static struct {
	int64_t rows, columns; /* of the matrix, which is as large as the run's part of a process, or as memory allows */
	int64_t nb;            /* columns of a panel */
	int64_t order;         /* of the triangle */
	int64_t elements;      /* of the work space */
	int64_t swept;         /* elements that no cache holds beside the work */
	int64_t in_place;      /* whether HPL has rows swapped in the matrix, as with one process row */
} shape;

static double *matrix, *triangle, *work, *sweep;
static int64_t *row_order, *slot_order, *counting; /* permutations, and 0, 1, 2, ... */
static int64_t slots;                              /* length of the last two */
static int64_t taken;                              /* of the work space, by the call at hand */
static int overdrawn;                              /* it had not enough */

static uint64_t state;

/* A linear congruential generator. */
static uint64_t next_random(void) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static int64_t below(int64_t n) { return n > 1 ? (int64_t)(next_random() % (uint64_t)n) : 0; }

/* Numbers in [-scale/2, scale/2), none of them tiny: constant ones draw less power, so the
 * processor would be faster than in a run. */
static void fill(double *x, int64_t n, double scale) {
	for (int64_t i = 0; i < n; i++)
		x[i] = scale * ((double)(next_random() & 0xffffff) / (1 << 24) - 0.5);
}

static double *allocate(int64_t n) {
	void *p = NULL;
	return posix_memalign(&p, 4096, ((size_t)n + 8) * sizeof(double)) == 0 ? p : NULL;
}

static int64_t *allocate_order(int64_t n) {
	int64_t *p = malloc((size_t)(n + 1) * sizeof *p);
	for (int64_t i = 0; p != NULL && i < n; i++)
		p[i] = i;
	return p;
}

/* Allocates and fills all memory; 0 if there is not enough. The triangle is near the
 * identity, so that solving with it again and again lets no number grow. */
static int make_operands(void) {
	slots = shape.rows + shape.order + shape.nb;
	matrix = allocate(shape.rows * shape.columns);
	triangle = allocate(shape.order * shape.order);
	work = allocate(shape.elements);
	sweep = allocate(shape.swept);
	row_order = allocate_order(shape.rows);
	slot_order = allocate_order(slots);
	counting = allocate_order(slots);
	if (matrix == NULL || triangle == NULL || work == NULL || sweep == NULL || row_order == NULL || slot_order == NULL || counting == NULL)
		return 0;
	fill(matrix, shape.rows * shape.columns, 1);
	fill(triangle, shape.order * shape.order, 1 / (double)shape.order);
	for (int64_t i = 0; i < shape.order; i++)
		triangle[i * (shape.order + 1)] = 1;
	fill(work, shape.elements, 1);
	fill(sweep, shape.swept, 1);
	return 1;
}

/* A place in the matrix for a block, which begins a cache line as HPL's do. */
static double *place(int64_t m, int64_t n) {
	const int64_t lines = (shape.rows - m) / 8 + 1;
	return matrix + 8 * below(lines) + below(shape.columns - n + 1) * shape.rows;
}

/* Work space, of the call at hand alone. */
static double *take(int64_t n) {
	double *p = work + taken;
	taken += (n + 7) / 8 * 8;
	if (taken > shape.elements) {
		overdrawn = 1;
		return work;
	}
	return p;
}

/* Chooses n different numbers below size: the first n of the order. */
static const int64_t *choose(int64_t *order, int64_t size, int64_t n) {
	for (int64_t i = 0; i < n && i < size; i++) {
		const int64_t j = i + below(size - i), t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	return order;
}

static volatile double sink;

/* Reads a block, so that it is in the caches as far as these hold it. */
static void touch(const double *p, int64_t m, int64_t n, int64_t ld) {
	double sum = 0;
	for (int64_t j = 0; j < n; j++, p += ld)
		for (int64_t i = 0; i < m; i += 8)
			sum += p[i];
	sink = sum;
}

/* How the operands of a call are found: as a run leaves them, all in the caches, or none. */
static char warmth;
enum { AS_RUN = 'r', HOT = 'h', COLD = 'c' };

static int far; /* the call has operands that are not in the caches */

/* An operand that the run has used just before. */
static void recent(const double *p, int64_t m, int64_t n, int64_t ld) {
	if (warmth != COLD)
		touch(p, m, n, ld);
}

/* An operand to which the run comes back after all of its matrix. */
static void distant(const double *p, int64_t m, int64_t n, int64_t ld) {
	if (warmth == HOT)
		touch(p, m, n, ld);
	else
		far = 1;
}

static void distant_rows(int64_t m, int64_t n, struct rows r) {
	double sum = 0;
	far = far || warmth != HOT;
	for (int64_t j = 0; warmth == HOT && j < n; j++)
		for (int64_t i = 0; i < m; i++)
			sum += r.at[r.index[i] * r.row + j * r.column];
	sink = sum;
}

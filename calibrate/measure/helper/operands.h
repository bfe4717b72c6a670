/* The memory that a run's kernels work in, and where in it a call finds its operands. */

struct shape {
	int64_t rows, columns; /* of the matrix, which is as large as the run's part of a process, or as memory allows */
	int64_t nb;            /* columns of a panel */
	int64_t in_place;      /* whether HPL has rows swapped in the matrix, as with one process row */
	int64_t whole_rows;    /* whether a panel stays in the matrix, as with one process column */
	double *triangle;      /* nb x nb */
};

static struct shape *shapes; /* of the runs */
static int64_t runs;
static struct shape shape; /* that of the run whose call is at hand */

static struct {
	int64_t elements; /* of the work space */
	int64_t swept;    /* elements that no cache holds beside the work */
	int64_t cached;   /* elements that the caches hold for this process */
} space;

static double *matrix, *work, *sweep, *passed;
static int64_t *counting; /* 0, 1, 2, ... */
static int64_t *chosen, *moved;
static int64_t taken, picked; /* of the work space and of what is chosen, by the call at hand */

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

static int64_t *allocate_numbers(int64_t n) {
	int64_t *p = malloc((size_t)(n + 1) * sizeof *p);
	for (int64_t i = 0; p != NULL && i < n; i++)
		p[i] = i;
	return p;
}

/* A triangle near the identity, so that solving with it lets no number grow. */
static int make_triangle(struct shape *s) {
	s->triangle = allocate(s->nb * s->nb);
	if (s->triangle == NULL)
		return 0;
	fill(s->triangle, s->nb * s->nb, 1 / (double)s->nb);
	for (int64_t i = 0; i < s->nb; i++)
		s->triangle[i * (s->nb + 1)] = 1;
	return 1;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t elements; /* of the matrix: those of the largest */

/* Allocates and fills all memory; 0 if there is not enough. */
static int make_operands(void) {
	int64_t rows = 0, nb = 0;
	for (int64_t i = 0; i < runs; i++) {
		elements = larger(elements, shapes[i].rows * shapes[i].columns);
		rows = larger(rows, shapes[i].rows);
		nb = larger(nb, shapes[i].nb);
		if (!make_triangle(&shapes[i]))
			return 0;
	}
	matrix = allocate(elements);
	work = allocate(space.elements);
	sweep = allocate(space.swept);
	passed = allocate(space.cached);
	counting = allocate_numbers(rows + nb);
	chosen = allocate_numbers(2 * (rows + nb));
	moved = allocate_numbers(rows + nb);
	if (matrix == NULL || work == NULL || sweep == NULL || passed == NULL || counting == NULL || chosen == NULL || moved == NULL)
		return 0;
	fill(matrix, elements, 1);
	fill(work, space.elements, 1);
	fill(sweep, space.swept, 1);
	fill(passed, space.cached, 1);
	return 1;
}

/* Whether all of the matrix is numbers as those of a run: products that are subtracted make them some hundreds. */
static int is_finite(void) {
	const double most = 1e6;
	for (int64_t i = 0; i < elements; i++)
		if (!(matrix[i] > -most && matrix[i] < most))
			return 0;
	return 1;
}

/* A place in the matrix for a block, which begins a cache line as HPL's do. */
static double *place(int64_t m, int64_t n) {
	const int64_t lines = (shape.rows - m) / 8 + 1;
	return matrix + 8 * below(lines) + below(shape.columns - n + 1) * shape.rows;
}

/* The rows that remain at the step of a call on n columns: as many as these go with; where they are a
 * chunk of the columns, the step is any. */
static int64_t rows_of_step(int64_t n) {
	if (n == shape.nb)
		return 1 + below(shape.rows);
	return (int64_t)((double)shape.rows * ((double)n / (double)shape.columns));
}

/* Work space, of the call at hand alone. */
static double *take(int64_t n) {
	double *p = work + taken;
	taken += (n + 7) / 8 * 8;
	if (taken > space.elements) {
		printf("error work space is too small\n");
		exit(1);
	}
	return p;
}

static void exchange(int64_t *a, int64_t *b) {
	const int64_t t = *a;
	*a = *b;
	*b = t;
}

/* Chooses n different numbers below size: the first n after shuffling all, which are put in order again. */
static const int64_t *choose(int64_t size, int64_t n) {
	int64_t *list = chosen + picked;
	picked += n;
	for (int64_t i = 0; i < n; i++) {
		moved[i] = i + below(size - i);
		exchange(&counting[i], &counting[moved[i]]);
		list[i] = counting[i];
	}
	for (int64_t i = n - 1; i >= 0; i--)
		exchange(&counting[i], &counting[moved[i]]);
	return list;
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

/* So many times what remains at a step a run reads and writes from one use of it to the next: panels, messages,
 * the copies that products make. That it is as good as four was found by timing calls within HPL. */
enum { TIMES = 4 };

/* What comes between two calls on n elements. */
static void pass(int64_t n) {
	if (warmth != AS_RUN)
		return;
	n = n < space.cached / TIMES ? n * TIMES : space.cached;
	for (int64_t i = 0; i < n; i += 8)
		passed[i] = -passed[i]; /* what is written must leave the caches before others come */
	far = 1;
}

/* Where n columns of the last m rows begin: the last columns, or a chunk of those that remain with the rows. What remains
 * was used in the step before: it is in the caches if it fits with all that came between. */
static double *trailing(int64_t m, int64_t n) {
	const int64_t remain = larger(n, (int64_t)((double)shape.columns * ((double)m / (double)shape.rows)));
	double *first = matrix + (shape.rows - m) / 8 * 8 + (shape.columns - remain) * shape.rows;
	if (warmth == AS_RUN && m * remain <= space.cached / TIMES)
		touch(first, m, remain, shape.rows);
	pass(m * remain);
	return first + (n <= shape.nb ? below(remain - n + 1) : 0) * shape.rows;
}

/* An operand that the run has read just before. */
static void recent(const double *p, int64_t m, int64_t n, int64_t ld) {
	if (warmth != COLD)
		touch(p, m, n, ld);
}

/* An operand that the run has written just before: new numbers, so that none grow from call to call. */
static void fresh(double *p, int64_t m, int64_t n, int64_t ld) {
	for (int64_t j = 0; j < n; j++, p += ld)
		fill(p, m, 1);
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

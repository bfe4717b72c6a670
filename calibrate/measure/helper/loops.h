/* HPCG's kernels as loops over its data structures: a matrix of 27-point stencils, each of whose rows has an array of
 * its own for the values and one for the local numbers of their columns; columns of neighbours behind those of the
 * own points. What is stored and read, in which order, follows a description of HPCG 3.1, not its source. */

enum { POINTS = 27, LEVELS = 4 };

/* Vectors of a level: x is what a cycle of multigrid results in (z of conjugate gradients on the finest), r its right-hand side,
 * a the product of the matrix with x; on the finest also the solution s, the direction p, its product q, and b. */
static const char vector_names[] = "xraspqb";
enum { VECTORS = sizeof vector_names - 1 };

struct level {
	int64_t n[3];  /* points in x, y, z */
	int near[3];   /* neighbours in x, y, z: none, one behind the last point, or one on either side */
	int64_t rows, columns;
	int64_t first[POINTS]; /* columns of a neighbour; -1: there is none */
	char *count;           /* of a row: its nonzeros */
	int32_t **column;
	double **value, **diagonal;
	double *vector[VECTORS];
	int32_t *fine; /* of a row: that of the next finer level at its place */
	int32_t *sent; /* rows whose elements neighbours need */
	double *buffer;
};

/* Where neighbours are, and points of a stencil: -1, 0, 1 in x, fastest, y and z. */
static void direction_of(int k, int d[3]) {
	d[0] = k % 3 - 1;
	d[1] = k / 3 % 3 - 1;
	d[2] = k / 9 - 1;
}

static int direction_to(const int d[3]) { return (d[2] + 1) * 9 + (d[1] + 1) * 3 + d[0] + 1; }

static int64_t row_of(const struct level *l, const int64_t at[3]) { return (at[2] * l->n[1] + at[1]) * l->n[0] + at[0]; }

/* The column of a point, which may be just outside of the box; -1: there is none. */
static int64_t column_of(const struct level *l, const int64_t at[3]) {
	int side[3];
	int64_t behind = 0;
	for (int i = 2; i >= 0; i--) {
		side[i] = at[i] < 0 ? -1 : at[i] >= l->n[i];
		behind = side[i] != 0 ? behind : behind * l->n[i] + at[i]; /* among the columns of the neighbour, x fastest */
	}
	if (side[0] == 0 && side[1] == 0 && side[2] == 0)
		return row_of(l, at);
	const int64_t first = l->first[direction_to(side)];
	return first < 0 ? -1 : first + behind;
}

/* Memory as HPCG asks for it, array by array; exits where there is none left. */
static void *claim(int64_t n, size_t size) {
	void *p = malloc(n > 0 ? (size_t)n * size : 1);
	if (p == NULL) {
		printf("error memory: not enough for the matrices: measure with fewer ranks on a host\n");
		exit(1);
	}
	return p;
}

/* Numbers the columns of neighbours, and lists the rows that they need. */
static void find_neighbours(struct level *l) {
	l->columns = l->rows;
	for (int k = 0; k < POINTS; k++) {
		int d[3];
		int64_t size = 1;
		direction_of(k, d);
		for (int i = 0; i < 3; i++) {
			if (d[i] != 0)
				size *= l->near[i] == 2 || (l->near[i] == 1 && d[i] > 0);
			else
				size *= l->n[i];
		}
		l->first[k] = k == POINTS / 2 || size == 0 ? -1 : l->columns;
		l->columns += l->first[k] < 0 ? 0 : size;
	}
	l->sent = claim(l->columns - l->rows, sizeof *l->sent);
	l->buffer = claim(l->columns - l->rows, sizeof *l->buffer);
	int64_t sent = 0;
	for (int k = 0; k < POINTS; k++) {
		int d[3];
		int64_t from[3], to[3], at[3];
		if (l->first[k] < 0)
			continue;
		direction_of(k, d);
		for (int i = 0; i < 3; i++) {
			from[i] = d[i] > 0 ? l->n[i] - 1 : 0;
			to[i] = d[i] < 0 ? 1 : l->n[i];
		}
		for (at[2] = from[2]; at[2] < to[2]; at[2]++)
			for (at[1] = from[1]; at[1] < to[1]; at[1]++)
				for (at[0] = from[0]; at[0] < to[0]; at[0]++)
					l->sent[sent++] = (int32_t)row_of(l, at);
	}
}

static void fill_row(struct level *l, const int64_t point[3]) {
	const int64_t row = row_of(l, point);
	int count = 0;
	for (int k = 0; k < POINTS; k++) {
		int d[3];
		direction_of(k, d);
		const int64_t at[3] = {point[0] + d[0], point[1] + d[1], point[2] + d[2]};
		const int64_t column = column_of(l, at);
		if (column < 0)
			continue;
		if (column == row)
			l->diagonal[row] = l->value[row] + count;
		l->column[row][count] = (int32_t)column;
		l->value[row][count++] = column == row ? POINTS - 1 : -1;
	}
	l->count[row] = (char)count;
}

/* Makes a level of n points in x, y, z. */
static void make_level(struct level *l, int finest) {
	int64_t at[3];
	l->rows = l->n[0] * l->n[1] * l->n[2];
	find_neighbours(l);
	l->count = claim(l->rows, sizeof *l->count);
	l->column = claim(l->rows, sizeof *l->column);
	l->value = claim(l->rows, sizeof *l->value);
	l->diagonal = claim(l->rows, sizeof *l->diagonal);
	for (int64_t i = 0; i < l->rows; i++)
		l->column[i] = claim(POINTS, sizeof **l->column);
	for (int64_t i = 0; i < l->rows; i++)
		l->value[i] = claim(POINTS, sizeof **l->value);
	for (at[2] = 0; at[2] < l->n[2]; at[2]++)
		for (at[1] = 0; at[1] < l->n[1]; at[1]++)
			for (at[0] = 0; at[0] < l->n[0]; at[0]++)
				fill_row(l, at);
	for (int v = 0; v < (finest ? VECTORS : 3); v++) {
		l->vector[v] = claim(l->columns, sizeof **l->vector);
		for (int64_t i = 0; i < l->columns; i++)
			l->vector[v][i] = 0;
	}
	for (int64_t i = 0; finest && i < l->rows; i++) /* so that the solution is 1 everywhere */
		l->vector[VECTORS - 1][i] = POINTS - l->count[i];
}

/* Lists where the rows of a coarse level lie on the finer one: on every other point. */
static void join_levels(const struct level *fine, struct level *coarse) {
	coarse->fine = claim(coarse->rows, sizeof *coarse->fine);
	int64_t at[3], i = 0;
	for (at[2] = 0; at[2] < fine->n[2]; at[2] += 2)
		for (at[1] = 0; at[1] < fine->n[1]; at[1] += 2)
			for (at[0] = 0; at[0] < fine->n[0]; at[0] += 2)
				coarse->fine[i++] = (int32_t)row_of(fine, at);
}

/* Makes all levels of a box. */
static void make_box(struct level *levels, const int64_t n[3], const int near[3]) {
	for (int k = 0; k < LEVELS; k++) {
		for (int i = 0; i < 3; i++) {
			levels[k].n[i] = n[i] >> k;
			levels[k].near[i] = near[i];
		}
		make_level(&levels[k], k == 0);
		if (k > 0)
			join_levels(&levels[k - 1], &levels[k]);
	}
}

/* The loops. Each is compiled for pointers of which nothing is known, as HPCG's are. */

static void multiply(const struct level *l, const double *x, double *y) {
	for (int32_t i = 0; i < l->rows; i++) {
		const double *value = l->value[i];
		const int32_t *column = l->column[i];
		const int count = l->count[i];
		double sum = 0;
		for (int j = 0; j < count; j++)
			sum += value[j] * x[column[j]];
		y[i] = sum;
	}
}

/* Solves row i for x[i]. */
static inline void relax(const struct level *l, const double *r, double *x, int32_t i) {
	const double *value = l->value[i], diagonal = *l->diagonal[i];
	const int32_t *column = l->column[i];
	const int count = l->count[i];
	double sum = r[i];
	for (int j = 0; j < count; j++)
		sum -= value[j] * x[column[j]];
	sum += diagonal * x[i]; /* which was subtracted, too */
	x[i] = sum / diagonal;
}

static void smooth(const struct level *l, const double *r, double *x) {
	const int32_t rows = (int32_t)l->rows;
	for (int32_t i = 0; i < rows; i++)
		relax(l, r, x, i);
	for (int32_t i = rows - 1; i >= 0; i--)
		relax(l, r, x, i);
}

static void restrict_residual(const struct level *coarse, const double *r, const double *product, double *to) {
	const int32_t *fine = coarse->fine;
	for (int32_t i = 0; i < coarse->rows; i++)
		to[i] = r[fine[i]] - product[fine[i]];
}

static void prolong(const struct level *coarse, const double *from, double *x) {
	const int32_t *fine = coarse->fine;
	for (int32_t i = 0; i < coarse->rows; i++)
		x[fine[i]] += from[i];
}

static double dot(int32_t n, const double *x, const double *y) {
	double sum = 0;
	if (x == y)
		for (int32_t i = 0; i < n; i++)
			sum += x[i] * x[i];
	else
		for (int32_t i = 0; i < n; i++)
			sum += x[i] * y[i];
	return sum;
}

/* w = x + beta y */
static void add(int32_t n, const double *x, double beta, const double *y, double *w) {
	for (int32_t i = 0; i < n; i++)
		w[i] = x[i] + beta * y[i];
}

static void zero(int32_t n, double *x) {
	for (int32_t i = 0; i < n; i++)
		x[i] = 0;
}

static void copy(int32_t n, const double *x, double *y) {
	for (int32_t i = 0; i < n; i++)
		y[i] = x[i];
}

static void pack(const struct level *l, const double *x) {
	const int32_t n = (int32_t)(l->columns - l->rows);
	for (int32_t i = 0; i < n; i++)
		l->buffer[i] = x[l->sent[i]];
}

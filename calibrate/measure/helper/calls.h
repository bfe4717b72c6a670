/* The kernels: how each finds its operands (prepare), and the call that is timed (run). */

static struct {
	const struct kernel *kernel;
	char letters[8];  /* attributes, as BLAS calls them: side, uplo, trans, diag */
	int64_t d[4];     /* dimensions, in the order of the trace */
	double *a, *b, *c;
	double *panel; /* NULL, or a panel, of which a is a row */
	int64_t lda, ldb, ldc, at;
	int64_t rows; /* of the panel */
	struct rows from, to, more_from, more_to;
	int64_t m, more; /* rows of from and to, and of the others */
	int alone;
} call;

struct kernel {
	const char *name;
	void (*prepare)(void);
	void (*run)(void);
};

static const double plus = 1, minus = -1;
static const int64_t unit = 1;
static double signed_one = 1; /* alternates, so that sums do not grow */

/* Within a panel: columns with those left of them, and L1. */
static void prepare_panel_gemm(void) {
	const int64_t m = call.d[0], n = call.d[1], k = call.d[2];
	const int transposed = call.letters[1] != 'N';
	call.a = place(m, k + n);
	call.c = call.a + k * shape.rows;
	call.b = shape.triangle;
	call.lda = call.ldc = shape.rows;
	call.ldb = shape.nb;
	fresh(call.a, m, k + n, shape.rows);
	recent(call.b, transposed ? n : k, transposed ? k : n, shape.nb);
}

/* Of an update: the block at the end of the matrix, with the panel left of it and U above it, as far
 * as these are in the matrix. */
static void prepare_gemm(void) {
	const int64_t m = call.d[0], n = call.d[1], k = call.d[2];
	const int transposed = call.letters[1] != 'N';
	if (k < shape.nb && n <= shape.nb && call.letters[0] == 'N') {
		prepare_panel_gemm();
		return;
	}
	const int64_t above = shape.in_place && !transposed ? k : 0, beside = shape.whole_rows && call.letters[0] == 'N' ? k : 0;
	double *first = trailing(m + above, n + beside);
	call.c = first + above + beside * shape.rows;
	call.ldc = shape.rows;
	call.lda = beside > 0 ? shape.rows : call.letters[0] == 'N' ? m : k;
	call.a = beside > 0 ? first + above : take(m * k);
	call.ldb = above > 0 ? shape.rows : transposed ? n : k;
	call.b = above > 0 ? first + beside * shape.rows : take(k * n);
	fresh(call.a, call.letters[0] == 'N' ? m : k, call.letters[0] == 'N' ? k : m, call.lda);
	fresh(call.b, transposed ? n : k, transposed ? k : n, call.ldb);
	distant(call.c, m, n, shape.rows);
}

static void run_gemm(void) {
	blas.gemm(call.letters, call.letters + 1, &call.d[0], &call.d[1], &call.d[2], &minus, call.a, &call.lda, call.b, &call.ldb, &plus, call.c, &call.ldc, 1, 1);
}

static void prepare_trsm(void) {
	const int64_t m = call.d[0], n = call.d[1], order = call.letters[0] == 'L' ? m : n;
	call.a = shape.triangle;
	call.lda = shape.nb;
	if (shape.in_place && call.letters[0] == 'L' && (m >= shape.nb || n > shape.nb)) { /* U of an update */
		call.b = trailing(larger(m, rows_of_step(n)), n);
		call.ldb = shape.rows;
	} else {
		call.b = take(m * n);
		call.ldb = m;
	}
	recent(call.a, order, order, shape.nb);
	if (order == shape.nb)
		pass(m * n); /* the product before */
	fresh(call.b, m, n, call.ldb);
}

static void run_trsm(void) {
	const char *l = call.letters;
	blas.trsm(l, l + 1, l + 2, l + 3, &call.d[0], &call.d[1], &plus, call.a, &call.lda, call.b, &call.ldb, 1, 1, 1, 1);
}

static void prepare_gemv(void) {
	const int64_t m = call.d[0], n = call.d[1];
	call.a = place(m, n);
	call.b = take(m);
	call.c = take(n);
	call.lda = shape.rows;
	if (n < shape.nb)
		fresh(call.a, m, n, shape.rows); /* columns of a panel */
	else
		distant(call.a, m, n, shape.rows);
	fresh(call.b, m, 1, 1);
	fresh(call.c, n, 1, 1);
}

static void run_gemv(void) {
	const int plain = call.letters[0] == 'N';
	blas.gemv(call.letters, &call.d[0], &call.d[1], &signed_one, call.a, &call.lda, plain ? call.c : call.b, &unit, &plus, plain ? call.b : call.c, &unit, 1);
}

static void prepare_ger(void) {
	const int64_t m = call.d[0], n = call.d[1];
	call.a = place(m, n + 1);
	call.b = call.a + n * shape.rows;
	call.c = take(n);
	fresh(call.a, m, n + 1, shape.rows);
	fresh(call.c, n, 1, 1);
}

static void run_ger(void) {
	blas.ger(&call.d[0], &call.d[1], &signed_one, call.b, &unit, call.c, &unit, call.a, &shape.rows);
}

static void prepare_trsv(void) {
	call.b = take(call.d[0]);
	if (call.d[0] < shape.nb)
		recent(shape.triangle, call.d[0], call.d[0], shape.nb);
	else
		distant(shape.triangle, call.d[0], call.d[0], shape.nb);
	fresh(call.b, call.d[0], 1, 1);
}

static void run_trsv(void) {
	const char *l = call.letters;
	blas.trsv(l, l + 1, l + 2, &call.d[0], shape.triangle, &shape.nb, call.b, &unit, 1, 1, 1);
}

/* n columns of those of a panel that are factored together, which were all used one after the other. */
static double *columns(int64_t m, int64_t n) {
	enum { TOGETHER = 8 };
	const int64_t all = larger(n, shape.nb < TOGETHER ? shape.nb : TOGETHER);
	double *first = place(m, all);
	fresh(first, m, n, shape.rows);
	recent(first, m, all, shape.rows);
	return first;
}

static void prepare_column(void) { call.a = columns(call.d[0], 1); }

static void prepare_columns(void) {
	call.a = columns(call.d[0], 2);
	call.b = call.a + shape.rows;
}

static void run_scal(void) { blas.scal(&call.d[0], &minus, call.a, &unit); }
static void run_axpy(void) { blas.axpy(&call.d[0], &signed_one, call.a, &unit, call.b, &unit); }
static void run_amax(void) { sink = blas.amax(&call.d[0], call.a, &unit); }

/* A row of a panel of any step, which was used as a whole before. */
static double *panel_row(int64_t n) {
	call.rows = 1 + below(shape.rows);
	call.panel = matrix + (shape.columns - n) * shape.rows + shape.rows - call.rows;
	recent(call.panel, call.rows, n, shape.rows);
	return call.panel + below(call.rows);
}

static void prepare_copy(void) {
	call.b = take(call.d[0]);
	fresh(call.b, call.d[0], 1, 1);
	call.a = panel_row(call.d[0]);
}

static void run_copy(void) { blas.copy(&call.d[0], call.a, &shape.rows, call.b, &unit); }

/* A block of U, into the matrix. */
static void prepare_block(void) {
	const int64_t m = call.d[0], n = call.d[1];
	call.a = take(m * n);
	call.b = n <= shape.nb ? place(m, n) : trailing(larger(m, rows_of_step(n)), n);
	fresh(call.a, m * n, 1, 1);
	if (n <= shape.nb)
		fresh(call.b, m, n, shape.rows);
	else
		distant(call.b, m, n, shape.rows);
}

static void run_block(void) { copy_block(call.d[0], call.d[1], call.a, call.d[0], call.b, shape.rows); }
static void run_transposed(void) { copy_transposed(call.d[0], call.d[1], call.a, call.d[1], call.b, shape.rows); }

/* Rows of the matrix that remain at the step of a call on n columns, of which it uses m; and U, of as many
 * rows or more: by rows or, where it is transposed, by columns; and rows on their way, each behind its number. */
static struct rows of_matrix(int64_t m, int64_t n) {
	const int64_t remain = larger(m, rows_of_step(n));
	return (struct rows){trailing(remain, n), 1, shape.rows, choose(remain, m)};
}

static struct rows of_u(int64_t m, int64_t n) {
	const int64_t rows = larger(m, shape.nb);
	double *u = take(rows * n);
	const int transposed = call.kernel->name[strlen(call.kernel->name) - 1] == 'T';
	fresh(u, rows * n, 1, 1);
	return (struct rows){u, transposed ? n : 1, transposed ? 1 : rows, choose(rows, m)};
}

static struct rows of_messages(int64_t m, int64_t n) {
	double *w = take(m * (n + 1));
	fresh(w, m * (n + 1), 1, 1);
	return (struct rows){w + 1, n + 1, 1, counting};
}

static void prepare_00(void) { /* the rows at the top with the pivots; or rows of U */
	const int64_t m = call.d[0], n = call.d[1];
	if (shape.in_place) {
		call.to = of_matrix(m, n);
	} else {
		double *u = take(m * n);
		fresh(u, m * n, 1, 1);
		call.to = (struct rows){u, 1, m, choose(m, m)};
	}
	call.from = call.to;
	call.from.index = counting;
	distant_rows(m, n, call.from);
	distant_rows(m, n, call.to);
}

static void prepare_10(void) { /* columns of the transposed U */
	double *u = take(call.d[0] * call.d[1]);
	fresh(u, call.d[0] * call.d[1], 1, 1);
	call.from = call.to = (struct rows){u, call.d[0], 1, counting};
	call.to.index = choose(call.d[1], call.d[1]);
}

static void prepare_01(void) { /* the block at the top to U, rows in its place */
	const int64_t n = call.d[1];
	call.m = call.d[0] < shape.nb ? call.d[0] : shape.nb;
	call.more = call.d[0] - call.m;
	call.to = of_u(call.m, n);
	call.from = call.more_from = call.more_to = of_matrix(call.d[0], n);
	call.more_from.index = call.from.index + call.m;
	call.more_to.index = counting;
	distant_rows(call.m, n, call.from);
	distant_rows(call.more, n, call.more_from);
}

static void prepare_02(void) { /* rows to messages */
	call.to = of_messages(call.d[0], call.d[1]);
	call.from = of_matrix(call.d[0], call.d[1]);
	distant_rows(call.d[0], call.d[1], call.from);
}

static void prepare_03(void) { /* messages to U */
	call.from = of_messages(call.d[0], call.d[1]);
	call.to = of_u(call.d[0], call.d[1]);
}

static void prepare_04(void) { /* rows of U home, messages to U */
	const int64_t n = call.d[2];
	call.m = call.d[0];
	call.more = call.d[1];
	call.more_from = of_messages(call.more, n);
	call.more_to = call.from = of_u(larger(call.m, call.more), n);
	call.to = of_matrix(call.m, n);
	distant_rows(call.m, n, call.to);
}

static void prepare_05(void) { /* between U and rows */
	call.from = of_u(call.d[0], call.d[1]);
	call.to = of_matrix(call.d[0], call.d[1]);
	distant_rows(call.d[0], call.d[1], call.to);
}

static void run_copy_rows(void) { copy_rows(call.d[0], call.d[1], WIDE, call.from, call.to); }
static void run_swap_rows(void) { swap_rows(call.d[0], call.d[1], WIDE, call.from, call.to); }
static void run_swap_columns(void) { swap_rows(call.d[1], call.d[0], call.d[0], call.from, call.to); }

static void run_two_copies(void) {
	const int64_t n = call.kernel->name[7] == '4' ? call.d[2] : call.d[1];
	copy_rows(call.m, n, WIDE, call.from, call.to);
	copy_rows(call.more, n, WIDE, call.more_from, call.more_to);
}

static void prepare_locmax(void) {
	call.a = place(call.d[0], 1);
	call.at = below(call.d[0]);
	call.b = take(8);
	fresh(call.a + call.at, 1, 1, 1);
	fresh(call.b, 8, 1, 1);
}

static void run_locmax(void) { note_pivot(call.a, call.at, shape.nb, call.b); }

/* Parts of a process in the exchange of two rows of a panel, as the trace numbers them. */
enum { SAME, SWAP, IN, OUT, NONE };

static void prepare_locswp(void) {
	const int64_t n = call.d[0];
	call.b = take(2 * n);
	call.c = take(n * n);
	fresh(call.b, 2 * n, 1, 1);
	fresh(call.c, n * n, 1, 1);
	call.a = panel_row(n);
	call.at = below(n);
}

/* The pivot row comes to where the current one was, in the matrix and in L1; the current
 * row to where the pivot was. */
static void run_locswp(void) {
	const int64_t n = call.d[0], role = call.d[1], transposed = call.kernel->name[7] == 'T';
	double *current = call.panel, *l1 = transposed ? call.c + call.at * n : call.c + call.at;
	for (int64_t j = 0; j < n && role <= IN; j++)
		l1[transposed ? j : j * n] = current[j * shape.rows] = call.b[j];
	for (int64_t j = 0; j < n && (role == SWAP || role == OUT); j++)
		call.a[j * shape.rows] = call.b[n + j];
}

static const struct kernel kernels[] = {
	{"dgemm", prepare_gemm, run_gemm}, {"dtrsm", prepare_trsm, run_trsm}, {"dgemv", prepare_gemv, run_gemv}, {"dger", prepare_ger, run_ger},
	{"dtrsv", prepare_trsv, run_trsv}, {"dscal", prepare_column, run_scal}, {"daxpy", prepare_columns, run_axpy}, {"dcopy", prepare_copy, run_copy},
	{"idamax", prepare_column, run_amax}, {"dlacpy", prepare_block, run_block}, {"dlatcpy", prepare_block, run_transposed},
	{"dlaswp00N", prepare_00, run_swap_rows}, {"dlaswp10N", prepare_10, run_swap_columns},
	{"dlaswp01N", prepare_01, run_two_copies}, {"dlaswp01T", prepare_01, run_two_copies}, {"dlaswp02N", prepare_02, run_copy_rows},
	{"dlaswp03N", prepare_03, run_copy_rows}, {"dlaswp03T", prepare_03, run_copy_rows}, {"dlaswp04N", prepare_04, run_two_copies}, {"dlaswp04T", prepare_04, run_two_copies},
	{"dlaswp05N", prepare_05, run_copy_rows}, {"dlaswp05T", prepare_05, run_copy_rows}, {"dlaswp06N", prepare_05, run_swap_rows}, {"dlaswp06T", prepare_05, run_swap_rows},
	{"dlocmax", prepare_locmax, run_locmax}, {"dlocswpN", prepare_locswp, run_locswp}, {"dlocswpT", prepare_locswp, run_locswp},
};

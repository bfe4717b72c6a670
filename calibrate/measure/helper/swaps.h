/* Copies and exchanges of rows as HPL does them: which elements are read and written, with
 * which strides, in which order; not what they are. */

/* The columns that HPL's loops take at a time, row by row. */
enum { WIDE = 32 };

/* Rows of a matrix, chosen by a list: element j of row i is at at[index[i]*row + j*column]. */
struct rows {
	double *at;
	int64_t row, column;
	const int64_t *index;
};

/* Copies m rows of n elements, wide of them at a time. */
static void copy_rows(int64_t m, int64_t n, int64_t wide, struct rows from, struct rows to) {
	for (int64_t j = 0; j < n; j += wide) {
		const int64_t w = n - j < wide ? n - j : wide;
		for (int64_t i = 0; i < m; i++) {
			const double *a = from.at + from.index[i] * from.row + j * from.column;
			double *b = to.at + to.index[i] * to.row + j * to.column;
			for (int64_t l = 0; l < w; l++)
				b[l * to.column] = a[l * from.column];
		}
	}
}

/* Exchanges m rows of n elements. */
static void swap_rows(int64_t m, int64_t n, int64_t wide, struct rows one, struct rows other) {
	for (int64_t j = 0; j < n; j += wide) {
		const int64_t w = n - j < wide ? n - j : wide;
		for (int64_t i = 0; i < m; i++) {
			double *a = one.at + one.index[i] * one.row + j * one.column;
			double *b = other.at + other.index[i] * other.row + j * other.column;
			for (int64_t l = 0; l < w; l++) {
				const double t = a[l * one.column];
				a[l * one.column] = b[l * other.column];
				b[l * other.column] = t;
			}
		}
	}
}

/* b = a, m rows, four columns at a time. */
static void copy_block(int64_t m, int64_t n, const double *a, int64_t lda, double *b, int64_t ldb) {
	int64_t j = 0;
	for (; j + 4 <= n; j += 4, a += 4 * lda, b += 4 * ldb)
		for (int64_t i = 0; i < m; i++) {
			b[i] = a[i];
			b[i + ldb] = a[i + lda];
			b[i + 2 * ldb] = a[i + 2 * lda];
			b[i + 3 * ldb] = a[i + 3 * lda];
		}
	for (; j < n; j++, a += lda, b += ldb)
		for (int64_t i = 0; i < m; i++)
			b[i] = a[i];
}

/* b (m rows, n columns) = the transposed a, four columns at a time. */
static void copy_transposed(int64_t m, int64_t n, const double *a, int64_t lda, double *b, int64_t ldb) {
	int64_t j = 0;
	for (; j + 4 <= n; j += 4, a += 4, b += 4 * ldb)
		for (int64_t i = 0; i < m; i++) {
			b[i] = a[i * lda];
			b[i + ldb] = a[i * lda + 1];
			b[i + 2 * ldb] = a[i * lda + 2];
			b[i + 3 * ldb] = a[i * lda + 3];
		}
	for (; j < n; j++, a++, b += ldb)
		for (int64_t i = 0; i < m; i++)
			b[i] = a[i * lda];
}

/* What a search for a pivot does besides idamax: the candidate and where it is. */
static void note_pivot(const double *column, int64_t at, int64_t nb, double *work) {
	work[0] = column[at];
	work[1] = (double)at;
	work[2] = (double)(at / nb * nb + at % nb);
	work[3] = 0;
}

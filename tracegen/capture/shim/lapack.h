// Factorizations of LAPACK, by their Fortran names, and transforms of FFTW, whose plans say
// how many operations they are. What these call of BLAS is not recorded apart.

enum { K_dgetrf = K_idamax + 1, K_dpotrf, K_dgeqrf, K_fftw, K_fftwf };

static inline int smaller(int a, int b) { return a < b ? a : b; }

EXPORT void dgetrf_(W m, W n, W a, W lda, W pivots, W info)
{
	KERNEL(void, dgetrf_)
	if (WITHIN) {
		real(m, n, a, lda, pivots, info);
		return;
	}
	enter();
	real(m, n, a, lda, pivots, info);
	put_kernel(K_dgetrf, "", DIMS(INT(m), INT(n), smaller(INT(m), INT(n))));
}

EXPORT void dpotrf_(W uplo, W n, W a, W lda, W info, W l1)
{
	KERNEL(void, dpotrf_)
	if (WITHIN) {
		real(uplo, n, a, lda, info, l1);
		return;
	}
	enter();
	real(uplo, n, a, lda, info, l1);
	put_kernel(K_dpotrf, (char[]){CHAR(uplo), 0}, DIMS(INT(n)));
}

EXPORT void dgeqrf_(W m, W n, W a, W lda, W tau, W work, W lwork, W info)
{
	KERNEL(void, dgeqrf_)
	if (WITHIN || INT(lwork) == -1) { // asks how much work space it needs
		real(m, n, a, lda, tau, work, lwork, info);
		return;
	}
	enter();
	real(m, n, a, lda, tau, work, lwork, info);
	put_kernel(K_dgeqrf, "", DIMS(INT(m), INT(n), smaller(INT(m), INT(n))));
}

// Plans of FFTW's own MPI interface send messages while they are executed: in a program that
// has it, none is a kernel.
#define FFTW(x) \
	static int x##_passes(void) \
	{ \
		static int parallel = -1; \
		if (parallel < 0) { \
			parallel = dlsym(RTLD_DEFAULT, #x "_mpi_init") != NULL; \
		} \
		return WITHIN || parallel; \
	} \
	static void x##_put(W plan) \
	{ \
		double added = 0, multiplied = 0, fused = 0; \
		KERNEL(void, x##_flops) \
		real(plan, &added, &multiplied, &fused); \
		put_kernel(K_##x, "", DIMS((int64_t)(added + multiplied + 2 * fused))); \
	} \
	EXPORT void x##_execute(W plan) \
	{ \
		KERNEL(void, x##_execute) \
		if (x##_passes()) { \
			real(plan); \
			return; \
		} \
		enter(); \
		real(plan); \
		x##_put(plan); \
	} \
	FFTW_ON(x, dft) FFTW_ON(x, dft_r2c) FFTW_ON(x, dft_c2r) FFTW_ON(x, r2r)

#define FFTW_ON(x, kind) \
	EXPORT void x##_execute_##kind(W plan, W in, W out) \
	{ \
		KERNEL(void, x##_execute_##kind) \
		if (x##_passes()) { \
			real(plan, in, out); \
			return; \
		} \
		enter(); \
		real(plan, in, out); \
		x##_put(plan); \
	}

FFTW(fftw)
FFTW(fftwf)

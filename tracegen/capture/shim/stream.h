// The stream of a process: a file that is mapped piece by piece.

enum { HEADER = 4096, WINDOW = 1 << 20, ROOM = 1 << 14 };

// The first page of the file, in the processor's byte order. used is raised behind each
// record, so that it is right whatever ends the process.
struct header {
	char magic[16];
	uint64_t run; // the same for all processes of a run
	int32_t rank, size, abi, multiple; // whether threads may call at once
	int64_t used, calls, failed; // bytes and records behind the page; calls that returned an error
	uint64_t ticks[2];           // of the counter, and nanoseconds of the clock, at two times
	int64_t clock[2];
	int32_t state, error; // see below; the system's error number
	char library[512], program[512];
};
enum { RUNNING = 1, FINALIZED, ABORTED, OUT_OF_SPACE };

static struct {
	int on; // between MPI_Init and MPI_Finalize
	struct header *h;
	int file;
	int64_t mapped; // where in the file the window begins
	int64_t length;
	uint8_t *window, *at, *end;
	uint8_t spare[2 * ROOM]; // where the rest of a record goes that the disk has no room for

	uint64_t left;    // when the last call was left
	void *thread;     // by whom
	int64_t cpu;      // the thread's clock when it was last read, nanoseconds
	uint64_t brief;   // ticks since then
	uint64_t patient; // ticks of 50 µs: a gap or call beyond is worth reading the thread's clock
	int error;        // of the call that is put down: its class
	int locked;       // threads may call at once
	pthread_mutex_t lock;
} S = {.lock = PTHREAD_MUTEX_INITIALIZER};

// What a thread is doing.
static __thread struct {
	int inside; // of a call of MPI
	uint64_t entered;
	int64_t cpu; // when it was entered, if the gap was long
} T __attribute__((tls_model("initial-exec")));

static inline uint64_t ticks(void)
{
#if defined __x86_64__
	return __builtin_ia32_rdtsc();
#elif defined __aarch64__
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
#endif
}

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void tell(const char *what)
{
	char text[256];
	int n = snprintf(text, sizeof text, "tracegen: rank %d: %s\n", S.h ? S.h->rank : -1, what);
	(void)!write(STDERR_FILENO, text, n);
}

// stop ends the recording: what there is stays, and the program goes on.
static void stop(int state, int error)
{
	S.h->state = state;
	S.h->error = error;
	S.on = 0;
}

static void clocks(int i)
{
	S.h->clock[i] = nanoseconds(CLOCK_MONOTONIC);
	S.h->ticks[i] = ticks();
}

// move maps the part of the file from the current place on, of at least so many bytes.
static int move(size_t bytes)
{
	int64_t place = S.window ? S.mapped + (S.at - S.window) : HEADER;
	int64_t begin = place & ~(int64_t)(HEADER - 1);
	int64_t length = (bytes + 2 * HEADER + WINDOW - 1) / WINDOW * WINDOW;
	if (S.window) {
		munmap(S.window, S.length);
	}
	S.window = NULL;
	S.at = S.spare;
	int error = posix_fallocate(S.file, begin, length); // or a full disk would be a signal later
	uint8_t *window = error ? MAP_FAILED : mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, S.file, begin);
	if (window == MAP_FAILED) {
		error = error ? error : errno;
		stop(OUT_OF_SPACE, error);
		tell(strerror(error));
		return 0;
	}
	S.window = window;
	S.mapped = begin;
	S.length = length;
	S.at = window + (place - begin);
	S.end = window + length;
	clocks(1);
	return 1;
}

// room reports whether so many bytes can be written.
static inline int room(size_t bytes)
{
	return S.window && (S.end - S.at > (ptrdiff_t)bytes || move(bytes));
}

static inline void put(uint64_t v)
{
	uint8_t *at = S.at;
	while (v >= 0x80) {
		*at++ = v | 0x80;
		v >>= 7;
	}
	*at++ = v;
	S.at = at;
}

static inline void put_signed(int64_t v) { put((uint64_t)v << 1 ^ (uint64_t)(v >> 63)); }

// enter begins a call: what the rank did before it ends here.
static inline void enter(void)
{
	T.inside = 1;
	T.entered = ticks();
	if (UNLIKELY(T.entered - S.left > S.patient)) {
		T.cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	}
}

// gap puts down what the rank has done since the last call: ticks, or for a long one the
// time of the processor since the clock was last read, and the ticks of what was brief since.
static inline void gap(void)
{
	uint64_t gap = T.entered > S.left ? T.entered - S.left : 0;
	if (gap <= S.patient || S.thread != &T) {
		put(gap << 1);
		S.brief += gap;
		return;
	}
	put((uint64_t)(T.cpu - S.cpu) << 1 | 1);
	put(S.brief);
	S.cpu = T.cpu;
	S.brief = 0;
}

// happened reports whether a call that failed has done what it does, but for a message that was
// longer than its receive, or for some of its requests.
static int happened(int err)
{
	S.error = class_of(err);
	return S.error == abi.truncate || S.error == abi.in_status;
}

// begin starts the record of a call that has returned, and reports whether it is one.
static inline int begin(int procedure, int err)
{
	if (S.locked) {
		pthread_mutex_lock(&S.lock);
	}
	S.error = SUCCESS;
	if (UNLIKELY(err != SUCCESS) && !happened(err)) {
		S.h->failed++;
		return 0;
	}
	if (!S.on || !room(ROOM)) {
		return 0;
	}
	gap();
	put(procedure);
	return 1;
}

// leave ends a call, and its record.
static inline int leave(int err)
{
	if (S.window) {
		int64_t used = S.mapped + (S.at - S.window) - HEADER;
		S.h->calls += used != S.h->used;
		S.h->used = used;
	}
	uint64_t now = ticks(), took = now - T.entered;
	S.brief += took;
	if (UNLIKELY(took > S.patient || S.brief > 100 * S.patient || S.thread != &T)) {
		S.cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
		S.brief = 0;
		S.thread = &T;
		now = ticks();
	}
	S.left = now;
	T.inside = 0;
	if (S.locked) {
		pthread_mutex_unlock(&S.lock);
	}
	return err;
}

// A wrapper begins with FIND; inside of a call, or while nothing is recorded, it only passes on.
#define FIND(name) \
	static int (*real)(); \
	if (UNLIKELY(!real)) { \
		real = known("PMPI_" #name); \
	}
#define PASSES (UNLIKELY(!S.on || T.inside))
#define BOTH(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((alias("PMPI_" #name), visibility("default")));

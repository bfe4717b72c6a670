// The stream of a process: a file that is mapped piece by piece.

enum { HEADER = 4096, WINDOW = 1 << 20, ROOM = 1 << 14, BLOCK = 1024, STRIPE = 32 };

// How far the recording is, with a checksum. There are two, written in turn behind each BLOCK
// bytes of records, so that one of them is whole whatever ends the process.
struct mark {
	uint64_t number;      // the newer one has the greater
	int64_t used, failed; // bytes of records; calls that returned an error
	uint64_t ticks;       // of the counter, and nanoseconds of the clock, some time after those of the header
	int64_t clock;
	int32_t state, error; // see below; the system's error number
	uint64_t sum;         // of the header before used, of the records and of this mark
};
enum { RUNNING = 1, FINALIZED, ABORTED, OUT_OF_SPACE };

// The first page of the file, in the processor's byte order.
struct header {
	char magic[16];
	uint64_t run; // the same for all processes of a run
	int32_t rank, size, abi, multiple; // whether threads may call at once
	uint64_t ticks; // of the counter, and nanoseconds of the clock, at one time
	int64_t clock;
	char library[512], program[512], host[64];
	int64_t used; // bytes of records: raised behind each, so that it is right whatever ends the process
	struct mark marks[2];
};

static struct {
	int on; // between MPI_Init and MPI_Finalize
	struct header *h;
	int file;
	int64_t mapped; // where in the file the window begins
	int64_t length;
	uint8_t *window, *at, *end;
	const uint8_t *summed; // up to where sums are, whole stripes behind the page
	uint64_t sums[4];
	uint64_t head, records; // checksums of the header and of whole records, for a mark
	struct mark mark;
	uint8_t spare[2 * ROOM]; // where the rest of a record goes that the disk has no room for

	uint64_t left;    // when the last call was left
	uint64_t patient; // ticks of 50 µs: a gap or call beyond is worth reading the thread's clock
	int error;        // of the call that is put down: its class
	int locked;       // threads may call at once: then the beginnings and ends of calls are numbered
	uint64_t moments, ended; // so far; the end of the last record
	pthread_mutex_t lock;
} S = {.sums = {1, 2, 3, 4}, .lock = PTHREAD_MUTEX_INITIALIZER};

// What a thread is doing.
static __thread struct {
	int inside; // of so many calls of MPI: of two in a callback of the program
	uint64_t entered;
	int64_t cpu; // when it was entered, if the gap was long: the thread's clock, nanoseconds
	uint64_t returned; // when the thread left a call last
	uint64_t read;     // when its clock was read last
	int64_t clock;     // what it was then

	// If threads may call at once: the number of its beginning, and when any call was begun or left
	// before that.
	uint64_t began, left;
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

// mix adds a word to a checksum: two that differ in one of them are different.
static inline uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15;
	return sum ^ sum >> 32;
}

// add_stripes adds whole stripes to checksums, one for each word of a stripe so that a processor
// works at all of them, and returns where the next would begin.
static inline const uint8_t *add_stripes(uint64_t sums[4], const uint8_t *at, const uint8_t *end)
{
	for (; end - at >= STRIPE; at += STRIPE) {
		uint64_t words[4];
		memcpy(words, at, STRIPE);
		for (int i = 0; i < 4; i++) {
			sums[i] = mix(sums[i], words[i]);
		}
	}
	return at;
}

// checksum returns that of what the checksums are of and of the bytes that follow.
static uint64_t checksum(const uint64_t before[4], const uint8_t *at, const uint8_t *end)
{
	uint64_t sums[4];
	memcpy(sums, before, sizeof sums);
	at = add_stripes(sums, at, end);
	uint8_t last[STRIPE] = {0};
	memcpy(last, at, end - at);
	add_stripes(sums, last, last + STRIPE);
	return mix(mix(mix(sums[0], sums[1]), sums[2]), sums[3]);
}

// add_records brings the checksum of whole records up to the last one.
static void add_records(void)
{
	uint8_t *end = S.window + (HEADER + S.h->used - S.mapped);
	if (end < S.summed) {
		return; // it is behind the beginning of one that is not whole
	}
	S.summed = add_stripes(S.sums, S.summed, end);
	S.mark.used = S.h->used;
	S.records = checksum(S.sums, S.summed, end);
}

// mark writes a mark. What it is of is written before it.
static void mark(void)
{
	struct mark *m = &S.mark;
	m->number++;
	m->sum = mix(mix(mix(mix(S.head, S.records), m->number), m->used), m->failed);
	m->sum = mix(mix(mix(m->sum, m->ticks), m->clock), (uint64_t)m->state << 32 | (uint32_t)m->error);
	__asm__ volatile("" ::: "memory");
	S.h->marks[m->number & 1] = *m;
}

// stop ends the recording: what there is stays, and the program goes on.
static void stop(int state, int error)
{
	S.mark.state = state;
	S.mark.error = error;
	mark();
	mark(); // in place of the one before
	S.on = 0;
}

static void clocks(void)
{
	S.mark.clock = nanoseconds(CLOCK_MONOTONIC);
	S.mark.ticks = ticks();
}

// move maps the part of the file from the current place on, of at least so many bytes.
static int move(size_t bytes)
{
	int64_t place = S.window ? S.mapped + (S.at - S.window) : HEADER;
	int64_t begin = place & ~(int64_t)(HEADER - 1);
	int64_t length = (bytes + 2 * HEADER + WINDOW - 1) / WINDOW * WINDOW;
	if (S.window) {
		add_records();
		(void)add_stripes(S.sums, S.summed, S.at);
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
	S.summed = window + (place / STRIPE * STRIPE - begin);
	S.end = window + length;
	clocks();
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

static inline uint32_t hash(W value)
{
	uint64_t h = (uint64_t)value * 0x9E3779B97F4A7C15u;
	return h >> 40;
}

static inline void lock(void)
{
	if (S.locked) {
		pthread_mutex_lock(&S.lock);
	}
}

static inline void unlock(void)
{
	if (S.locked) {
		pthread_mutex_unlock(&S.lock);
	}
}

static void among_threads(void)
{
	lock();
	T.began = ++S.moments;
	T.left = S.left;
	if (T.entered > S.left) {
		S.left = T.entered;
	}
	unlock();
}

// enter begins a call: what the rank did before it ends here.
static inline void enter(void)
{
	T.inside++;
	T.entered = ticks();
	if (UNLIKELY(T.entered - S.left > S.patient)) {
		T.cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	}
	if (UNLIKELY(S.locked)) {
		among_threads();
	}
}

// gap puts down what the rank has done since the last call: ticks, or for a long one the time of
// the processor since the thread's clock was last read, and the ticks from there to the
// thread's last call, and whether it was without the processor for more than half of it. What it has
// computed while others called is not counted again.
static inline void gap(void)
{
	uint64_t left = UNLIKELY(S.locked) ? T.left : S.left, gap = T.entered > left ? T.entered - left : 0;
	if (gap > S.patient) {
		uint64_t brief = T.returned - T.read;
		double computed = (T.cpu - T.clock) * (S.patient / 50000.0) - brief;
		int64_t since = T.cpu - T.clock;
		T.clock = T.cpu;
		T.read = T.entered;
		if (computed < gap) {
			put((uint64_t)since << 2 | (2 * computed < gap) << 1 | 1);
			put(brief);
			return;
		}
	}
	put(gap << 1);
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
	lock();
	S.error = SUCCESS;
	if (UNLIKELY(err != SUCCESS) && !happened(err)) {
		S.mark.failed++;
		return 0;
	}
	if (!S.on || !room(ROOM)) {
		return 0;
	}
	if (UNLIKELY(S.locked)) { // how many calls began or ended during it, and since the last record
		uint64_t end = ++S.moments;
		put(end - T.began - 1);
		put(end - S.ended - 1);
		S.ended = end;
	}
	gap();
	put(procedure);
	return 1;
}

// leave ends a call, and its record.
static inline int leave(int err)
{
	if (S.window) {
		S.h->used = S.mapped + (S.at - S.window) - HEADER;
		if (UNLIKELY(S.at - S.summed >= BLOCK)) {
			add_records();
			mark();
		}
	}
	uint64_t now = ticks();
	if (UNLIKELY(now - T.entered > S.patient || now - T.read > 100 * S.patient)) {
		T.clock = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
		T.read = now = ticks();
	}
	S.left = T.returned = T.entered = now;
	T.inside--;
	if (UNLIKELY(S.locked)) {
		T.left = now;
		T.began = S.moments;
		pthread_mutex_unlock(&S.lock);
	}
	return err;
}

// of_library reports whether a call is made by MPI's own library, or by a part that it has loaded
// (those of Open MPI are called mca_*). What was found of an address is kept.
static int of_library(void *caller)
{
	static uintptr_t kept[256];
	uintptr_t *place = &kept[hash((W)caller) % 256], is = (uintptr_t)caller << 1;
	uintptr_t there = __atomic_load_n(place, __ATOMIC_RELAXED);
	if ((there | 1) == (is | 1)) {
		return there & 1;
	}
	static void *own;
	Dl_info info;
	if (!own && dladdr(find("PMPI_Send"), &info)) {
		own = info.dli_fbase;
	}
	int found = 1;
	if (dladdr(caller, &info)) {
		const char *name = strrchr(info.dli_fname, '/');
		name = name ? name + 1 : info.dli_fname;
		found = info.dli_fbase == own || !strncmp(name, "mca_", 4) || !strncmp(name, "libmca_", 7);
	}
	__atomic_store_n(place, is | found, __ATOMIC_RELAXED);
	return found;
}

// passes reports whether a call is not recorded: outside of the recording, and inside of another call
// what MPI calls itself. What a callback of the program calls is recorded before the call
// that it is in, and behind what the program did before that.
static int passes(void *caller)
{
	if (!S.on || of_library(caller)) {
		return 1;
	}
	if (T.entered > S.left) {
		uint64_t since = ticks() - T.entered;
		S.left += since;
		T.returned += since;
	}
	return 0;
}

// A wrapper begins with FIND; what passes is only handed on.
#define FIND(name) \
	static int (*real)(); \
	if (UNLIKELY(!real)) { \
		real = known("PMPI_" #name); \
	}
#define WITHIN (UNLIKELY(!S.on || T.inside)) // a kernel: what others call of it is their own
#define PASSES (WITHIN && passes(__builtin_return_address(0)))
#define BOTH(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((alias("PMPI_" #name), visibility("default")));

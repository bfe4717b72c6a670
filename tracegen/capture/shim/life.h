// The beginning and the end of a recording, and what a process frees.

__attribute__((constructor)) static void loaded(void)
{
	static struct header before; // until there is a file
	S.h = &before;
	S.h->rank = -1;
	S.h->clock = nanoseconds(CLOCK_MONOTONIC);
	S.h->ticks = ticks();
}

static int sessions; // that are open

// world_of finds the group of all processes: that of MPI_COMM_WORLD, or for a session, if there is
// one, of the set of that name. It returns 0 for those of MPI_Comm_spawn, which are of another world.
static int world_of(W session)
{
	if (session) {
		return known("PMPI_Group_from_session_pset")(session, "mpi://WORLD", &world_group) == SUCCESS;
	}
	W parent = abi.comm_null;
	known("PMPI_Comm_get_parent")(&parent);
	return handle_of(parent) == abi.comm_null && known("PMPI_Comm_group")(abi.comm_world, &world_group) == SUCCESS;
}

// open_stream begins the file of this process in the directory that the environment names. Session
// is 0 if MPI_COMM_WORLD can be asked.
static void open_stream(W session)
{
	const char *directory = getenv("REPRISE_CAPTURE"), *run = getenv("REPRISE_CAPTURE_RUN");
	if (!directory || !run) {
		return;
	}
	static char text[MAX_LIBRARY_VERSION];
	struct header first = *S.h;
	if (!learn(text)) {
		tell("an MPI that the recorder does not know; nothing is recorded");
		return;
	}
	if (!world_of(session)) {
		return;
	}
	known("PMPI_Group_rank")(world_group, &first.rank);
	known("PMPI_Group_size")(world_group, &first.size);
	char path[4096];
	snprintf(path, sizeof path, "%s/%d", directory, first.rank);
	S.file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int error = S.file < 0 ? errno : posix_fallocate(S.file, 0, HEADER);
	struct header *h = error ? MAP_FAILED : mmap(NULL, HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, S.file, 0);
	if (h == MAP_FAILED) {
		S.h->rank = first.rank;
		snprintf(text, sizeof text, "%.200s: %s", path, strerror(error ? error : errno));
		tell(text);
		return;
	}
	*h = first;
	memcpy(h->magic, "reprise capture5", 16); // the last one is the version of records
	h->run = strtoull(run, NULL, 10);
	h->abi = abi.id;
	int level = abi.thread_multiple; // a session may say later that threads call at once
	if (!session) {
		known("PMPI_Query_thread")(&level);
	}
	S.locked = h->multiple = level == abi.thread_multiple;
	snprintf(h->library, sizeof h->library, "%.500s", text);
	ssize_t n = readlink("/proc/self/exe", h->program, sizeof h->program - 1);
	h->program[n < 0 ? 0 : n] = 0;
	gethostname(h->host, sizeof h->host - 1); // what does not fit is cut
	h->host[sizeof h->host - 1] = 0;
	S.h = h;
	S.head = checksum(S.sums, (uint8_t *)h, (uint8_t *)&h->used);
	S.records = checksum(S.sums, (uint8_t *)h, (uint8_t *)h);
	S.mark.state = RUNNING;
	clocks();
	mark();
	double rate = (double)(S.mark.ticks - h->ticks) / (S.mark.clock - h->clock); // ticks of a nanosecond
	S.patient = rate * 50000;
	S.on = move(0);
	num_comms = 2; // those of MPI_Init
}

// after_init is behind MPI_Init, or a session that is the first.
static int after_init(int err, W session)
{
	if (err == SUCCESS && !S.window) {
		open_stream(session);
	}
	if (S.on && !session) {
		has_world = 1;
		add_comm(abi.comm_world, 0);
		add_comm(abi.comm_self, 1);
	}
	T.clock = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	S.left = T.read = T.returned = ticks();
	T.inside = 0;
	return err;
}

EXPORT int PMPI_Init(W argc, W argv)
{
	FIND(Init)
	if (T.inside) {
		return real(argc, argv);
	}
	T.inside = 1;
	return after_init(real(argc, argv), 0);
}
BOTH(Init)

EXPORT int PMPI_Init_thread(W argc, W argv, W required, W provided)
{
	FIND(Init_thread)
	if (T.inside) {
		return real(argc, argv, required, provided);
	}
	T.inside = 1;
	return after_init(real(argc, argv, required, provided), 0);
}
BOTH(Init_thread)

EXPORT int PMPI_Session_init(W info, W errhandler, W session)
{
	FIND(Session_init)
	if (T.inside) {
		return real(info, errhandler, session);
	}
	enter();
	int err = real(info, errhandler, session);
	sessions += err == SUCCESS;
	if (!S.on) {
		return err == SUCCESS ? after_init(err, *(W *)session) : (T.inside = 0, err);
	}
	begin(P_Session_init, err);
	return leave(err);
}
BOTH(Session_init)

// finish writes the record of a procedure with which the process ends.
static void finish(int procedure, int state, int code)
{
	enter();
	if (begin(procedure, SUCCESS)) {
		put_signed(code);
	}
	leave(SUCCESS);
	if (S.on) {
		clocks();
		add_records();
		S.mark.state = state;
		mark();
	}
}

static void close_stream(void)
{
	if (S.on) {
		clocks();
		add_records();
		stop(S.mark.state, 0);
		(void)!ftruncate(S.file, HEADER + S.h->used);
	}
}

// The recording is complete before, whatever becomes of the process, and goes on until MPI has ended:
// callbacks of the program for attributes of MPI_COMM_SELF may call it (MPI 4.1, 11.2.4).
EXPORT int PMPI_Finalize(void)
{
	FIND(Finalize)
	if (PASSES) {
		return real();
	}
	finish(P_Finalize, FINALIZED, 0);
	enter();
	int err = real();
	T.inside--;
	close_stream();
	return err;
}
BOTH(Finalize)

// With the last session the recording is complete, if there is no other end. Others may follow.
EXPORT int PMPI_Session_finalize(W session)
{
	FIND(Session_finalize)
	if (PASSES) {
		return real(session);
	}
	if (--sessions == 0 && !has_world) {
		finish(P_Session_finalize, FINALIZED, 0);
	}
	enter();
	int err = real(session);
	T.inside--;
	return err;
}
BOTH(Session_finalize)

EXPORT int PMPI_Abort(W comm, W code)
{
	FIND(Abort)
	if (!PASSES) {
		finish(P_Abort, ABORTED, code);
		close_stream();
	}
	return real(comm, code);
}
BOTH(Abort)

// What follows the level of MPI_Pcontrol is passed on and not looked at.
EXPORT int PMPI_Pcontrol(const int level, W a, W b, W c, W d, W e)
{
	FIND(Pcontrol)
	if (PASSES) {
		return real(level, a, b, c, d, e);
	}
	enter();
	int err = real(level, a, b, c, d, e);
	if (begin(P_Pcontrol, err)) {
		put_signed(level);
	}
	return leave(err);
}
BOTH(Pcontrol)

// The communicator is looked up before it is gone.
static int frees(int procedure, W pointer, int (*real)())
{
	enter();
	lock();
	struct comm *gone = comm_of(pointer ? handle_at(pointer, 0) : abi.comm_null);
	unlock();
	int err = real(pointer);
	if (begin(procedure, err)) {
		put_comm(gone);
		forget_comm(gone);
	}
	return leave(err);
}

EXPORT int PMPI_Comm_free(W pointer)
{
	FIND(Comm_free)
	return PASSES ? real(pointer) : frees(P_Comm_free, pointer, real);
}
BOTH(Comm_free)

EXPORT int PMPI_Comm_disconnect(W pointer)
{
	FIND(Comm_disconnect)
	return PASSES ? real(pointer) : frees(P_Comm_disconnect, pointer, real);
}
BOTH(Comm_disconnect)

// A datatype that is made later may have the handle of one that is freed.
EXPORT int PMPI_Type_free(W pointer)
{
	FIND(Type_free)
	if (!PASSES) {
		lock();
		memset(sizes, 0, sizeof sizes);
		unlock();
	}
	return real(pointer);
}
BOTH(Type_free)

// The wrappers of what completes, tests, starts and frees requests. Their handles must be
// read before the call, which may overwrite them.
//
// A request is put down as 0 for none, or (age << 4 | flags), where the age is how many were
// made since, itself included; of persistent ones, which have ages of their own, the number.
// Flags: 1 the source and tag follow, 2 persistent, 4 it was cancelled, 8 the bytes follow.

static void put_request(struct request *r, const char *status)
{
	if (!r) {
		put(0);
		return;
	}
	uint64_t name = r->persistent ? r->number : requests.made - r->number + 1;
	int cancelled = 0;
	if (status && r->cancelled) {
		known("PMPI_Test_cancelled")(status, &cancelled);
	}
	int got = status && r->receive && !cancelled;
	int64_t bytes = got ? received(status, r->posted) : r->posted;
	int other = bytes != r->posted, wild = got && r->wild;
	put(name << 4 | wild | r->persistent << 1 | cancelled << 2 | other << 3);
	if (wild) {
		put_rank(status_source(status));
		put_tag(status_tag(status));
	}
	if (other) {
		put(bytes);
	}
}

// completed puts down a request that has ended, and forgets it unless it may start again.
static void completed(struct request *r, const char *status)
{
	put_request(r, status);
	if (r && r->persistent) {
		r->taken = 0;
		r->cancelled = 0;
	} else if (r) {
		drop(r);
	}
}

static void still(struct request *r)
{
	put_request(r, NULL);
	give_back(r);
}

// ended puts down a request of a call that has ended all, or has failed: then it may go on.
static inline void ended(struct request *r, const char *status)
{
	if (UNLIKELY(S.error == abi.in_status) && status_error(status) == abi.pending) {
		put_request(NULL, NULL);
		give_back(r);
		return;
	}
	completed(r, status);
}

// A batch is the requests of a call, and room for statuses that the program does not want.
enum { FEW = 64 };
struct batch {
	int n;
	struct request **of;
	W statuses;
	struct request *few[FEW];
	char own[FEW * STATUS_BYTES];
	void *more;
};

static inline void take_all(struct batch *b, W array, W count, W statuses)
{
	b->n = (int)count < 0 || !array ? 0 : (int)count; // MPI returns an error then
	b->few[0] = NULL;
	b->of = b->few;
	b->statuses = statuses == abi.status_ignore ? (W)b->own : statuses;
	b->more = NULL;
	if (b->n > FEW) {
		b->more = allocate(NULL, b->n * (sizeof *b->of + STATUS_BYTES));
		b->of = b->more;
		b->statuses = statuses == abi.status_ignore ? (W)(b->of + b->n) : statuses;
	}
	lock();
	requests.batches++;
	for (int i = 0; i < b->n; i++) {
		b->of[i] = take(handle_at(array, i));
	}
	unlock();
}

static inline const char *status_at(struct batch *b, int i) { return (const char *)(b->statuses + (size_t)i * abi.status_size); }

static inline int end_batch(struct batch *b, int err)
{
	free(b->more);
	return leave(err);
}

// start_batch begins a record with so many requests; where there is none, they are set free.
static inline int begin_batch(struct batch *b, int procedure, int err)
{
	if (begin(procedure, err) && room(32 * (size_t)b->n + ROOM)) {
		return 1;
	}
	for (int i = 0; i < b->n; i++) {
		give_back(b->of[i]);
	}
	return 0;
}

EXPORT int PMPI_Wait(W request, W status)
{
	FIND(Wait)
	if (PASSES) {
		return real(request, status);
	}
	enter();
	struct batch b;
	take_all(&b, request, 1, status);
	int err = real(request, b.statuses);
	if (begin_batch(&b, P_Wait, err)) {
		completed(b.of[0], status_at(&b, 0));
	}
	return end_batch(&b, err);
}
BOTH(Wait)

EXPORT int PMPI_Waitall(W count, W array, W statuses)
{
	FIND(Waitall)
	if (PASSES) {
		return real(count, array, statuses);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, statuses);
	int err = real(count, array, b.statuses);
	if (begin_batch(&b, P_Waitall, err)) {
		put(b.n);
		for (int i = 0; i < b.n; i++) {
			ended(b.of[i], status_at(&b, i));
		}
	}
	return end_batch(&b, err);
}
BOTH(Waitall)

EXPORT int PMPI_Waitany(W count, W array, W index, W status)
{
	FIND(Waitany)
	if (PASSES) {
		return real(count, array, index, status);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, status);
	int err = real(count, array, index, b.statuses);
	if (begin_batch(&b, P_Waitany, err)) {
		int chosen = int_at(index, 0);
		put(b.n);
		put(chosen == UNDEFINED ? 0 : 1 + chosen);
		for (int i = 0; i < b.n; i++) {
			i == chosen ? completed(b.of[i], status_at(&b, 0)) : still(b.of[i]);
		}
	}
	return end_batch(&b, err);
}
BOTH(Waitany)

// some puts down what MPI_Waitsome and MPI_Testsome found.
static void some(struct batch *b, int found, W indices)
{
	put(b->n);
	put(found == UNDEFINED ? 0 : 1 + found);
	for (int k = 0; k < found; k++) {
		int i = int_at(indices, k);
		put(i);
		completed(b->of[i], status_at(b, k));
		b->of[i] = NULL;
	}
	for (int i = 0; i < b->n; i++) {
		still(b->of[i]);
	}
}

EXPORT int PMPI_Waitsome(W count, W array, W found, W indices, W statuses)
{
	FIND(Waitsome)
	if (PASSES) {
		return real(count, array, found, indices, statuses);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, statuses);
	int err = real(count, array, found, indices, b.statuses);
	if (begin_batch(&b, P_Waitsome, err)) {
		some(&b, int_at(found, 0), indices);
	}
	return end_batch(&b, err);
}
BOTH(Waitsome)

EXPORT int PMPI_Testsome(W count, W array, W found, W indices, W statuses)
{
	FIND(Testsome)
	if (PASSES) {
		return real(count, array, found, indices, statuses);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, statuses);
	int err = real(count, array, found, indices, b.statuses);
	if (begin_batch(&b, P_Testsome, err)) {
		some(&b, int_at(found, 0), indices);
	}
	return end_batch(&b, err);
}
BOTH(Testsome)

EXPORT int PMPI_Test(W request, W flag, W status)
{
	FIND(Test)
	if (PASSES) {
		return real(request, flag, status);
	}
	enter();
	struct batch b;
	take_all(&b, request, 1, status);
	int err = real(request, flag, b.statuses);
	if (begin_batch(&b, P_Test, err)) {
		int done = int_at(flag, 0) != 0;
		put(done);
		done ? completed(b.of[0], status_at(&b, 0)) : still(b.of[0]);
	}
	return end_batch(&b, err);
}
BOTH(Test)

EXPORT int PMPI_Testall(W count, W array, W flag, W statuses)
{
	FIND(Testall)
	if (PASSES) {
		return real(count, array, flag, statuses);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, statuses);
	int err = real(count, array, flag, b.statuses);
	if (begin_batch(&b, P_Testall, err)) {
		int done = int_at(flag, 0) != 0 || S.error == abi.in_status;
		put(done);
		put(b.n);
		for (int i = 0; i < b.n; i++) {
			done ? ended(b.of[i], status_at(&b, i)) : still(b.of[i]);
		}
	}
	return end_batch(&b, err);
}
BOTH(Testall)

EXPORT int PMPI_Testany(W count, W array, W index, W flag, W status)
{
	FIND(Testany)
	if (PASSES) {
		return real(count, array, index, flag, status);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, status);
	int err = real(count, array, index, flag, b.statuses);
	if (begin_batch(&b, P_Testany, err)) {
		int done = int_at(flag, 0) != 0, chosen = done ? int_at(index, 0) : UNDEFINED;
		put(done);
		put(b.n);
		put(chosen == UNDEFINED ? 0 : 1 + chosen);
		for (int i = 0; i < b.n; i++) {
			i == chosen ? completed(b.of[i], status_at(&b, 0)) : still(b.of[i]);
		}
	}
	return end_batch(&b, err);
}
BOTH(Testany)

// MPI_Request_get_status tells that a request has ended, and leaves it as it is.
EXPORT int PMPI_Request_get_status(W request, W flag, W status)
{
	FIND(Request_get_status)
	if (PASSES) {
		return real(request, flag, status);
	}
	enter();
	struct batch b;
	take_all(&b, (W)&request, 1, status);
	int err = real(request, flag, b.statuses);
	if (begin_batch(&b, P_Request_get_status, err)) {
		int done = int_at(flag, 0) != 0;
		put(done);
		put_request(b.of[0], done ? status_at(&b, 0) : NULL);
		give_back(b.of[0]);
	}
	return end_batch(&b, err);
}
BOTH(Request_get_status)

EXPORT int PMPI_Start(W request)
{
	FIND(Start)
	if (PASSES) {
		return real(request);
	}
	enter();
	struct batch b;
	take_all(&b, request, 1, abi.status_ignore);
	int err = real(request);
	if (begin_batch(&b, P_Start, err)) {
		still(b.of[0]);
	}
	return end_batch(&b, err);
}
BOTH(Start)

EXPORT int PMPI_Startall(W count, W array)
{
	FIND(Startall)
	if (PASSES) {
		return real(count, array);
	}
	enter();
	struct batch b;
	take_all(&b, array, count, abi.status_ignore);
	int err = real(count, array);
	if (begin_batch(&b, P_Startall, err)) {
		put(b.n);
		for (int i = 0; i < b.n; i++) {
			still(b.of[i]);
		}
	}
	return end_batch(&b, err);
}
BOTH(Startall)

// looked_at returns the status of a request that is still there, NULL if it has not ended.
static const char *looked_at(W request, W status)
{
	int done = 0;
	struct handlers before = quiet();
	known("PMPI_Request_get_status")(handle_at(request, 0), &done, status);
	as_before(before);
	return done ? (const char *)status : NULL;
}

EXPORT int PMPI_Request_free(W request)
{
	FIND(Request_free)
	if (PASSES) {
		return real(request);
	}
	enter();
	struct batch b;
	take_all(&b, request, 1, abi.status_ignore);
	const char *found = b.of[0] && (b.of[0]->receive || b.of[0]->cancelled) ? looked_at(request, b.statuses) : NULL;
	int err = real(request);
	if (begin_batch(&b, P_Request_free, err)) {
		put_request(b.of[0], found);
		if (b.of[0]) {
			drop(b.of[0]);
		}
	}
	return end_batch(&b, err);
}
BOTH(Request_free)

// A receive that is cancelled has mostly ended, and may never be completed.
EXPORT int PMPI_Cancel(W request)
{
	FIND(Cancel)
	if (PASSES) {
		return real(request);
	}
	enter();
	struct batch b;
	take_all(&b, request, 1, abi.status_ignore);
	int err = real(request);
	const char *found = err == SUCCESS && b.of[0] && b.of[0]->receive ? looked_at(request, b.statuses) : NULL;
	if (begin_batch(&b, P_Cancel, err)) {
		if (b.of[0]) {
			b.of[0]->cancelled = 1;
		}
		put_request(b.of[0], found);
		give_back(b.of[0]);
	}
	return end_batch(&b, err);
}
BOTH(Cancel)

// What is known of the program's datatypes, communicators, requests and messages.

static void *allocate(void *old, size_t bytes)
{
	void *p = realloc(old, bytes);
	if (!p) {
		stop(OUT_OF_SPACE, ENOMEM);
		tell("no memory for the recorder");
		abort();
	}
	return p;
}

// Sizes of datatypes, those that were asked for last.
enum { SIZES = 256 };
static struct {
	W type;
	int64_t bytes;
} sizes[SIZES];

static int64_t type_size(W argument)
{
	W type = handle_of(argument);
	uint32_t i = hash(type) % SIZES;
	if (UNLIKELY(sizes[i].type != type)) {
		static int (*size_of)();
		if (!size_of) {
			size_of = known("PMPI_Type_size_x");
		}
		int64_t bytes = 0;
		if (type && type != abi.type_null) { // of no elements, or where it does not matter
			struct handlers before = quiet();
			if (size_of(argument, &bytes) != SUCCESS || bytes < 0) {
				bytes = 0;
			}
			as_before(before);
		}
		sizes[i].type = type;
		sizes[i].bytes = bytes;
	}
	return sizes[i].bytes;
}

// Communicators. They are numbered in the order in which the process gets them, from the
// world, 0, and itself, 1. Those that no recorded call has made are strangers.
enum { STRANGER = -1 };
struct comm {
	W handle;
	int number, size, rank, remote; // remote: members of the other group, 0 if there is none
	int sources, destinations;      // neighbours
	struct comm *next;
};
enum { COMMS = 256 };
static struct comm *comms[COMMS];
static struct comm *recent;
static int num_comms;

static struct comm *add_comm(W handle, int number)
{
	struct comm *c = allocate(NULL, sizeof *c);
	*c = (struct comm){.handle = handle, .number = number, .next = comms[hash(handle) % COMMS]};
	comms[hash(handle) % COMMS] = c;
	recent = NULL;
	int inter = 0;
	struct handlers before = quiet(); // a stranger may be none at all
	known("PMPI_Comm_size")(handle, &c->size);
	known("PMPI_Comm_rank")(handle, &c->rank);
	known("PMPI_Comm_test_inter")(handle, &inter);
	if (inter) {
		known("PMPI_Comm_remote_size")(handle, &c->remote);
	}
	as_before(before);
	return c;
}

static inline struct comm *comm_of(W argument)
{
	W handle = handle_of(argument);
	if (recent && recent->handle == handle) {
		return recent;
	}
	struct comm *c = comms[hash(handle) % COMMS];
	while (c && c->handle != handle) {
		c = c->next;
	}
	return recent = c ? c : add_comm(handle, STRANGER);
}

// forget_comm forgets a communicator, not one that has been made since and has its handle.
static void forget_comm(struct comm *gone)
{
	struct comm **c = &comms[hash(gone->handle) % COMMS];
	while (*c != gone) {
		c = &(*c)->next;
	}
	*c = gone->next;
	recent = NULL;
	free(gone);
}

static void put_rank(int rank)
{
	put_signed(rank == abi.any_source ? -1 : rank == abi.proc_null ? -2 : rank == abi.root ? -3 : rank);
}

static void put_tag(int tag) { put_signed(tag == abi.any_tag ? -1 : tag); }

// put_comm puts down the number of a communicator, from 1; 0 for a stranger, of which follow its
// size, the own rank and the size of the other group.
static void put_comm(const struct comm *c)
{
	put(c->number + 1);
	if (c->number == STRANGER) {
		put(c->size);
		put(c->rank);
		put(c->remote);
	}
}

static W world_group; // of all processes of the recording

// put_group puts down the members of a group, as ranks of the world.
static void put_group(W group, int size)
{
	int *own = allocate(NULL, 2 * (size + 1) * sizeof *own), *ranks = own + size;
	for (int i = 0; i < size; i++) {
		own[i] = i;
	}
	known("PMPI_Group_translate_ranks")(group, size, own, world_group, ranks);
	for (int i = 0; i < size && room(10 * size); i++) {
		put_signed(ranks[i]);
	}
	free(own);
}

static void put_neighbours(struct comm *c);

// put_new puts down a communicator that the program got: 0 for none, else its size, the own
// rank, and its members if the rank is the first or all are wanted.
static void put_new(W pointer, int all)
{
	W handle = handle_at(pointer, 0), group = 0;
	if (handle == abi.comm_null) {
		put(0);
		return;
	}
	struct comm *c = add_comm(handle, num_comms++);
	put(1 + c->size);
	put(c->rank);
	put(c->remote);
	all = all || c->rank == 0 || c->remote;
	put(all);
	if (all) {
		known("PMPI_Comm_group")(handle, &group);
		put_group(group, c->size);
		known("PMPI_Group_free")(&group);
	}
	if (c->remote) {
		known("PMPI_Comm_remote_group")(handle, &group);
		put_group(group, c->remote);
		known("PMPI_Group_free")(&group);
	}
	put_neighbours(c);
}

// put_copy puts down a copy of a communicator that is not ready yet and may not be asked: its
// neighbours are those of the other.
static void put_copy(W pointer, struct comm *c)
{
	struct comm *copy = allocate(NULL, sizeof *copy);
	*copy = *c;
	copy->handle = handle_at(pointer, 0);
	copy->number = num_comms++;
	copy->next = comms[hash(copy->handle) % COMMS];
	comms[hash(copy->handle) % COMMS] = copy;
	put(1 + c->size);
	put(c->rank);
	put(c->remote);
	put(0);
	put_neighbours(c);
}

// put_neighbours puts down what topology a communicator has, 1 a graph, 2 a grid, 0 none, and whom
// the neighbourhood collectives receive from and send to, as ranks of the communicator.
static void put_neighbours(struct comm *c)
{
	int n = 0, *from = NULL, *to = NULL, kind = UNDEFINED;
	if (!c->remote) {
		known("PMPI_Topo_test")(c->handle, &kind);
	}
	if (kind == abi.cart) {
		known("PMPI_Cartdim_get")(c->handle, &n);
		from = allocate(NULL, (2 * n + 1) * sizeof *from);
		for (int i = 0; i < n; i++) {
			known("PMPI_Cart_shift")(c->handle, i, 1, &from[2 * i], &from[2 * i + 1]);
		}
		c->sources = c->destinations = 2 * n;
	} else if (kind == abi.graph) {
		known("PMPI_Graph_neighbors_count")(c->handle, c->rank, &n);
		from = allocate(NULL, (n + 1) * sizeof *from);
		known("PMPI_Graph_neighbors")(c->handle, c->rank, n, from);
		c->sources = c->destinations = n;
	} else if (kind == abi.dist_graph) {
		int weighted;
		known("PMPI_Dist_graph_neighbors_count")(c->handle, &c->sources, &c->destinations, &weighted);
		from = allocate(NULL, 2 * (c->sources + c->destinations + 1) * sizeof *from);
		to = from + c->sources;
		int *weights = to + c->destinations + 1;
		known("PMPI_Dist_graph_neighbors")(c->handle, c->sources, from, weights, c->destinations, to, weights + c->sources);
	}
	to = to ? to : from;
	put(kind == abi.cart ? 2 : kind != UNDEFINED);
	put(c->sources);
	put(c->destinations);
	if (room(10 * (c->sources + c->destinations))) {
		for (int i = 0; i < c->sources; i++) {
			put_rank(from[i]);
		}
		for (int i = 0; i < c->destinations; i++) {
			put_rank(to[i]);
		}
	}
	free(from);
}

// Requests, by handle. Several may have the same one: MPI gives out one for all that are
// complete at once. Then the first that was made is meant.
struct request {
	W handle;
	int64_t number, posted; // of its kind, from 1; bytes that a receive has room for
	uint8_t persistent, receive, wild, cancelled, taken;
	struct request *next;
	struct request *until; // of a batch: all of the handle from here to there are taken
	int64_t batch;
};
static struct {
	struct request **first, **last; // by hash
	uint32_t buckets, count;
	struct request *free;
	int64_t made, persistent, batches; // batches: of requests that were looked up at once
} requests;

static void grow(void)
{
	struct request **old = requests.first;
	uint32_t n = requests.buckets;
	requests.buckets = n ? 2 * n : 256;
	requests.first = allocate(NULL, 2 * requests.buckets * sizeof *requests.first);
	requests.last = requests.first + requests.buckets;
	memset(requests.first, 0, 2 * requests.buckets * sizeof *requests.first);
	for (uint32_t i = 0; i < n; i++) {
		for (struct request *r = old[i], *next; r; r = next) {
			next = r->next;
			r->next = NULL;
			uint32_t to = hash(r->handle) % requests.buckets;
			*(requests.first[to] ? &requests.last[to]->next : &requests.first[to]) = r;
			requests.last[to] = r;
		}
	}
	free(old);
}

static struct request *add_request(W pointer)
{
	if (requests.count >= requests.buckets) {
		grow();
	}
	struct request *r = requests.free;
	if (r) {
		requests.free = r->next;
	} else {
		r = allocate(NULL, sizeof *r);
	}
	*r = (struct request){.handle = handle_at(pointer, 0)};
	uint32_t to = hash(r->handle) % requests.buckets;
	*(requests.first[to] ? &requests.last[to]->next : &requests.first[to]) = r;
	requests.last[to] = r;
	requests.count++;
	return r;
}

static inline struct request *new_request(W pointer)
{
	struct request *r = add_request(pointer);
	r->number = ++requests.made;
	return r;
}

static struct request *new_persistent(W pointer)
{
	struct request *r = add_request(pointer);
	r->number = ++requests.persistent;
	r->persistent = 1;
	return r;
}

// receives notes that a request receives.
static inline void receives(struct request *r, int64_t bytes, int source, int tag)
{
	r->receive = 1;
	r->posted = bytes;
	r->wild = source == abi.any_source || tag == abi.any_tag;
}

// beyond finds the next request of the handle of one that is taken. Within a batch it goes on
// from where it has come to, or many of one handle would be passed again for each.
static struct request *beyond(struct request *first)
{
	struct request *r = first->batch == requests.batches ? first->until : first;
	do {
		r = r->next;
	} while (r && (r->handle != first->handle || r->taken));
	if (r) {
		first->batch = requests.batches;
		first->until = r;
	}
	return r;
}

// take finds the request of a handle, NULL for none or one that is not known, and sets it
// aside until drop or give_back.
static inline struct request *take(W handle)
{
	if (handle == abi.request_null || !requests.buckets) {
		return NULL;
	}
	struct request *r = requests.first[hash(handle) % requests.buckets];
	while (r && r->handle != handle) {
		r = r->next;
	}
	if (r && UNLIKELY(r->taken)) {
		r = beyond(r);
	}
	if (r) {
		r->taken = 1;
	}
	return r;
}

static inline void give_back(struct request *r)
{
	if (r) {
		r->taken = 0;
	}
}

// drop forgets a request.
static void drop(struct request *r)
{
	uint32_t i = hash(r->handle) % requests.buckets;
	struct request *before = NULL;
	for (struct request *p = requests.first[i]; p != r; p = p->next) {
		before = p;
	}
	*(before ? &before->next : &requests.first[i]) = r->next;
	if (requests.last[i] == r) {
		requests.last[i] = before;
	}
	r->next = requests.free;
	requests.free = r;
	requests.count--;
}

// Messages that a matched probe has found and that are not received yet.
static struct message {
	W handle;
	int64_t number; // from 1
	int source, tag;
	struct comm comm; // as it was: it may be gone
	struct message *next;
} *messages;
static int64_t num_messages;

static void add_message(W pointer, struct comm *c, const char *status)
{
	struct message *m = allocate(NULL, sizeof *m);
	*m = (struct message){handle_at(pointer, 0), ++num_messages, status_source(status), status_tag(status), *c, messages};
	messages = m;
}

// take_message removes a message and returns it; one that is not known is from nobody.
static struct message take_message(W handle)
{
	struct message found = {.source = abi.proc_null, .tag = abi.any_tag, .comm = *comm_of(abi.comm_world)};
	for (struct message **m = &messages; *m; m = &(*m)->next) {
		if ((*m)->handle == handle) {
			struct message *gone = *m;
			found = *gone;
			*m = gone->next;
			free(gone);
			break;
		}
	}
	return found;
}

// put_message puts down a message: its communicator, source and tag, and how many were found since,
// itself included; 0 for one that is not known.
static void put_message(const struct message *m)
{
	put_comm(&m->comm);
	put_rank(m->source);
	put_tag(m->tag);
	put(m->number ? num_messages - m->number + 1 : 0);
}

static void put_operator(W argument)
{
	W op = handle_of(argument);
	int i = 0;
	while (i < 12 && abi.ops[i] != op) {
		i++;
	}
	put(i < 12 ? 1 + i : 0);
}

// NOT_KNOWN stands for bytes: more than there was room for.
#define NOT_KNOWN (INT64_C(1) << 50)

// received returns the bytes of a message. Those of one that was cut short are what was sent, if
// the status says it.
static inline int64_t received(const char *status, int64_t posted)
{
	if (status_source(status) == abi.proc_null) {
		return posted;
	}
	int64_t bytes = status_bytes(status);
	if (UNLIKELY(S.error != SUCCESS) && bytes <= posted) {
		int error = S.error == abi.in_status ? status_error(status) : S.error;
		return error == abi.truncate ? NOT_KNOWN : bytes;
	}
	return bytes;
}

// put_status puts down what a receive got, where its arguments do not say it: 1 the source
// and tag, 2 the bytes.
static void put_status(const char *status, int wild, int64_t posted)
{
	int64_t bytes = received(status, posted);
	put(wild | (bytes != posted) << 1);
	if (wild) {
		put_rank(status_source(status));
		put_tag(status_tag(status));
	}
	if (bytes != posted) {
		put(bytes);
	}
}

static void put_counts(W array, int n, int wide)
{
	if (room(10 * (size_t)n)) {
		for (int i = 0; i < n; i++) {
			put(wide ? ((uint64_t *)array)[i] : (uint32_t)((int *)array)[i]);
		}
	}
}

static void put_sizes(W types, int n)
{
	if (room(10 * (size_t)n)) {
		for (int i = 0; i < n; i++) {
			put(type_size(handle_at(types, i)));
		}
	}
}

// put_span puts down how many elements there are from the first to the last that are received.
static void put_span(W counts, W places, int n, int wide)
{
	int64_t low = INT64_MAX, high = 0;
	for (int i = 0; i < n; i++) {
		int64_t count = wide ? ((int64_t *)counts)[i] : int_at(counts, i);
		int64_t place = wide ? ((int64_t *)places)[i] : int_at(places, i);
		low = place < low ? place : low;
		high = place + count > high ? place + count : high;
	}
	put(high > low ? high - low : 0);
}

// What is known of the program's windows. Like communicators they are numbered in the order in
// which the process gets them; a stranger is a window of a communicator that no recorded call
// has made. The wrappers of one-sided accesses and of their synchronisation are generated.

struct window {
	W handle;
	int number;
	struct window *next;
};
static struct window *windows;
static int num_windows;

static void add_window(W pointer, int strange)
{
	struct window *w = allocate(NULL, sizeof *w);
	*w = (struct window){handle_at(pointer, 0), strange ? STRANGER : num_windows++, windows};
	windows = w;
}

static int window_of(W argument)
{
	W handle = handle_of(argument);
	struct window *w = windows;
	while (w && w->handle != handle) {
		w = w->next;
	}
	return w ? w->number : STRANGER;
}

// put_window puts down the number of a window, from 1; 0 for a stranger.
static void put_window(W argument) { put(window_of(argument) + 1); }

static void forget_window(W handle)
{
	for (struct window **w = &windows; *w; w = &(*w)->next) {
		if ((*w)->handle == handle) {
			struct window *gone = *w;
			*w = gone->next;
			free(gone);
			return;
		}
	}
}

// put_assertions puts down what the program asserts, a bit each: nocheck, nostore, noput,
// noprecede, nosucceed.
static void put_assertions(W argument)
{
	int bits = 0;
	for (int i = 0; i < 5; i++) {
		bits |= ((int)argument & abi.assertions[i]) != 0 ? 1 << i : 0;
	}
	put(bits);
}

// put_members puts down how many members a group has, and which.
static void put_members(W group)
{
	int size = 0;
	known("PMPI_Group_size")(group, &size);
	put(size);
	put_group(group, size);
}

EXPORT int PMPI_Win_free(W pointer)
{
	FIND(Win_free)
	if (PASSES) {
		return real(pointer);
	}
	enter();
	W handle = handle_at(pointer, 0);
	int err = real(pointer);
	if (begin(P_Win_free, err)) {
		put_window(handle);
		forget_window(handle);
	}
	return leave(err);
}
BOTH(Win_free)

// The communicators of the program's files. The wrappers of reads and writes are generated.

struct file {
	W handle;
	struct comm comm; // as it was: it may be gone
	struct file *next;
};
static struct file *files;

// put_file puts down the communicator that a file was opened on; a stranger, of this process
// alone, if it is not known.
static void put_file(W handle)
{
	static const struct comm unknown = {.number = STRANGER, .size = 1};
	struct file *f = files;
	while (f && f->handle != handle) {
		f = f->next;
	}
	put_comm(f ? &f->comm : &unknown);
}

// put_transferred puts down what a read or write has transferred, where it is less than was
// asked for: 2 and the bytes, else 0.
static void put_transferred(const char *status, int64_t asked)
{
	int64_t bytes = status_bytes(status);
	int less = bytes >= 0 && bytes < asked;
	put(less << 1);
	if (less) {
		put(bytes);
	}
}

EXPORT int PMPI_File_open(W comm, W name, W mode, W info, W pointer)
{
	FIND(File_open)
	if (PASSES) {
		return real(comm, name, mode, info, pointer);
	}
	enter();
	int err = real(comm, name, mode, info, pointer);
	if (begin(P_File_open, err)) {
		struct file *f = allocate(NULL, sizeof *f);
		*f = (struct file){*(W *)pointer, *comm_of(comm), files};
		files = f;
		put_file(f->handle);
	}
	return leave(err);
}
BOTH(File_open)

EXPORT int PMPI_File_close(W pointer)
{
	FIND(File_close)
	if (PASSES) {
		return real(pointer);
	}
	enter();
	W handle = *(W *)pointer;
	int err = real(pointer);
	if (begin(P_File_close, err)) {
		for (struct file **f = &files; *f; f = &(*f)->next) {
			if ((*f)->handle == handle) {
				struct file *gone = *f;
				*f = gone->next;
				free(gone);
				break;
			}
		}
	}
	return leave(err);
}
BOTH(File_close)

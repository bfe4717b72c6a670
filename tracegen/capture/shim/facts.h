// What differs between the binary interfaces of Open MPI, MPICH and MPI 5, and how the
// library's own procedures are found.

enum { SUCCESS = 0, UNDEFINED = -32766 }; // the same everywhere
enum { MAX_LIBRARY_VERSION = 8192, STATUS_BYTES = 64 };

static struct abi {
	int id;          // 1 Open MPI, 2 MPICH, 3 MPI 5
	int handle_size; // of handles in arrays
	int status_size, source_at, tag_at;
	int any_source, any_tag, proc_null, root;
	int truncate, in_status, pending; // classes of errors
	int thread_multiple, cart, graph, dist_graph;
	W in_place, status_ignore;
	W comm_world, comm_self, comm_null, request_null, message_no_proc, byte, type_null, errors_return;
	W no_op;
	int lock_shared;
	int assertions[5]; // nocheck nostore noput noprecede nosucceed
	W ops[12]; // in the order of the trace's operators: sum max min prod land band lor bor lxor bxor maxloc minloc
} abi;

static void *library; // that has MPI's procedures, if it is not in the global scope

static int in_library(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	if (!info->dlpi_name[0]) {
		return 0;
	}
	void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	Dl_info own, found;
	void *symbol = handle ? dlsym(handle, name) : NULL;
	if (symbol && dladdr((void *)&abi, &own) && dladdr(symbol, &found) && own.dli_fbase != found.dli_fbase) {
		library = handle;
		return 1;
	}
	if (handle) {
		dlclose(handle);
	}
	return 0;
}

// find returns a symbol of MPI's library, which may have been loaded late and privately, as
// by an interpreter.
static void *find(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);
	if (!symbol && !library) {
		dl_iterate_phdr(in_library, (void *)name);
	}
	if (!symbol && library) {
		symbol = dlsym(library, name);
	}
	return symbol;
}

// object returns the address of one of the library's variables, which the linker may have
// moved into the program.
static W object(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);
	return (W)(symbol ? symbol : find(name));
}

// missing is what a procedure does that the program calls, but that no library has.
static int missing(void)
{
	static const char text[] = "tracegen: a procedure of MPI was called that MPI's library does not have\n";
	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	abort();
}

// known finds a procedure that the recorder itself calls.
static int (*known(const char *name))()
{
	int (*procedure)() = (int (*)())find(name);
	return procedure ? procedure : missing;
}

static W handle_of(W argument) { return abi.handle_size == 4 ? (uint32_t)argument : argument; }

static W handle_at(W array, int i)
{
	return abi.handle_size == 4 ? ((uint32_t *)array)[i] : ((W *)array)[i];
}

static int int_at(W pointer, int i) { return ((int *)pointer)[i]; }

static int status_source(const char *s) { return *(int *)(s + abi.source_at); }
static int status_tag(const char *s) { return *(int *)(s + abi.tag_at); }

// While the recorder asks about what may not be valid, as a datatype of no elements, no error
// handler of the program is called: those of the world and of the process alone, which MPI calls
// for what has no communicator, only return.
struct handlers {
	W of[2];
};
static int (*get_handler)(), (*set_handler)(), (*free_handler)();
static int has_world; // MPI_COMM_WORLD can be used: the program has not sessions alone

static struct handlers quiet(void)
{
	struct handlers before = {{0, 0}};
	if (!free_handler) {
		get_handler = known("PMPI_Comm_get_errhandler");
		set_handler = known("PMPI_Comm_set_errhandler");
		free_handler = known("PMPI_Errhandler_free");
	}
	for (int i = 0; i < 2 && has_world; i++) {
		W comm = i ? abi.comm_self : abi.comm_world;
		get_handler(comm, &before.of[i]);
		set_handler(comm, abi.errors_return);
	}
	return before;
}

static void as_before(struct handlers before)
{
	for (int i = 0; i < 2 && has_world; i++) {
		set_handler(i ? abi.comm_self : abi.comm_world, before.of[i]);
		free_handler(&before.of[i]);
	}
}

static int class_of(int err)
{
	int class = err;
	struct handlers before = quiet(); // a callback of the program may have returned any number
	known("PMPI_Error_class")(err, &class);
	as_before(before);
	return class;
}

// status_error returns the class of an error that a status tells.
static int status_error(const char *s) { return class_of(*(int *)(s + abi.tag_at + 4)); }

// status_bytes returns how many bytes were received.
static int64_t status_bytes(const char *s)
{
	if (abi.id == 1) {
		return *(int64_t *)(s + 16);
	}
	if (abi.id == 2) {
		return *(uint32_t *)s | (int64_t)(*(uint32_t *)(s + 4) >> 1) << 32;
	}
	static int (*elements)();
	int64_t n = 0;
	if (!elements) {
		elements = known("PMPI_Get_elements_c");
	}
	elements(s, abi.byte, &n);
	return n;
}

static void facts_of_openmpi(void)
{
	static const char *const ops[] = {"sum", "max", "min", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc"};
	abi = (struct abi){.id = 1, .handle_size = sizeof(W), .status_size = 24, .source_at = 0, .tag_at = 4,
		.any_source = -1, .any_tag = -1, .proc_null = -2, .root = -4, .truncate = 15, .in_status = 18, .pending = 19,
		.thread_multiple = 3, .cart = 1, .graph = 2, .dist_graph = 3, .in_place = 1, .status_ignore = 0,
		.comm_world = object("ompi_mpi_comm_world"), .comm_self = object("ompi_mpi_comm_self"),
		.comm_null = object("ompi_mpi_comm_null"), .request_null = object("ompi_request_null"),
		.message_no_proc = object("ompi_message_no_proc"), .byte = object("ompi_mpi_byte"), .no_op = object("ompi_mpi_op_no_op"),
		.type_null = object("ompi_mpi_datatype_null"), .errors_return = object("ompi_mpi_errors_return"),
		.lock_shared = 2, .assertions = {1, 8, 4, 2, 16}};
	for (int i = 0; i < 12; i++) {
		char name[32];
		snprintf(name, sizeof name, "ompi_mpi_op_%s", ops[i]);
		abi.ops[i] = object(name);
	}
}

static void facts_of_mpich(void)
{
	abi = (struct abi){.id = 2, .handle_size = 4, .status_size = 20, .source_at = 8, .tag_at = 12,
		.any_source = -2, .any_tag = -1, .proc_null = -1, .root = -3, .truncate = 14, .in_status = 17, .pending = 18,
		.thread_multiple = 3, .cart = 2, .graph = 1, .dist_graph = 3, .in_place = (W)-1, .status_ignore = 1,
		.comm_world = 0x44000000, .comm_self = 0x44000001, .comm_null = 0x04000000, .request_null = 0x2c000000,
		.message_no_proc = 0x6c000000, .byte = 0x4c00010d, .type_null = 0x0c000000, .errors_return = 0x54000001,
		.no_op = 0x5800000e, .lock_shared = 235, .assertions = {1024, 2048, 4096, 8192, 16384},
		.ops = {0x58000003, 0x58000001, 0x58000002, 0x58000004, 0x58000005, 0x58000006, 0x58000007, 0x58000008,
			0x58000009, 0x5800000a, 0x5800000c, 0x5800000b}};
}

static void facts_of_mpi5(void)
{
	abi = (struct abi){.id = 3, .handle_size = sizeof(W), .status_size = 32, .source_at = 0, .tag_at = 4,
		.any_source = -1, .any_tag = -2, .proc_null = -3, .root = -4, .truncate = 15, .in_status = 19, .pending = 18,
		.thread_multiple = 4096, .cart = 211, .graph = 212, .dist_graph = 213, .in_place = 1, .status_ignore = 0,
		.comm_world = 0x101, .comm_self = 0x102, .comm_null = 0x100, .request_null = 0x180,
		.message_no_proc = 0x129, .byte = 0x247, .type_null = 0x200, .errors_return = 0x143,
		.no_op = 0x3d, .lock_shared = 302, .assertions = {1024, 8192, 4096, 2048, 16384},
		.ops = {0x21, 0x23, 0x22, 0x24, 0x30, 0x28, 0x31, 0x29, 0x32, 0x2a, 0x39, 0x38}};
}

// learn finds out which interface the program was built for, and returns 0 if it is none of
// those that are known. text gets what the library says of itself.
static int learn(char *text)
{
	int length = 0;
	known("PMPI_Get_library_version")(text, &length);
	Dl_info info;
	void *send = find("PMPI_Send");
	if (send && dladdr(send, &info) && strstr(info.dli_fname, "mpi_abi")) {
		facts_of_mpi5();
	} else if (object("ompi_mpi_comm_world")) {
		facts_of_openmpi();
	} else if (strstr(text, "MPICH") || strstr(text, "Intel") || strstr(text, "CRAY") || strstr(text, "MVAPICH")) {
		facts_of_mpich();
	}
	return abi.id;
}

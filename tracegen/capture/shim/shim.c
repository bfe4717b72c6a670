// The recorder: a library that is loaded before MPI's into each process of a program, and
// writes down what it calls. It needs neither mpi.h nor a particular MPI: handles are passed
// on as they come, in registers, and the few facts that differ are in struct abi.
//
// A procedure is interposed under both of its names, MPI_x and PMPI_x, of which the Fortran
// bindings call either; what MPI calls itself inside of a call is not recorded. The wrappers
// are in procedures.h, which is generated; the others follow it.
//
// A record is the gap before the call, the number of the procedure, and what its arguments
// say, all as varints (docs/capture.md). It goes to a file that is mapped into memory, so
// that what a killed process has recorded is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uintptr_t W; // an argument as it comes in a register: a handle, a number, an address

#define EXPORT __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#include "facts.h"
#include "stream.h"
#include "numbers.h"
#include "handles.h"
#include "windows.h"
#include "files.h"
#include "procedures.h"
#include "completions.h"
#include "partitioned.h"
#include "life.h"
#ifdef WITH_BLAS
#include "blas.h"
#include "lapack.h"
#endif

// A library that says which program it has been loaded into.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

__attribute__((constructor)) static void loaded(void)
{
	printf("preloaded into %s\n", program_invocation_short_name);
}

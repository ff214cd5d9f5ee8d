/* SPDX-License-Identifier: MIT */
/*
 * place.c - no place of an address of code is found here
 *
 * dladdr(3) takes the loader's lock, and a fiber that is in dlopen(3) holds it. Neither system has a call
 * that takes none. So a report of a long run has addresses without the names of files.
 */
#include "os/place.h"

bool fib_os_place_find(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_place *ret)
{
	(void)pipe;
	(void)address;
	(void)ret;
	return false;
}

uint64_t fib_os_place_function(struct fib_os_pipe *pipe, const struct fib_os_place *place,
			       uint64_t address)
{
	(void)pipe;
	(void)place;
	(void)address;
	return 0;
}

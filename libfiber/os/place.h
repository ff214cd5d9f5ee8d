/* SPDX-License-Identifier: MIT */
/* place.h - which loaded file and which function an address of code belongs to */
#ifndef FIB_OS_PLACE_H
#define FIB_OS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"

struct fib_os_place {
	char module[48]; /* the file's name without its folder, cut to this size */
	uint64_t offset; /* of the address, as addr2line(1) takes it */
	uint64_t table;	 /* address of its table of functions; 0: none */
	bool system;	 /* the C library, its loader, or the kernel's vdso */
};

/*
 * Find address, which may be no address of code. Takes no lock, allocates nothing, and does not
 * fault if the file is unloaded meanwhile. pipe: for fib_os_peek_through(). False: the address is
 * in no loaded file.
 */
bool fib_os_place_find(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_place *ret);

/*
 * Where the function starts that has address, which was found as this place; 0: unknown. About 20
 * system calls.
 */
uint64_t fib_os_place_function(struct fib_os_pipe *pipe, const struct fib_os_place *place,
			       uint64_t address);

#endif

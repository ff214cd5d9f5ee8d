/* SPDX-License-Identifier: MIT */
/* object.h - which loaded file has an address, without a lock of the loader */
#ifndef FIB_OS_LINUX_OBJECT_H
#define FIB_OS_LINUX_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"

struct fib_os_object {
	uint64_t bias;	/* an address in memory less that in the file */
	uint64_t name;	/* address of its path, which may be empty; 0: it is the program */
	uint64_t table; /* address of its .eh_frame_hdr; 0: none */
};

/*
 * Find the file that has address, which may be any number. Takes no lock, allocates nothing, and does
 * not fault if the file is unloaded meanwhile. pipe: for fib_os_peek_through(). False: there is none.
 */
bool fib_os_object_find(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_object *ret);

/* The same by the loader's list, where the C library has nothing faster. */
bool fib_os_object_listed(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_object *ret);

#endif

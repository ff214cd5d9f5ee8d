/* SPDX-License-Identifier: MIT */
/* memory.h - reading the memory of a live process without stopping it. */
#ifndef INS_MEMORY_H
#define INS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/elf/modules.h"

struct ins_present;

struct ins_memory {
	pid_t pid;
	int file; /* /proc/PID/mem where process_vm_readv is forbidden, else -1 */
	struct ins_present *present; /* borrowed: says what may be read; NULL: everything */
};

struct ins_memory_piece {
	uint64_t address;
	void *buf;
	size_t size;
};

#define INS_MEMORY_PIECES 32

/*
 * Find the way to read process pid, trying it at address, which is known to be readable. 0; -ESRCH;
 * -EPERM; -EFAULT when nothing can be read there.
 */
int ins_memory_open(struct ins_memory *ret, pid_t pid, uint64_t address);
/* The same, trying it where a file is mapped that is no device and not protected. */
int ins_memory_find(struct ins_memory *ret, pid_t pid, const struct ins_modules *modules);
void ins_memory_close(struct ins_memory *memory);

/*
 * Read up to INS_MEMORY_PIECES pieces, one after another in the order given. 0 when all were read,
 * else -EFAULT, -ESRCH, -EDQUOT (present.h) or another negative errno and any of the buffers may have changed.
 */
int ins_memory_read(const struct ins_memory *memory, const struct ins_memory_piece *piece,
		    unsigned n);

#endif

/* SPDX-License-Identifier: MIT */
/* memory.h - read the memory of a live process without stopping it */
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
	int file;		     /* /proc/PID/mem if process_vm_readv is forbidden, else -1 */
	struct ins_present *present; /* borrowed: limits what may be read; NULL: no limit */
};

struct ins_memory_piece {
	uint64_t address;
	void *buf;
	size_t size;
};

#define INS_MEMORY_PIECES 32

/*
 * Find the way to read process pid by trying it at address, which is known to be readable. Returns
 * 0; -ESRCH; -EPERM; -EFAULT if nothing can be read there.
 */
int ins_memory_open(struct ins_memory *ret, pid_t pid, uint64_t address);
/* Find the way by trying it at a file mapping that is not a device and not protected. */
int ins_memory_find(struct ins_memory *ret, pid_t pid, const struct ins_modules *modules);
void ins_memory_close(struct ins_memory *memory);

/*
 * Read up to INS_MEMORY_PIECES pieces, one after another in the given order. Returns 0 if all were
 * read. Else -EFAULT, -ESRCH, -EDQUOT (present.h) or another negative errno, and any of the buffers
 * may have changed.
 */
int ins_memory_read(const struct ins_memory *memory, const struct ins_memory_piece *piece,
		    unsigned n);

#endif

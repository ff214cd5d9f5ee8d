/* SPDX-License-Identifier: MIT */
/*
 * table.c - one entry for each descriptor number
 *
 * Descriptor numbers are small and dense, so the table is an array of blocks. A block is made when
 * a descriptor in it is first waited for, and is never freed. So a pointer to an entry stays valid
 * without a lock.
 */
#include "io/table.h"

#include <stdlib.h>
#include <string.h>

#include "os/spin.h"

struct fib_descriptor *_Atomic fib_table_blocks[FIB_TABLE_BLOCKS];

struct fib_descriptor *fib_descriptor_make(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd), *block, *none = NULL;

	if (d || !fib_descriptor_possible(fd))
		return d;
	block = aligned_alloc(FIB_CACHE_LINE, FIB_TABLE_BLOCK * sizeof *block);
	if (!block)
		return NULL;
	memset((void *)block, 0, FIB_TABLE_BLOCK * sizeof *block);
	/* label: table.block */
	if (!fib_cas(&fib_table_blocks[(unsigned)fd / FIB_TABLE_BLOCK], &none, block))
		free(block);
	return fib_descriptor_find(fd);
}

void fib_descriptor_forget_all(void)
{
	struct fib_descriptor *block;
	unsigned i;

	for (i = 0; i < FIB_TABLE_BLOCKS; i++) {
		block = fib_load(&fib_table_blocks[i]);
		if (block)
			memset((void *)block, 0, FIB_TABLE_BLOCK * sizeof *block);
	}
}

void fib_descriptor_lock(int fd)
{
	struct fib_descriptor *d = fib_descriptor_make(fd);

	if (d)
		fib_spin_lock(&d->lock);
}

void fib_descriptor_unlock(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (d)
		fib_spin_unlock(&d->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * table.c - one entry for each number a descriptor can have
 *
 * Numbers are small and dense, so it is an array, in blocks that are made when the first number in them is
 * waited for and stay for good: who has found an entry may keep it, and needs no lock.
 */
#include "io/table.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK  1024u
#define BLOCKS 4096u

static struct fib_descriptor *_Atomic blocks[BLOCKS];

bool fib_descriptor_possible(int fd)
{
	return fd >= 0 && (unsigned)fd < BLOCK * BLOCKS;
}

struct fib_descriptor *fib_descriptor_find(int fd)
{
	struct fib_descriptor *block;

	if (!fib_descriptor_possible(fd))
		return NULL;
	/* pairs: table.block -- zeroed before it is found. */
	block = fib_load_acquire(&blocks[(unsigned)fd / BLOCK]);
	return block ? &block[(unsigned)fd % BLOCK] : NULL;
}

struct fib_descriptor *fib_descriptor_make(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd), *block, *none = NULL;

	if (d || !fib_descriptor_possible(fd))
		return d;
	block = calloc(BLOCK, sizeof *block);
	if (!block)
		return NULL;
	if (!fib_cas(&blocks[(unsigned)fd / BLOCK], &none, block)) /* label: table.block */
		free(block);
	return fib_descriptor_find(fd);
}

void fib_descriptor_forget_all(void)
{
	struct fib_descriptor *block;
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		block = fib_load(&blocks[i]);
		if (block)
			memset((void *)block, 0, BLOCK * sizeof *block);
	}
}

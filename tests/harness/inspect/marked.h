/* SPDX-License-Identifier: MIT */
/* marked.h - the memory of a process that exists only in a test */
#ifndef TEST_INSPECT_MARKED_H
#define TEST_INSPECT_MARKED_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/leaks/windows.h"
#include "tests/harness/inspect/head.h"

#define MARKED_BASE UINT64_C(0x7f0000000000)
#define MARKED_SIZE (UINT64_C(1) << 20)

/* The memory at MARKED_BASE; what is outside cannot be read. */
static struct {
	uint64_t words[MARKED_SIZE / 8];
	unsigned reads;
	uint64_t hole, hole_end; /* cannot be read either */
	struct ins_memory_reader reader;
	struct ins_windows *windows;
} marked;

static inline int marked_read(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	marked.reads++;
	if (address < MARKED_BASE || address - MARKED_BASE > MARKED_SIZE ||
	    size > MARKED_SIZE - (address - MARKED_BASE) ||
	    (address < marked.hole_end && address + size > marked.hole))
		return -EFAULT;
	memcpy(buf, (const char *)marked.words + (address - MARKED_BASE), size);
	return 0;
}

/* Set the word at an offset from MARKED_BASE. */
static inline void marked_put(uint64_t offset, uint64_t word)
{
	marked.words[offset / 8] = word;
}

/* most: as ins_windows_new(). */
static inline void marked_begin(uint64_t most)
{
	memset(marked.words, 0, sizeof marked.words);
	marked.reads = 0;
	marked.hole = marked.hole_end = 0;
	marked.reader = (struct ins_memory_reader){NULL, marked_read, NULL, NULL};
	assert_int_equal(ins_windows_new(&marked.reader, most, &marked.windows), 0);
}

static inline void marked_end(void)
{
	ins_windows_free(marked.windows);
	marked.windows = NULL;
}

#endif

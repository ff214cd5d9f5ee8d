/* SPDX-License-Identifier: MIT */
/* chunks.h - the objects in an area of memory that malloc() of glibc manages */
#ifndef INS_CHUNKS_H
#define INS_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/leaks/windows.h"

struct ins_chunks;

/* Heaps of threads begin at multiples of this. */
#define INS_CHUNKS_HEAP (UINT64_C(64) << 20)

/*
 * Find the chunks of [start, end), which is a whole area. heap: the kernel says that it is the heap.
 * *ret is NULL if the area does not consist of chunks: then it is one object. Returns 0 or -ENOMEM.
 */
int ins_chunks_find(struct ins_windows *windows, uint64_t start, uint64_t end, bool heap,
		    struct ins_chunks **ret);
void ins_chunks_free(struct ins_chunks *chunks); /* NULL: nothing */

/*
 * Mark the object that an address in the area points to. at: where the pointer was found, 0:
 * unknown. Returns true if it was not marked before, and its bytes in *ret_low and *ret_high. False
 * also if there is no object: free memory, or a pointer of malloc() itself.
 */
bool ins_chunks_mark(struct ins_chunks *chunks, struct ins_windows *windows, uint64_t address,
		     uint64_t at, uint64_t *ret_low, uint64_t *ret_high);

/*
 * The same while the program runs: the chunks may have changed since they were found, so free memory counts
 * as an object too, and a chunk that has become larger is marked as it is now.
 */
bool ins_chunks_mark_any(struct ins_chunks *chunks, struct ins_windows *windows, uint64_t address,
			 uint64_t *ret_low, uint64_t *ret_high);

/* No object is marked any more. */
void ins_chunks_unmark(struct ins_chunks *chunks);

/* How many chunks there are. */
size_t ins_chunks_count(const struct ins_chunks *chunks);

#endif

/* SPDX-License-Identifier: MIT */
/* windows.h - a copy of the parts of a process' memory that were asked for */
#ifndef INS_WINDOWS_H
#define INS_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "layout/row.h"

#define INS_WINDOW (UINT64_C(64) << 10)

/* Where memory is copied from. */
struct ins_memory_reader {
	void *reader;
	fib_read_fn *read;
	/* As ins_source.run; NULL: all of it may hold data. */
	uint64_t (*run)(void *reader, uint64_t address, uint64_t size, bool *ret_there);
	/*
	 * The page at address cannot be read, or cannot be told from memory that was never written.
	 * Windows reach beyond the areas of the process, so that may be no fault. NULL: not told.
	 */
	void (*failed)(void *reader, uint64_t address);
};

struct ins_windows;

/*
 * memory is borrowed. most: bytes that are kept at most; 0: what this machine can spare. -ENOMEM.
 */
int ins_windows_new(const struct ins_memory_reader *memory, uint64_t most,
		    struct ins_windows **ret);
void ins_windows_free(struct ins_windows *windows); /* NULL: nothing */

/*
 * The bytes from address on. *ret_size: how many follow, at most to the end of a window of
 * INS_WINDOW bytes, at least 1. Memory that cannot be read, or was never written, is zeros. Valid
 * until the next call.
 */
const unsigned char *ins_windows_at(struct ins_windows *windows, uint64_t address,
				    size_t *ret_size);

/* The aligned word at address. */
uint64_t ins_windows_word(struct ins_windows *windows, uint64_t address);

/* Copy memory that is asked for once, into buf, in the same way. */
void ins_windows_copy(struct ins_windows *windows, uint64_t address, void *buf, size_t size);

/*
 * How many bytes from address on, at most size, were never written and need not be copied; 0: the first
 * one may have been written.
 */
uint64_t ins_windows_nothing(struct ins_windows *windows, uint64_t address, uint64_t size);

/* Forget all that was copied, and keep the memory for the next copies. */
void ins_windows_forget(struct ins_windows *windows);

/* How many bytes were copied. */
uint64_t ins_windows_bytes(const struct ins_windows *windows);

#endif

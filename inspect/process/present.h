/* SPDX-License-Identifier: MIT */
/*
 * present.h - which memory of a live process exists, so that a reader does not make it larger
 *
 * A read of a page that the process never touched makes the kernel provide one: in shared memory and in files a page of
 * their own, in private anonymous memory the page of zeros, which costs nothing. So absent pages of the former may be read
 * up to a small allowance, which is for all reads together.
 */
#ifndef INS_PRESENT_H
#define INS_PRESENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/elf/mappings.h"

#define INS_PRESENT_ALLOWANCE (UINT64_C(256) << 10)
#define INS_PRESENT_UNTOUCHED (UINT64_C(64) << 20)

struct ins_present {
	pid_t pid;
	int pagemap; /* -1: cannot be read */
	struct ins_mappings mappings;
	size_t last;	    /* mapping that was found last */
	bool read;	    /* the mappings were used in a read of the source */
	bool files;	    /* the caller sets it: absent pages of private files count, too */
	uint64_t left;	    /* of the allowance */
	uint64_t untouched; /* bytes of shared memory that ins_present_run() has passed over */
	struct {
		uint64_t low, high;
	} free[4];     /* ranges without a file and without shared memory, found last */
	unsigned turn; /* of them, the next to be replaced */
	uint64_t known
		[256]; /* pages of files and shared memory that exist: each in the place of its number */
	uint64_t entry[8192];
};

/* maps: the text of /proc/PID/maps. *ret is NULL after -ENOMEM. */
int ins_present_new(pid_t pid, const char *maps, size_t size, struct ins_present **ret);
void ins_present_free(struct ins_present *present); /* NULL: nothing */

/* Before another read of the source: the process has gone on, so what it has mapped is looked at again. */
void ins_present_renew(struct ins_present *present);

/* Before size bytes at address are read: 0, or -EDQUOT when more absent pages would be read than the allowance has left. */
int ins_present_spend(struct ins_present *present, uint64_t address, size_t size);

/*
 * How many bytes from address on, at most size, are alike: *ret_there: they may hold something, else the process has touched
 * no page of them. What cannot be told may hold something. 0: more than INS_PRESENT_UNTOUCHED of shared memory that it
 * has not touched came together since ins_present_renew(): whoever describes that as its own lies.
 */
uint64_t ins_present_run(struct ins_present *present, uint64_t address, uint64_t size,
			 bool *ret_there);

/* Bytes that the process has in memory and in swap; UINT64_MAX: the system does not say. */
uint64_t ins_present_held(pid_t pid);

/* Bytes of address space that it has mapped; UINT64_MAX: the same. */
uint64_t ins_present_mapped(pid_t pid);

#endif

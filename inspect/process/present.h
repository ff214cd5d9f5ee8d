/* SPDX-License-Identifier: MIT */
/*
 * present.h - find which memory of a live process exists, so that reading does not make the process
 * larger
 *
 * Reading a page that the process never touched makes the kernel allocate it: in shared memory and
 * in files a new page, in private anonymous memory the zero page, which costs nothing. So absent
 * shared and file pages may be read only within a small allowance, which all reads share.
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
	size_t last;	    /* the mapping found last */
	bool read;	    /* the mappings were used in a read of the source */
	bool files;	    /* set by the caller: absent pages of private files count too */
	bool sparse;	    /* set by the caller: ins_present_run() has no limit */
	uint64_t left;	    /* what is left of the allowance */
	uint64_t untouched; /* bytes of shared memory that ins_present_run() has skipped */
	struct {
		uint64_t low, high;
	} free[4];     /* recent ranges without files and shared memory */
	unsigned turn; /* index of the range to replace next */
	uint64_t known
		[256]; /* pages of files and shared memory that exist, each in the slot of its page number */
	uint64_t entry[8192];
};

/* maps: the text of /proc/PID/maps. *ret is NULL after -ENOMEM. */
int ins_present_new(pid_t pid, const char *maps, size_t size, struct ins_present **ret);
void ins_present_free(struct ins_present *present); /* NULL: no effect */

/* Start another read of the source: the process has run on, so its mappings are read again. */
void ins_present_renew(struct ins_present *present);

/*
 * Before a read of size bytes at address. Returns 0, or -EDQUOT if the absent pages in it exceed
 * the allowance.
 */
int ins_present_spend(struct ins_present *present, uint64_t address, size_t size);

/*
 * How many bytes from address on, at most size, are alike. *ret_there: they may hold data; else the
 * process has not touched any of their pages. Unknown pages may hold data. Returns 0 if more than
 * INS_PRESENT_UNTOUCHED bytes of untouched shared memory were skipped since ins_present_renew(): no
 * valid record describes so much.
 */
uint64_t ins_present_run(struct ins_present *present, uint64_t address, uint64_t size,
			 bool *ret_there);

/* How many bytes the process has in memory and in swap; UINT64_MAX: unknown. */
uint64_t ins_present_held(pid_t pid);

/* How many bytes of address space the process has mapped; UINT64_MAX: unknown. */
uint64_t ins_present_mapped(pid_t pid);

#endif

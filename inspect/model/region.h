/* SPDX-License-Identifier: MIT */
/* region.h - the memory areas of a process, as a source knows them */
#ifndef INS_REGION_H
#define INS_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readable memory. */
struct ins_region {
	uint64_t start, end;
	bool writable;
	bool shared; /* other processes may write there too; unknown in a core: false */
	bool file;   /* mapped from a file; the zero-initialised data of a module is not */
	bool heap;   /* the kernel calls it the heap; unknown in a core: false */
};

/* By ascending start. The caller frees at. */
struct ins_regions {
	struct ins_region *at;
	size_t count;
};

#endif

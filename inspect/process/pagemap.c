/* SPDX-License-Identifier: MIT */
/*
 * pagemap.c - find how deep a stack of another process was ever used, by which of its pages exist
 */
#include "inspect/process/pagemap.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "layout/row.h"

#define PAGES_MAX (UINT64_C(1) << 16)
#define AT_ONCE	  512

static bool exists(uint64_t entry)
{
	return entry >> 62; /* present or swapped */
}

uint64_t ins_pagemap_depth(int fd, uint64_t low, uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = low / page, top = low + size;
	uint64_t entry[AT_ONCE], pages, i, n, k;

	/* A fiber that has not started has no stack; the service thread reports the same. */
	if (fd < 0 || !low || !size || top < low)
		return FIB_ROW_UNKNOWN;
	pages = (top - 1) / page - first + 1;
	if (pages > PAGES_MAX)
		return FIB_ROW_UNKNOWN;
	for (i = 0; i < pages; i += n) {
		n = pages - i < AT_ONCE ? pages - i : AT_ONCE;
		if (pread(fd, entry, n * 8, (off_t)((first + i) * 8)) != (ssize_t)(n * 8))
			return FIB_ROW_UNKNOWN;
		for (k = 0; k < n; k++) {
			const uint64_t touched = (first + i + k) * page;

			if (exists(entry[k]))
				return top - (touched > low ? touched : low);
		}
	}
	return 0;
}

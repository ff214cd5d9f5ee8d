/* SPDX-License-Identifier: MIT */
/* fault.h - an error that some system calls return instead of doing their work */
#ifndef TESTS_UNIT_IO_FAULT_H
#define TESTS_UNIT_IO_FAULT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOR_EVER UINT32_MAX

struct fault {
	_Atomic int error;
	_Atomic uint32_t calls;	 /* how many more calls fail */
	_Atomic uint32_t failed; /* calls that have failed */
	_Atomic size_t at_most;	 /* bytes that a call moves; 0: no limit */
};

static inline void arm(struct fault *fault, int error, uint32_t calls)
{
	fault->calls = 0;
	fault->error = error;
	fault->failed = 0;
	fault->calls = calls;
}

/* Return whether this call must fail; if so, set errno. */
static inline bool fails(struct fault *fault)
{
	if (!fault->calls)
		return false;
	if (fault->calls != FOR_EVER)
		fault->calls--;
	fault->failed++;
	errno = fault->error;
	return true;
}

#endif

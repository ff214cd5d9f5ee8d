/* SPDX-License-Identifier: MIT */
/* wire.c - the part of the control protocol that both ends share */
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>

int fib_wire_check(const struct fib_wire_header *header, size_t limit)
{
	if (header->magic != FIB_WIRE_MAGIC || header->version != FIB_WIRE_VERSION)
		return -EPROTO;
	if (header->length > limit)
		return -EMSGSIZE;
	return 0;
}

int fib_wire_folder(char *buf, size_t size, const char *runtime_dir, uid_t uid)
{
	int n;

	/* The specification requires an absolute path; any other value counts as unset. */
	if (runtime_dir && runtime_dir[0] == '/')
		n = snprintf(buf, size, "%s/fiber", runtime_dir);
	else
		n = snprintf(buf, size, "/tmp/fiber-%u", (unsigned)uid);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : n;
}

#define MARKS 1000000u /* number of different marks */

uint32_t fib_wire_mark(uint64_t started)
{
	const uint32_t digits = (uint32_t)(started % MARKS);

	return digits * 1000 + (digits % 997 * 7 + digits / 997 + 331) % 1000;
}

bool fib_wire_marked(uint32_t nanoseconds)
{
	return nanoseconds < 1000 * MARKS && fib_wire_mark(nanoseconds / 1000) == nanoseconds;
}

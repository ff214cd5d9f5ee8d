/* SPDX-License-Identifier: MIT */
/* race.h - report two accesses without an order between them */
#ifndef FIB_TEST_RACE_H
#define FIB_TEST_RACE_H

#include <stddef.h>
#include <stdint.h>

struct fib_actor;
struct fib_seen;

/* One of the accesses as the program made it. */
struct fib_access {
	uintptr_t at;
	size_t size;
	unsigned kind; /* FIB_ACCESS_* */
	const void *pc;
};

/* End the schedule: me makes this access, and the earlier one has no order with it. */
_Noreturn void fib_race_found(const struct fib_actor *me, const struct fib_access *access,
			      const struct fib_seen *earlier);

/* Write the race that was found; "": none. */
void fib_race_report(char *buf, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* outcome.h - the result and the errno of a call, in a fiber and in a plain thread */
#ifndef UNIT_POSIX_OUTCOME_H
#define UNIT_POSIX_OUTCOME_H

#include "tests/unit/io/inside.h"

#include "tests/harness/paths.h"

/* A call to make. The test sets what its function uses. */
struct call {
	int fd, flags, timeout;
	void *buf;
	size_t size;
	int error; /* errno after the call */
};

/* Return n from a fiber's function, and keep errno. */
static inline void *outcome(struct call *c, intptr_t n)
{
	c->error = errno;
	return (void *)n;
}

/* Make the call in a fiber and in a plain thread. Both must give this result and, for -1, this errno. */
static inline void both_give(fiber_fn *fn, struct call *c, intptr_t n, int error)
{
	c->error = 0;
	assert_int_equal(on_a_thread(fn, c), n);
	if (n < 0)
		assert_int_equal(c->error, error);
	c->error = 0;
	assert_int_equal(inside(fn, c), n);
	if (n < 0)
		assert_int_equal(c->error, error);
}

static inline void set_nonblocking(int fd)
{
	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static inline void set_timeout(int fd, int option, int ms)
{
	const struct timeval t = {ms / 1000, ms % 1000 * 1000};

	assert_int_equal(setsockopt(fd, SOL_SOCKET, option, &t, sizeof t), 0);
}

/* Fill a descriptor until a write would wait, and set it back to blocking. */
static inline void fill(int fd)
{
	static char bytes[65536];
	const int flags = fcntl(fd, F_GETFL);

	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	while (write(fd, bytes, sizeof bytes) > 0)
		;
	while (write(fd, bytes, 1) > 0)
		;
	assert_int_equal(fcntl(fd, F_SETFL, flags), 0);
}

/* Start both_give()'s tests: two carriers. */
#define OUTCOME_MAIN(tests)                       \
	harness_watchdog(110);                    \
	cmocka_set_message_output(CM_OUTPUT_TAP); \
	return cmocka_run_group_tests(tests, inside_start, inside_stop)

#endif

/* SPDX-License-Identifier: MIT */
/* ends.h - tests of streams: on 1 and on 4 carriers, with both ends of a pipe */
#ifndef UNIT_POSIX_ENDS_H
#define UNIT_POSIX_ENDS_H

#include "outcome.h"

#include <stdio.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>

static inline void each_runtime(void (*body)(void))
{
	static const unsigned carriers[] = {1, 4};

	for (size_t i = 0; i < 2; i++) {
		const struct fiber_runtime_options options = {.size = sizeof options,
							      .carriers = carriers[i],
							      .control_path = "",
							      .long_run_ns = -1};

		assert_int_equal(fiber_runtime_start(&options, &rt), 0);
		body();
		assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	}
}

/* A test that runs on 1 and on 4 carriers. */
#define TEST(name)                         \
	static void name##_body(void);     \
	static void name(void **state)     \
	{                                  \
		(void)state;               \
		each_runtime(name##_body); \
	}                                  \
	static void name##_body(void)

/* Both ends of a pipe as streams. */
struct ends {
	FILE *in, *out;
	int fds[2];
};

static inline void open_ends(struct ends *e)
{
	assert_int_equal(pipe(e->fds), 0);
	assert_non_null(e->in = fdopen(e->fds[0], "r"));
	assert_non_null(e->out = fdopen(e->fds[1], "w"));
}

static inline void close_ends(struct ends *e)
{
	fclose(e->out);
	fclose(e->in);
}

/* Read exactly this from a descriptor that has it. */
static inline void expect_bytes(int fd, const char *text)
{
	char bytes[64];
	size_t n = 0;

	while (n < strlen(text))
		n += (size_t)read(fd, bytes + n, strlen(text) - n);
	assert_memory_equal(bytes, text, n);
}

/* Fill a pipe. Returns the number of bytes. */
static inline int fill_pipe(const int fds[2])
{
	int n = 0;

	fill(fds[1]);
	assert_int_equal(ioctl(fds[0], FIONREAD, &n), 0);
	return n;
}

/* Read as many bytes, and not what is written meanwhile. */
static inline void read_away(int fd, int n)
{
	char bytes[4096];

	while (n > 0)
		n -= (int)read(fd, bytes, n < 4096 ? (size_t)n : 4096);
}

#define ENDS_MAIN(tests)                          \
	harness_watchdog(110);                    \
	cmocka_set_message_output(CM_OUTPUT_TAP); \
	return cmocka_run_group_tests(tests, NULL, NULL)

#endif

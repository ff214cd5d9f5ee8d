/* SPDX-License-Identifier: MIT */
/*
 * test_race_pipe.c - two readers of a pipe: the other may take the byte that poll(2) reported
 *
 * poll(2) is replaced here: the byte that it reports is gone when it returns, as if another reader
 * had been quicker. A read that is not marked as non-blocking then blocks the carrier.
 */
#include "inside.h"

#include <signal.h>
#include <stdlib.h>

static int ends[2];
static _Atomic int quicker; /* how many more times another reader is quicker */

/* A separate function: in poll() the compiler assumes that the arguments are not NULL. */
static __attribute__((noinline)) int look(struct pollfd *fds, nfds_t n)
{
	const bool steal = quicker > 0 && n == 1 && fds->fd == ends[0];
	char byte = 'x';
	int found;

	if (steal && write(ends[1], &byte, 1) != 1)
		abort();
	found = ppoll(fds, n, &(struct timespec){0}, NULL);
	if (steal) {
		quicker--;
		if (found && read(ends[0], &byte, 1) != 1)
			abort();
	}
	return found;
}

/* The library calls poll() only without waiting. */
int poll(struct pollfd *fds, nfds_t n, int limit)
{
	(void)limit;
	return look(fds, n);
}

static void *read_one(void *deadline)
{
	char byte;

	return (void *)(intptr_t)fiber_read(ends[0], &byte, 1, fiber_after((intptr_t)deadline));
}

static void test_read_of_a_blocking_pipe_waits_in_the_fiber_when_another_reader_is_quicker(
	void **state)
{
	struct fiber *reader;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	quicker = 1;
	assert_int_equal(inside(read_one, (void *)(intptr_t)(20 * MS)), -ETIMEDOUT);
	quicker = 0;
	reader = inside_suspended(read_one, (void *)(intptr_t)(20000 * MS));
	assert_int_equal(write(ends[1], "y", 1), 1);
	assert_int_equal(inside_join(reader), 1);
	fiber_close(ends[0]);
	fiber_close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_read_of_a_blocking_pipe_waits_in_the_fiber_when_another_reader_is_quicker),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests_name("race: pipe", tests, inside_start, inside_stop);
}

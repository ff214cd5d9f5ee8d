/* SPDX-License-Identifier: MIT */
/* test_objects.c - wait objects read together give the same as wait objects read one by one */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/os.h"
#include "records.h"
#include "service/sample.h"
#include "tests/harness/watchdog.h"

#define MANY FIB_SAMPLE_OBJECTS

static struct fiber *all[MANY];
static struct fiber_mutex locks[MANY];
static struct fib_row rows[MANY];
static int rcs[MANY];
static struct fib_os_pipe through; /* the pipe that the next sample() may use */

static int setup(void **state)
{
	unsigned i;

	(void)state;
	through = FIB_OS_NO_PIPE;
	for (i = 0; i < MANY; i++) {
		all[i] = record_make("waiter", 0, 0);
		snprintf(locks[i].name, sizeof locks[i].name, "lock-%u", i);
		fib_store(&locks[i].owner, 100 + i);
		all[i]->wait_object = (uint64_t)(uintptr_t)&locks[i];
		fib_store(&all[i]->wait_kind, FIB_WAIT_MUTEX);
	}
	return 0;
}

static int teardown(void **state)
{
	unsigned i;

	(void)state;
	fib_os_pipe_close(&through);
	assert_int_equal(through.fds[0], -1);
	for (i = MANY; i-- > 0;)
		record_end(all[i]);
	return 0;
}

static void sample(void)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		assert_true(fib_sample_row(record_index(all[i]), fib_os_now(), &rows[i]));
	fib_sample_objects(rows, MANY, &through, rcs);
}

/* Whether the pipe is empty, so that the next reader gets only its own bytes. */
static bool is_empty(const struct fib_os_pipe *pipe)
{
	char byte;

	return read(pipe->fds[0], &byte, 1) == -1 && errno == EAGAIN;
}

static void assert_seen(unsigned i)
{
	char name[32];

	snprintf(name, sizeof name, "lock-%u", i);
	assert_int_equal(rcs[i], 0);
	assert_string_equal(rows[i].object_name, name);
	assert_int_equal(rows[i].holder, 100 + i);
}

static void test_objects_of_all_are_named_with_their_holders(void **state)
{
	unsigned i;

	(void)state;
	sample();
	for (i = 0; i < MANY; i++)
		assert_seen(i);
	assert_true(through.fds[0] >= 0);
	assert_true(is_empty(&through));
}

static void test_objects_say_which_fiber_alone_signalled_them(void **state)
{
	struct fiber_sem sems[MANY] = {0};
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		sems[i].waiters.own = 200 + i;
		all[i]->wait_object = (uint64_t)(uintptr_t)&sems[i];
		fib_store(&all[i]->wait_kind, FIB_WAIT_SEM);
	}
	sample();
	for (i = 0; i < MANY; i++) {
		assert_int_equal(rcs[i], 0);
		assert_int_equal(rows[i].toucher, 200 + i);
	}
}

static void test_few_objects_open_nothing(void **state)
{
	(void)state;
	fib_sample_row(record_index(all[0]), fib_os_now(), &rows[0]);
	fib_sample_objects(rows, 1, &through, rcs);
	assert_seen(0);
	assert_int_equal(through.fds[0], -1);
}

static void test_objects_are_seen_without_a_descriptor_left(void **state)
{
	struct rlimit before, none;
	unsigned i;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	sample();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(through.fds[0], -1);
	for (i = 0; i < MANY; i++)
		assert_seen(i);
}

/* A user with many pipes gets small ones. */
static void test_pieces_are_read_through_a_pipe_that_has_no_room_for_all(void **state)
{
	enum { SIZE = 128, PIECES = 100 };
	static unsigned char from[PIECES][SIZE], to[PIECES][SIZE];
	struct fib_os_piece pieces[PIECES];
	unsigned i;

	(void)state;
	assert_true(fib_os_pipe_open(&through));
	assert_true(fcntl(through.fds[0], F_SETPIPE_SZ, 4096) >= 4096);
	for (i = 0; i < PIECES; i++) {
		memset(from[i], (int)i + 1, SIZE);
		pieces[i] = (struct fib_os_piece){(uintptr_t)from[i], to[i], SIZE, 1};
	}
	pieces[70].address = 16;
	memset(from[70], 0, SIZE);
	fib_os_peek_many(pieces, PIECES, &through);
	for (i = 0; i < PIECES; i++)
		assert_int_equal(pieces[i].rc, i == 70 ? -EFAULT : 0);
	assert_memory_equal(from, to, sizeof to);
	assert_true(is_empty(&through));
}

static void test_objects_that_are_gone_fail_alone(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i += 3)
		all[i]->wait_object = 16;
	sample();
	for (i = 0; i < MANY; i++) {
		if (i % 3) {
			assert_seen(i);
			continue;
		}
		assert_int_equal(rcs[i], -EFAULT);
		assert_string_equal(rows[i].object_name, "");
		assert_int_equal(rows[i].holder, 0);
	}
	assert_true(is_empty(&through));
}

static void test_objects_that_say_nothing_are_not_looked_at(void **state)
{
	(void)state;
	fib_store(&all[0]->wait_kind, FIB_WAIT_SLEEP);
	all[0]->wait_object = 16;
	all[1]->wait_object = 0;
	sample();
	assert_int_equal(rcs[0], 0);
	assert_string_equal(rows[0].object_name, "");
	assert_int_equal(rcs[1], 0);
	assert_seen(2);
}

static void test_threads_that_run_calls_are_read_from_where_the_waits_lead(void **state)
{
	static uint64_t workers[MANY];
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		workers[i] = FIB_HOLDER_THREAD | (1000 + i);
		all[i]->wait_object = (uint64_t)(uintptr_t)sample;
		all[i]->wait_arg = i ? (uint64_t)(uintptr_t)&workers[i] : 0;
		fib_store(&all[i]->wait_kind, FIB_WAIT_OFFLOAD);
	}
	sample();
	for (i = 0; i < MANY; i++) {
		assert_int_equal(rcs[i], 0);
		assert_true(rows[i].holder == (i ? workers[i] : 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_objects_of_all_are_named_with_their_holders,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_objects_say_which_fiber_alone_signalled_them,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_threads_that_run_calls_are_read_from_where_the_waits_lead, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_few_objects_open_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_objects_are_seen_without_a_descriptor_left,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_pieces_are_read_through_a_pipe_that_has_no_room_for_all, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_objects_that_are_gone_fail_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_objects_that_say_nothing_are_not_looked_at,
						setup, teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

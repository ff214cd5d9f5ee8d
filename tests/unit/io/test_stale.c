/* SPDX-License-Identifier: MIT */
/*
 * test_stale.c - the old waiters of a reused descriptor number get nothing
 *
 * A thread closes the descriptor without notifying the library, and another file gets its number:
 * dup2(2) does both at once. A waiter for the old file must never get a byte of the new one, and
 * the reader of the new one must get all of them.
 */
#include "inside.h"

#include "tests/harness/paths.h"

#define NUMBER 250

struct reader {
	char bytes[16];
	ssize_t got;
	int64_t deadline;
};

static void *read_number(void *arg)
{
	struct reader *r = arg;

	r->got = fiber_read(NUMBER, r->bytes, sizeof r->bytes, r->deadline);
	return NULL;
}

static void *recv_number(void *arg)
{
	struct reader *r = arg;

	r->got = fiber_recv(NUMBER, r->bytes, sizeof r->bytes, 0, r->deadline);
	return NULL;
}

static void *readv_number(void *arg)
{
	struct reader *r = arg;
	const struct iovec v = {r->bytes, sizeof r->bytes};

	r->got = fiber_readv(NUMBER, &v, 1, r->deadline);
	return NULL;
}

static struct fiber *begin(fiber_fn *fn, struct reader *r)
{
	struct fiber *f;

	*r = (struct reader){.deadline = FIBER_FOREVER};
	f = inside_suspended(fn, r);
	return f;
}

static void open_one(int kind, int fds[2])
{
	int ends[2];

	if (kind == 0) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		return;
	}
	assert_int_equal(pipe(ends), 0);
	fds[0] = ends[0];
	fds[1] = ends[1];
}

/* ThreadSanitizer reports the use of a number that another thread closes, which is what this
 * test does. */
static bool forbidden(void)
{
	return !strcmp(harness_sanitizer(), "thread");
}

static void replace(fiber_fn *fn, int old_kind, int new_kind)
{
	struct reader old, owner;
	int before[2], after[2];
	struct fiber *f, *g;

	open_one(old_kind, before);
	open_one(new_kind, after);
	assert_int_equal(dup2(before[0], NUMBER), NUMBER);
	close(before[0]);
	f = begin(fn, &old);
	assert_int_equal(dup2(after[0], NUMBER), NUMBER);
	close(after[0]);
	g = begin(fn, &owner);
	/* An edge for both fibers. */
	assert_int_equal(write(after[1], "secret", 6), 6);
	inside_join(f);
	inside_join(g);
	assert_int_equal(old.got, -EBADF);
	assert_int_equal(owner.got, 6);
	assert_memory_equal(owner.bytes, "secret", 6);
	fiber_close(NUMBER);
	close(before[1]);
	close(after[1]);
}

static void test_stale_waiter_gets_nothing_of_who_has_its_number(void **state)
{
	static fiber_fn *const fns[] = {read_number, readv_number};

	(void)state;
	if (forbidden())
		skip();
	for (int kinds = 0; kinds < 4; kinds++)
		for (int i = 0; i < 2; i++)
			replace(fns[i], kinds / 2, kinds % 2);
	replace(recv_number, 0, 0);
}

static void test_stale_waiter_of_what_is_closed_with_us_is_told_at_once(void **state)
{
	struct reader old, owner;
	int before[2], after[2];
	struct fiber *f;

	(void)state;
	open_one(0, before);
	open_one(0, after);
	assert_int_equal(dup2(before[0], NUMBER), NUMBER);
	close(before[0]);
	assert_int_equal(write(after[1], "secret", 6), 6);
	f = begin(read_number, &old);
	assert_int_equal(fiber_close(NUMBER), 0);
	assert_int_equal(dup2(after[0], NUMBER), NUMBER);
	close(after[0]);
	inside_join(f);
	assert_int_equal(old.got, -EBADF);
	owner.deadline = 0;
	read_number(&owner);
	assert_int_equal(owner.got, 6);
	fiber_close(NUMBER);
	close(before[1]);
	close(after[1]);
}

static void test_stale_waiter_of_what_is_closed_without_us_waits_for_its_deadline(void **state)
{
	struct reader old;
	int fds[2];
	struct fiber *f;

	(void)state;
	if (forbidden())
		skip();
	open_one(0, fds);
	assert_int_equal(dup2(fds[0], NUMBER), NUMBER);
	close(fds[0]);
	old = (struct reader){.deadline = fiber_after(20 * MS)};
	f = inside_spawn(read_number, &old);
	while (fiber_state(f) != FIBER_SUSPENDED && fiber_now() < old.deadline)
		sched_yield();
	close(NUMBER);
	inside_join(f);
	assert_true(old.got == -ETIMEDOUT || old.got == -EBADF);
	inside(read_number, &old);
	assert_int_equal(old.got, -EBADF);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale_waiter_gets_nothing_of_who_has_its_number),
		cmocka_unit_test(test_stale_waiter_of_what_is_closed_with_us_is_told_at_once),
		cmocka_unit_test(
			test_stale_waiter_of_what_is_closed_without_us_waits_for_its_deadline),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}

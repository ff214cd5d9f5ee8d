/* SPDX-License-Identifier: MIT */
/*
 * test_registration.c - the file of a registration is known, until the program replaces it unnoticed
 *
 * The system calls on the way to and from a wait are counted. The program replaces the file of a
 * number with dup2(2), of which libfiber does not learn. Another descriptor keeps the old file open,
 * so that the poller still has it under the number.
 */
#include "inside.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "io/registration.h"
#include "io/table.h"
#include "os/os.h"
#include "runtime/runtime.h"
#include "tests/harness/paths.h"

#define ROUNDS 5

static _Atomic int counted = -1; /* the number whose calls are counted */
static _Atomic unsigned identities, registrations;
static _Atomic int swap_to = -1; /* the number means this file at the next registration */

static int number = 400; /* not used before, and used in one test */

/* Replaces that of the library, which is not linked in. */
uint64_t fib_os_identity(int fd)
{
	struct stat st;

	if (fd == counted)
		identities++;
	if (fstat(fd, &st) < 0)
		return 0;
	return ((uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino) | UINT64_C(1) << 63;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	if (fd == counted) {
		registrations++;
		if (swap_to >= 0)
			dup2(swap_to, fd);
		swap_to = -1;
	}
	return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}

struct reader {
	ssize_t got;
	char byte;
};

static void *read_number(void *arg)
{
	struct reader *r = arg;

	r->got = fiber_read(number, &r->byte, 1, FIBER_FOREVER);
	return NULL;
}

static void *close_number(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

/* A connection whose near end is to be had under the number. */
struct file {
	int near, far;
};

static struct file open_file(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	return (struct file){fds[0], fds[1]};
}

static void shut(struct file *f)
{
	close(f->near);
	close(f->far);
}

static void put(const struct file *f)
{
	assert_int_equal(dup2(f->near, number), number);
}

static struct fiber *begin(struct reader *r)
{
	*r = (struct reader){0, 0};
	return inside_suspended(read_number, r);
}

static void end(struct fiber *fiber, struct reader *r, const struct file *f, char byte)
{
	assert_int_equal(write(f->far, &byte, 1), 1);
	inside_join(fiber);
	assert_int_equal(r->got, 1);
	assert_int_equal(r->byte, byte);
}

/* A fiber waits for one byte of f, under the number, and gets it. */
static void get_one(const struct file *f)
{
	struct reader r;
	struct fiber *fiber = begin(&r);

	end(fiber, &r, f, 'b');
}

/* The poller has f under the number, and only f. */
static struct file known(void)
{
	struct file f = open_file();

	number++;
	put(&f);
	get_one(&f);
	return f;
}

/* Other pollers know no files. The program replaces files that ThreadSanitizer sees being read. */
static bool is_epoll(void)
{
	return !strcmp(rt->sched.poller->ops->name, "epoll");
}

static void needs_epoll(void)
{
	if (is_epoll() && strcmp(harness_sanitizer(), "thread"))
		return;
	print_message("# skipped: needs epoll, and no ThreadSanitizer\n");
	skip();
}

/* A wait asks for no identity, and asks the poller after the wait; or it asks twice. */
static void count_waits(const struct file *f, unsigned identities_each)
{
	identities = registrations = 0;
	counted = number;
	for (int i = 0; i < ROUNDS; i++)
		get_one(f);
	counted = -1;
	assert_int_equal(identities, ROUNDS * identities_each);
	assert_int_equal(registrations, ROUNDS * (identities_each ? 1 : 2));
}

static void test_registration_of_a_known_file_asks_for_no_identity(void **state)
{
	struct file f;

	(void)state;
	needs_epoll();
	f = known();
	count_waits(&f, 0);
	inside(close_number, &number);
	shut(&f);
}

static void test_registration_of_a_number_closed_with_us_knows_the_next_file(void **state)
{
	struct file f, next = open_file();

	(void)state;
	needs_epoll();
	f = known();
	inside(close_number, &number);
	put(&next);
	get_one(&next);
	count_waits(&next, 0);
	inside(close_number, &number);
	shut(&f);
	shut(&next);
}

/* The waiter for the old file is woken by it when the number means another file already. */
static void test_registration_of_a_known_file_gives_its_waiter_nothing_of_the_next(void **state)
{
	struct file f, next = open_file();
	struct reader r;
	struct fiber *fiber;
	char byte;

	(void)state;
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	f = known();
	fiber = begin(&r);
	put(&next);
	assert_int_equal(write(next.far, "n", 1), 1);
	assert_int_equal(write(f.far, "o", 1), 1);
	inside_join(fiber);
	assert_int_equal(r.got, -EBADF);
	assert_int_equal(read(next.near, &byte, 1), 1);
	assert_int_equal(byte, 'n');
	shut(&f);
	shut(&next);
	close(number);
}

/* The check after a wait finds another file. From then on the poller may have both. */
static void test_registration_that_is_not_found_after_a_wait_is_not_trusted_again(void **state)
{
	struct file f, next = open_file();
	struct reader r;
	struct fiber *fiber;

	(void)state;
	needs_epoll();
	f = known();
	fiber = begin(&r);
	put(&next);
	assert_int_equal(write(f.far, "o", 1), 1);
	inside_join(fiber);
	assert_int_equal(r.got, -EBADF);
	fiber = begin(&r);
	put(&f);
	assert_int_equal(write(next.far, "n", 1), 1);
	inside_join(fiber);
	assert_int_equal(r.got, -EBADF);
	assert_int_equal(read(number, &r.byte, 1), 1);
	count_waits(&f, 2);
	inside(close_number, &number);
	shut(&f);
	shut(&next);
}

/* Another carrier has found out meanwhile that the poller may have several files. */
static void test_registration_of_files_that_are_not_known_any_more_compares_identities(void **state)
{
	struct file f, next = open_file();
	struct fib_descriptor *d;

	(void)state;
	needs_epoll();
	f = known();
	put(&next);
	get_one(&next);
	d = fib_descriptor_find(number);
	assert_false(fib_registration_same(&rt->sched, number, d, fib_os_identity(f.near)));
	assert_true(fib_registration_same(&rt->sched, number, d, fib_os_identity(next.near)));
	inside(close_number, &number);
	shut(&f);
	shut(&next);
}

static void *read_counter(void *arg)
{
	uint64_t *count = arg;

	return (void *)(intptr_t)fiber_read(number, count, sizeof *count, FIBER_FOREVER);
}

/* All eventfds have the same inode. */
static void test_registration_tells_files_apart_that_have_one_identity(void **state)
{
	const int old = eventfd(0, 0), next = eventfd(0, 0);
	const uint64_t one = 1;
	uint64_t count = 0;
	struct fiber *fiber;

	(void)state;
	needs_epoll();
	number++;
	assert_int_equal(fib_os_identity(old), fib_os_identity(next));
	assert_int_equal(dup2(old, number), number);
	fiber = inside_suspended(read_counter, &count);
	assert_int_equal(dup2(next, number), number);
	assert_int_equal(write(next, &one, sizeof one), sizeof one);
	assert_int_equal(write(old, &one, sizeof one), sizeof one);
	assert_int_equal(inside_join(fiber), -EBADF);
	assert_int_equal(read(next, &count, sizeof count), sizeof count);
	close(old);
	close(next);
	close(number);
}

static void test_registration_that_finds_another_file_asks_twice_from_then_on(void **state)
{
	struct file f, next = open_file();

	(void)state;
	needs_epoll();
	f = known();
	put(&next);
	get_one(&next);
	count_waits(&next, 2);
	/* The poller has both: to change the registration succeeds for the old file too. */
	put(&f);
	get_one(&f);
	count_waits(&f, 2);
	inside(close_number, &number);
	put(&next);
	get_one(&next);
	count_waits(&next, 2);
	inside(close_number, &number);
	shut(&f);
	shut(&next);
}

/* At the close the number means a file that the poller does not have. It keeps the old one. */
static void close_replaced(bool by_a_fiber)
{
	struct file f = known(), next = open_file(), last = open_file();

	put(&next);
	if (by_a_fiber)
		inside(close_number, &number);
	else
		assert_int_equal(fiber_close(number), 0);
	put(&last);
	get_one(&last);
	put(&f);
	get_one(&f);
	count_waits(&f, 2);
	inside(close_number, &number);
	shut(&f);
	shut(&next);
	shut(&last);
}

static void test_registration_that_is_not_found_when_closing_is_not_trusted_again(void **state)
{
	(void)state;
	needs_epoll();
	close_replaced(true);
	close_replaced(false);
}

/* Another thread replaces the file between the question for its identity and its registration. */
static void test_registration_of_a_file_that_is_replaced_meanwhile_is_not_trusted(void **state)
{
	struct file f, next = open_file();
	struct reader r;
	struct fiber *fiber;

	(void)state;
	needs_epoll();
	f = open_file();
	number++;
	put(&f);
	swap_to = next.near;
	counted = number;
	fiber = begin(&r);
	counted = -1;
	assert_int_equal(write(next.far, "n", 1), 1);
	inside_join(fiber);
	assert_int_equal(r.got, -EBADF);
	assert_int_equal(read(number, &r.byte, 1), 1);
	get_one(&next);
	count_waits(&next, 2);
	inside(close_number, &number);
	shut(&f);
	shut(&next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registration_of_a_known_file_asks_for_no_identity),
		cmocka_unit_test(test_registration_of_a_number_closed_with_us_knows_the_next_file),
		cmocka_unit_test(
			test_registration_of_a_known_file_gives_its_waiter_nothing_of_the_next),
		cmocka_unit_test(
			test_registration_that_is_not_found_after_a_wait_is_not_trusted_again),
		cmocka_unit_test(
			test_registration_of_files_that_are_not_known_any_more_compares_identities),
		cmocka_unit_test(test_registration_tells_files_apart_that_have_one_identity),
		cmocka_unit_test(test_registration_that_finds_another_file_asks_twice_from_then_on),
		cmocka_unit_test(
			test_registration_that_is_not_found_when_closing_is_not_trusted_again),
		cmocka_unit_test(
			test_registration_of_a_file_that_is_replaced_meanwhile_is_not_trusted),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}

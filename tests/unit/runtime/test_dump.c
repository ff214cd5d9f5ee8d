/* SPDX-License-Identifier: MIT */
/* test_dump.c - a dump needs nothing that may be broken, locked or gone */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fiber/introspect.h>

#include "core/registry.h"
#include "core/labels.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/service/records.h"

static char text[64 << 10];

/* Store what fiber_dump() writes, and return its result. */
static int dump(void)
{
	int fd = memfd_create("dump", MFD_CLOEXEC), rc;
	ssize_t n;

	assert_true(fd >= 0);
	rc = fiber_dump(fd);
	n = pread(fd, text, sizeof text - 1, 0);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return rc;
}

static void assert_says(const char *line)
{
	if (!strstr(text, line)) {
		print_error("not said: %s\nbut:\n%s", line, text);
		fail();
	}
}

static void test_dump_says_what_the_tools_say(void **state)
{
	static struct fiber_mutex lock = {.name = "config"};
	struct fiber *f = record_make("a\"b\033", 64 << 10, 1000);
	char line[256];

	(void)state;
	fib_store(&lock.owner, 99);
	fib_store(&f->wait_kind, FIB_WAIT_MUTEX);
	f->wait_object = (uint64_t)(uintptr_t)&lock;
	f->parent = 3;
	f->cpu = 2500000000;
	f->spawn_pc = 0xabc;
	f->fn = NULL;
	assert_int_equal(dump(), 1);
	snprintf(line, sizeof line,
		 "fiber %" PRIu64 " \"a\\\"b\\x1b\" [suspended: mutex \"config\" held by 99, 5",
		 fiber_id(f));
	assert_says(line);
	assert_says(
		"  parent 3, switches 4, cpu 2.5s, stack 1000 of 65536, deepest 65536, runs 0x0, "
		"spawned at 0xabc\n");
	assert_says("\n1 fiber\n");
	/* A fiber spawned by a thread has no parent. */
	f->parent = 0;
	assert_int_equal(dump(), 1);
	assert_says("]\n  switches 4, cpu 2.5s, ");
	f->context.sp = 0x1000;
	assert_int_equal(dump(), 1);
	assert_says(", stack 0 of 65536 (stack pointer outside), deepest ");
	record_end(f);
}

static void test_dump_says_labels_in_quotes_and_has_room_for_all(void **state)
{
	struct fiber *f = record_make("labelled", 64 << 10, 1000);
	char key[] = "\x01", value[200];
	int i;

	(void)state;
	assert_int_equal(fib_labels_set(&f->labels, fiber_id(f), "a", "b\"c"), 0);
	assert_int_equal(fib_labels_set(&f->labels, fiber_id(f), "d", "\033[2J"), 0);
	assert_int_equal(dump(), 1);
	assert_says("  labels \"a\"=\"b\\\"c\" \"d\"=\"\\x1b[2J\"\n");
	/* The longest labels: as many as fit, and one that fills the room. */
	fib_labels_drop(&f->labels);
	for (i = 0; i < 82; i++, key[0]++) {
		key[0] += key[0] == '=';
		assert_int_equal(fib_labels_set(&f->labels, fiber_id(f), key, ""), 0);
	}
	assert_int_equal(dump(), 1);
	assert_says(" \"S\"=\"\"\n");
	assert_says("\n1 fiber\n");
	fib_labels_drop(&f->labels);
	memset(value, 0xff, sizeof value - 1);
	value[sizeof value - 1] = 0;
	assert_int_equal(fib_labels_set(&f->labels, fiber_id(f), value, "end"), 0);
	assert_int_equal(dump(), 1);
	assert_says("\\xff\"=\"end\"\n");
	fib_labels_drop(&f->labels);
	record_end(f);
}

static void *never(void *arg)
{
	return arg;
}

static void test_dump_of_a_fiber_that_has_not_begun_says_its_function_and_no_stack(void **state)
{
	const struct fiber_attr attr = {.size = sizeof attr, .name = "fresh"};
	struct fiber *fiber;
	char line[256];

	(void)state;
	assert_int_equal(fiber_create(&attr, never, NULL, &fiber), 0);
	assert_int_equal(dump(), 1);
	snprintf(line, sizeof line, "fiber %" PRIu64 " \"fresh\" [created, ", fiber_id(fiber));
	assert_says(line);
	snprintf(line, sizeof line, "switches 0, cpu 0s, stack 0 of 262144, runs 0x%" PRIx64 ",",
		 (uint64_t)(uintptr_t)never);
	assert_says(line);
	/* This holds also if no runtime has updated the coarse clock yet. */
	assert_in_range(fib_os_now() - fib_load(&fiber->since), 0, INT64_C(60000000000));
	assert_int_equal(fiber_detach(fiber), 0);
}

static void test_dump_of_no_fibers_is_a_line(void **state)
{
	(void)state;
	assert_int_equal(dump(), 0);
	assert_string_equal(text, "0 fibers\n");
}

static void test_dump_survives_a_broken_record(void **state)
{
	struct fiber *f = record_make("broken", 0, 0);

	(void)state;
	memset(f->name, 0xff, sizeof f->name);
	fib_store(&f->state, 200);
	fib_store(&f->wait_kind, 250);
	f->stack.low = NULL;
	f->stack.size = SIZE_MAX;
	f->context.sp = 8;
	fib_store(&f->since, INT64_MIN);
	assert_int_equal(dump(), 1);
	assert_says("[unknown, ");
	f->stack.size = 0;
	record_end(f);
}

static void test_dump_takes_no_lock_and_leaves_errno_alone(void **state)
{
	struct fiber *f = record_make("there", 0, 0);

	(void)state;
	fib_registry_lock();
	errno = ELOOP;
	assert_int_equal(dump(), 1);
	fib_registry_unlock();
	assert_says("\"there\"");
	errno = ELOOP;
	assert_int_equal(fiber_dump(-1), -EBADF);
	assert_int_equal(errno, ELOOP);
	record_end(f);
}

static void test_dump_gives_up_on_who_does_not_read(void **state)
{
	static struct fiber *f[400];
	size_t i, n = sizeof f / sizeof f[0];
	int fds[2];

	(void)state;
	for (i = 0; i < n; i++)
		f[i] = record_make("one of too many for a page", 0, 0);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 4096) > 0);
	assert_int_equal(fiber_dump(fds[1]), -EAGAIN);
	close(fds[0]);
	close(fds[1]);
	for (i = 0; i < n; i++)
		record_end(f[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_says_labels_in_quotes_and_has_room_for_all),
		cmocka_unit_test(test_dump_of_no_fibers_is_a_line),
		cmocka_unit_test(test_dump_says_what_the_tools_say),
		cmocka_unit_test(
			test_dump_of_a_fiber_that_has_not_begun_says_its_function_and_no_stack),
		cmocka_unit_test(test_dump_survives_a_broken_record),
		cmocka_unit_test(test_dump_takes_no_lock_and_leaves_errno_alone),
		cmocka_unit_test(test_dump_gives_up_on_who_does_not_read),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

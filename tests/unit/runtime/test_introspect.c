/* SPDX-License-Identifier: MIT */
/* test_introspect.c - a program gets from the API what the records of its fibers say */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <poll.h>

#include <fiber.h>

#include "core/labels.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/service/records.h"

static struct fiber_info seen[64];
static size_t seen_count;

static int collect(const struct fiber_info *info, void *arg)
{
	size_t most = arg ? *(size_t *)arg : sizeof seen / sizeof seen[0];

	seen[seen_count++] = *info;
	return seen_count == most ? 7 : 0;
}

static int look(struct fiber_runtime *rt)
{
	seen_count = 0;
	return fiber_foreach(rt, collect, NULL);
}

static const struct fiber_info *info_of(const struct fiber *fiber)
{
	size_t i;

	for (i = 0; i < seen_count; i++)
		if (seen[i].id == fiber_id(fiber))
			return &seen[i];
	return NULL;
}

static struct fiber_runtime *start_runtime(void)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	struct fiber_runtime *rt = NULL;

	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	return rt;
}

static void test_introspect_info_is_what_the_record_says(void **state)
{
	struct fiber *f = record_make("by hand", 64 << 10, 1000);
	const struct fiber_info *info;
	int64_t now = fib_os_now();
	const char *key, *value;
	size_t at = 0;

	(void)state;
	f->parent = 3;
	f->pins = 0;
	f->cpu = 77;
	f->wait_deadline = now + 5000;
	f->spawn_pc = 0x1234;
	f->flags = FIBER_DETACHED;
	assert_int_equal(fib_labels_set(&f->labels, fiber_id(f), "user", "7"), 0);
	assert_int_equal(fib_labels_set(&f->labels, fiber_id(f), "zone", ""), 0);
	assert_int_equal(look(NULL), 0);
	info = info_of(f);
	assert_non_null(info);
	assert_true(fiber_info_label(info, &at, &key, &value));
	assert_string_equal(key, "user");
	assert_string_equal(value, "7");
	assert_true(fiber_info_label(info, &at, &key, &value));
	assert_string_equal(key, "zone");
	assert_string_equal(value, "");
	assert_false(fiber_info_label(info, &at, &key, &value));
	fib_labels_drop(&f->labels);
	assert_int_equal(info->parent_id, 3);
	assert_string_equal(info->name, "by hand");
	assert_int_equal(info->state, FIBER_SUSPENDED);
	assert_int_equal(info->flags, FIBER_DETACHED);
	assert_int_equal(info->carrier, -1);
	assert_string_equal(info->wait_kind, "park");
	assert_null(info->wait_object);
	assert_int_equal(info->holder_id, 0);
	assert_int_equal(info->fd, -1);
	assert_int_equal(info->deadline, now + 5000);
	assert_in_range(info->since, fib_load(&f->since) - 1000000, fib_load(&f->since) + 1000000);
	assert_int_equal(info->switches, 4);
	assert_int_equal(info->cpu_ns, 77);
	assert_int_equal(info->stack_size, 64 << 10);
	assert_int_equal(info->stack_used, 1000);
	assert_int_equal(info->stack_high_water, 64 << 10);
	assert_int_equal((uintptr_t)info->spawn_pc, 0x1234);
	record_end(f);
}

static void test_introspect_tells_waits_apart(void **state)
{
	static struct fiber_mutex by_fiber = {.name = "by fiber"}, by_thread;
	struct fiber *f = record_make("waits", 0, 0);
	const struct fiber_info *info;

	(void)state;
	fib_store(&by_fiber.owner, 99 | FIB_HOLDER_CONTENDED);
	fib_store(&by_thread.owner, 1234 | FIB_HOLDER_THREAD);
	fib_store(&f->wait_kind, FIB_WAIT_MUTEX);
	f->wait_object = (uint64_t)(uintptr_t)&by_fiber;
	look(NULL);
	info = info_of(f);
	assert_string_equal(info->wait_kind, "mutex");
	assert_ptr_equal(info->wait_object, &by_fiber);
	assert_string_equal(info->wait_object_name, "by fiber");
	assert_int_equal(info->holder_id, 99);
	assert_int_equal(info->holder_thread, 0);

	f->wait_object = (uint64_t)(uintptr_t)&by_thread;
	look(NULL);
	info = info_of(f);
	assert_int_equal(info->holder_id, 0);
	assert_int_equal(info->holder_thread, 1234);

	f->wait_object = 0;
	f->wait_arg = 42;
	fib_store(&f->wait_kind, FIB_WAIT_JOIN);
	look(NULL);
	assert_int_equal(info_of(f)->target_id, 42);

	f->wait_arg = 5 | (uint64_t)POLLOUT << 32;
	fib_store(&f->wait_kind, FIB_WAIT_FD);
	look(NULL);
	assert_int_equal(info_of(f)->fd, 5);
	assert_int_equal(info_of(f)->events, POLLOUT);
	record_end(f);
}

static void test_introspect_object_that_is_gone_has_no_name(void **state)
{
	struct fiber *f = record_make("waits", 0, 0);
	const struct fiber_info *info;

	(void)state;
	fib_store(&f->wait_kind, FIB_WAIT_SEM);
	f->wait_object = 16;
	look(NULL);
	info = info_of(f);
	assert_string_equal(info->wait_kind, "sem");
	assert_ptr_equal(info->wait_object, 16);
	assert_string_equal(info->wait_object_name, "");
	record_end(f);
}

static void *until_unparked(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void test_introspect_runtimes_see_their_own_fibers(void **state)
{
	struct fiber_runtime *one = start_runtime(), *other = start_runtime();
	struct fiber *a, *b, *created;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(one, NULL, until_unparked, NULL, &a), 0);
	assert_int_equal(fiber_runtime_spawn(other, NULL, until_unparked, NULL, &b), 0);
	assert_int_equal(fiber_create(NULL, until_unparked, NULL, &created), 0);
	look(one);
	assert_int_equal(seen_count, 1);
	assert_non_null(info_of(a));
	look(other);
	assert_int_equal(seen_count, 1);
	assert_non_null(info_of(b));
	look(NULL);
	assert_int_equal(seen_count, 3);
	assert_int_equal(info_of(created)->state, FIBER_CREATED);
	assert_int_equal(fiber_submit(one, created), 0);
	look(one);
	assert_int_equal(seen_count, 2);
	fiber_unpark(a);
	fiber_unpark(b);
	fiber_unpark(created);
	assert_int_equal(fiber_join(a, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_join(b, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_join(created, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(one, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(other, FIBER_FOREVER), 0);
}

static void test_introspect_foreach_ends_when_told_to(void **state)
{
	struct fiber *f[3];
	size_t i, most = 2;

	(void)state;
	for (i = 0; i < 3; i++)
		f[i] = record_make("one of three", 0, 0);
	seen_count = 0;
	assert_int_equal(fiber_foreach(NULL, collect, &most), 7);
	assert_int_equal(seen_count, 2);
	for (i = 0; i < 3; i++)
		record_end(f[i]);
}

static void test_introspect_snapshot_stays_as_it_was(void **state)
{
	struct fiber *f[600];
	struct fiber_snapshot *snapshot = NULL;
	struct fiber_info info;
	size_t i, n = sizeof f / sizeof f[0];

	(void)state;
	for (i = 0; i < n; i++)
		f[i] = record_make("of many", 0, 0);
	assert_int_equal(fiber_snapshot(NULL, &snapshot), 0);
	for (i = 0; i < n; i++)
		record_end(f[i]);
	assert_int_equal(fiber_snapshot_count(snapshot), n);
	for (i = 0; i < n; i++) {
		assert_true(fiber_snapshot_next(snapshot, &info));
		assert_string_equal(info.name, "of many");
	}
	info.id = 12345;
	assert_false(fiber_snapshot_next(snapshot, &info));
	assert_int_equal(info.id, 12345);
	fiber_snapshot_free(snapshot);
	assert_int_equal(fiber_snapshot(NULL, &snapshot), 0);
	assert_int_equal(fiber_snapshot_count(snapshot), 0);
	fiber_snapshot_free(snapshot);
	fiber_snapshot_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_introspect_info_is_what_the_record_says),
		cmocka_unit_test(test_introspect_tells_waits_apart),
		cmocka_unit_test(test_introspect_object_that_is_gone_has_no_name),
		cmocka_unit_test(test_introspect_runtimes_see_their_own_fibers),
		cmocka_unit_test(test_introspect_foreach_ends_when_told_to),
		cmocka_unit_test(test_introspect_snapshot_stays_as_it_was),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

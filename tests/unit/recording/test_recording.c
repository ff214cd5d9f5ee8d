/* SPDX-License-Identifier: MIT */
/* test_recording.c - a recording is read in order of time; damaged ones are refused */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "inspect/recording/account.h"
#include "inspect/render/render_trace_events.h"
#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

static void test_recording_is_one_line_in_order_of_time(void **state)
{
	struct ins_recording *r = made_three();
	size_t i;

	(void)state;
	assert_int_equal(r->head.pid, 42);
	assert_string_equal(r->head.name, "made");
	assert_int_equal(r->rings, 3);
	assert_int_equal(r->events, 12); /* the name is not counted */
	assert_int_equal(r->lost, 0);
	for (i = 1; i < r->events; i++)
		assert_true(r->event[i].ns >= r->event[i - 1].ns);
	assert_int_equal(r->event[0].ns, BEGAN + 100);
	assert_int_equal(r->event[r->events - 1].ns, BEGAN + 900);
	/* Events of the same time are in the order of their rings. */
	assert_int_equal(r->event[r->events - 3].event.type, FIB_EVENT_EXIT);
	assert_int_equal(r->event[r->events - 2].event.state, FIBER_DEAD);
	ins_recording_close(r);
}

static void test_recording_says_where_events_were_lost(void **state)
{
	struct made m = made_begin("lost.rec", 1000);
	const struct fib_event early[] = {made_run(10, 1, FIB_EVENT_NOBODY, 0, 0)};
	const struct fib_event late[] = {made_run(20, 2, FIB_EVENT_NOBODY, 0, 0)};
	struct ins_recording *r;

	(void)state;
	made_ring(&m, 0, 0, early, 1);
	made_ring(&m, 0, 77, late, 1);
	r = made_end(&m);
	assert_int_equal(r->lost, 77);
	assert_int_equal(r->ring[0].lost, 77);
	assert_int_equal(r->events, 3);
	assert_int_equal(r->event[1].event.type, FIB_EVENT_COUNT);
	assert_int_equal(r->event[1].ns, BEGAN + 10);
	assert_int_equal(r->event[1].event.object, BEGAN + 20);
	assert_int_equal(r->event[1].event.time, 77);
	ins_recording_close(r);
}

/* If the writer outruns the reader, readings have no events, perhaps up to the end. */
static void test_recording_keeps_what_was_lost_until_the_next_event(void **state)
{
	struct made m = made_begin("lost.rec", 1000);
	const struct fib_event late[] = {made_run(500, 2, FIB_EVENT_NOBODY, 0, 0)};
	struct ins_recording *r;

	(void)state;
	made_ring(&m, 0, 70, NULL, 0);
	made_ring(&m, 0, 7, NULL, 0);
	made_ring(&m, 0, 0, late, 1);
	made_ring(&m, 1, 5, NULL, 0);
	made_ring(&m, 0, 3, NULL, 0);
	r = made_end(&m);
	assert_int_equal(r->lost, 85);
	assert_int_equal(r->events, 4);
	assert_int_equal(r->event[0].event.type, FIB_EVENT_COUNT);
	assert_int_equal(r->event[0].event.time, 77);
	assert_int_equal(r->event[0].event.object, BEGAN + 500);
	assert_int_equal(r->event[1].ring, 1);
	assert_int_equal(r->event[1].ns, BEGAN);
	assert_int_equal(r->event[1].event.object, BEGAN + 1000);
	assert_int_equal(r->event[2].event.type, FIB_EVENT_RUN);
	assert_int_equal(r->event[3].ns, BEGAN + 500);
	assert_int_equal(r->event[3].event.time, 3);
	assert_int_equal(r->event[3].event.object, BEGAN + 1000);
	ins_recording_close(r);
}

/* Names do not count as events. */
static void test_recording_says_so_too_where_only_a_name_follows(void **state)
{
	struct made m = made_begin("names.rec", 1000);
	const struct fib_event name = {.type = FIB_EVENT_NAME, .fiber = 7};
	const struct fib_event late[] = {made_run(20, 2, FIB_EVENT_NOBODY, 0, 0)};
	struct ins_recording *r;

	(void)state;
	made_ring(&m, 0, 3, &name, 1);
	made_ring(&m, 0, 4, NULL, 0);
	made_ring(&m, 0, 0, late, 1);
	r = made_end(&m);
	assert_int_equal(r->lost, 7);
	assert_int_equal(r->events, 2);
	assert_int_equal(r->event[0].event.type, FIB_EVENT_COUNT);
	assert_int_equal(r->event[0].event.object, BEGAN + 20);
	ins_recording_close(r);
}

static void test_recording_of_something_else_is_refused_with_a_reason(void **state)
{
	struct fib_recording_head head = {.version = 9, .order = FIB_RECORDING_ORDER};
	struct ins_recording *r;
	struct ins_error error;

	(void)state;
	assert_int_equal(ins_recording_read("nothing", 7, "x", &error, &r), -ENOMSG);
	assert_non_null(strstr(error.text, "x: is no recording"));
	memcpy(head.magic, FIB_RECORDING_MAGIC, sizeof head.magic);
	assert_int_equal(ins_recording_read(&head, sizeof head, "x", &error, &r), -ENOTSUP);
	assert_non_null(strstr(error.text, "another version"));
	head.version = FIB_RECORDING_VERSION;
	assert_int_equal(ins_recording_read(&head, sizeof head, "x", &error, &r), -EINVAL);
	head.order = 0x04030201;
	assert_int_equal(ins_recording_read(&head, sizeof head, "x", &error, &r), -ENOTSUP);
	head.version = __builtin_bswap32(FIB_RECORDING_VERSION);
	assert_int_equal(ins_recording_read(&head, sizeof head, "x", &error, &r), -EINVAL);
	assert_true(ins_recording_open("/nowhere/at/all", &error, &r) < 0);
	assert_non_null(strstr(error.text, "/nowhere/at/all"));
	assert_true(ins_recording_open("/", &error, &r) < 0);
}

/* Run everything that uses a recording. */
static void use(struct ins_recording *r)
{
	FILE *out = fopen("/dev/null", "w");
	struct ins_replay *replay;
	struct ins_account *account;

	assert_non_null(out);
	assert_int_equal(ins_replay_new(r, &replay), 0);
	assert_int_equal(ins_account_new(r, replay, &account), 0);
	assert_int_equal(ins_trace_events(out, r, replay), 0);
	ins_account_free(account);
	ins_replay_free(replay);
	fclose(out);
}

/* Change bytes and truncate, and use every result that is still a recording. */
static void test_recording_that_is_damaged_never_crashes(void **state)
{
	struct ins_recording *r = made_three();
	struct ins_error error;
	char path[HARNESS_PATH], *bytes, *copy;
	unsigned round, i, refused = 0;
	size_t size, cut;

	(void)state;
	ins_recording_close(r);
	assert_int_equal(ins_read_file(harness_file(path, "three.rec"), &bytes, &size), 0);
	srandom(4711);
	for (round = 0; round < 20000; round++) {
		cut = round % 4 ? size : (size_t)random() % size;
		copy = malloc(cut + 1); /* the exact size, to detect reads past the end */
		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		for (i = (unsigned)random() % 4; i && cut; i--)
			copy[(size_t)random() % cut] = (char)random();
		if (ins_recording_read(copy, cut, "x", &error, &r) == 0) {
			use(r);
			ins_recording_close(r);
		} else {
			assert_non_null(strstr(error.text, "x: "));
			refused++;
		}
		free(copy);
	}
	assert_in_range(refused, 5000, 19000);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording_is_one_line_in_order_of_time),
		cmocka_unit_test(test_recording_says_where_events_were_lost),
		cmocka_unit_test(test_recording_keeps_what_was_lost_until_the_next_event),
		cmocka_unit_test(test_recording_says_so_too_where_only_a_name_follows),
		cmocka_unit_test(test_recording_of_something_else_is_refused_with_a_reason),
		cmocka_unit_test(test_recording_that_is_damaged_never_crashes),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

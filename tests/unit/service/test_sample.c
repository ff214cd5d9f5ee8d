/* SPDX-License-Identifier: MIT */
/* test_sample.c - a copy is of one moment, or is marked as not */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "records.h"
#include "service/sample.h"
#include "tests/harness/watchdog.h"
#include "wire/wire.h"

#define STACK (64u << 10)

static struct fib_row row;
static unsigned char bytes[STACK];
static uint32_t size, flags;

static bool stack_of(struct fiber *f, size_t room)
{
	size = flags = 77;
	return fib_sample_stack(record_index(f), fib_os_now(), NULL, &row, bytes, room, &size,
				&flags);
}

static void test_sample_row_is_what_the_record_says(void **state)
{
	struct fiber *f = record_make("one", STACK, 1000);

	(void)state;
	f->wait_deadline = 99;
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(row.id, fiber_id(f));
	assert_int_equal(row.record, (uintptr_t)f);
	assert_int_equal(row.state, FIBER_SUSPENDED);
	assert_int_equal(row.wait_kind, FIB_WAIT_PARK);
	assert_int_equal(row.deadline, 99);
	assert_int_equal(row.switches, 4);
	assert_int_equal(row.stack_used, 1000);
	assert_int_equal(row.stack_size, STACK);
	assert_true(row.age >= 5000000000);
	assert_string_equal(row.name, "one");
	record_end(f);
}

static void test_sample_free_record_is_no_fiber(void **state)
{
	struct fiber *f = record_make("gone", 0, 0);
	uint64_t index = record_index(f);

	(void)state;
	assert_int_equal(fib_sample_id(index), fiber_id(f));
	record_end(f);
	assert_int_equal(fib_sample_id(index), 0);
	assert_false(fib_sample_row(index, fib_os_now(), &row));
	assert_false(stack_of(f, STACK));
}

static void test_sample_odd_seq_is_running_and_has_no_stack(void **state)
{
	struct fiber *f = record_make("busy", STACK, 1000);

	(void)state;
	fib_store(&f->seq, 9);
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(row.state, FIBER_RUNNING);
	assert_int_equal(row.stack_used, 0);
	assert_true(stack_of(f, STACK));
	assert_int_equal(row.state, FIBER_RUNNING);
	assert_int_equal(flags, FIB_WIRE_STACK_MOVING);
	assert_int_equal(size, 0);
	record_end(f);
}

static _Atomic bool spinning;

/* Act like a fiber that is switched to and away as fast as possible. */
static void *spin(void *arg)
{
	struct fiber *f = arg;

	while (fib_load(&spinning))
		fib_add_relaxed(&f->seq, 2);
	return NULL;
}

static void test_sample_that_never_holds_still_is_running_never_guessed(void **state)
{
	struct fiber *f = record_make("dizzy", STACK, 60000);
	const time_t limit = time(NULL) + 20;
	pthread_t thread;
	int i, wrong = 0, moving = 0;

	(void)state;
	fib_store(&spinning, true);
	assert_int_equal(pthread_create(&thread, NULL, spin, f), 0);
	/* On a busy machine the thread may be scheduled late. */
	for (i = 0; i < 2000 || (!moving && time(NULL) < limit); i++) {
		if (!stack_of(f, STACK) || row.id != fiber_id(f))
			wrong++;
		else if (flags == FIB_WIRE_STACK_MOVING && !size && row.state == FIBER_RUNNING)
			moving++;
		else if (flags || size != 60000)
			wrong++; /* the fiber did not move meanwhile, so the copy must be whole */
	}
	fib_store(&spinning, false);
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
	assert_true(moving > 0);
	record_end(f);
}

static void test_sample_stack_is_the_used_part(void **state)
{
	struct fiber *f = record_make("deep", STACK, 1000);
	int i;

	(void)state;
	*(uint32_t *)(uintptr_t)f->context.sp = 0x12345678;
	assert_true(stack_of(f, STACK));
	assert_int_equal(flags, 0);
	assert_int_equal(size, 1000);
	assert_int_equal(*(uint32_t *)bytes, 0x12345678);
	for (i = 4; i < 1000; i++)
		assert_int_equal(bytes[i], 0x5a);
	record_end(f);
}

static void test_sample_stack_deeper_than_the_room_is_cut(void **state)
{
	struct fiber *f = record_make("deep", STACK, 5000);

	(void)state;
	assert_true(stack_of(f, 4000));
	assert_int_equal(flags, FIB_WIRE_STACK_CUT);
	assert_int_equal(size, 4000);
	record_end(f);
}

static void test_sample_stack_that_is_gone_says_so(void **state)
{
	struct fiber *f = record_make("homeless", 0, 0);
	char *at = mmap(NULL, STACK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(at != MAP_FAILED);
	munmap(at, STACK);
	f->stack.low = at;
	f->stack.size = STACK;
	f->context.sp = (uint64_t)(uintptr_t)at + STACK - 512;
	assert_true(stack_of(f, STACK));
	assert_int_equal(flags, FIB_WIRE_STACK_GONE);
	assert_int_equal(size, 0);
	f->stack.low = NULL;
	record_end(f);
}

static void test_sample_dead_fiber_has_no_stack_and_no_fault(void **state)
{
	struct fiber *f = record_make("late", STACK, 512);
	struct fib_sample_object last = {0};

	(void)state;
	fib_store(&f->state, FIBER_DEAD);
	assert_true(stack_of(f, STACK));
	assert_int_equal(flags, 0);
	assert_int_equal(size, 0);
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
	assert_true(row.stack_high_water == FIB_ROW_UNKNOWN);
	record_end(f);
}

static void wait_for(struct fiber *f, struct fiber_mutex *m)
{
	f->wait_object = (uint64_t)(uintptr_t)m;
	fib_store(&f->wait_kind, FIB_WAIT_MUTEX);
}

static void test_sample_details_name_the_object_and_its_holder(void **state)
{
	struct fiber *f = record_make("waiter", STACK, 512);
	struct fiber_mutex m = {.name = "cfg"};
	struct fib_sample_object last = {0};

	(void)state;
	fib_store(&m.owner, 88 | FIB_HOLDER_CONTENDED);
	wait_for(f, &m);
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
	assert_string_equal(row.object_name, "cfg");
	assert_int_equal(row.holder, 88);
	assert_int_equal(row.stack_high_water, STACK);
	record_end(f);
}

static void test_sample_details_look_once_at_an_object_that_many_wait_for(void **state)
{
	struct fiber *f = record_make("waiter", STACK, 512);
	struct fiber_mutex m = {.name = "first"}, other = {.name = "other"};
	struct fib_sample_object last = {0};

	(void)state;
	wait_for(f, &m);
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
	strcpy(m.name, "second");
	row.object_name[0] = 0;
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
	assert_string_equal(row.object_name, "first");
	wait_for(f, &other);
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
	assert_string_equal(row.object_name, "other");
	record_end(f);
}

static void test_sample_details_have_who_signalled_the_object_and_no_other(void **state)
{
	struct fiber *f = record_make("waiter", STACK, 512);
	struct fiber_sem sem = {.waiters = {.own = 7}};
	struct fib_sample_object last = {0};

	(void)state;
	f->wait_object = (uint64_t)(uintptr_t)&sem;
	fib_store(&f->wait_kind, FIB_WAIT_SEM);
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
	assert_int_equal(row.toucher, 7);
	f->wait_object = 16;
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), -EFAULT);
	assert_int_equal(row.toucher, 0);
	row.toucher = 7;
	fib_sample_forget_object(&row);
	assert_int_equal(row.toucher, 0);
	record_end(f);
}

static void test_sample_object_that_is_gone_is_an_error_every_time(void **state)
{
	struct fiber *f = record_make("waiter", STACK, 512);
	struct fib_sample_object last = {0};

	(void)state;
	wait_for(f, (struct fiber_mutex *)16);
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), -EFAULT);
	assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), -EFAULT);
	assert_string_equal(row.object_name, "");
	record_end(f);
}

static void test_sample_fiber_is_whole(void **state)
{
	struct fiber *f = record_make("waiter", STACK, 512);
	struct fiber_mutex m = {.name = "first"};
	struct fib_sample_object last = {0};
	uint64_t index = record_index(f);
	int rc = 77;

	(void)state;
	wait_for(f, &m);
	assert_true(fib_sample_fiber(index, fib_os_now(), &last, &row, &rc));
	assert_int_equal(rc, 0);
	assert_string_equal(row.object_name, "first");
	assert_int_equal(row.stack_high_water, STACK);
	wait_for(f, (struct fiber_mutex *)16);
	assert_true(fib_sample_fiber(index, fib_os_now(), &last, &row, &rc));
	assert_int_equal(rc, -EFAULT);
	record_end(f);
	assert_false(fib_sample_fiber(index, fib_os_now(), &last, &row, &rc));
}

static void test_sample_sched_is_the_fibers_own(void **state)
{
	struct fiber *f = record_make("one", 0, 0);
	char sched;

	(void)state;
	f->sched = (struct fib_sched *)(void *)&sched;
	assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
	assert_ptr_equal(fib_sample_sched(&row), &sched);
	record_end(f);
	assert_null(fib_sample_sched(&row));
}

static void test_sample_details_name_the_thread_that_runs_a_call(void **state)
{
	struct fiber *f = record_make("caller", STACK, 512);
	struct fib_sample_object last = {0};
	const uint64_t worker[2] = {FIB_HOLDER_THREAD | 4711, FIB_HOLDER_THREAD | 4712};

	(void)state;
	f->wait_object = (uint64_t)(uintptr_t)record_make;
	fib_store(&f->wait_kind, FIB_WAIT_OFFLOAD);
	for (size_t i = 0; i < 2; i++) {
		f->wait_arg = (uint64_t)(uintptr_t)&worker[i];
		assert_true(fib_sample_row(record_index(f), fib_os_now(), &row));
		assert_int_equal(fib_sample_details(&row, &last, FIB_WIRE_WANT_ALL), 0);
		assert_true(row.holder == worker[i]);
	}
	record_end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_row_is_what_the_record_says),
		cmocka_unit_test(test_sample_free_record_is_no_fiber),
		cmocka_unit_test(test_sample_odd_seq_is_running_and_has_no_stack),
		cmocka_unit_test(test_sample_that_never_holds_still_is_running_never_guessed),
		cmocka_unit_test(test_sample_stack_is_the_used_part),
		cmocka_unit_test(test_sample_stack_deeper_than_the_room_is_cut),
		cmocka_unit_test(test_sample_stack_that_is_gone_says_so),
		cmocka_unit_test(test_sample_dead_fiber_has_no_stack_and_no_fault),
		cmocka_unit_test(test_sample_details_name_the_object_and_its_holder),
		cmocka_unit_test(test_sample_details_look_once_at_an_object_that_many_wait_for),
		cmocka_unit_test(test_sample_details_have_who_signalled_the_object_and_no_other),
		cmocka_unit_test(test_sample_details_name_the_thread_that_runs_a_call),
		cmocka_unit_test(test_sample_object_that_is_gone_is_an_error_every_time),
		cmocka_unit_test(test_sample_fiber_is_whole),
		cmocka_unit_test(test_sample_sched_is_the_fibers_own),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

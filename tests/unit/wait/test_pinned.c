/* SPDX-License-Identifier: MIT */
/* test_pinned.c - what a pinned wait does under each policy, and what is recorded of it */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include <fiber/sync.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "wait/pinned.h"
#include "watch/tick.h"

#define SECOND INT64_C(1000000000)

static struct fib_sched s;
static struct fiber_sem sem;

static struct fib_pinned_event *event(uint64_t number)
{
	return &s.pinned.events[number % FIB_PINNED_EVENTS];
}

/*
 * Run fn on one carrier under a policy. s is stopped later, so that the test can look at it first.
 */
static void run(enum fiber_pinned_policy policy, fiber_fn *fn)
{
	struct fiber_result result;
	struct fiber *f;

	carriers_start(&s, 1);
	fib_store(&s.pinned.policy, policy);
	fiber_sem_init(&sem, 0);
	f = carriers_spawn(&s, "nailed", fn, NULL);
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	_assert_true(!result.value, result.value ? result.value : "", __FILE__, __LINE__);
}

/*
 * Sleep until a wait has been counted: if the deadline expires before the wait, no wait is counted.
 */
static void sleep_while_pinned(void)
{
	uint64_t count = fib_load(&s.pinned.count);

	while (fib_load(&s.pinned.count) == count)
		fiber_sleep(SECOND / 1000);
}

static void *is_refused(void *arg)
{
	struct fiber *me = fiber_self();
	uint32_t word = fib_load(&me->parker.word);
	struct fib_pinned_event *e = event(0);

	fiber_pin();
	must(fiber_sem_wait(&sem, FIBER_FOREVER) == -EDEADLK);
	/* Nothing was armed or queued, and the fiber continues as if it had not tried. */
	must(fib_load(&me->parker.word) == word);
	must(!sem.waiters.head);
	must(fib_load(&me->wait_kind) == FIB_WAIT_NONE);
	must(fiber_state(me) == FIBER_RUNNING);
	must(fib_load(&s.pinned.count) == 1 && fib_load(&s.pinned.recorded) == 1);
	must(e->fiber == fiber_id(me) && e->kind == FIB_WAIT_SEM && e->duration == 0);
	must(e->object == (uintptr_t)&sem);
	must(!strcmp(e->name, "nailed"));
	must(fiber_sleep(SECOND) == -EDEADLK);
	must(event(1)->kind == FIB_WAIT_SLEEP && event(1)->object == 0);
	/* The policy does not affect calls that need no wait. */
	must(fiber_sem_post(&sem) == 0);
	must(fiber_sem_wait(&sem, FIBER_FOREVER) == 0);
	must(fiber_sem_wait(&sem, 0) == -ETIMEDOUT);
	must(fib_load(&s.pinned.count) == 2);
	fiber_unpin();
	must(fiber_sleep(1000) == 0);
	must(fib_load(&s.pinned.count) == 2);
	return arg;
}

static void test_pinned_error_refuses_and_records(void **state)
{
	(void)state;
	run(FIBER_PINNED_ERROR, is_refused);
	carriers_stop(&s);
}

static void *blocks(void *arg)
{
	int64_t until = 0;

	fiber_pin();
	while (!fib_load(&s.pinned.count)) {
		until = fiber_after(SECOND / 1000);
		must(fiber_sem_wait(&sem, until) == -ETIMEDOUT);
	}
	must(fiber_now() >= until);
	/* It never left its carrier: it was entered once. */
	must(fib_load(&fiber_self()->seq) == 1);
	fiber_unpin();
	return arg;
}

static void test_pinned_warn_blocks_and_records_how_long(void **state)
{
	struct fib_pinned_event *e;

	(void)state;
	run(FIBER_PINNED_WARN, blocks);
	e = event(0);
	assert_int_equal(fib_load(&s.pinned.count), 1);
	assert_int_equal(fib_load(&s.pinned.recorded), 1);
	assert_int_equal(fib_load(&e->seq) % 2, 0);
	assert_int_equal(e->number, 0);
	assert_int_equal(e->kind, FIB_WAIT_SEM);
	assert_int_equal(e->object, (uintptr_t)&sem);
	assert_true(e->duration > 0);
	assert_true(e->began > 0);
	assert_string_equal(e->name, "nailed");
	carriers_stop(&s);
}

static void test_pinned_silent_blocks_and_only_counts(void **state)
{
	(void)state;
	run(FIBER_PINNED_SILENT, blocks);
	assert_int_equal(fib_load(&s.pinned.count), 1);
	assert_int_equal(fib_load(&s.pinned.recorded), 0);
	carriers_stop(&s);
}

static void *changes_policy(void *arg)
{
	fiber_pin();
	sleep_while_pinned();
	fib_store(&s.pinned.policy, FIBER_PINNED_ERROR);
	must(fiber_sleep(SECOND) == -EDEADLK);
	fib_store(&s.pinned.policy, FIBER_PINNED_SILENT);
	sleep_while_pinned();
	fiber_unpin();
	return arg;
}

static void test_pinned_policy_holds_from_the_next_wait_on(void **state)
{
	(void)state;
	run(FIBER_PINNED_WARN, changes_policy);
	assert_int_equal(fib_load(&s.pinned.count), 3);
	assert_int_equal(fib_load(&s.pinned.recorded), 2);
	carriers_stop(&s);
}

static void *parks_and_yields(void *arg)
{
	fiber_pin();
	must(fiber_park(FIBER_FOREVER) == -EPERM);
	must(fiber_yield() == -EPERM);
	fiber_unpin();
	return arg;
}

static void test_pinned_park_and_yield_are_refused_whatever_the_policy(void **state)
{
	int policy;

	(void)state;
	for (policy = FIBER_PINNED_WARN; policy <= FIBER_PINNED_SILENT; policy++) {
		run((enum fiber_pinned_policy)policy, parks_and_yields);
		assert_int_equal(fib_load(&s.pinned.count), 0);
		carriers_stop(&s);
	}
}

static void *shows_its_stack(void *arg)
{
	struct fiber *me = fiber_self();
	uint64_t low = (uintptr_t)me->stack.low, top = low + me->stack.size;
	volatile uint64_t mark = UINT64_C(0x5afe57ac4c0ffee5);
	struct fib_pinned_event *e = event(0);
	uint64_t at = (uintptr_t)&mark, found;

	fiber_pin();
	must(fiber_sleep(SECOND) == -EDEADLK);
	fiber_unpin();
	must(e->context.sp > low && e->context.sp < at);
	must(e->context.pc != 0);
	/* All of the stack up to its top, or as much as there is room for. */
	must(e->stack_size ==
	     (top - e->context.sp < FIB_PINNED_STACK ? top - e->context.sp : FIB_PINNED_STACK));
	must(at - e->context.sp + sizeof found <= e->stack_size);
	memcpy(&found, e->stack + (at - e->context.sp), sizeof found);
	must(found == mark);
	return arg;
}

static void test_pinned_event_has_the_stack_as_it_was(void **state)
{
	(void)state;
	run(FIBER_PINNED_ERROR, shows_its_stack);
	carriers_stop(&s);
}

/* -- the ring -- */

#define WAITS (FIB_PINNED_EVENTS + 44u)

static void *is_refused_often(void *arg)
{
	unsigned i;

	fiber_pin();
	for (i = 0; i < WAITS; i++)
		must(fiber_sleep(SECOND) == -EDEADLK);
	fiber_unpin();
	return arg;
}

static void test_pinned_ring_keeps_the_last_256_and_the_count_of_all(void **state)
{
	uint64_t i;

	(void)state;
	run(FIBER_PINNED_ERROR, is_refused_often);
	assert_int_equal(fib_load(&s.pinned.recorded), WAITS);
	assert_int_equal(fib_load(&s.pinned.count), WAITS);
	for (i = WAITS - FIB_PINNED_EVENTS; i < WAITS; i++) {
		assert_int_equal(event(i)->number, i);
		assert_int_equal(fib_load(&event(i)->seq) % 2, 0);
	}
	assert_int_equal(fib_load(&s.pinned.dropped), 44);
	carriers_stop(&s);
}

static void *meets_another_writer(void *arg)
{
	struct fiber *me = fiber_self();
	uint64_t first, i, seq;

	/* Another writer has the slot, so the event is counted and dropped. */
	fib_store(&event(0)->seq, 7);
	event(0)->fiber = 4711;
	must(fib_pinned_begin(me, FIB_WAIT_SEM) == UINT64_MAX);
	must(event(0)->fiber == 4711 && fib_load(&event(0)->seq) == 7);
	must(fib_load(&s.pinned.recorded) == 1 && fib_load(&s.pinned.dropped) == 1);
	fib_pinned_end(me, UINT64_MAX);
	fib_store(&event(0)->seq, 8);

	/* A wait that lasted longer than its slot: the slot's new event keeps its duration. */
	first = fib_pinned_begin(me, FIB_WAIT_SEM);
	must(first == 1 && event(first)->duration == -1);
	for (i = 0; i < FIB_PINNED_EVENTS; i++)
		must(fib_pinned_begin(me, FIB_WAIT_SEM) == first + 1 + i);
	must(event(first)->number == first + FIB_PINNED_EVENTS);
	seq = fib_load(&event(first)->seq);
	fib_pinned_end(me, first);
	must(event(first)->duration == -1);
	must(fib_load(&event(first)->seq) >= seq && fib_load(&event(first)->seq) % 2 == 0);
	fib_pinned_end(me, first + FIB_PINNED_EVENTS);
	must(event(first)->duration >= 0);
	return arg;
}

static void test_pinned_ring_belongs_to_the_later_event(void **state)
{
	(void)state;
	run(FIBER_PINNED_WARN, meets_another_writer);
	carriers_stop(&s);
}

static void test_pinned_ring_is_whole_after_waits_on_all_carriers(void **state)
{
	struct fiber_result r;
	struct fiber *f[8];
	unsigned i;

	(void)state;
	carriers_start(&s, 4);
	fib_store(&s.pinned.policy, FIBER_PINNED_ERROR);
	for (i = 0; i < 8; i++)
		f[i] = carriers_spawn(&s, "nailed", is_refused_often, NULL);
	for (i = 0; i < 8; i++) {
		assert_int_equal(fiber_join(f[i], &r, FIBER_FOREVER), 0);
		assert_null(r.value);
	}
	assert_int_equal(fib_load(&s.pinned.count), 8 * WAITS);
	assert_int_equal(fib_load(&s.pinned.recorded), 8 * WAITS);
	assert_int_equal(fib_load(&s.pinned.dropped), 8 * WAITS - FIB_PINNED_EVENTS);
	for (i = 0; i < FIB_PINNED_EVENTS; i++) {
		assert_int_equal(s.pinned.events[i].number % FIB_PINNED_EVENTS, i);
		assert_int_equal(fib_load(&s.pinned.events[i].seq) % 2, 0);
		assert_string_equal(s.pinned.events[i].name, "nailed");
	}
	carriers_stop(&s);
}

/* -- the line on stderr -- */

static int64_t clock_ns = 100 * SECOND;

static struct fib_os_pipe *no_pipe(void)
{
	static struct fib_os_pipe none = FIB_OS_NO_PIPE;

	return &none;
}

/* Return what a report prints at clock_ns. */
static const char *report(void)
{
	static char line[512];
	int pipes[2], old = dup(STDERR_FILENO);
	ssize_t n;

	if (old < 0 || pipe2(pipes, O_NONBLOCK) < 0 || dup2(pipes[1], STDERR_FILENO) < 0)
		abort();
	fib_pinned_report(&s.pinned, clock_ns, no_pipe);
	dup2(old, STDERR_FILENO);
	n = read(pipes[0], line, sizeof line - 1);
	line[n > 0 ? n : 0] = 0;
	close(old);
	close(pipes[0]);
	close(pipes[1]);
	return line;
}

/* The reader of stderr does not read. If a report blocks, the watchdog ends the test. */
static void report_into_a_full_pipe(void)
{
	const char page[4096] = "";
	int pipes[2], old = dup(STDERR_FILENO);

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], page, fcntl(pipes[1], F_SETPIPE_SZ, sizeof page)), 4096);
	dup2(pipes[1], STDERR_FILENO);
	fib_pinned_report(&s.pinned, clock_ns, no_pipe);
	dup2(old, STDERR_FILENO);
	close(old);
	close(pipes[0]);
	close(pipes[1]);
}

static void assert_report(const char *pattern)
{
	const char *line = report();
	bool matches = !fnmatch(pattern, line, 0);

	if (!matches)
		print_message("# said: %s\n", line);
	assert_true(matches);
}

static void *waits_thrice(void *arg)
{
	unsigned i;

	fiber_pin();
	for (i = 0; i < 3; i++)
		sleep_while_pinned();
	fiber_unpin();
	return arg;
}

static void test_pinned_report_names_the_fiber_at_most_once_a_second(void **state)
{
	struct fiber *f;

	(void)state;
	run(FIBER_PINNED_WARN, waits_thrice);
	report_into_a_full_pipe();
	assert_report("libfiber: fiber [0-9]* \"nailed\" waits while pinned and blocks its carrier "
		      "(sleep; 3 since the last line)\n");
	assert_string_equal(report(), "");
	fib_store(&s.pinned.policy, FIBER_PINNED_ERROR);
	f = carriers_spawn(&s, "again", waits_thrice, NULL);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	clock_ns += SECOND - 1;
	assert_string_equal(report(), "");
	clock_ns += 1;
	assert_report("libfiber: fiber [0-9]* \"again\" waits while pinned and is refused "
		      "(sleep; 3 since the last line)\n");
	f = carriers_spawn(&s, NULL, waits_thrice, NULL);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	clock_ns += SECOND;
	assert_report("libfiber: fiber [0-9]* (test_pinned+0x*) waits while pinned and is refused "
		      "(sleep; 3 since the last line)\n");
	clock_ns += 5 * SECOND;
	assert_string_equal(report(), "");
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pinned_error_refuses_and_records),
		cmocka_unit_test(test_pinned_warn_blocks_and_records_how_long),
		cmocka_unit_test(test_pinned_silent_blocks_and_only_counts),
		cmocka_unit_test(test_pinned_policy_holds_from_the_next_wait_on),
		cmocka_unit_test(test_pinned_park_and_yield_are_refused_whatever_the_policy),
		cmocka_unit_test(test_pinned_event_has_the_stack_as_it_was),
		cmocka_unit_test(test_pinned_ring_keeps_the_last_256_and_the_count_of_all),
		cmocka_unit_test(test_pinned_ring_belongs_to_the_later_event),
		cmocka_unit_test(test_pinned_ring_is_whole_after_waits_on_all_carriers),
		cmocka_unit_test(test_pinned_report_names_the_fiber_at_most_once_a_second),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_trim.c - fiber_trim() gives back what no fiber needs, and nothing that a fiber needs
 *
 * The sizes are those of VmRSS and VmPTE, so nothing else in the process allocates meanwhile.
 */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>

#define BURST  25000
#define CROWD  2000
#define DEEP   (96u << 10) /* bytes of stack that each of the crowd uses */
#define FORMER 64	   /* words on the stack that must survive */

static struct fiber_sem gate;
static atomic_size_t arrived, damaged, failed;

/* A line of /proc/self/status, bytes. */
static long status(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kilobytes = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, name, strlen(name)))
			kilobytes = strtol(line + strlen(name), NULL, 10);
	fclose(file);
	return kilobytes * 1024;
}

static void *wait_at_gate(void *arg)
{
	arrived++;
	failed += fiber_sem_wait(&gate, FIBER_FOREVER) != 0;
	return arg;
}

struct sizes {
	size_t n;
	long before, burst, after, tables_burst, tables_after;
	int64_t given, again;
};

/*
 * n fibers that wait at the same time, and end. The sizes of the burst are those while all of them
 * wait: a stack that nobody has used for a second may go by itself, and on a busy machine the fibers
 * take seconds to end.
 */
static void run_burst(struct sizes *s)
{
	const size_t n = s->n;
	struct fiber **fibers = calloc(n, sizeof(struct fiber *));

	arrived = 0;
	for (size_t i = 0; i < n; i++)
		failed += fiber_spawn(wait_at_gate, NULL, &fibers[i]) != 0;
	while (arrived < n)
		fiber_yield();
	s->burst = status("VmRSS:");
	s->tables_burst = status("VmPTE:");
	for (size_t i = 0; i < n; i++)
		fiber_sem_post(&gate);
	for (size_t i = 0; i < n; i++)
		failed += fiber_join(fibers[i], NULL, FIBER_FOREVER) != 0;
	free(fibers);
}

static void *burst(void *arg)
{
	struct sizes *s = arg;
	struct sizes second = {.n = s->n};

	s->before = status("VmRSS:");
	run_burst(s);
	s->given = fiber_trim(0, 0);
	s->after = status("VmRSS:");
	s->tables_after = status("VmPTE:");
	s->again = fiber_trim(0, 0);
	/* The stacks can be used again. */
	run_burst(&second);
	return NULL;
}

static void test_trim_gives_back_the_stacks_of_a_burst(void **state)
{
	struct sizes s = {.n = carriers_scale(BURST)};

	(void)state;
	arrived = failed = 0;
	carriers_run(burst, &s);
	assert_int_equal(failed, 0);
	/* Other carriers keep some, and a stack may have gone by itself, after a second. */
	assert_true(s.given > 0);
	assert_true(s.again >= 0 && s.again < (int64_t)(4096 * 64 * carriers()));
	if (harness_sanitizer()[0])
		return; /* their memory is counted too */
	assert_true(s.burst - s.before > (long)s.n * 4096);
	/* A page of stack each is gone, the record stays. */
	assert_true(s.after - s.before < (long)s.n * 700);
	assert_true(s.burst - s.after >= (long)s.n * 4000);
}

static void test_trim_gives_back_page_tables(void **state)
{
	struct sizes s = {.n = carriers_scale(BURST)};

	(void)state;
	if (harness_sanitizer()[0])
		skip(); /* their memory is counted too */
	arrived = failed = 0;
	carriers_run(burst, &s);
	print_message("# tables of the process: %ld, then %ld bytes\n", s.tables_burst,
		      s.tables_after);
	/* The kernel frees page tables since Linux 6.14, and knows guards since 6.13. */
	if (s.tables_after >= s.tables_burst)
		skip();
	assert_true(s.tables_after < s.tables_burst / 8);
}

/* -- fibers that wait -- */

static __attribute__((noinline)) void use_stack(void)
{
	volatile char frame[DEEP];

	for (size_t i = 0; i < sizeof frame; i += 512)
		frame[i] = (char)i;
}

/* Write a pattern, use the stack deeply, wait, and compare. */
static void *keep_words(void *arg)
{
	const uintptr_t seed = (uintptr_t)arg * 2654435761u;
	volatile uintptr_t words[FORMER];

	for (unsigned i = 0; i < FORMER; i++)
		words[i] = seed + i;
	use_stack();
	arrived++;
	failed += fiber_sem_wait(&gate, FIBER_FOREVER) != 0;
	use_stack();
	for (unsigned i = 0; i < FORMER; i++)
		damaged += words[i] != seed + i;
	return NULL;
}

struct crowd {
	size_t n;
	unsigned flags;
	int64_t idle_ns;
	struct fiber **fibers;
	int64_t given;
};

static void gather(struct crowd *c)
{
	static const struct fiber_attr bound = {.size = sizeof(bound), .flags = FIBER_BOUND};

	c->fibers = calloc(c->n, sizeof(struct fiber *));
	for (size_t i = 0; i < c->n; i++)
		failed += fiber_spawn_attr(i / 7 % 2 ? &bound : NULL, keep_words, (void *)i,
					   &c->fibers[i]) != 0;
	for (size_t i = 0; i < c->n; i++)
		carriers_await_suspended(c->fibers[i]);
}

static void dismiss(struct crowd *c)
{
	for (size_t i = 0; i < c->n; i++)
		fiber_sem_post(&gate);
	for (size_t i = 0; i < c->n; i++)
		failed += fiber_join(c->fibers[i], NULL, FIBER_FOREVER) != 0;
	free(c->fibers);
}

static void *trim_crowd(void *arg)
{
	struct crowd *c = arg;

	fiber_trim(0, 0);
	gather(c);
	c->given = fiber_trim(c->flags, c->idle_ns);
	dismiss(c);
	return NULL;
}

static int64_t given_by(unsigned flags, int64_t idle_ns)
{
	struct crowd c = {.n = carriers_scale(CROWD), .flags = flags, .idle_ns = idle_ns};

	arrived = failed = damaged = 0;
	carriers_run(trim_crowd, &c);
	assert_int_equal(failed, 0);
	assert_int_equal(damaged, 0);
	return c.given;
}

static void test_trim_unused_gives_back_what_waiting_fibers_left(void **state)
{
	const int64_t n = (int64_t)carriers_scale(CROWD);
	const int64_t given = given_by(FIBER_TRIM_UNUSED, 0);

	(void)state;
	/* With one carrier all of them; with more, the bound ones of this carrier. */
	if (carriers() == 1)
		assert_true(given > n * (int64_t)(DEEP - 16384));
	else
		assert_true(given > n / 2 / carriers() * (int64_t)(DEEP - 16384) / 2);
}

static void test_trim_leaves_fibers_that_have_not_waited_long(void **state)
{
	(void)state;
	/* Only a few free stacks, if any. */
	assert_true(given_by(FIBER_TRIM_UNUSED, INT64_C(3600000000000)) < (int64_t)DEEP * 64);
}

static void test_trim_cold_and_pageout_keep_the_contents_of_stacks(void **state)
{
	(void)state;
	assert_true(given_by(FIBER_TRIM_COLD, 0) >= 0);
	/* How much depends on the swap of this machine; the contents never do. */
	assert_true(given_by(FIBER_TRIM_PAGEOUT, 0) >= 0);
	assert_true(given_by(FIBER_TRIM_PAGEOUT | FIBER_TRIM_UNUSED, 0) >= 0);
}

/* -- while fibers run -- */

static atomic_bool stop;

static void *use_and_yield(void *arg)
{
	volatile uintptr_t words[FORMER];

	while (!stop) {
		for (unsigned i = 0; i < FORMER; i++)
			words[i] = (uintptr_t)arg + i;
		use_stack();
		fiber_sleep_until(fiber_after(20000));
		for (unsigned i = 0; i < FORMER; i++)
			damaged += words[i] != (uintptr_t)arg + i;
	}
	return NULL;
}

static void *spawn_and_join(void *arg)
{
	struct fiber *fibers[100];

	while (!stop) {
		for (size_t i = 0; i < COUNT(fibers); i++)
			failed += fiber_spawn(keep_words, arg, &fibers[i]) != 0;
		for (size_t i = 0; i < COUNT(fibers); i++)
			fiber_sem_post(&gate);
		for (size_t i = 0; i < COUNT(fibers); i++)
			failed += fiber_join(fibers[i], NULL, FIBER_FOREVER) != 0;
	}
	return NULL;
}

/* Every fiber of a busy runtime keeps its stack while its neighbours, and a thread, trim. */
static void *trim_beside(void *arg)
{
	const int64_t end = fiber_after(300 * MS);

	while (fiber_now() < end) {
		failed += fiber_trim(FIBER_TRIM_UNUSED | FIBER_TRIM_PAGEOUT, 0) < 0;
		fiber_yield();
	}
	stop = true;
	return arg;
}

static void test_trim_beside_running_fibers_damages_nothing(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber *fiber;

	(void)state;
	arrived = failed = damaged = 0;
	stop = false;
	for (uintptr_t i = 0; i < 20; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, use_and_yield, (void *)i, NULL), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, spawn_and_join, NULL, NULL), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, trim_beside, NULL, &fiber), 0);
	while (!stop)
		failed += fiber_trim(FIBER_TRIM_PAGEOUT, 0) < 0;
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	carriers_finish(rt);
	assert_int_equal(failed, 0);
	assert_int_equal(damaged, 0);
}

/* -- by the runtime itself, with the option -- */

static struct fiber_runtime_options trimming(int64_t after)
{
	struct fiber_runtime_options options = carriers_options();

	options.trim_waiting_ns = after;
	return options;
}

/* How much less the process has while a crowd waits. */
static void *wait_in_crowd(void *arg)
{
	struct crowd *c = arg;
	const int64_t end = fiber_after(30000 * MS);
	long before, now;

	gather(c);
	before = now = status("VmRSS:");
	while (before - now < (long)c->n * (long)(DEEP - 16384) && fiber_now() < end) {
		fiber_sleep_until(fiber_after(5 * MS));
		now = status("VmRSS:");
	}
	c->given = before - now;
	dismiss(c);
	return NULL;
}

static void test_trim_waiting_gives_back_what_waiting_fibers_left(void **state)
{
	/* Longer than a slow machine takes to gather: what is trimmed before is not counted. */
	const struct fiber_runtime_options options = trimming(3000 * MS);
	struct crowd c = {.n = carriers_scale(CROWD)};

	(void)state;
	arrived = failed = damaged = 0;
	assert_int_equal(fiber_run(wait_in_crowd, &c, &options, NULL), 0);
	assert_int_equal(failed, 0);
	assert_int_equal(damaged, 0);
	if (!harness_sanitizer()[0]) /* their memory is counted too */
		assert_true(c.given >= (int64_t)c.n * (int64_t)(DEEP - 16384));
}

/* The last one to run before all sleep is trimmed too: a carrier wakes for it. */
static void test_trim_waiting_concerns_a_program_that_sleeps(void **state)
{
	const struct fiber_runtime_options options = trimming(20 * MS);
	struct fiber_runtime *rt;
	const size_t n = carriers_scale(CROWD);
	long most, now;

	(void)state;
	arrived = failed = damaged = 0;
	assert_true(fiber_trim(0, 0) >= 0);
	most = status("VmRSS:") + (long)n * 16384;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, keep_words, (void *)i, NULL), 0);
	while (arrived < n)
		sched_yield();
	now = status("VmRSS:");
	for (unsigned i = 0; i < 1000 && now > most; i++) {
		fiber_sleep_until(fiber_after(10 * MS));
		now = status("VmRSS:");
	}
	for (size_t i = 0; i < n; i++)
		fiber_sem_post(&gate);
	carriers_finish(rt);
	assert_int_equal(failed, 0);
	assert_int_equal(damaged, 0);
	if (!harness_sanitizer()[0]) /* their memory is counted too */
		assert_true(now <= most);
}

static void test_trim_waiting_beside_running_fibers_damages_nothing(void **state)
{
	const struct fiber_runtime_options options = trimming(1);
	struct fiber_runtime *rt;

	(void)state;
	arrived = failed = damaged = 0;
	stop = false;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	for (uintptr_t i = 0; i < 40; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, use_and_yield, (void *)i, NULL), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, spawn_and_join, NULL, NULL), 0);
	fiber_sleep_until(fiber_after(500 * MS));
	stop = true;
	carriers_finish(rt);
	assert_int_equal(failed, 0);
	assert_int_equal(damaged, 0);
}

static void test_trim_waiting_refuses_a_negative_time(void **state)
{
	const struct fiber_runtime_options options = trimming(-1);
	struct fiber_runtime *rt;

	(void)state;
	assert_int_equal(fiber_runtime_start(&options, &rt), -EINVAL);
}

static void test_trim_refuses_what_it_does_not_know(void **state)
{
	(void)state;
	assert_int_equal(fiber_trim(8, 0), -EINVAL);
	assert_int_equal(fiber_trim(~0u, 0), -EINVAL);
	assert_int_equal(fiber_trim(FIBER_TRIM_COLD | FIBER_TRIM_PAGEOUT, 0), -EINVAL);
	assert_int_equal(fiber_trim(0, -1), -EINVAL);
	assert_int_equal(fiber_trim(FIBER_TRIM_COLD, INT64_MIN), -EINVAL);
	assert_int_equal(fiber_trim(FIBER_TRIM_UNUSED, 0), -EPERM);
	assert_true(fiber_trim(0, 0) >= 0);
	assert_true(fiber_trim(FIBER_TRIM_PAGEOUT, INT64_MAX) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim_refuses_what_it_does_not_know),
		cmocka_unit_test(test_trim_gives_back_the_stacks_of_a_burst),
		cmocka_unit_test(test_trim_gives_back_page_tables),
		cmocka_unit_test(test_trim_unused_gives_back_what_waiting_fibers_left),
		cmocka_unit_test(test_trim_leaves_fibers_that_have_not_waited_long),
		cmocka_unit_test(test_trim_cold_and_pageout_keep_the_contents_of_stacks),
		cmocka_unit_test(test_trim_beside_running_fibers_damages_nothing),
		cmocka_unit_test(test_trim_waiting_gives_back_what_waiting_fibers_left),
		cmocka_unit_test(test_trim_waiting_concerns_a_program_that_sleeps),
		cmocka_unit_test(test_trim_waiting_beside_running_fibers_damages_nothing),
		cmocka_unit_test(test_trim_waiting_refuses_a_negative_time),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

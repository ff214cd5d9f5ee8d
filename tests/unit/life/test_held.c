/* SPDX-License-Identifier: MIT */
/* test_held.c - a fiber that exits with a lock is reported once, with the place of the lock */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber.h>

#include "sched/sched.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/misuse.h"

static struct fiber_mutex config = {.name = "config"}, other = {.name = "other"};
static struct fiber_rwlock routes = {.name = "routes"};
static enum fiber_held_policy policy;

static int run(fiber_fn *fn)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = "", .held_policy = policy};

	return fiber_run(fn, NULL, &options, NULL);
}

static void *hold(void *arg)
{
	fiber_set_name(fiber_self(), "holder");
	fiber_mutex_lock(&config, FIBER_FOREVER);
	return arg;
}

static void *hold_two(void *arg)
{
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_trylock(&other);
	fiber_exit(arg);
}

static void *unlock_the_first(void *arg)
{
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_lock(&other, FIBER_FOREVER);
	fiber_mutex_unlock(&config);
	return arg;
}

static void *unlock_both(void *arg)
{
	unlock_the_first(arg);
	fiber_mutex_unlock(&other);
	fiber_mutex_lock(&other, FIBER_FOREVER);
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_unlock(&config);
	fiber_mutex_unlock(&other);
	return arg;
}

static void *hold_written(void *arg)
{
	fiber_rwlock_wrlock(&routes, FIBER_FOREVER);
	fiber_fail(-1, "on purpose");
	return arg;
}

static void *wait_for_it(void *arg)
{
	fiber_mutex_lock(&config, fiber_after(INT64_C(50000000)));
	return arg;
}

/* The last lock is free again; another fiber waits for the one still held. */
static void *hold_what_is_awaited(void *arg)
{
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_spawn(wait_for_it, NULL, NULL);
	fiber_yield();
	fiber_mutex_lock(&other, FIBER_FOREVER);
	fiber_mutex_unlock(&other);
	return arg;
}

static void *hold_what_is_gone(void *arg)
{
	struct fiber_mutex *m = calloc(1, sizeof *m);

	fiber_mutex_lock(m, FIBER_FOREVER);
	explicit_bzero(m, sizeof *m);
	free(m);
	return arg;
}

static void unlock(void *arg)
{
	fiber_mutex_unlock(arg);
}

static void *unlock_at_exit(void *arg)
{
	struct fiber_cond cond = {{0}, {0, 0, NULL, NULL}};

	fiber_at_exit(unlock, &config);
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_cond_wait(&cond, &config, fiber_after(1));
	fiber_rwlock_wrlock(&routes, FIBER_FOREVER);
	fiber_rwlock_unlock(&routes);
	fiber_rwlock_rdlock(&routes, FIBER_FOREVER);
	fiber_rwlock_unlock(&routes);
	return arg;
}

static void *hold_many_times(void *arg)
{
	static struct fiber_mutex all[10][3];
	static unsigned taken;
	struct fiber_mutex *m = all[taken++];

	for (int i = 0; i < 3; i++)
		fiber_mutex_lock(&m[i], FIBER_FOREVER);
	return arg;
}

static void *begin_many(void *arg)
{
	struct fiber *fiber;

	for (int i = 0; i < 10; i++) {
		fiber_spawn(hold_many_times, NULL, &fiber);
		fiber_join(fiber, NULL, FIBER_FOREVER);
	}
	return arg;
}

static const struct said {
	const char *name;
	fiber_fn *fn;
	enum fiber_held_policy policy;
	const char *pattern; /* of the one line; "": no line */
} cases[] = {
	{"mutex", hold, FIBER_HELD_WARN,
	 "libfiber: fiber 1 \"holder\" ended while it holds mutex \"config\" (0x*), locked at "
	 "0x* (*+0x*)\n"},
	{"two", hold_two, FIBER_HELD_WARN,
	 "libfiber: fiber 1 \"\" ended while it holds mutex \"other\" (0x*), locked at 0x*, and 1 "
	 "more\n"},
	{"crossed", unlock_the_first, FIBER_HELD_WARN,
	 "libfiber: fiber 1 \"\" ended while it holds mutex \"other\" (0x*), locked at 0x*\n"},
	{"both", unlock_both, FIBER_HELD_WARN, ""},
	{"rwlock", hold_written, FIBER_HELD_WARN,
	 "libfiber: fiber 1 \"\" ended while it holds rwlock \"routes\" (0x*), locked at 0x*\n"},
	{"awaited", hold_what_is_awaited, FIBER_HELD_WARN,
	 "libfiber: fiber 1 \"\" ended while it holds mutex \"config\" (0x*), which is waited "
	 "for\n"},
	{"gone", hold_what_is_gone, FIBER_HELD_WARN,
	 "libfiber: fiber 1 \"\" ended while it holds a lock; it locked last at 0x*\n"},
	{"released", unlock_at_exit, FIBER_HELD_WARN, ""},
	{"silent", hold, FIBER_HELD_SILENT, ""},
	{"often", begin_many, FIBER_HELD_WARN,
	 "libfiber: fiber 2 \"\" ended while it holds mutex * and 2 more\n"},
};

static void test_held(void **state)
{
	const struct said *const c = *state;
	const char *argv[] = {"/proc/self/exe", c->name, NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);

	harness_forget_long_runs(p);
	if (fnmatch(c->pattern, p->err.bytes, 0))
		print_message("# %s: status 0x%x, said: %s\n", c->name, (unsigned)p->status,
			      p->err.bytes);
	assert_true(p->ended && p->status == 0);
	assert_int_equal(fnmatch(c->pattern, p->err.bytes, 0), 0);
	harness_free(p);
}

static void abort_of_it(void)
{
	policy = FIBER_HELD_ABORT;
	run(hold);
}

static const struct misuse misuses[] = {{"abort", abort_of_it}};

static void test_held_aborts_under_that_policy(void **state)
{
	(void)state;
	assert_misuse("abort",
		      "libfiber: fiber 1 \"holder\" ended while it holds mutex \"config\" *");
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[fib_countof(cases) + 1];
	char names[fib_countof(cases)][64];
	size_t i;

	for (i = 0; argc > 1 && i < fib_countof(cases); i++) {
		policy = cases[i].policy;
		if (!strcmp(cases[i].name, argv[1]))
			return -run(cases[i].fn);
	}
	if (argc > 1)
		return misuse_main(misuses, fib_countof(misuses), argv[1]);
	for (i = 0; i < fib_countof(cases); i++) {
		snprintf(names[i], sizeof names[i], "test_held_at_exit_says_%s", cases[i].name);
		tests[i] = (struct CMUnitTest){names[i], test_held, NULL, NULL,
					       (void *)(uintptr_t)&cases[i]};
	}
	tests[i] = (struct CMUnitTest)cmocka_unit_test(test_held_aborts_under_that_policy);
	harness_watchdog(110);
	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}

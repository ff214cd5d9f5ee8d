/* SPDX-License-Identifier: MIT */
/*
 * test_misuse.c - misuse prints one line that names the fiber and the call, and aborts
 *
 * Each misuse runs in its own process: this program, started again with the name of the misuse.
 */
#include "carriers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/fibers.h"
#include "tests/harness/process.h"

static struct fiber_mutex mutex = {.name = "config"};

static struct fiber *named(fiber_fn *fn, const char *name)
{
	const struct fiber_attr attr = {.size = sizeof attr, .name = name};
	struct fiber *fiber = NULL;

	fiber_spawn_attr(&attr, fn, NULL, &fiber);
	return fiber;
}

static void *unlock(void *arg)
{
	fiber_mutex_unlock(&mutex);
	return arg;
}

static void *unlock_anothers(void *arg)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	fiber_join(named(unlock, "thief"), NULL, FIBER_FOREVER);
	return arg;
}

static void *cond_without_mutex(void *arg)
{
	static struct fiber_cond cond;

	fiber_set_name(fiber_self(), "thief");
	fiber_cond_wait(&cond, &mutex, FIBER_FOREVER);
	return arg;
}

static struct fiber_rwlock rwlock = {.name = "routes"};
static struct fiber_waitgroup waitgroup = {.name = "requests"};

static void *rw_unlock(void *arg)
{
	fiber_rwlock_unlock(&rwlock);
	return arg;
}

static void *rw_unlock_anothers(void *arg)
{
	fiber_rwlock_wrlock(&rwlock, FIBER_FOREVER);
	fiber_join(named(rw_unlock, "thief"), NULL, FIBER_FOREVER);
	return arg;
}

static void *done_too_often(void *arg)
{
	fiber_set_name(fiber_self(), "eager");
	fiber_waitgroup_add(&waitgroup, 1);
	fiber_waitgroup_done(&waitgroup);
	fiber_waitgroup_done(&waitgroup);
	return arg;
}

static void *join_self(void *arg)
{
	fiber_set_name(fiber_self(), "narcissus");
	fiber_join(fiber_self(), NULL, FIBER_FOREVER);
	return arg;
}

static void *join_twice(void *arg)
{
	struct fiber *other = named(harness_nothing, "child");

	fiber_join(other, NULL, FIBER_FOREVER);
	fiber_join(other, NULL, FIBER_FOREVER);
	return arg;
}

static void *join_twice_after_its_end(void *arg)
{
	struct fiber *other = named(harness_nothing, "child");

	while (fiber_state(other) != FIBER_DEAD)
		fiber_yield();
	return fiber_join(other, NULL, FIBER_FOREVER) ? NULL : join_twice(arg);
}

static void *detach_after_join(void *arg)
{
	struct fiber *other = named(harness_nothing, "child");

	fiber_join(other, NULL, FIBER_FOREVER);
	fiber_detach(other);
	return arg;
}

static void *join_detached(void *arg)
{
	struct fiber *other = named(harness_park, "child");

	fiber_detach(other);
	fiber_join(other, NULL, FIBER_FOREVER);
	return arg;
}

static void *detach_twice(void *arg)
{
	struct fiber *other = named(harness_park, "child");

	fiber_detach(other);
	fiber_detach(other);
	return arg;
}

static void *join_it(void *arg)
{
	fiber_join(arg, NULL, FIBER_FOREVER);
	return NULL;
}

static void *join_by_two(void *arg)
{
	struct fiber *other = named(harness_park, "child"), *first;

	fiber_spawn(join_it, other, &first);
	carriers_await_suspended(first);
	fiber_join(other, NULL, FIBER_FOREVER);
	return arg;
}

static void *detach_joined(void *arg)
{
	struct fiber *other = named(harness_park, "child"), *first;

	fiber_spawn(join_it, other, &first);
	carriers_await_suspended(first);
	fiber_detach(other);
	return arg;
}

static void *unpin(void *arg)
{
	fiber_set_name(fiber_self(), "loose");
	fiber_pin();
	fiber_unpin();
	fiber_unpin();
	return arg;
}

static void *unmask(void *arg)
{
	fiber_set_name(fiber_self(), "bare");
	fiber_cancel_mask();
	fiber_cancel_unmask();
	fiber_cancel_unmask();
	return arg;
}

static void *leave_group(void *arg)
{
	struct fiber_group group;

	fiber_set_name(fiber_self(), "leaver");
	fiber_group_init(&group);
	fiber_group_spawn(&group, harness_park, NULL);
	fiber_group_spawn(&group, harness_park, NULL);
	return arg;
}

static atomic_bool spawned_into;

static void *spawn_into(void *arg)
{
	fiber_group_spawn(arg, harness_park, NULL);
	spawned_into = true;
	return NULL;
}

/* The live member of the group was spawned by another member. */
static void *leave_group_of_strangers(void *arg)
{
	struct fiber_group group;

	fiber_group_init(&group);
	fiber_group_spawn(&group, spawn_into, &group);
	while (!spawned_into || fiber_group_live(&group) > 1)
		fiber_sleep(MS);
	fiber_exit(arg);
}

static void exit_outside(void)
{
	fiber_exit(NULL);
}

static void fail_outside(void)
{
	fiber_fail(-1, "nothing");
}

static void *exit_thread(void *arg)
{
	fiber_set_name(fiber_self(), "quitter");
	pthread_exit(arg);
}

static void *cancel_carrier(void *arg)
{
	fiber_set_name(fiber_self(), "victim");
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return arg;
}

static int exit_in_hook(void *arg, int64_t deadline)
{
	(void)deadline;
	pthread_exit(arg);
}

static void exit_in_idle_hook(void)
{
	struct fiber_runtime_options options = carriers_options();

	options.idle = exit_in_hook;
	fiber_run(harness_park, NULL, &options, NULL);
}

static const struct misuse {
	const char *name;
	fiber_fn *fn;
	void (*outside)(void);
	const char *call, *who; /* both are in the one line */
	bool alone;		/* on one carrier, where a suspended fiber has reached its join */
} misuses[] = {
	{"unlock-free", unlock, NULL, "fiber_mutex_unlock", "fiber 1", false},
	{"unlock-anothers", unlock_anothers, NULL, "fiber_mutex_unlock", "fiber 2 \"thief\"",
	 false},
	{"cond-without-mutex", cond_without_mutex, NULL, "fiber_mutex_unlock", "fiber 1 \"thief\"",
	 false},
	{"rwlock-unlock-free", rw_unlock, NULL, "fiber_rwlock_unlock: rwlock \"routes\"", "fiber 1",
	 false},
	{"rwlock-unlock-anothers", rw_unlock_anothers, NULL, "fiber_rwlock_unlock",
	 "fiber 2 \"thief\" but held by fiber 1", false},
	{"waitgroup-done-too-often", done_too_often, NULL,
	 "fiber_waitgroup_done: fiber 1 \"eager\"", "waitgroup \"requests\"", false},
	{"join-self", join_self, NULL, "fiber_join", "fiber 1 \"narcissus\"", false},
	{"join-twice", join_twice, NULL, "fiber_join", "\"child\"", false},
	{"join-twice-after-its-end", join_twice_after_its_end, NULL, "fiber_join", "\"child\"",
	 false},
	{"join-detached", join_detached, NULL, "fiber_join", "fiber 2 \"child\"", false},
	{"join-by-two", join_by_two, NULL, "fiber_join", "fiber 2 \"child\"", true},
	{"detach-after-join", detach_after_join, NULL, "fiber_detach", "\"child\"", false},
	{"detach-twice", detach_twice, NULL, "fiber_detach", "fiber 2 \"child\"", false},
	{"detach-joined", detach_joined, NULL, "fiber_detach", "fiber 2 \"child\"", true},
	{"unpin", unpin, NULL, "fiber_unpin", "fiber 1 \"loose\"", false},
	{"unmask", unmask, NULL, "fiber_cancel_unmask: fiber 1 \"bare\"",
	 "does not mask cancellations", false},
	{"group-left", leave_group, NULL, "fiber 1 \"leaver\" ended before 2 members",
	 "fiber_group_wait() was left out", false},
	{"group-left-to-grandchildren", leave_group_of_strangers, NULL,
	 "fiber 1 \"\" ended before 1 members", "one is fiber 3", false},
	{"pthread-exit", exit_thread, NULL, "fiber 1 \"quitter\": pthread_exit()",
	 "a fiber ends by fiber_exit()", false},
	{"carrier-cancelled", cancel_carrier, NULL, "fiber 1 \"victim\"",
	 "its carrier was cancelled", false},
	{"pthread-exit-in-idle-hook", NULL, exit_in_idle_hook, "pthread_exit()", "in the idle hook",
	 false},
	{"exit-outside", NULL, exit_outside, "fiber_exit", "outside a fiber", false},
	{"fail-outside", NULL, fail_outside, "fiber_fail", "outside a fiber", false},
};

/* In the child process: do the misuse. */
static int commit(const char *name)
{
	struct fiber_runtime_options options = carriers_options();

	for (size_t i = 0; i < COUNT(misuses); i++) {
		const struct misuse *const m = &misuses[i];

		if (strcmp(m->name, name))
			continue;
		if (m->alone)
			options.carriers = 1;
		if (m->fn)
			return fiber_run(m->fn, NULL, &options, NULL);
		m->outside();
	}
	return 64;
}

static bool is_one_line(const char *text)
{
	const char *const end = strchr(text, '\n');

	return end && !end[1];
}

static void test_misuse(void **state)
{
	const struct misuse *const m = *state;
	const char *const argv[] = {"/proc/self/exe", m->name, NULL};
	const char *const san = getenv("FIBER_SAN");
	struct harness_process *p;

	if (m->fn == exit_thread && san && !strcmp(san, "thread")) {
		print_message("# ThreadSanitizer's own pthread_exit() takes no fiber\n");
		skip();
	}
	p = harness_run(argv, NULL, 60);

	assert_false(p->timed_out);
	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGABRT);
	print_message("%s: %s", m->name, p->err.bytes);
	assert_int_equal(strncmp(p->err.bytes, "libfiber: ", 10), 0);
	assert_non_null(strstr(p->err.bytes, m->call));
	assert_non_null(strstr(p->err.bytes, m->who));
	assert_true(is_one_line(p->err.bytes));
	harness_free(p);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[COUNT(misuses)];
	char names[COUNT(misuses)][64];

	if (argc > 1)
		return commit(argv[1]);
	for (size_t i = 0; i < COUNT(misuses); i++) {
		snprintf(names[i], sizeof names[i], "test_misuse_aborts_%s", misuses[i].name);
		tests[i] = (struct CMUnitTest){names[i], test_misuse, NULL, NULL,
					       (void *)(uintptr_t)&misuses[i]};
	}
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_null.c - a public call that gets NULL for a handle or an object names itself and the calling
 * fiber
 *
 * Each call runs in its own process: this program, started again with the name of the call. Calls
 * whose fast path does not check fault, and the fault handler names them. A plain thread aborts in
 * every case that is not the fast path of a fiber.
 */
#include "carriers.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <fiber_layout.h>

#include "arch/arch.h"
#include "tests/harness/fibers.h"
#include "tests/harness/process.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wnonnull"
#else
#pragma GCC diagnostic ignored "-Wnonnull"
#endif

#define MUTEX  ((struct fiber_mutex *)null)
#define RWLOCK ((struct fiber_rwlock *)null)
#define FIBER  ((struct fiber *)null)
#define CHAN   ((struct fiber_chan *)null)
#define SNAP   ((struct fiber_snapshot *)null)
#define RT     ((struct fiber_runtime *)null)
#define OP     ((struct fiber_op *)null)

static void *volatile null;
static struct fiber_cond cond;

static void once(void *arg)
{
	(void)arg;
}

/* name, which argument is NULL, whether the call faults, the call */
#define CALLS(X)                                                                                \
	X(fiber_join, "the fiber", 0, fiber_join(FIBER, NULL, FIBER_FOREVER))                   \
	X(fiber_detach, "the fiber", 0, fiber_detach(FIBER))                                    \
	X(fiber_submit, "the fiber", 0, fiber_submit(NULL, FIBER))                              \
	X(fiber_cancel, "the fiber", 0, fiber_cancel(FIBER))                                    \
	X(fiber_unpark, "the fiber", 0, fiber_unpark(FIBER))                                    \
	X(fiber_id, "the fiber", 0, fiber_id(FIBER))                                            \
	X(fiber_name, "the fiber", 0, fiber_name(FIBER))                                        \
	X(fiber_set_name, "the fiber", 0, fiber_set_name(FIBER, "x"))                           \
	X(fiber_state, "the fiber", 0, fiber_state(FIBER))                                      \
	X(fiber_wait_until, "the predicate", 0, fiber_wait_until(NULL, NULL, FIBER_FOREVER))    \
	X(fiber_runtime_start, "ret", 0, fiber_runtime_start(NULL, NULL))                       \
	X(fiber_runtime_spawn, "the runtime", 0,                                                \
	  fiber_runtime_spawn(RT, NULL, harness_nothing, NULL, NULL))                           \
	X(fiber_runtime_done, "the runtime", 0, fiber_runtime_done(RT))                         \
	X(fiber_runtime_finish, "the runtime", 0, fiber_runtime_finish(RT, FIBER_FOREVER))      \
	X(fiber_pinned_policy, "the runtime", 0, fiber_pinned_policy(RT))                       \
	X(fiber_set_pinned_policy, "the runtime", 0,                                            \
	  fiber_set_pinned_policy(RT, FIBER_PINNED_WARN))                                       \
	X(fiber_mutex_lock, "the mutex", 1, fiber_mutex_lock(MUTEX, FIBER_FOREVER))             \
	X(fiber_mutex_trylock, "the mutex", 1, fiber_mutex_trylock(MUTEX))                      \
	X(fiber_mutex_unlock, "the mutex", 1, fiber_mutex_unlock(MUTEX))                        \
	X(fiber_rwlock_rdlock, "the rwlock", 0, fiber_rwlock_rdlock(RWLOCK, FIBER_FOREVER))     \
	X(fiber_rwlock_wrlock, "the rwlock", 0, fiber_rwlock_wrlock(RWLOCK, FIBER_FOREVER))     \
	X(fiber_rwlock_tryrdlock, "the rwlock", 0, fiber_rwlock_tryrdlock(RWLOCK))              \
	X(fiber_rwlock_trywrlock, "the rwlock", 0, fiber_rwlock_trywrlock(RWLOCK))              \
	X(fiber_rwlock_unlock, "the rwlock", 0, fiber_rwlock_unlock(RWLOCK))                    \
	X(fiber_cond_wait, "the mutex", 0, fiber_cond_wait(&cond, MUTEX, FIBER_FOREVER))        \
	X(fiber_cond_signal, "the condition", 0, fiber_cond_signal(null))                       \
	X(fiber_cond_broadcast, "the condition", 0, fiber_cond_broadcast(null))                 \
	X(fiber_sem_init, "the semaphore", 0, fiber_sem_init(null, 1))                          \
	X(fiber_sem_wait, "the semaphore", 0, fiber_sem_wait(null, FIBER_FOREVER))              \
	X(fiber_sem_trywait, "the semaphore", 0, fiber_sem_trywait(null))                       \
	X(fiber_sem_value, "the semaphore", 0, fiber_sem_value(null))                           \
	X(fiber_sem_post, "the semaphore", 0, fiber_sem_post(null))                             \
	X(fiber_event_wait, "the event", 0, fiber_event_wait(null, FIBER_FOREVER))              \
	X(fiber_event_set, "the event", 0, fiber_event_set(null))                               \
	X(fiber_event_reset, "the event", 0, fiber_event_reset(null))                           \
	X(fiber_barrier_init, "the barrier", 0, fiber_barrier_init(null, 2))                    \
	X(fiber_barrier_wait, "the barrier", 0, fiber_barrier_wait(null, FIBER_FOREVER))        \
	X(fiber_once, "the once", 1, fiber_once(null, once, NULL))                              \
	X(fiber_waitgroup_add, "the waitgroup", 0, fiber_waitgroup_add(null, 1))                \
	X(fiber_waitgroup_done, "the waitgroup", 0, fiber_waitgroup_done(null))                 \
	X(fiber_waitgroup_wait, "the waitgroup", 0, fiber_waitgroup_wait(null, FIBER_FOREVER))  \
	X(fiber_object_name, "the object", 0, fiber_object_name(null, "x"))                     \
	X(fiber_group_init, "the group", 0, fiber_group_init(null))                             \
	X(fiber_group_set_flags, "the group", 0, fiber_group_set_flags(null, 0))                \
	X(fiber_group_spawn, "the group", 0, fiber_group_spawn(null, harness_nothing, NULL))    \
	X(fiber_group_wait, "the group", 0, fiber_group_wait(null, FIBER_FOREVER))              \
	X(fiber_group_cancel, "the group", 0, fiber_group_cancel(null))                         \
	X(fiber_group_live, "the group", 0, fiber_group_live(null))                             \
	X(fiber_timer_new, "ret", 0, fiber_timer_new(null))                                     \
	X(fiber_timer_arm, "the timer", 0, fiber_timer_arm(null, 0, 0))                         \
	X(fiber_timer_wait, "the timer", 0, fiber_timer_wait(null, NULL, FIBER_FOREVER))        \
	X(fiber_chan_new, "ret", 0, fiber_chan_new(4, 1, null))                                 \
	X(fiber_chan_ref, "the channel", 0, fiber_chan_ref(CHAN))                               \
	X(fiber_chan_send, "the channel", 1, fiber_chan_send(CHAN, "x", FIBER_FOREVER))         \
	X(fiber_chan_recv, "the channel", 1, fiber_chan_recv(CHAN, NULL, FIBER_FOREVER))        \
	X(fiber_chan_close, "the channel", 0, fiber_chan_close(CHAN))                           \
	X(fiber_chan_length, "the channel", 0, fiber_chan_length(CHAN))                         \
	X(fiber_select, "the array of cases", 0, fiber_select(null, 1, FIBER_FOREVER))          \
	X(fiber_context_init, "the context", 0, fiber_context_init(null, &cond, 1, once, NULL)) \
	X(fiber_thread_to_context, "the context", 0, fiber_thread_to_context(null))             \
	X(fiber_context_share_fpu, "the context", 0, fiber_context_share_fpu(null))             \
	X(fiber_context_end, "the context", 0, fiber_context_end(null, null))                   \
	X(fiber_context_release, "the context", 0, fiber_context_release(null))                 \
	X(fiber_stack_free, "the stack", 0, fiber_stack_free(null))                             \
	X(fiber_info_label, "the info", 0, fiber_info_label(null, null, NULL, NULL))            \
	X(fiber_snapshot, "ret", 0, fiber_snapshot(NULL, null))                                 \
	X(fiber_snapshot_count, "the snapshot", 0, fiber_snapshot_count(SNAP))                  \
	X(fiber_snapshot_next, "the snapshot", 0, fiber_snapshot_next(SNAP, null))              \
	X(fiber_foreach, "the function", 0, fiber_foreach(NULL, NULL, NULL))                    \
	X(fiber_op_prepare, "ret", 0, fiber_op_prepare(null, NULL))                             \
	X(fiber_op_await, "the operation", 0, fiber_op_await(OP, FIBER_FOREVER))                \
	X(fiber_op_detach, "the operation", 0, fiber_op_detach(OP, NULL, NULL))

#define DEFINE(name, what, faults, call)    \
	static void *null_##name(void *arg) \
	{                                   \
		(void)(call);               \
		return arg;                 \
	}
CALLS(DEFINE)

#define ENTRY(name, what, faults, call) {#name, what, faults, null_##name},
static const struct call {
	const char *name, *what;
	bool faults;
	fiber_fn *fn;
} calls[] = {CALLS(ENTRY)};

static void *run_named(void *arg)
{
	fiber_set_name(fiber_self(), "x");
	return calls[(uintptr_t)arg].fn(NULL);
}

static bool prefixed(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* In the child process: make the call, in a fiber, or in this thread beside a runtime. */
static int commit(const char *name, bool thread)
{
	struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt;

	for (uintptr_t i = 0; i < COUNT(calls); i++) {
		if (strcmp(calls[i].name, name))
			continue;
		if (!thread)
			return fiber_run(run_named, (void *)i, &options, NULL);
		fiber_runtime_start(&options, &rt);
		calls[i].fn(NULL);
	}
	return 64;
}

static void expect(const struct call *c, bool thread)
{
	const char *const argv[] = {"/proc/self/exe", c->name, thread ? "thread" : NULL, NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);
	const bool may_fault = c->faults && (!thread || !prefixed(c->name, "fiber_mutex_"));
	char line[128], told[256];
	const char *from;
	int number;

	harness_forget_long_runs(p);
	number = WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;
	snprintf(line, sizeof line, "%s: %s is NULL\n", c->name, c->what);
	snprintf(told, sizeof told, "libfiber: fiber 1 \"x\": %s", line);
	from = strstr(p->err.bytes, line);
	if (number != (may_fault ? SIGSEGV : SIGABRT) ||
	    (thread ? !may_fault && (!from || from[strlen(line)] ||
				     !prefixed(p->err.bytes, "libfiber: thread "))
		    : strcmp(p->err.bytes, told)))
		print_message("# %s: signal %d, said: %s\n", c->name, number, p->err.bytes);
	assert_int_equal(number, may_fault ? SIGSEGV : SIGABRT);
	if (!thread)
		assert_string_equal(p->err.bytes, told);
	else if (!may_fault)
		assert_true(from && !from[strlen(line)] &&
			    prefixed(p->err.bytes, "libfiber: thread "));
	harness_free(p);
}

static void test_null_is_named_with_the_call_and_the_fiber(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(calls); i++) {
		if (calls[i].faults && getenv("FIBER_SAN"))
			print_message("# %s: the sanitizer reports the fault\n", calls[i].name);
		else if (calls[i].faults && fib_arch_recipe == FIB_RECIPE_NONE)
			print_message("# %s: this port does not know where\n", calls[i].name);
		else
			expect(&calls[i], false);
	}
}

static void test_null_is_named_with_the_call_and_the_thread(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(calls); i += 5)
		expect(&calls[i], true);
}

static void test_null_is_fine_where_the_headers_say_so(void **state)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_result result = {NULL, 1};

	(void)state;
	fiber_timer_free(NULL);
	fiber_chan_unref(NULL);
	fiber_snapshot_free(NULL);
	assert_int_equal(fiber_runtime_fd(NULL), -EPERM);
	assert_int_equal(fiber_run(harness_nothing, NULL, &options, &result), 0);
	assert_int_equal(result.error, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_null_is_named_with_the_call_and_the_fiber),
		cmocka_unit_test(test_null_is_named_with_the_call_and_the_thread),
		cmocka_unit_test(test_null_is_fine_where_the_headers_say_so),
	};

	if (argc > 1)
		return commit(argv[1], argc > 2);
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

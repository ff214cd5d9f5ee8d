/* SPDX-License-Identifier: MIT */
/* test_own_tls.c - fibers with FIBER_OWN_TLS have thread-locals of their own, wherever they run */
#include "carriers.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <stdatomic.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/child.h"
#include "tests/harness/fibers.h"

#define FIBERS 40u
#define ROUNDS 200u

static const struct fiber_attr own = {.size = sizeof(own), .name = "own", .flags = FIBER_OWN_TLS};

/* The line of the first check that failed; 0: none. */
static _Atomic int wrong;

static void check_at(int line, bool holds)
{
	int none = 0;

	if (!holds)
		atomic_compare_exchange_strong(&wrong, &none, line);
}
#define CHECK(condition) check_at(__LINE__, condition)

static bool spawn_own(fiber_fn *fn, void *arg, struct fiber **ret)
{
	const int rc = fiber_spawn_attr(&own, fn, arg, ret);

	CHECK(rc == 0);
	return rc == 0;
}

static void *join(struct fiber *fiber)
{
	struct fiber_result result = {NULL, 1};

	CHECK(fiber_join(fiber, &result, FIBER_FOREVER) == 0);
	return result.value;
}

/* Run fn in a fiber with thread-locals of its own, beside others. */
static void *run_own(void *arg)
{
	struct fiber *fiber;

	if (spawn_own(*(fiber_fn **)arg, NULL, &fiber))
		join(fiber);
	return NULL;
}

/* Returns whether a fiber can have them; if not, there must be a reason. */
static bool can(void)
{
	struct fiber *fiber;
	const int rc = fiber_create(&own, harness_nothing, NULL, &fiber);

	if (rc == 0)
		fiber_detach(fiber);
	else
		assert_int_equal(rc, -ENOTSUP);
	return rc == 0;
}

static void expect_in_own(fiber_fn *fn)
{
	if (!can())
		skip();
	wrong = 0;
	carriers_run(run_own, &fn);
	assert_int_equal(wrong, 0);
}

/* -- where there are none -- */

static void test_without_a_sanitizer_there_are_own_thread_locals(void **state)
{
	(void)state;
#if defined(__x86_64__) && defined(__GLIBC__)
	assert_int_equal(can(), !*harness_sanitizer());
#else
	assert_false(can());
#endif
}

/* -- values -- */

static __thread unsigned zero;
static __thread unsigned seven = 7;
static __thread char text[100] = "as in the file";

static void expect_initial(void)
{
	CHECK(zero == 0);
	CHECK(seven == 7);
	CHECK(!strcmp(text, "as in the file"));
	CHECK(errno == 0);
}

static void pause_somehow(unsigned round)
{
	if (round % 3)
		fiber_yield();
	else
		fiber_sleep(1000 * (round % 5));
}

static void *keep_values(void *arg)
{
	const unsigned me = (unsigned)(uintptr_t)arg;
	const pthread_t self = pthread_self();
	unsigned *const address = &zero;
	int *const error = &errno;
	char wanted[100];

	expect_initial();
	zero = me;
	seven = me + 1;
	snprintf(text, sizeof(text), "fiber %u", me);
	snprintf(wanted, sizeof(wanted), "fiber %u", me);
	for (unsigned i = 0; i < ROUNDS; i++) {
		errno = (int)me + 1;
		pause_somehow(i);
		CHECK(*error == (int)me + 1 && error == &errno);
		CHECK(*address == me && address == &zero);
		CHECK(seven == me + 1);
		CHECK(!strcmp(text, wanted));
		CHECK(pthread_equal(self, pthread_self()));
		free(malloc(10 + i * 50));
	}
	return arg;
}

/* Those without share what their carrier has. */
static void *count_up(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		seven++;
		fiber_yield();
	}
	return arg;
}

static void *spawn_many(void *arg)
{
	struct fiber *with[FIBERS], *without[FIBERS];

	for (unsigned i = 0; i < FIBERS; i++) {
		if (!spawn_own(keep_values, (void *)(uintptr_t)i, &with[i]))
			return NULL;
		CHECK(fiber_spawn(count_up, NULL, &without[i]) == 0);
	}
	for (unsigned i = 0; i < FIBERS; i++) {
		CHECK(join(with[i]) == (void *)(uintptr_t)i);
		join(without[i]);
	}
	return arg;
}

static void test_values_are_the_fibers_own_and_stay(void **state)
{
	(void)state;
	if (!can())
		skip();
	wrong = 0;
	zero = 5;
	/* The second time blocks are used again. */
	for (int i = 0; i < 3; i++)
		carriers_run(spawn_many, NULL);
	assert_int_equal(wrong, 0);
	assert_int_equal(zero, 5);
	assert_int_equal(seven, 7);
}

/* -- the C library -- */

static void *use_library(void *arg)
{
	locale_t mine = newlocale(LC_ALL_MASK, "C", NULL);
	char line[64];

	snprintf(line, sizeof(line), "%d %.2f %s", 17, 2.5, strerror(ENOENT));
	CHECK(!strcmp(line, "17 2.50 No such file or directory"));
	CHECK(uselocale(NULL) == LC_GLOBAL_LOCALE);
	uselocale(mine);
	fiber_yield();
	CHECK(uselocale(NULL) == mine);
	CHECK(sched_getcpu() >= 0 && sched_getcpu() < (int)sysconf(_SC_NPROCESSORS_CONF));
	/* It ends with a locale that is gone. */
	freelocale(mine);
	return arg;
}

static void *use_library_often(void *arg)
{
	struct fiber *fibers[FIBERS];

	for (int round = 0; round < 3; round++) {
		for (unsigned i = 0; i < FIBERS; i++)
			if (!spawn_own(use_library, NULL, &fibers[i]))
				return NULL;
		for (unsigned i = 0; i < FIBERS; i++)
			join(fibers[i]);
	}
	return arg;
}

static void test_the_c_library_sees_a_thread(void **state)
{
	(void)state;
	expect_in_own(use_library_often);
}

/* -- what concerns all threads -- */

static _Atomic bool over;

static void *compute(void *arg)
{
	while (!over)
		;
	return arg;
}

/* With one carrier it cannot compute beside. */
static void *change_ids(void *arg)
{
	struct fiber *fiber = NULL;

	over = carriers() == 1;
	if (!spawn_own(compute, NULL, &fiber))
		return NULL;
	fiber_sleep(2 * MS);
	CHECK(setuid(getuid()) == 0);
	CHECK(setgid(getgid()) == 0);
	over = true;
	join(fiber);
	return arg;
}

static void test_user_ids_are_changed_while_fibers_run(void **state)
{
	(void)state;
	expect_in_own(change_ids);
}

static void *fork_and_exec(void *arg)
{
	int status = 1;
	pid_t pid;

	zero = 77;
	pid = fork();
	if (!pid) {
		if (zero != 77 || errno > 1000)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(2);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(zero == 77);
	return arg;
}

static void test_a_child_has_the_values_of_the_fiber_that_forked(void **state)
{
	(void)state;
	expect_in_own(fork_and_exec);
}

/* -- a child that makes threads. Once those that have ended have more stack than the C library keeps, 40
 * MiB, it frees the oldest: those of the parent's threads. -- */

#define THREADS 24u

static pthread_barrier_t all_there;

static void *meet(void *arg)
{
	pthread_barrier_wait(&all_there);
	return arg;
}

static int make_threads(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t large;

	pthread_attr_init(&large);
	pthread_attr_setstacksize(&large, 8u << 20);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &large, meet, NULL))
			return 1;
	pthread_barrier_wait(&all_there);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_join(threads[i], NULL))
			return 2;
	for (unsigned i = 0; i < ROUNDS; i++)
		usleep(10);
	return 0;
}

static void *fork_and_make_threads(void *arg)
{
	int status = 1;
	const pid_t pid = fork();

	if (!pid)
		_exit(make_threads());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	return arg;
}

static void test_a_child_goes_on_when_the_stacks_of_its_parents_threads_are_freed(void **state)
{
	(void)state;
	expect_in_own(fork_and_make_threads);
}

static void *make_thread(void *arg)
{
	pthread_t thread;
	void *value = NULL;

	CHECK(pthread_create(&thread, NULL, harness_nothing, arg) == 0);
	CHECK(pthread_join(thread, &value) == 0 && value == arg);
	return arg;
}

static void test_a_fiber_makes_a_thread(void **state)
{
	(void)state;
	expect_in_own(make_thread);
}

/* -- how the thread pointer is moved -- */

#if defined(__x86_64__)
#define HWCAP2_FSGSBASE 2u

/* In a process that arch_prctl(2) ends. */
static int run_without_call(void *arg)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	fiber_fn *fn = harness_nothing;

	(void)arg;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 2;
	carriers_run(run_own, &fn);
	return wrong != 0;
}

static void test_the_thread_pointer_is_moved_by_a_call_where_the_kernel_wants_it(void **state)
{
	const bool by_call = !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE);
	struct harness_child child;

	(void)state;
	if (!can())
		skip();
	wrong = 0;
	harness_child(run_without_call, NULL, 60, &child);
	assert_int_equal(child.signal, by_call ? SIGSYS : 0);
	assert_int_equal(child.code, by_call ? -1 : 0);
}
#else
static void test_the_thread_pointer_is_moved_by_a_call_where_the_kernel_wants_it(void **state)
{
	(void)state;
	skip();
}
#endif

/* -- mistakes -- */

static void test_a_fiber_that_is_not_submitted_gives_its_block_back(void **state)
{
	struct fiber *fiber;

	(void)state;
	if (!can())
		skip();
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(fiber_create(&own, harness_nothing, NULL, &fiber), 0);
		assert_int_equal(fiber_detach(fiber), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_sanitizer_there_are_own_thread_locals),
		cmocka_unit_test(test_values_are_the_fibers_own_and_stay),
		cmocka_unit_test(test_the_c_library_sees_a_thread),
		cmocka_unit_test(test_user_ids_are_changed_while_fibers_run),
		cmocka_unit_test(test_a_child_has_the_values_of_the_fiber_that_forked),
		cmocka_unit_test(
			test_a_child_goes_on_when_the_stacks_of_its_parents_threads_are_freed),
		cmocka_unit_test(test_a_fiber_makes_a_thread),
		cmocka_unit_test(
			test_the_thread_pointer_is_moved_by_a_call_where_the_kernel_wants_it),
		cmocka_unit_test(test_a_fiber_that_is_not_submitted_gives_its_block_back),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

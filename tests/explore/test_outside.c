/* SPDX-License-Identifier: MIT */
/*
 * test_outside.c - a schedule that used the outside world may go another way when it is repeated
 *
 * The first schedule of a test is run twice. What differs after the outside world was used is no
 * finding; what differs before is.
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/explore/loopback.h"

#define SECOND INT64_C(1000000000) /* ns */

static struct fiber_test_result result;

/* Counts in the test, in memory that the processes share. */
static unsigned *runs;

/* Real time. */
static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	syscall(SYS_nanosleep, &t, NULL);
}

static enum fiber_test_verdict run(fiber_test_fn *fn, const char *strategy, unsigned flags)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .schedules = 3,
						   .strategy = strategy,
						   .flags = flags,
						   .slack = -1};

	*runs = 0;
	result = (struct fiber_test_result){.size = sizeof result};
	assert_true(fiber_test_explore(fn, NULL, &options, &result) >= 0);
	return result.verdict;
}

/* A child that ends after so many ms. */
static pid_t start_child(long ms)
{
	const pid_t pid = fork();

	if (pid == 0) {
		sleep_ms(ms);
		_exit(3);
	}
	fiber_test_assert(pid > 0);
	return pid;
}

/* -- each use is seen: the number of choices differs from run to run -- */

static bool over;

/* Counts in real time, one choice each. */
static void *count(void *arg)
{
	while (!over) {
		fiber_test_choose(2, "either");
		sleep_ms(1);
		fiber_yield();
	}
	return arg;
}

static struct fiber *start_counting(void)
{
	struct fiber *fiber;

	over = false;
	++*runs;
	fiber_test_assert(fiber_spawn(count, NULL, &fiber) == 0);
	return fiber;
}

static void stop_counting(struct fiber *fiber)
{
	over = true;
	fiber_join(fiber, NULL, FIBER_FOREVER);
}

/* In the first run the child lives longer than in the second. */
static long lifetime(void)
{
	return *runs % 2 ? 20 : 5;
}

static void any_child(void *arg)
{
	struct fiber *counter = start_counting();
	const pid_t pid = start_child(lifetime());
	int status;

	(void)arg;
	fiber_test_assert(fiber_waitpid(-1, &status, 0, FIBER_FOREVER) == pid);
	fiber_test_assert(WEXITSTATUS(status) == 3);
	stop_counting(counter);
}

static void one_child(void *arg)
{
	struct fiber *counter = start_counting();
	const pid_t pid = start_child(lifetime());
	int status;

	(void)arg;
	fiber_test_assert(fiber_waitpid(pid, &status, 0, FIBER_FOREVER) == pid);
	stop_counting(counter);
}

/* No handler of fork(2) sees it. */
static void spawned_child(void *arg)
{
	struct fiber *counter = start_counting();
	char *const argv[] = {"sleep", *runs % 2 ? "0.02" : "0.005", NULL};
	int status;
	pid_t pid;

	(void)arg;
	fiber_test_assert(posix_spawn(&pid, "/bin/sleep", NULL, NULL, argv, NULL) == 0);
	while (fiber_waitpid(-1, &status, WNOHANG, FIBER_FOREVER) == 0)
		fiber_yield();
	fiber_test_assert(WEXITSTATUS(status) == 0);
	stop_counting(counter);
}

static void *sleep_on_thread(void *arg)
{
	sleep_ms(lifetime());
	return arg;
}

static void plain_thread(void *arg)
{
	struct fiber *counter = start_counting();
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, sleep_on_thread, NULL);
	fiber_test_assert(fiber_thread_join(thread, NULL, FIBER_FOREVER) == 0);
	stop_counting(counter);
}

/* The other end is that of a child which is not waited for. */
static int far[2];

static void other_process(void *arg)
{
	struct fiber *counter = start_counting();
	char byte;

	(void)arg;
	fiber_test_assert(fiber_write(far[0], *runs % 2 ? "L" : "S", 1, FIBER_FOREVER) == 1);
	fiber_test_assert(fiber_read(far[0], &byte, 1, FIBER_FOREVER) == 1);
	stop_counting(counter);
}

/* The same by calls of the C library. */
static void other_process_blocking(void *arg)
{
	struct fiber *counter = start_counting();
	char byte;

	(void)arg;
	fiber_test_assert(write(far[0], *runs % 2 ? "L" : "S", 1) == 1);
	fiber_test_assert(read(far[0], &byte, 1) == 1);
	stop_counting(counter);
}

/* Answers each byte, after some time. */
static pid_t start_echo(void)
{
	const pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	close(far[0]);
	while (read(far[1], &byte, 1) == 1) {
		sleep_ms(byte == 'L' ? 20 : 5);
		if (write(far[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void must_pass(fiber_test_fn *fn, unsigned i, unsigned flags)
{
	if (run(fn, "random", flags) != FIBER_TEST_PASSED)
		fail_msg("function %u with flags %u: %s", i, flags, result.message);
}

static void test_what_comes_in_real_time_is_no_divergence(void **state)
{
	static fiber_test_fn *const fns[] = {any_child,	   one_child,	  spawned_child,
					     plain_thread, other_process, other_process_blocking};
	unsigned i;
	pid_t echo;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, far), 0);
	echo = start_echo();
	for (i = 0; i < sizeof fns / sizeof *fns; i++) {
		must_pass(fns[i], i, 0);
		must_pass(fns[i], i, FIBER_TEST_ISOLATE);
	}
	close(far[0]);
	close(far[1]);
	waitpid(echo, NULL, 0);
}

/* -- differences that have another reason -- */

/* Choices that differ between the two runs. */
static void differ(void)
{
	fiber_test_choose(2 + ++*runs, "how often the test has run");
}

static void differ_before(void *arg)
{
	int status;

	(void)arg;
	differ();
	fiber_test_assert(fiber_waitpid(start_child(0), &status, 0, FIBER_FOREVER) > 0);
}

static void differ_after(void *arg)
{
	int status;

	(void)arg;
	fiber_test_assert(fiber_waitpid(start_child(0), &status, 0, FIBER_FOREVER) > 0);
	differ();
}

/* Everything here is the test's own. */
static void *echo_fiber(void *arg)
{
	const int fd = *(int *)arg;
	char byte;

	while (fiber_read(fd, &byte, 1, FIBER_FOREVER) == 1)
		fiber_write(fd, &byte, 1, FIBER_FOREVER);
	return NULL;
}

static void *await_event(void *arg)
{
	uint64_t value;

	fiber_test_assert(fiber_read(*(int *)arg, &value, sizeof value, FIBER_FOREVER) ==
			  sizeof value);
	return NULL;
}

static void differ_inside(void *arg)
{
	const struct pair p = connect_pair();
	struct fiber *fibers[3];
	int pair[2], server = p.server, events = eventfd(0, 0);
	uint64_t value = 1;
	char byte;
	unsigned i;

	(void)arg;
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	fiber_spawn(echo_fiber, &pair[1], &fibers[0]);
	fiber_spawn(echo_fiber, &server, &fibers[1]);
	fiber_spawn(await_event, &events, &fibers[2]);
	fiber_test_settle();
	fiber_write(pair[0], "x", 1, FIBER_FOREVER);
	fiber_test_assert(fiber_read(pair[0], &byte, 1, FIBER_FOREVER) == 1);
	fiber_write(p.client, "x", 1, FIBER_FOREVER);
	fiber_test_assert(read(p.client, &byte, 1) == 1);
	fiber_test_assert(write(events, &value, sizeof value) == sizeof value);
	fiber_close(fiber_open("/dev/null", O_RDONLY, 0, FIBER_FOREVER));
	fiber_sleep(SECOND);
	fiber_close(pair[0]);
	fiber_close(p.client);
	for (i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	fiber_close(pair[1]);
	fiber_close(events);
	fiber_close(server);
	differ();
}

static void test_differences_before_the_use_are_divergences(void **state)
{
	(void)state;
	assert_int_equal(run(differ_before, "random", 0), FIBER_TEST_DIVERGED);
	assert_non_null(strstr(result.message, "from choice 1 on"));
	assert_int_equal(run(differ_after, "random", 0), FIBER_TEST_PASSED);
}

static void test_what_the_test_made_is_not_outside(void **state)
{
	(void)state;
	assert_int_equal(run(differ_inside, "random", 0), FIBER_TEST_DIVERGED);
}

/* -- not every schedule was run -- */

static void child_and_choice(void *arg)
{
	int status;

	(void)arg;
	fiber_test_choose(2, "either");
	fiber_test_assert(fiber_waitpid(start_child(0), &status, 0, FIBER_FOREVER) > 0);
}

static void choice_alone(void *arg)
{
	(void)arg;
	fiber_test_choose(2, "either");
}

static void test_an_exploration_with_the_outside_world_is_not_complete(void **state)
{
	(void)state;
	assert_int_equal(run(choice_alone, "exhaustive", 0), FIBER_TEST_COMPLETE);
	assert_int_equal(run(child_and_choice, "exhaustive", 0), FIBER_TEST_PASSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_comes_in_real_time_is_no_divergence),
		cmocka_unit_test(test_differences_before_the_use_are_divergences),
		cmocka_unit_test(test_what_the_test_made_is_not_outside),
		cmocka_unit_test(test_an_exploration_with_the_outside_world_is_not_complete),
	};

	runs = mmap(NULL, sizeof *runs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (runs == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, find_port, NULL);
}

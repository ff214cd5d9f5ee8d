/* SPDX-License-Identifier: MIT */
/*
 * test_observer.c - answering endless requests takes only a small share of the CPU time
 *
 * Every CPU runs a carrier that computes, so the service thread takes its time from a fiber. The
 * share is measured in the kernel's CPU time, independent of the machine's speed. The thread's
 * ticks without requests are measured first. A client first gets what was saved up, and what a
 * sanitizer adds to that is not charged (service/cpu_budget.c), so the measurement takes longer there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fiber.h>

#include "tests/harness/fibers.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "wire/client.h"

#define THREADS	 "/proc/self/task"
#define WAITING	 (*harness_sanitizer() ? 200u : 2000u) /* a request takes longer there */
#define TIME	 (*harness_sanitizer() ? INT64_C(8000000000) : INT64_C(1500000000))
#define PATIENCE INT64_C(30000000000) /* ns; on slow builds a pause is long */
#define ALONE	 INT64_C(500000000)
#define MOST \
	25 /* at most 1/25: several times the intended share, because a pause costs kernel time */

static char path[HARNESS_PATH];
static _Atomic bool over;
static void *(*watching)(void *arg);
static int64_t asked_for, spent,
	ticks; /* ns: the time with requests, the CPU time spent in it, the ticks' part of that */
static unsigned answers;
static int failure, observers_failure;

/* CPU time in ns of the thread with this name, or -1. */
static int64_t thread_cpu(const char *name)
{
	DIR *threads = opendir(THREADS);
	const struct dirent *entry;
	char file[300], comm[32];
	int64_t ns = -1;
	FILE *f;

	while (ns < 0 && threads && (entry = readdir(threads))) {
		snprintf(file, sizeof file, THREADS "/%s/comm", entry->d_name);
		f = fopen(file, "r");
		if (!f || !fgets(comm, sizeof comm, f) || strncmp(comm, name, strlen(name)) != 0) {
			if (f)
				fclose(f);
			continue;
		}
		fclose(f);
		snprintf(file, sizeof file, THREADS "/%s/schedstat", entry->d_name);
		f = fopen(file, "r");
		if (!f || fscanf(f, "%" SCNd64, &ns) != 1)
			ns = -1;
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return ns;
}

/* Read one list to its end. */
static int ask(struct fib_wire_client *c)
{
	struct fib_wire_header h = {0};
	const void *payload;
	int rc = fib_wire_request(c, FIB_WIRE_LIST, NULL, 0);

	while (rc == 0 && h.type != FIB_WIRE_END && h.type != FIB_WIRE_ERROR && !atomic_load(&over))
		rc = fib_wire_receive(c, &h, &payload);
	return rc == 0 && h.type == FIB_WIRE_ERROR ? -1 : rc;
}

/* CPU time of the service thread per ns without requests. */
static double alone(void)
{
	const struct timespec pause = {.tv_nsec = ALONE};
	const int64_t began = fiber_now(), before = thread_cpu("fiber-service");

	nanosleep(&pause, NULL);
	return (double)(thread_cpu("fiber-service") - before) / (double)(fiber_now() - began);
}

static void *observer(void *arg)
{
	const double share = alone();
	int64_t began = fiber_now(), before = thread_cpu("fiber-service");
	struct fib_wire_client c;
	int rc = fib_wire_connect(&c, path, PATIENCE);

	while (rc == 0 && fiber_now() - began < TIME) {
		rc = ask(&c);
		answers++;
	}
	fib_wire_disconnect(&c);
	asked_for = fiber_now() - began;
	spent = thread_cpu("fiber-service") - before;
	ticks = (int64_t)(share * (double)asked_for);
	observers_failure = before < 0 ? -1 : rc;
	atomic_store(&over, true);
	return arg;
}

/* Whether fiber rows have arrived. */
static bool has_rows(struct fib_wire_client *c)
{
	struct fib_wire_header h = {0};
	const void *payload;

	while (h.type != FIB_WIRE_STACKS && fib_wire_receive_now(c, &h, &payload) == 0)
		;
	return h.type == FIB_WIRE_STACKS;
}

/* Two clients that ask for everything and are answered alternately. */
static void *observers(void *arg)
{
	const struct fib_wire_stack_of all = {.wanted = FIB_WIRE_WANT_ALL};
	struct fib_wire_client one, other;
	struct fib_wire_header h = {0};
	const void *payload;
	int rc = fib_wire_connect(&one, path, PATIENCE);

	rc |= fib_wire_connect(&other, path, PATIENCE);
	if (rc == 0)
		rc = fib_wire_request(&one, FIB_WIRE_STACK, &all, sizeof all);
	if (rc == 0)
		rc = fib_wire_request(&other, FIB_WIRE_STACK, &all, sizeof all);
	while (rc == 0 && !answers && h.type != FIB_WIRE_END) {
		rc = fib_wire_receive(&one, &h, &payload);
		answers = has_rows(&other);
	}
	fib_wire_disconnect(&one);
	fib_wire_disconnect(&other);
	observers_failure = rc;
	atomic_store(&over, true);
	return arg;
}

static void *computes(void *arg)
{
	while (!atomic_load(&over))
		;
	return arg;
}

static void *begin(void *arg)
{
	const struct fiber_attr waiting = {
		.size = sizeof waiting, .name = "waiting", .flags = FIBER_BACKGROUND};
	const unsigned *carriers = arg, count = WAITING;
	pthread_t thread;
	unsigned i;

	for (i = 0; i < count; i++)
		failure |= fiber_spawn_attr(&waiting, harness_park, NULL, NULL);
	for (i = 0; i + 1 < *carriers; i++)
		failure |= fiber_spawn(computes, NULL, NULL);
	failure |= pthread_create(&thread, NULL, watching, NULL);
	computes(NULL);
	pthread_join(thread, NULL);
	return NULL;
}

static void run_watched(void *(*fn)(void *arg))
{
	struct fiber_runtime_options options = {.size = sizeof options,
						.name = "observed",
						.control_path = path,
						.long_run_ns = -1};
	cpu_set_t cpus;

	watching = fn;
	answers = 0;
	atomic_store(&over, false);
	assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
	options.carriers = (unsigned)CPU_COUNT(&cpus);
	harness_file(path, "observed.sock");
	assert_int_equal(fiber_run(begin, &options.carriers, &options, NULL), 0);
	assert_int_equal(failure, 0);
	assert_int_equal(observers_failure, 0);
}

static void test_observer_without_end_takes_only_its_share(void **state)
{
	(void)state;
	run_watched(observer);
	assert_true(answers > 0);
	print_message("# %u lists, %" PRId64 " us of %" PRId64 " ms, %" PRId64 " us for ticks\n",
		      answers, spent / 1000, asked_for / 1000000, ticks / 1000);
	assert_true(spent - ticks < asked_for / MOST);
}

static void test_observer_that_asks_for_much_keeps_nobody_waiting(void **state)
{
	(void)state;
	run_watched(observers);
	assert_int_equal(answers, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_observer_without_end_takes_only_its_share),
		cmocka_unit_test(test_observer_that_asks_for_much_keeps_nobody_waiting),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

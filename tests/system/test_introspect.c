/* SPDX-License-Identifier: MIT */
/*
 * test_introspect.c - a program inspects itself while fibers change, and from inside signal
 * handlers
 *
 * Some fibers are suspended under known names; the others spawn, lock, yield and exit as fast as
 * they can. Every inspection must find each of the suspended ones exactly once and complete.
 */
#include "carriers.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/process.h"

#define STILL 20
#define CHURN 8
#define LOOKS 200

static struct fiber_runtime *rt;
static struct fiber *still[STILL];
static struct fiber_mutex shared = {.name = "shared"}, held = {.name = "held"};
static _Atomic bool stop;

static void *wait_for_held(void *arg)
{
	fiber_mutex_lock(&held, FIBER_FOREVER);
	fiber_mutex_unlock(&held);
	return arg;
}

static void *brief(void *arg)
{
	fiber_mutex_lock(&shared, FIBER_FOREVER);
	fiber_yield();
	fiber_mutex_unlock(&shared);
	return arg;
}

/* Records, stacks and waits appear and disappear continuously. */
static void *churn(void *arg)
{
	while (!stop) {
		struct fiber *fibers[5];
		size_t i, n = 0;

		for (i = 0; i < COUNT(fibers); i++)
			n += fiber_spawn(brief, NULL, &fibers[n]) == 0;
		for (i = 0; i < n; i++)
			fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
	return arg;
}

static struct fiber *churners[CHURN];

static void start_all(void)
{
	size_t i;

	stop = false;
	rt = carriers_start();
	fiber_mutex_lock(&held, FIBER_FOREVER);
	for (i = 0; i < STILL; i++) {
		char name[32];
		const struct fiber_attr attr = {.size = sizeof attr, .name = name};

		snprintf(name, sizeof name, "still %zu", i);
		assert_int_equal(fiber_runtime_spawn(rt, &attr, wait_for_held, NULL, &still[i]), 0);
		carriers_await_suspended(still[i]);
	}
	for (i = 0; i < CHURN; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, churn, NULL, &churners[i]), 0);
}

static void finish_all(void)
{
	size_t i;

	stop = true;
	fiber_mutex_unlock(&held);
	for (i = 0; i < CHURN; i++)
		fiber_join(churners[i], NULL, FIBER_FOREVER);
	for (i = 0; i < STILL; i++)
		fiber_join(still[i], NULL, FIBER_FOREVER);
	carriers_finish(rt);
}

/* -- a snapshot -- */

struct finding {
	unsigned found[STILL], wrong;
};

/* A line for the log. From any thread. */
static void say(const char *what, const struct fiber_info *info)
{
	fprintf(stderr,
		"%s: id %llu \"%s\" state %d carrier %d wait %s object %p \"%s\" holder %llu "
		"thread %llu since %lld stack %zu pc %p\n",
		what, (unsigned long long)info->id, info->name, (int)info->state, info->carrier,
		info->wait_kind, info->wait_object, info->wait_object_name,
		(unsigned long long)info->holder_id, (unsigned long long)info->holder_thread,
		(long long)info->since, info->stack_used, info->spawn_pc);
}

static int check(const struct fiber_info *info, void *arg)
{
	struct finding *f = arg;
	const unsigned before = f->wrong;
	size_t i;

	for (i = 0; i < STILL; i++) {
		char name[32];

		if (info->id != fiber_id(still[i]))
			continue;
		snprintf(name, sizeof name, "still %zu", i);
		f->found[i]++;
		f->wrong += strcmp(info->name, name) || info->state != FIBER_SUSPENDED ||
			    strcmp(info->wait_kind, "mutex") || info->wait_object != &held ||
			    strcmp(info->wait_object_name, "held") || !info->holder_thread ||
			    info->holder_id || info->carrier != -1 || info->since <= 0 ||
			    info->since > fiber_now() || !info->stack_used || !info->spawn_pc;
	}
	f->wrong += !info->id || (info->holder_id && strcmp(info->wait_kind, "mutex")) ||
		    (info->state == FIBER_RUNNING) != (info->carrier >= 0);
	if (f->wrong != before)
		say("wrong", info);
	return 0;
}

static bool found_each_once(const struct finding *f)
{
	size_t i;

	for (i = 0; i < STILL; i++)
		if (f->found[i] != 1) {
			fprintf(stderr, "still %zu was found %u times\n", i, f->found[i]);
			return false;
		}
	return true;
}

/* Runs in a thread or a fiber. Returns how many inspections were incomplete. */
static uintptr_t look_often(unsigned looks)
{
	uintptr_t bad = 0;

	while (looks--) {
		struct finding live = {.wrong = 0}, kept = {.wrong = 0};
		struct fiber_snapshot *snapshot;
		struct fiber_info info;

		fiber_foreach(rt, check, &live);
		if (fiber_snapshot(rt, &snapshot) < 0)
			return UINTPTR_MAX;
		while (fiber_snapshot_next(snapshot, &info))
			check(&info, &kept);
		fiber_snapshot_free(snapshot);
		bad += live.wrong || kept.wrong || !found_each_once(&live) ||
		       !found_each_once(&kept);
	}
	return bad;
}

static void *look(void *arg)
{
	(void)arg;
	return (void *)look_often(LOOKS);
}

static void test_introspect_finds_each_fiber_once_while_others_churn(void **state)
{
	struct fiber_result result = {NULL, 0};
	struct fiber *looker;
	pthread_t thread;
	void *bad;

	(void)state;
	start_all();
	assert_int_equal(fiber_runtime_spawn(rt, NULL, look, NULL, &looker), 0);
	assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
	pthread_join(thread, &bad);
	fiber_join(looker, &result, FIBER_FOREVER);
	finish_all();
	assert_int_equal((uintptr_t)bad, 0);
	assert_int_equal((uintptr_t)result.value, 0);
}

/* -- a dump in a signal handler -- */

static _Atomic int dump_fd = -1;
static _Atomic unsigned dumps, short_dumps;

static void on_signal(int number)
{
	(void)number;
	if (fiber_dump(dump_fd) < STILL + CHURN)
		short_dumps++;
	dumps++;
}

/* Each dump has every suspended fiber exactly once and complete, and ends with the number of
 * fibers. */
static void assert_dump(const char *text)
{
	size_t i, lines = 0;
	const char *at;
	char line[128];

	for (i = 0; i < STILL; i++) {
		snprintf(line, sizeof line,
			 "fiber %" PRIu64
			 " \"still %zu\" [suspended: mutex \"held\" held by thread ",
			 fiber_id(still[i]), i);
		at = strstr(text, line);
		if (!at)
			print_error("no %s in:\n%s\n", line, text);
		assert_non_null(at);
		assert_null(strstr(at + 1, line));
	}
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines % 2, 1);
	snprintf(line, sizeof line, "\n%zu fibers\n", lines / 2);
	assert_non_null(strstr(text, line));
}

static size_t read_dump(char *buf, size_t size)
{
	ssize_t n = pread(dump_fd, buf, size - 1, 0);

	assert_true(n > 0);
	buf[n] = '\0';
	assert_int_equal(ftruncate(dump_fd, 0), 0);
	assert_int_equal(lseek(dump_fd, 0, SEEK_SET), 0);
	return (size_t)n;
}

/* The kernel delivers the signal to any carrier, at any point. */
static void test_introspect_dumps_from_a_signal_handler_on_busy_carriers(void **state)
{
	static char text[1 << 20];
	struct sigaction action = {.sa_handler = on_signal}, before;
	sigset_t usr1, old;
	unsigned i;

	(void)state;
	dump_fd = memfd_create("dump", MFD_CLOEXEC);
	assert_true(dump_fd >= 0);
	sigaction(SIGUSR1, &action, &before);
	start_all();
	/* Only carriers take the signal, not this thread. */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, &old);
	for (i = 0; i < LOOKS; i++) {
		dumps = 0;
		kill(getpid(), SIGUSR1);
		while (!dumps)
			sched_yield();
		read_dump(text, sizeof text);
		assert_dump(text);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	finish_all();
	sigaction(SIGUSR1, &before, NULL);
	close(dump_fd);
	assert_int_equal(short_dumps, 0);
}

/* -- programs of their own -- */

static void on_fault(int number)
{
	fiber_dump(STDERR_FILENO);
	_exit(number);
}

static void *fault(void *arg)
{
	fiber_set_name(fiber_self(), "culprit");
	*(volatile int *)arg = 1;
	return NULL;
}

static _Noreturn void die_of_a_fault(void)
{
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	struct fiber *culprit;

	start_all();
	sigaction(SIGSEGV, &action, NULL);
	fiber_runtime_spawn(rt, NULL, fault, (void *)16, &culprit);
	for (;;)
		pause();
}

/* Inspect from all threads at once, in a sandbox without process_vm_readv. */
static int look_through_a_pipe(void)
{
	pthread_t threads[3];
	uintptr_t bad;
	void *result;
	size_t i;

	start_all();
	for (i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, look, NULL);
	bad = look_often(LOOKS);
	for (i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &result);
		bad += (uintptr_t)result;
	}
	finish_all();
	return bad ? 1 : 0;
}

static void test_introspect_dumps_out_of_a_fault_handler(void **state)
{
	const char *const argv[] = {"/proc/self/exe", "fault", NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);
	const char *culprit = strstr(p->err.bytes, "\"culprit\" [running: carrier ");

	(void)state;
	assert_int_equal(harness_exit_code(p), SIGSEGV);
	assert_non_null(culprit);
	assert_non_null(strstr(p->err.bytes, "\"still 7\" [suspended: mutex \"held\" held by"));
	harness_free(p);
}

static void test_introspect_looks_from_many_threads_where_peeking_is_forbidden(void **state)
{
	const struct harness_how how = {.forbid_peeking = true};
	const char *const argv[] = {"/proc/self/exe", "pipe", NULL};
	struct harness_process *p = harness_run(argv, &how, 60);

	(void)state;
	if (harness_exit_code(p))
		print_error("%s", p->err.bytes);
	assert_int_equal(harness_exit_code(p), 0);
	harness_free(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_introspect_finds_each_fiber_once_while_others_churn),
		cmocka_unit_test(test_introspect_dumps_from_a_signal_handler_on_busy_carriers),
		cmocka_unit_test(test_introspect_dumps_out_of_a_fault_handler),
		cmocka_unit_test(
			test_introspect_looks_from_many_threads_where_peeking_is_forbidden),
	};

	if (argc > 1) {
		if (!strcmp(argv[1], "fault"))
			die_of_a_fault();
		return look_through_a_pipe();
	}
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

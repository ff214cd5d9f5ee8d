/* SPDX-License-Identifier: MIT */
/*
 * test_refused_calls.c - a system that lacks one of the system calls that libfiber makes
 *
 * An old kernel, and a kernel in user space such as gVisor, fail with ENOSYS. Sandboxes also fail
 * with EPERM. For each call of the lists in libfiber(7), and each of these errors, a program
 * refuses itself that call before it starts its runtime. It must then run, answer the tools and end
 * when asked to, or say in one line which call is refused and exit. Calls that are refused only
 * after the start are in test_sandbox.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/calls.h"
#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define MISSING "--missing" /* ENOSYS */
#define REFUSED "--refuse"  /* EPERM */

/* Calls that the lists do not have, because they are made in other programs. */
#define MORE "preadv2 pwritev2 fcntl process_vm_readv mincore clone pidfd_open"

/*
 * Not tested: without exit no thread ends, and the C library tries for ever; without rt_sigreturn
 * no signal handler returns. The C library aborts the program when it starts a thread without rseq,
 * if it had rseq before: there is a test of its own.
 */
#define WITHOUT_A_CHANCE "exit rt_sigreturn rseq"

/* No runtime starts without these. Without clone3 the C library uses clone, but only after ENOSYS. */
#define NEEDED "futex mmap mprotect eventfd2 read write rt_sigaction"

static bool has(const char *list, const char *call)
{
	const size_t n = strlen(call);
	const char *at = list;

	while ((at = strstr(at, call)) && ((at > list && at[-1] != ' ') || (at[n] && at[n] != ' ')))
		at += n;
	return at;
}

static bool is_needed(const char *call, const char *how)
{
	return has(NEEDED, call) || (!strcmp(call, "clone3") && !strcmp(how, REFUSED));
}

/* The line that names the call. A program that may not write cannot print it. */
static void assert_named(struct harness_process *p, const char *call)
{
	char line[128];

	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 1);
	if (!strcmp(call, "write"))
		return;
	snprintf(line, sizeof(line), "libfiber: the runtime cannot start: the system refuses %s",
		 call);
	cli_contains(p->err.bytes, line);
}

/* The tool answers, or says in one line why it cannot, and does not wait for ever. */
static void assert_answers(const char *tool, const char *pid, const char *call)
{
	struct harness_process *p = cli_run(tool, "list", pid, NULL);
	const int code = harness_exit_code(p);

	if (code == 0 || code == 1)
		cli_contains(p->out.bytes, "waiter");
	else if (code != 2 || !p->err.size || strchr(p->err.bytes, '\n')[1])
		fail_msg("%s list without %s: exit %d: %s", tool, call, code, p->err.bytes);
	harness_free(p);
}

static struct harness_process *start(const char *poller, const char *how, const char *call)
{
	char setting[64], path[HARNESS_PATH];
	const char *env[] = {setting, NULL};
	const struct harness_how with = {.env = env};
	const char *argv[] = {harness_program(path, "sandbox"), how, call, "--early", NULL};

	snprintf(setting, sizeof(setting), "FIBER_POLLER=%s", poller);
	return harness_start(argv, &with);
}

static void run_without(const char *poller, const char *how, const char *call)
{
	struct harness_process *p = start(poller, how, call);
	const char *pid = cli_number((uint64_t)p->pid);

	if (is_needed(call, how)) {
		assert_named(p, call);
	} else if (!strcmp(call, "pipe2")) {
		/* The program's own call, after the start. */
		assert_true(harness_wait_end(p, CLI_SECONDS));
		cli_contains(p->err.bytes, "sandbox: pipe: ");
	} else {
		if (!harness_wait_line(p, "ready ", CLI_SECONDS))
			fail_msg("%s %s, %s: it does not run: %s", how, call, poller, p->err.bytes);
		assert_answers("fiberctl", pid, call);
		assert_answers("fibertrace", pid, call);
		assert_int_equal(kill(p->pid, SIGTERM), 0);
		assert_true(harness_wait_end(p, CLI_SECONDS));
		cli_expect(p, 0);
	}
	harness_free(p);
}

static void run_to_the_end_without(const char *poller, const char *how, const char *call)
{
	char setting[64];
	const char *env[] = {setting, NULL};
	const struct harness_how with = {.env = env};
	struct harness_process *p;

	snprintf(setting, sizeof(setting), "FIBER_POLLER=%s", poller);
	p = cli_run_how(&with, "sandbox", how, call, "--early", "--finish", NULL);
	assert_false(p->timed_out);
	cli_ended(p, is_needed(call, how) ? 1 : 0);
}

/* Run what `fn` does for each call of a list. */
static void each(const char *list, const char *poller,
		 void (*fn)(const char *poller, const char *how, const char *call))
{
	char calls[CALLS_SIZE], *save, *call;

	snprintf(calls, sizeof(calls), "%s", list);
	for (call = strtok_r(calls, " \n", &save); call; call = strtok_r(NULL, " \n", &save)) {
		if (has(WITHOUT_A_CHANCE, call))
			continue;
		fn(poller, MISSING, call);
		fn(poller, REFUSED, call);
	}
}

static void need_calls_of_our_own(void)
{
	if (harness_sanitizer()[0])
		cli_skip("a sanitizer makes system calls of its own");
}

static const char *all_calls(char calls[CALLS_SIZE])
{
	calls_listed("epoll", calls);
	calls_add("start", calls);
	strcat(calls, " " MORE);
	return calls;
}

static void test_program_runs_without_each_call_or_names_it(void **state)
{
	char calls[CALLS_SIZE];

	(void)state;
	need_calls_of_our_own();
	each(all_calls(calls), "epoll", run_without);
}

static void test_runtime_finishes_without_each_call(void **state)
{
	char calls[CALLS_SIZE];

	(void)state;
	need_calls_of_our_own();
	each(all_calls(calls), "epoll", run_to_the_end_without);
}

/* The calls that the pollers have of their own, and those with another effect there. */
static void test_the_other_pollers_run_without_their_calls(void **state)
{
	(void)state;
	need_calls_of_our_own();
	each("ppoll poll newfstatat write", "poll", run_without);
	each("io_uring_setup io_uring_register io_uring_enter newfstatat epoll_ctl epoll_create1 "
	     "write",
	     "uring", run_without);
}

/* The filter exists before the program does, as in a container. */
static void test_program_runs_without_rseq(void **state)
{
	const struct harness_how how = {.forbid = SYS_rseq};

	(void)state;
	need_calls_of_our_own();
	cli_ended(cli_run_how(&how, "sandbox", REFUSED, "reboot", "--early", "--finish", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_runs_without_each_call_or_names_it),
		cmocka_unit_test(test_runtime_finishes_without_each_call),
		cmocka_unit_test(test_the_other_pollers_run_without_their_calls),
		cmocka_unit_test(test_program_runs_without_rseq),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

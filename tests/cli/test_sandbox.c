/* SPDX-License-Identifier: MIT */
/*
 * test_sandbox.c - inspect a program that restricts its system calls after its start
 *
 * libfiber(7) lists the calls made after the start; the test reads the lists from the page. A
 * program that allows only these calls survives every command, and every listed call is made. If
 * calls are refused, commands still answer or name the refused call.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/calls.h"
#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

/* Calls of the fixture itself, to wait for its end. */
#define OWN "rt_sigtimedwait exit_group"

struct box {
	struct harness_process *p;
	char pid[16], waiter[24], parked[24], doomed[24];
};

/* -- the program -- */

static void find_id(const struct harness_process *p, const char *name, char id[24])
{
	char pattern[40];
	const char *at;

	snprintf(pattern, sizeof(pattern), " %s\n", name);
	at = strstr(p->out.bytes, pattern);
	assert_non_null(at);
	while (at > p->out.bytes && at[-1] != '\n')
		at--;
	snprintf(id, 24, "%llu", strtoull(at, NULL, 10));
}

static struct box box_start(const char *poller, const char *a, const char *b, const char *c,
			    const char *d)
{
	char setting[64];
	const char *env[] = {"FIBER_CONTROL=admin", setting, NULL};
	const struct harness_how how = {.env = env};
	struct box box;

	snprintf(setting, sizeof(setting), "FIBER_POLLER=%s", poller);
	box.p = cli_start(&how, "ready ", "sandbox", a, b, c, d, NULL);
	snprintf(box.pid, sizeof(box.pid), "%d", box.p->pid);
	find_id(box.p, "waiter", box.waiter);
	find_id(box.p, "parked", box.parked);
	find_id(box.p, "doomed", box.doomed);
	return box;
}

static void assert_lives(const struct box *box, const char *after)
{
	const char state = cli_state(box->p->pid);

	if (kill(box->p->pid, 0) != 0 || state == 'Z' || state == 'X')
		fail_msg("the program ended at '%s'", after);
}

static struct harness_process *ask(const struct box *box, const char *command, const char *a,
				   const char *b)
{
	struct harness_process *p =
		cli_run("fiberctl", command, box->pid, a ? a : b, a ? b : NULL, NULL);

	assert_lives(box, command);
	return p;
}

/* Check for an answer, complete except for fibers that ran meanwhile. */
static void answers(const struct box *box, const char *command, const char *a, const char *b)
{
	struct harness_process *p = ask(box, command, a, b);

	if (harness_exit_code(p) != 1 || !strstr(p->out.bytes, "incomplete"))
		cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "refuse"));
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

/* Run every command that asks the program. */
static void ask_everything(const struct box *box)
{
	char file[HARNESS_PATH], option[HARNESS_PATH + 16];
	struct harness_process *p;

	answers(box, "list", NULL, NULL);
	answers(box, "list", "--json", NULL);
	answers(box, "show", box->waiter, NULL);
	answers(box, "bt", box->waiter, NULL);
	answers(box, "bt", "--all", NULL);
	answers(box, "stacks", NULL, NULL);
	answers(box, "tree", NULL, NULL);
	answers(box, "waits", NULL, NULL);
	answers(box, "deadlock", NULL, NULL);
	answers(box, "pinned", NULL, NULL);
	answers(box, "slow", NULL, NULL);
	answers(box, "metrics", NULL, NULL);
	answers(box, "top", "--once", NULL);
	answers(box, "carriers", NULL, NULL);
	answers(box, "policy", NULL, NULL);
	answers(box, "policy", "silent", NULL);
	answers(box, "watchdog", "15ms", NULL);
	answers(box, "audit", NULL, NULL);
	answers(box, "cancel", box->doomed, NULL);
	answers(box, "wake", box->parked, NULL);
	snprintf(option, sizeof(option), "--output=%s/%s.snap", harness_folder(), box->pid);
	answers(box, "snapshot", option, NULL);
	harness_file(file, box->pid);
	p = cli_run("fibertrace", "record", box->pid, "-o", file, "--for=100ms", NULL);
	assert_lives(box, "record");
	cli_ended(p, 0);
	/* After a stop and continue the kernel resumes waits with its own call. */
	p = cli_run("fibertrace", "bt", box->pid, "--all", NULL);
	assert_lives(box, "fibertrace bt");
	harness_free(p);
	assert_int_equal(kill(box->p->pid, SIGSTOP), 0);
	assert_true(harness_until(cli_stopped, &box->p->pid, CLI_SECONDS));
	assert_int_equal(kill(box->p->pid, SIGCONT), 0);
	answers(box, "list", NULL, NULL);
}

/* Run the commands that wake carriers, and those that take long. */
static void ask_some(const struct box *box)
{
	answers(box, "bt", "--all", NULL);
	answers(box, "deadlock", NULL, NULL);
	answers(box, "cancel", box->doomed, NULL);
	answers(box, "wake", box->parked, NULL);
	answers(box, "list", NULL, NULL);
}

static void need_calls_of_our_own(void)
{
	if (harness_sanitizer()[0])
		cli_skip("a sanitizer makes system calls of its own");
#ifndef __x86_64__
	cli_skip("the lists are for x86-64");
#endif
}

/* -- what is allowed -- */

static void lives_with_what_is_listed(const char *poller, void (*asks)(const struct box *box))
{
	char calls[CALLS_SIZE], allowed[4096];
	struct box box;

	snprintf(allowed, sizeof(allowed), "%s %s", calls_listed(poller, calls), OWN);
	box = box_start(poller, "--allow", allowed, "--compute", "25");
	asks(&box);
	harness_free(box.p);
}

static void test_sandbox_may_allow_the_calls_of_the_manual_and_no_others(void **state)
{
	(void)state;
	need_calls_of_our_own();
	lives_with_what_is_listed("epoll", ask_everything);
}

static void test_sandbox_may_do_so_with_the_poller_poll(void **state)
{
	(void)state;
	need_calls_of_our_own();
	lives_with_what_is_listed("poll", ask_some);
}

static void test_sandbox_may_do_so_with_the_poller_uring(void **state)
{
	(void)state;
	need_calls_of_our_own();
	lives_with_what_is_listed("uring", ask_some);
}

/* The sandbox lasts from the first call of fiber_runtime_start() to the last of
 * fiber_runtime_finish(). */
static void test_sandbox_may_be_entered_before_the_start_and_left_after_the_end(void **state)
{
	static const char *const pollers[] = {"epoll", "poll", "uring"};
	char calls[CALLS_SIZE], setting[64];
	const char *env[] = {setting, NULL};
	const struct harness_how how = {.env = env};

	(void)state;
	need_calls_of_our_own();
	for (size_t i = 0; i < sizeof(pollers) / sizeof(pollers[0]); i++) {
		struct harness_process *p;

		calls_listed(pollers[i], calls);
		calls_add("start", calls);
		calls_add("end", calls);
		strcat(calls, i == 2 ? " io_uring_setup io_uring_register " OWN : " " OWN);
		snprintf(setting, sizeof(setting), "FIBER_POLLER=%s", pollers[i]);
		p = cli_run_how(&how, "sandbox", "--allow", calls, "--early", "--finish", NULL);
		cli_ended(p, 0);
	}
}

/* The filter works: without a needed call the program is killed, and the tool reports that. */
static void test_sandbox_that_forbids_a_needed_call_ends_the_program(void **state)
{
	struct harness_process *p;
	struct box box;

	(void)state;
	box = box_start("epoll", "--kill", "accept4", NULL, NULL);
	p = cli_run("fiberctl", "list", box.pid, NULL);
	assert_int_not_equal(harness_exit_code(p), 0);
	harness_free(p);
	assert_true(harness_wait_end(box.p, CLI_SECONDS));
	assert_true(WIFSIGNALED(box.p->status) && WTERMSIG(box.p->status) == SIGSYS);
	harness_free(box.p);
}

/* -- what is listed -- */

static const char *line_of(const struct harness_process *p, const char *who)
{
	const char *at = strstr(p->out.bytes, who);

	assert_non_null(at);
	return at;
}

static void test_sandbox_calls_are_those_of_the_manual_and_each_is_made(void **state)
{
	/*
	 * Calls made only by a user other than root, for a recording, in a race of two carriers,
	 * after a stop, or from the 8,193rd stack on.
	 */
	const char *rare = geteuid() == 0
				   ? "geteuid munmap sched_yield restart_syscall process_madvise"
				   : "munmap sched_yield restart_syscall process_madvise";
	char calls[CALLS_SIZE];
	const char *made;
	struct box box;

	(void)state;
	need_calls_of_our_own();
	box = box_start("epoll", "--watch", "--compute", "25", NULL);
	ask_everything(&box);
	assert_int_equal(kill(box.p->pid, SIGTERM), 0);
	assert_true(harness_wait_end(box.p, CLI_SECONDS));
	made = line_of(box.p, "service:");
	calls_listed("epoll", calls);
	/* The last part has the program's own calls. */
	*strstr(made, "program:") = 0;
	assert_int_equal(
		calls_missing(made, calls, OWN, "made, and not in " CALLS_PAGE) +
			calls_missing(calls, made, rare, "in " CALLS_PAGE ", and never made"),
		0);
	harness_free(box.p);
}

/* -- what is refused -- */

static const char *const named[] = {"getsockopt", "accept4", "clock_gettime", "sendto",
				    "openat",	  "mincore", "madvise",	      "pipe2"};

/* The answer is complete or names the refused call; it never claims that the program has ended. */
static void answers_or_names(const struct box *box, const char *call, const char *command,
			     const char *a)
{
	struct harness_process *p = ask(box, command, a, NULL);
	const int code = harness_exit_code(p);

	assert_null(strstr(p->out.bytes, "process ended"));
	assert_null(strstr(p->err.bytes, "process ended"));
	if (code == 0)
		assert_string_equal(p->err.bytes, "");
	else if (!strstr(p->out.bytes, call) && !strstr(p->err.bytes, call))
		fail_msg("%s: exit %d: neither an answer nor '%s': %s%s", command, code, call,
			 p->out.bytes, p->err.bytes);
	harness_free(p);
}

static void test_sandbox_that_refuses_a_call_is_answered_for_or_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct box box = box_start("epoll", "--refuse", named[i], NULL, NULL);

		answers_or_names(&box, named[i], "list", "--json");
		answers_or_names(&box, named[i], "show", box.waiter);
		answers_or_names(&box, named[i], "bt", "--all");
		harness_free(box.p);
	}
}

/* The tool names the facts that it cannot get, and shows the rest. */
static void test_sandbox_that_refuses_more_is_shown_in_part(void **state)
{
	struct harness_process *p;
	struct box box;

	(void)state;
	box = box_start("epoll", "--refuse", "mincore,pread64", NULL, NULL);
	p = ask(&box, "show", box.waiter, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "mutex \"ours\" held by");
	cli_contains(p->out.bytes,
		     "the program's sandbox refuses mincore (Operation not permitted): "
		     "how deep each stack has been is unknown");
	harness_free(p);
	p = ask(&box, "list", "--json", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "sandbox refuses mincore");
	harness_free(p);
	harness_free(box.p);
	box = box_start("epoll", "--refuse", "openat", NULL, NULL);
	p = ask(&box, "deadlock", NULL, NULL);
	cli_contains(p->out.bytes, "sandbox refuses openat");
	harness_free(p);
	harness_free(box.p);
}

/* A program that makes one of these calls is killed. */
static void test_sandbox_is_not_needed_for_what_was_prepared(void **state)
{
	struct box box;

	(void)state;
	need_calls_of_our_own();
	box = box_start("epoll", "--kill",
			"sendto,openat,mincore,madvise,pipe2,process_vm_readv,recvfrom", NULL,
			NULL);
	answers(&box, "list", "--json", NULL);
	answers(&box, "show", box.waiter, NULL);
	answers(&box, "bt", "--all", NULL);
	answers(&box, "stacks", NULL, NULL);
	answers(&box, "metrics", NULL, NULL);
	answers(&box, "top", "--once", NULL);
	harness_free(box.p);
}

/* The program cannot be asked, but it is alive. */
static void test_sandbox_that_refuses_to_answer_is_said_to_live(void **state)
{
	struct harness_process *p;
	struct box box;

	(void)state;
	box = box_start("epoll", "--refuse", "accept4,accept", NULL, NULL);
	for (int i = 0; i < 2; i++) {
		p = ask(&box, "list", NULL, NULL);
		cli_expect(p, 2);
		assert_null(strstr(p->err.bytes, "process ended"));
		assert_null(strstr(p->err.bytes, "dead"));
		cli_contains(p->err.bytes, " lives, but ");
		cli_contains(p->err.bytes, "seccomp filter refuses");
		cli_contains(p->err.bytes, "use fibertrace");
		harness_free(p);
	}
	assert_true(harness_wait_line(box.p, "never", 0) == NULL);
	harness_end(box.p);
	cli_contains(box.p->err.bytes, "sandbox refuses accept4");
	harness_free(box.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sandbox_may_allow_the_calls_of_the_manual_and_no_others),
		cmocka_unit_test(test_sandbox_may_do_so_with_the_poller_poll),
		cmocka_unit_test(test_sandbox_may_do_so_with_the_poller_uring),
		cmocka_unit_test(
			test_sandbox_may_be_entered_before_the_start_and_left_after_the_end),
		cmocka_unit_test(test_sandbox_that_forbids_a_needed_call_ends_the_program),
		cmocka_unit_test(test_sandbox_calls_are_those_of_the_manual_and_each_is_made),
		cmocka_unit_test(test_sandbox_that_refuses_a_call_is_answered_for_or_named),
		cmocka_unit_test(test_sandbox_that_refuses_more_is_shown_in_part),
		cmocka_unit_test(test_sandbox_is_not_needed_for_what_was_prepared),
		cmocka_unit_test(test_sandbox_that_refuses_to_answer_is_said_to_live),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

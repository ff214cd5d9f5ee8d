/* SPDX-License-Identifier: MIT */
/* test_tracer.c - the process that traces a thread, or none */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/tracer.h"

static pid_t target;

static int begin(void **state)
{
	(void)state;
	target = fork();
	if (target == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return target < 0;
}

static int end(void **state)
{
	(void)state;
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	return 0;
}

static void test_who_traces_it_is_named_whatever_the_error(void **state)
{
	char why[INS_TRACER_EXPLAIN_SIZE], expected[INS_TRACER_EXPLAIN_SIZE];

	(void)state;
	assert_int_equal(ptrace(PTRACE_SEIZE, target, NULL, NULL), 0);
	snprintf(expected, sizeof expected, "process %d (test_tracer) traces it already: end that",
		 (int)getpid());
	assert_string_equal(ins_tracer_explain(target, target, -EPERM, why, sizeof why), expected);
	assert_string_equal(ins_tracer_explain(target, target, -EIO, why, sizeof why), expected);
}

static void test_where_nobody_does_it_is_forbidden(void **state)
{
	char why[INS_TRACER_EXPLAIN_SIZE];
	static const int refusals[] = {-EPERM, -EACCES, -ENOSYS};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		assert_non_null(
			strstr(ins_tracer_explain(target, target, refusals[i], why, sizeof why),
			       "ptrace(2) is forbidden here"));
	assert_string_equal(ins_tracer_explain(target, target, -EIO, why, sizeof why),
			    "Input/output error");
}

static void test_of_a_thread_that_is_gone_nothing_is_made_up(void **state)
{
	char why[INS_TRACER_EXPLAIN_SIZE];

	(void)state;
	assert_string_equal(ins_tracer_explain(target, 0x3fffffff, -ESRCH, why, sizeof why),
			    "No such process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_who_traces_it_is_named_whatever_the_error,
						begin, end),
		cmocka_unit_test_setup_teardown(test_where_nobody_does_it_is_forbidden, begin, end),
		cmocka_unit_test_setup_teardown(test_of_a_thread_that_is_gone_nothing_is_made_up,
						begin, end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}

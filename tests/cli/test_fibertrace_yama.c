/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_yama.c - the four values of ptrace_scope: what each refuses, and that the
 * remedies work
 *
 * Most kernels that this runs on lack Yama: tests/harness/cli/place.c describes the simulation.
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/dead.h"
#include "tests/harness/cli/one_program.h"
#include "tests/harness/watchdog.h"

#define SCOPE "cannot be read: /proc/sys/kernel/yama/ptrace_scope is "
#define ONE                                                                           \
	SCOPE "1: only its ancestors may: needs CAP_SYS_PTRACE (sudo), or 0 in that " \
	      "file, or prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) in the program"
#define TWO SCOPE "2: needs CAP_SYS_PTRACE (sudo), or 0 in that file"
#define THREE                                                                                    \
	SCOPE "3: no process may be until the machine restarts; 'kill -ABRT %d' ends it with a " \
	      "core file, which may"
#define ASK "; or ask it itself, which takes no such right: 'fiberctl bt %d'"

static const struct place plain = {.user = PLACE_USER};

static const char *name_of_user(void)
{
	const struct passwd *pw = getpwuid(PLACE_USER);

	return pw ? pw->pw_name : "another user";
}

static struct place under(int yama, uid_t user)
{
	const struct place place = {.user = user, .yama = yama, .yama_of = program->pid};

	place_need(&place);
	return place;
}

static void reads(const struct place *place)
{
	struct harness_process *p = place_run(place, "fibertrace", pid, NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, "crowd (live, process ");
	harness_free(p);
}

static void answers(const struct place *place)
{
	struct harness_process *p = place_run(place, "fiberctl", "bt", pid, "--all", NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, "110 of 110 fibers");
	assert_null(strstr(p->out.bytes, "truncated"));
	harness_free(p);
}

static void test_without_yama_the_same_user_reads(void **state)
{
	(void)state;
	start(&plain, "crowd", "110");
	/* The refusals in the other tests are due to Yama alone. */
	reads(&plain);
}

static void test_yama_1_is_named_and_leaves_the_capability_and_the_control_socket(void **state)
{
	struct place user, root, other;

	(void)state;
	start(&plain, "crowd", "110");
	user = under(1, PLACE_USER);
	root = under(1, 0);
	other = under(1, PLACE_OTHER);
	place_refused(place_run(&user, "fibertrace", pid, NULL), "fibertrace",
		      "process %d: " ONE ASK, program->pid, program->pid);
	reads(&root);
	answers(&user);
	/* With several reasons for the refusal, the message names the other user first. */
	place_refused(place_run(&other, "fibertrace", pid, NULL), "fibertrace",
		      "process %d: belongs to %s (uid 65534) and you are uid 65533: run this as "
		      "that user (sudo -u %s fibertrace ...) or with CAP_SYS_PTRACE (sudo)",
		      program->pid, name_of_user(), name_of_user());
}

static void test_yama_2_is_named_and_leaves_the_capability_and_the_control_socket(void **state)
{
	struct place user, root;

	(void)state;
	start(&plain, "crowd", "110");
	user = under(2, PLACE_USER);
	root = under(2, 0);
	place_refused(place_run(&user, "fibertrace", pid, NULL), "fibertrace",
		      "process %d: " TWO ASK, program->pid, program->pid);
	reads(&root);
	answers(&user);
}

static void test_yama_3_is_named_to_root_too_and_leaves_the_control_socket(void **state)
{
	struct place user, root;

	(void)state;
	start(&plain, "crowd", "110");
	user = under(3, PLACE_USER);
	root = under(3, 0);
	place_refused(place_run(&user, "fibertrace", pid, NULL), "fibertrace",
		      "process %d: " THREE ASK, program->pid, program->pid, program->pid);
	place_refused(place_run(&root, "fibertrace", pid, NULL), "fibertrace",
		      "process %d: " THREE ASK, program->pid, program->pid, program->pid);
	answers(&user);
	answers(&root);
}

/* A core written by the kernel is an ordinary file. */
static void test_yama_3_leaves_the_core_that_the_kernel_writes(void **state)
{
	const struct harness_how how = dead_how();
	const struct place root = {.yama = 3, .yama_of = getpid()};
	char core[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	place_need(&root);
	/* AddressSanitizer disables core files. */
	program = cli_start(&how, "ready ", harness_plain(core, "crowd"), "110", NULL);
	if (!dead_core(program, SIGABRT, "yama.core", core))
		cli_skip("the system writes no plain core files");
	p = place_run(&root, "fibertrace", "list", core, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "110 of 110 fibers");
	harness_free(p);
}

/* Without a socket fiberctl reads the memory to find the reason, and is refused: the message must
 * not claim that the process has no fibers. */
static void test_fiberctl_without_a_socket_says_that_it_may_not_look_for_fibers(void **state)
{
	const struct place off = {.user = PLACE_USER, .setting = "FIBER_CONTROL=off"};
	struct harness_process *p;
	struct place user, root;

	(void)state;
	start(&off, "crowd", "110");
	user = under(1, PLACE_USER);
	root = under(1, 0);
	p = place_run(&user, "fiberctl", "list", pid, NULL);
	cli_expect(p, 2);
	assert_string_equal(p->out.bytes, "");
	cli_contains(p->err.bytes, "has no control socket in /");
	cli_contains(p->err.bytes,
		     ": it has no fibers, was started with FIBER_CONTROL=off or keeps "
		     "it elsewhere (give its path); its memory would tell, but it " ONE "\n");
	assert_string_equal(strchr(p->err.bytes, '\n'), "\n");
	harness_free(p);
	p = place_run(&root, "fiberctl", "list", pid, NULL);
	cli_expect(p, 2);
	cli_contains(p->err.bytes, "has fibers but no control socket in ");
	harness_free(p);
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_without_yama_the_same_user_reads),
		CASE(test_yama_1_is_named_and_leaves_the_capability_and_the_control_socket),
		CASE(test_yama_2_is_named_and_leaves_the_capability_and_the_control_socket),
		CASE(test_yama_3_is_named_to_root_too_and_leaves_the_control_socket),
		CASE(test_yama_3_leaves_the_core_that_the_kernel_writes),
		CASE(test_fiberctl_without_a_socket_says_that_it_may_not_look_for_fibers),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, place_begin, NULL);
}

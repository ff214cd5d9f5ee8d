/* SPDX-License-Identifier: MIT */
/* test_explore_fibertest.c - fibertest explores whole programs that are linked with libfiber.so */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define TOOL "fibertest"

/* The path of a program in the folder of whole programs; valid until the next call but one. */
static const char *whole(const char *name)
{
	static char paths[2][HARNESS_PATH];
	static unsigned turn;
	char *path = paths[turn++ % 2];

	snprintf(path, HARNESS_PATH, "%s/explored/%s", harness_build(), name);
	return path;
}

/* The token in a report; valid until the next call. */
static const char *token_in(const char *report)
{
	static char token[96];
	const char *at = strstr(report, "FIBER_TEST_REPLAY=");

	assert_non_null(at);
	at += strlen("FIBER_TEST_REPLAY=");
	snprintf(token, sizeof token, "%.*s", (int)strcspn(at, "\n"), at);
	return token;
}

static void test_programs_without_a_bug_pass_unmodified(void **state)
{
	static const char *const examples[] = {"01_hello", "02_shared_table", "03_pipeline",
					       "04_fan_out", "05_cancellation"};
	static const char *const modes[] = {"ordered", "twice", "asleep"};
	char line[80];
	struct harness_process *p;

	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		p = cli_run(TOOL, "--schedules", "30", whole(examples[i]), NULL);
		cli_expect(p, 0);
		snprintf(line, sizeof line, "fiber-test: %s: passed: 30 schedules\n", examples[i]);
		assert_string_equal(p->out.bytes, line);
		assert_string_equal(p->err.bytes, "");
		harness_free(p);
	}
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		cli_ended(
			cli_run(TOOL, "--schedules=100", "--", whole("transfers"), modes[i], NULL),
			0);
}

static void test_schedules_that_the_program_drops_are_not_counted(void **state)
{
	struct harness_process *p =
		cli_run(TOOL, "--strategy", "exhaustive", whole("assumes"), NULL);

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes,
			    "fiber-test: assumes: complete: all 3 schedules, and 1 dropped\n");
	harness_free(p);
	p = cli_run(TOOL, "--schedules", "20", whole("assumes"), "all", NULL);
	cli_expect(p, 1);
	assert_string_equal(p->out.bytes, "fiber-test: assumes: unreached: fiber_test_assume() "
					  "dropped every schedule: 20 of 20\n");
	harness_free(p);
}

static void test_main_thread_that_waits_runs_fibers_until_its_own_deadline(void **state)
{
	(void)state;
	cli_ended(cli_run(TOOL, "--schedules=100", whole("waits"), NULL), 0);
}

static void test_deadlock_is_found_and_its_token_replays(void **state)
{
	struct harness_process *p =
		cli_run(TOOL, "--schedules", "500", whole("transfers"), "deadlock", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "fiber-test: transfers: deadlock: 2 fibers wait for each other "
				   "in a cycle\nfiber-test: replay: FIBER_TEST_REPLAY=ft1-");
	cli_contains(p->out.bytes, "transfers.c:");
	cli_contains(p->out.bytes, "output of the program:\ndeadlock: alice has 100\n");
	for (int i = 0; i < 3; i++) {
		struct harness_process *again = cli_run(TOOL, "--replay", token_in(p->out.bytes),
							"--", whole("transfers"), "deadlock", NULL);

		cli_expect(again, 1);
		cli_contains(again->err.bytes, "2 fibers wait for each other in a cycle\n");
		harness_free(again);
	}
	/* Another program ends well in these orders, and has no such choices. */
	cli_ended(cli_run(TOOL, "--replay", token_in(p->out.bytes), whole("transfers"), "ordered",
			  NULL),
		  0);
	harness_free(p);
}

/* As a debugger runs it. */
static void test_token_replays_in_the_program_itself(void **state)
{
	struct harness_process *p =
		cli_run(TOOL, "--schedules", "500", whole("transfers"), "late", NULL);
	char token[128], preload[HARNESS_PATH + 64];
	const char *const env[] = {token, preload, NULL};
	const struct harness_how how = {.env = env};

	(void)state;
	cli_expect(p, 1);
	snprintf(token, sizeof token, "FIBER_TEST_REPLAY=%s", token_in(p->out.bytes));
	snprintf(preload, sizeof preload, "LD_PRELOAD=%s/lib/libfiber-test.so", harness_build());
	harness_free(p);
	p = cli_run_how(&how, whole("transfers"), "late", NULL);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, "fiber-test: transfers: deadlock: 2 fibers wait");
	assert_string_equal(p->out.bytes, "late: alice has 100\n");
	harness_free(p);
	/* A program without libfiber, such as the debugger, does not notice. */
	p = cli_run_how(&how, "/bin/echo", "untouched", NULL);
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "untouched\n");
	harness_free(p);
}

static void test_number_of_jobs_changes_neither_schedule_nor_token(void **state)
{
	static const char *const jobs[] = {"1", "2", "3"};
	char first[1024] = "";

	(void)state;
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		struct harness_process *p = cli_run(TOOL, "--jobs", jobs[i], "--seed", "7",
						    whole("transfers"), "unlocked", NULL);

		cli_expect(p, 1);
		cli_contains(p->out.bytes, "fiber-test: transfers: failed: exit status 3\n");
		cli_contains(p->out.bytes, "90 are left of 100\n");
		*strstr(p->out.bytes, "trace:") = 0; /* it has addresses */
		if (i)
			assert_string_equal(p->out.bytes, first);
		snprintf(first, sizeof first, "%s", p->out.bytes);
		harness_free(p);
	}
}

static void test_each_way_to_end_is_a_finding(void **state)
{
	static const struct {
		const char *mode, *line;
	} ends[] = {
		{"crash", "crashed: signal 11 (Segmentation fault)"},
		{"assert", "failed: order == 12"},
		{"abort", "failed: out of ideas"},
		{"exit", "failed: exit status 4"},
		{"_exit", "failed: exit(5)"},
		{"hang", "hung: no choice within 0.2 s"},
	};
	char line[128];

	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct harness_process *p = cli_run(TOOL, "--hang", "200ms", "--no-minimize",
						    whole("ends"), ends[i].mode, NULL);

		cli_expect(p, 1);
		snprintf(line, sizeof line, "fiber-test: ends: %s\n", ends[i].line);
		cli_contains(p->out.bytes, line);
		cli_contains(p->out.bytes, "output of the program:\nthe wrong order\n");
		assert_null(strstr(p->out.bytes, "fresh process"));
		harness_free(p);
	}
}

static void test_calls_of_the_program_find_no_descriptor(void **state)
{
	struct harness_process *p = cli_run(TOOL, "--faults", "descriptors", "--strategy",
					    "each-fault", whole("ends"), "open", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "fiber-test: ends: failed: exit status 11\n");
	cli_contains(p->out.bytes, "fault: open: EMFILE");
	cli_contains(p->out.bytes, " at ends.c:");
	cli_contains(p->out.bytes, "/dev/null: Too many open files\n");
	harness_free(p);
	cli_ended(cli_run(TOOL, "--faults", "short", "--schedules", "20", whole("ends"), "open",
			  NULL),
		  0);
}

static void test_program_sees_no_trace_of_the_tool(void **state)
{
	(void)state;
	cli_ended(cli_run(TOOL, "--schedules", "20", whole("ends"), "environment", NULL), 0);
	cli_ended(cli_run(TOOL, "--schedules", "20", whole("ends"), "children", NULL), 0);
}

static bool give_input(const void *path)
{
	const int fd = open(path, O_RDONLY);

	return fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO;
}

static void test_each_schedule_reads_a_file_from_its_start(void **state)
{
	char path[HARNESS_PATH];
	const struct harness_how how = {.enter = give_input,
					.place = harness_file(path, "greeting")};
	FILE *file = fopen(path, "w");
	struct harness_process *p;

	(void)state;
	assert_non_null(file);
	fputs("hello\n", file);
	fclose(file);
	p = cli_run_how(&how, TOOL, "--schedules", "20", whole("ends"), "input", NULL);
	cli_ended(p, 0);
	/* Otherwise there is nothing to read. */
	p = cli_run(TOOL, "--schedules", "20", whole("ends"), "input", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "exit status 6, before it called libfiber\n");
	harness_free(p);
}

static void test_program_that_never_calls_libfiber_does_not_pass(void **state)
{
	struct harness_process *p = cli_run(TOOL, "/bin/true", NULL);

	(void)state;
	cli_expect(p, 2);
	cli_contains(p->out.bytes,
		     "fiber-test: true: cannot be explored: it never called libfiber\n");
	harness_free(p);
}

/* A copy of a program, with a mode. */
static const char *copy_of(const char *name, mode_t mode)
{
	static char path[HARNESS_PATH];
	const char *const argv[] = {"/bin/cp", "-f", whole(name), harness_file(path, "copy"), NULL};

	cli_ended(harness_run(argv, NULL, CLI_SECONDS), 0);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

static const char *file_with(const char *text)
{
	static char path[HARNESS_PATH];
	FILE *file = fopen(harness_file(path, "written"), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

static void refused(const char *program, const char *why)
{
	struct harness_process *p = cli_run(TOOL, program, NULL);

	assert_string_equal(p->out.bytes, "");
	assert_ptr_equal(strchr(p->err.bytes, '\n'), p->err.bytes + strlen(p->err.bytes) - 1);
	cli_expect_error(p, 2, TOOL, why);
}

static void test_program_that_cannot_be_explored_is_refused_in_one_line(void **state)
{
	char path[HARNESS_PATH];

	(void)state;
	refused(harness_program(path, "bugs/account"),
		"it has libfiber inside; link it with libfiber.so");
	refused(harness_program(path, "turns"), "it has libfiber inside");
	refused("./no-such-program", "./no-such-program: No such file");
	refused("no-such-program", "not found in PATH");
	refused(harness_folder(), "it is no regular file");
	refused(copy_of("ends", 0644), "it is not executable");
	refused(copy_of("ends", 04755), "it gains rights when it starts");
	refused(file_with("#!/bin/sh\n"), "it is a script; name the program that it runs");
	refused(file_with("text\n"), "it is no program");
	/* The loader does not find libfiber.so from there, and says so itself. */
	cli_expect_error(cli_run(TOOL, copy_of("ends", 0755), NULL), 2, TOOL,
			 "libfiber-test.so was not loaded into it");
}

static void test_wrong_words_are_named_and_exit_with_2(void **state)
{
	static const char *const env[] = {"FIBER_TEST_SEED=x", NULL};
	static const struct harness_how how = {.env = env};

	(void)state;
	cli_expect_error(cli_run(TOOL, NULL), 2, TOOL, "PROGRAM: is missing");
	cli_expect_error(cli_run(TOOL, "--", NULL), 2, TOOL, "PROGRAM: is missing");
	cli_expect_error(cli_run(TOOL, "--nonsense", whole("ends"), NULL), 2, TOOL,
			 "--nonsense: no such option");
	cli_expect_error(cli_run(TOOL, "--list", whole("ends"), NULL), 2, TOOL, "no such option");
	cli_expect_error(cli_run(TOOL, "--strategy", "pct:21", whole("ends"), NULL), 2, TOOL,
			 "the depth of pct is 1 to 20");
	cli_expect_error(cli_run(TOOL, "--replay", "ft1-pfdb-03121n6", whole("ends"), NULL), 2,
			 TOOL, "mistyped or cut");
	cli_expect_error(cli_run(TOOL, "--replay", "ft1-pfdb-03121n5", whole("ends"), NULL), 2,
			 TOOL, "a token of none of these tests");
	cli_expect_error(cli_run_how(&how, TOOL, whole("ends"), NULL), 2, "fiber-test",
			 "FIBER_TEST_SEED=x: not a number");
}

static void test_options_go_before_the_environment(void **state)
{
	static const char *const env[] = {"FIBER_TEST_SCHEDULES=7", NULL};
	static const struct harness_how how = {.env = env};
	struct harness_process *p = cli_run_how(&how, TOOL, whole("ends"), NULL);

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "fiber-test: ends: passed: 7 schedules\n");
	harness_free(p);
	p = cli_run_how(&how, TOOL, "--schedules", "9", whole("ends"), NULL);
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "fiber-test: ends: passed: 9 schedules\n");
	harness_free(p);
	p = cli_run(TOOL, "--help", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "[--] PROGRAM [ARG]...");
	cli_contains(p->out.bytes, "--strategy LIST");
	harness_free(p);
}

/* Whether the tool has a child, and that one a child: it explores. */
static bool explores(void *pid)
{
	char path[64], text[64] = "";
	FILE *file;
	long child = *(pid_t *)pid;

	for (int i = 0; i < 2 && child; i++) {
		snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", child, child);
		file = fopen(path, "r");
		if (!file)
			return false;
		child = fgets(text, sizeof text, file) ? strtol(text, NULL, 10) : 0;
		fclose(file);
	}
	return child != 0;
}

static void test_signals_end_it_with_130_and_143(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM};
	const char *argv[] = {NULL, "--schedules", "1000000", NULL, NULL};
	char tool[HARNESS_PATH];

	(void)state;
	argv[0] = harness_program(tool, TOOL);
	argv[3] = whole("ends");
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct harness_process *p = harness_start(argv, NULL);

		assert_true(harness_until(explores, &p->pid, CLI_SECONDS));
		kill(p->pid, signals[i]);
		assert_true(harness_wait_end(p, CLI_SECONDS));
		cli_ended(p, 128 + signals[i]);
	}
}

/* The library is preloaded into programs of other people: what it defines goes before theirs. */
static void test_library_exports_libfiber_and_what_it_replaces_alone(void **state)
{
	static const char command[] =
		"cd %s/lib && nm -D --defined-only libfiber-test.so | sed 's/.* //; s/@@.*//' | "
		"sort >%s/test && nm -D --defined-only libfiber.so | sed 's/.* //; s/@@.*//' | "
		"sort >%s/plain && ! comm -13 %s/test %s/plain | grep . && "
		"comm -23 %s/test %s/plain | grep -v '^fiber_test_' | tr '\\n' ' '";
	const char *const f = harness_folder();
	char text[8 * HARNESS_PATH];
	const char *const argv[] = {"/bin/sh", "-c", text, NULL};
	struct harness_process *p;

	(void)state;
	snprintf(text, sizeof text, command, harness_build(), f, f, f, f, f, f);
	p = harness_run(argv, NULL, CLI_SECONDS);
	cli_expect(p, 0);
	assert_string_equal(
		p->out.bytes,
		"__assert_fail __libc_start_main __open64_2 __open_2 __openat64_2 __openat_2 "
		"__poll_chk __ppoll_chk __read_chk __recv_chk "
		"__recvfrom_chk accept accept4 bind clock_gettime clock_nanosleep close connect "
		"creat creat64 "
		"dup "
		"dup2 dup3 epoll_ctl epoll_pwait epoll_wait eventfd fcntl fcntl64 getaddrinfo "
		"getentropy getnameinfo getpeername getrandom getsockname getsockopt gettimeofday "
		"ioctl listen nanosleep open open64 openat openat64 pipe pipe2 poll ppoll pselect "
		"read readv recv recvfrom "
		"recvmmsg recvmsg select send sendmmsg sendmsg sendto setsockopt shutdown sleep "
		"socket socketpair time timerfd_create usleep write writev ");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_without_a_bug_pass_unmodified),
		cmocka_unit_test(test_main_thread_that_waits_runs_fibers_until_its_own_deadline),
		cmocka_unit_test(test_deadlock_is_found_and_its_token_replays),
		cmocka_unit_test(test_token_replays_in_the_program_itself),
		cmocka_unit_test(test_number_of_jobs_changes_neither_schedule_nor_token),
		cmocka_unit_test(test_each_way_to_end_is_a_finding),
		cmocka_unit_test(test_calls_of_the_program_find_no_descriptor),
		cmocka_unit_test(test_program_sees_no_trace_of_the_tool),
		cmocka_unit_test(test_each_schedule_reads_a_file_from_its_start),
		cmocka_unit_test(test_program_that_never_calls_libfiber_does_not_pass),
		cmocka_unit_test(test_program_that_cannot_be_explored_is_refused_in_one_line),
		cmocka_unit_test(test_schedules_that_the_program_drops_are_not_counted),
		cmocka_unit_test(test_wrong_words_are_named_and_exit_with_2),
		cmocka_unit_test(test_options_go_before_the_environment),
		cmocka_unit_test(test_signals_end_it_with_130_and_143),
		cmocka_unit_test(test_library_exports_libfiber_and_what_it_replaces_alone),
	};

	/* A sanitizer's runtime must be loaded first, so the library exists without one alone. */
	if (*harness_sanitizer()) {
		puts("1..0 # SKIP fibertest is built without a sanitizer only");
		return 0;
	}
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_to_core.c - the messages, refusals and leftovers of to-core
 *
 * scripts/test-debuggers.py checks what debuggers see in its files.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/cored_crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static char pid[24], out[HARNESS_PATH];

static int start(void **state)
{
	int rc = cored_crowd(state);

	harness_file(out, "out.core");
	if (crowd.process)
		snprintf(pid, sizeof(pid), "%d", crowd.process->pid);
	return rc;
}

static void needs_core(void)
{
	cored_crowd_needed();
	unlink(out);
}

/* Assert that neither the file nor a part of it under another name exists. */
static void nothing_there(void)
{
	char pattern[HARNESS_PATH + 8];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s*", out);
	assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
}

static void check_answer(struct harness_process *p, const char *source)
{
	const json_t *said;
	json_t *answer;
	struct stat st;

	answer = json_well(p);
	json_promise_answer(answer, source);
	said = json_object_get(answer, "core");
	assert_string_equal(json_text(said, "file"), out);
	assert_int_equal(stat(out, &st), 0);
	assert_int_equal(json_int(said, "bytes"), st.st_size);
	/* The stacks may contain private data. */
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(json_int(said, "ended"), crowd_count(&crowd, "dead"));
	assert_int_equal(json_int(said, "fiberThreads"), crowd.count - crowd_count(&crowd, "dead"));
	assert_int_equal(json_int(said, "firstFiberThread"), 1000000000);
	assert_int_equal(json_int(said, "plainThreads"), 4);
	assert_int_equal(json_array_size(json_object_get(said, "running")), 0);
	assert_int_equal(json_array_size(json_object_get(said, "numbered")), 0);
	json_decref(answer);
}

static void test_to_core_says_what_is_in_the_file(void **state)
{
	(void)state;
	needs_core();
	check_answer(cli_run("fibertrace", "to-core", pid, "-o", out, "--json", NULL), "live");
	unlink(out);
	check_answer(cli_run("fibertrace", "to-core", "--core", core, "-o", out, "--json", NULL),
		     "core");
}

static void test_core_of_a_core_of_fibers_is_the_same_again(void **state)
{
	struct harness_process *p, *again;
	char twice[HARNESS_PATH];

	(void)state;
	needs_core();
	cli_expect(cli_run("fibertrace", "to-core", pid, "-o", out, NULL), 0);
	p = cli_run("fibertrace", "--core", out, NULL);
	cli_expect(p, 0);
	/* The fibers of this core are threads already; otherwise it is a normal core. */
	cli_expect(cli_run("fibertrace", "to-core", "--core", out, "-o",
			   harness_file(twice, "twice"), "--force", NULL),
		   0);
	again = cli_run("fibertrace", "--core", twice, NULL);
	assert_string_equal(p->out.bytes, again->out.bytes);
	harness_free(p);
	harness_free(again);
}

static void test_core_of_the_threads_alone_is_a_core_of_fibers_too(void **state)
{
	struct harness_process *p;
	json_t *answer;

	(void)state;
	needs_core();
	answer = json_well(
		cli_run("fibertrace", "to-core", "--threads", pid, "-o", out, "--json", NULL));
	assert_true(json_is_true(json_object_get(answer, "threads")));
	assert_int_equal(json_int(json_object_get(answer, "core"), "fiberThreads"), 0);
	assert_int_equal(json_int(json_object_get(answer, "core"), "plainThreads"), 4);
	json_decref(answer);
	/* All memory is in it. */
	p = cli_run("fibertrace", "list", "--core", out, "--json", NULL);
	answer = json_well(p);
	assert_int_equal(json_int(answer, "total"), crowd.count);
	json_decref(answer);
}

static void test_file_that_is_there_is_replaced_by_force_only(void **state)
{
	FILE *file;

	(void)state;
	needs_core();
	file = fopen(out, "w");
	assert_non_null(file);
	fclose(file);
	cli_expect_error(cli_run("fibertrace", "to-core", pid, "-o", out, NULL), 2, "fibertrace",
			 "--force replaces it");
	cli_expect(cli_run("fibertrace", "to-core", pid, "-o", out, "--force", NULL), 0);
	cli_expect(cli_run("fibertrace", "--core", out, NULL), 0);
	cli_expect_error(cli_run("fibertrace", "to-core", pid, "-o", "/dev/full", "--force", NULL),
			 2, "fibertrace", "/dev/full: is there, and is no file");
	cli_expect_error(cli_run("fibertrace", "to-core", pid, "-o", "/", "--force", NULL), 2,
			 "fibertrace", "is there, and is no file");
}

static void test_file_that_cannot_be_written_is_an_error_and_leaves_nothing(void **state)
{
	struct rlimit old, few;

	(void)state;
	needs_core();
	cli_expect_error(cli_run("fibertrace", "to-core", pid, "-o", "/nonexistent/core", NULL), 2,
			 "fibertrace", "/nonexistent/core: cannot be written: No such file");
	/* A full disk, simulated: from a live process and from a core. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	few = (struct rlimit){65536, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	cli_expect_error(cli_run("fibertrace", "to-core", pid, "-o", out, NULL), 2, "fibertrace",
			 "out.core: cannot be written: File too large");
	cli_expect_error(cli_run("fibertrace", "to-core", "--core", core, "-o", out, NULL), 2,
			 "fibertrace", "out.core: cannot be written: File too large");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	nothing_there();
}

static void cut(const char *to, off_t size)
{
	const char *const argv[] = {"cp", "--sparse=always", core, to, NULL};

	harness_free(harness_run(argv, NULL, CLI_SECONDS));
	assert_int_equal(truncate(to, size), 0);
}

static void test_truncated_core_is_partial_or_refused_and_never_a_crash(void **state)
{
	char less[HARNESS_PATH];
	struct stat st;
	bool partial = false;

	(void)state;
	needs_core();
	assert_int_equal(stat(core, &st), 0);
	harness_file(less, "less");
	for (int i = 0; i < 11; i++) {
		const off_t few[] = {0, 63, 64, 500, 20000};
		const off_t size = i < 5 ? few[i] : st.st_size - ((off_t)65536 << 2 * (i - 5));
		struct harness_process *p;

		cut(less, size);
		p = cli_run("fibertrace", "to-core", "--core", less, "-o", out, "--force", NULL);
		if (harness_exit_code(p) == 1) {
			cli_contains(p->out.bytes, "truncated");
			partial = true;
			unlink(out);
		} else {
			cli_expect(p, 2);
			cli_contains(p->err.bytes, "fibertrace: ");
		}
		nothing_there();
		harness_free(p);
	}
	assert_true(partial);
}

static void test_wrong_usage_is_64(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fibertrace", "to-core", "1", NULL), 64, "fibertrace",
			 "needs -o OUT");
	cli_expect_error(cli_run("fibertrace", "to-core", "-o", out, NULL), 64, "fibertrace",
			 "needs PROCESS -o OUT");
	cli_expect_error(cli_run("fibertrace", "to-core", "-o", out, "1", "2", NULL), 64,
			 "fibertrace", "one process at a time");
	cli_expect_error(cli_run("fibertrace", "to-core", "-o", out, "/x", NULL), 64, "fibertrace",
			 "is no process, and no file");
	cli_expect_error(cli_run("fibertrace", "to-core", "-o", out, "--core", "a", "b", "c", NULL),
			 64, "fibertrace", "one argument too many");
	cli_expect_error(cli_run("fibertrace", "to-core", "--nonsense", NULL), 64, "fibertrace",
			 "nonsense");
	cli_expect(cli_run("fibertrace", "to-core", "--help", NULL), 0);
	nothing_there();
}

/* test_fibertrace_threads reads such cores. */
static void test_of_what_has_no_fibers_the_threads_are_written(void **state)
{
	struct harness_process *p;
	char self[24];

	(void)state;
	snprintf(self, sizeof(self), "%d", getpid());
	p = cli_run("fibertrace", "to-core", self, "-o", out, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "threads of a program without fibers");
	harness_free(p);
	unlink(out);
	cli_expect_error(cli_run("fibertrace", "to-core", "--core", "/dev/null", "-o", out, NULL),
			 2, "fibertrace", "/dev/null");
	nothing_there();
}

static void test_stacks_that_cannot_be_walked_are_no_threads(void **state)
{
	char program[HARNESS_PATH];
	struct crowd other;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	snprintf(program, sizeof(program), "%s/generic/bin/crowd", harness_build());
	other = crowd_start(NULL, program, "22", NULL);
	cli_expect_error(cli_run("fibertrace", "to-core", cli_number((uint64_t)other.process->pid),
				 "-o", out, NULL),
			 2, "fibertrace", "cannot be walked yet");
	crowd_end(&other);
	nothing_there();
}

/* Only the walk of a running fiber may be truncated: its thread may have been inside a switch. */
static void walks_are_whole(const struct harness_process *read)
{
	json_t *answer = json_answer(read), *fiber;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		if (json_is_true(json_object_get(fiber, "truncated")))
			assert_string_equal(json_text(fiber, "state"), "running");
	json_decref(answer);
}

/* Make as many cores as possible of a running program with several successive runtimes. */
static unsigned cores_of(struct harness_process *busy)
{
	unsigned cores = 0;

	while (!harness_wait_end(busy, 1)) {
		struct harness_process *p, *read;

		p = cli_run("fibertrace", "to-core", cli_number((uint64_t)busy->pid), "-o", out,
			    "--force", NULL);
		if (harness_exit_code(p) == 2) {
			harness_free(p); /* between two runtimes, or the program has exited */
			continue;
		}
		read = cli_run("fibertrace", "--core", out, "--each", "--json", NULL);
		if (harness_exit_code(read) != 2) {
			walks_are_whole(read);
			cores++;
		}
		harness_free(read);
		harness_free(p);
	}
	return cores;
}

/* Fibers are spawned, exit and run during the copy: the core can still be walked, and the program
 * is not affected. */
static void test_process_that_goes_on_gives_fibers_that_are_each_of_one_moment(void **state)
{
	char program[HARNESS_PATH];
	struct harness_process *busy;
	unsigned cores = 0;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	snprintf(program, sizeof(program), "%s/tests/stress/stress", harness_build());
	/* On a busy machine a core may take longer than the life of one of its runtimes. */
	while (!cores) {
		busy = harness_start((const char *[]){program, "--seconds", "6", NULL}, NULL);
		cores = cores_of(busy);
		assert_int_equal(harness_exit_code(busy), 0);
		harness_free(busy);
	}
	unlink(out);
}

/* Another process traces the program: its threads still have frames, and the message says what is
 * missing. */
static void test_process_under_a_debugger_becomes_a_core_too(void **state)
{
	char command[2 * HARNESS_PATH], program[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	needs_core();
	snprintf(command, sizeof(command), "shell %s to-core %s -o %s; echo status $?",
		 harness_program(program, "fibertrace"), pid, out);
	p = harness_run((const char *[]){"gdb", "-nx", "-batch", "-p", pid, "-ex", command, NULL},
			NULL, CLI_SECONDS);
	cli_contains(p->out.bytes, "status 1");
	cli_contains(p->out.bytes, "4 plain threads");
	cli_contains(p->out.bytes, " (gdb) traces it already: end that");
	harness_free(p);
	p = harness_run((const char *[]){"gdb", "-nx", "-batch", harness_program(program, "crowd"),
					 out, "-ex", "thread apply all bt", NULL},
			NULL, CLI_SECONDS);
	cli_contains(p->out.bytes, "fib_carrier_main");
	cli_contains(p->out.bytes, "start_thread");
	harness_free(p);
}

/* Like the previous test, without the right to trace. */
static void test_process_that_may_not_be_traced_becomes_a_core_too(void **state)
{
	static const char *const env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};
	const struct harness_how how = {.forbid = SYS_ptrace, .env = env};
	struct harness_process *p;

	(void)state;
	needs_core();
	p = cli_run_how(&how, "fibertrace", "to-core", pid, "-o", out, "--force", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "4 plain threads");
	cli_contains(p->out.bytes, ": ptrace(2) is forbidden here, though memory may be read: by a "
				   "sandbox (seccomp) or a security module: allow it (4 times)");
	assert_null(strstr(p->out.bytes, "missing"));
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_core_says_what_is_in_the_file),
		cmocka_unit_test(test_core_of_a_core_of_fibers_is_the_same_again),
		cmocka_unit_test(test_core_of_the_threads_alone_is_a_core_of_fibers_too),
		cmocka_unit_test(test_file_that_is_there_is_replaced_by_force_only),
		cmocka_unit_test(test_file_that_cannot_be_written_is_an_error_and_leaves_nothing),
		cmocka_unit_test(test_truncated_core_is_partial_or_refused_and_never_a_crash),
		cmocka_unit_test(test_wrong_usage_is_64),
		cmocka_unit_test(test_of_what_has_no_fibers_the_threads_are_written),
		cmocka_unit_test(test_stacks_that_cannot_be_walked_are_no_threads),
		cmocka_unit_test(test_process_under_a_debugger_becomes_a_core_too),
		cmocka_unit_test(test_process_that_may_not_be_traced_becomes_a_core_too),
		cmocka_unit_test(
			test_process_that_goes_on_gives_fibers_that_are_each_of_one_moment),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, cored_crowd_end);
}

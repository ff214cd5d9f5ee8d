/* SPDX-License-Identifier: MIT */
/* test_fibertrace_core.c - the same answers from a core, truncated or without its executable */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/cored_crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static char program[HARNESS_PATH];

static int start(void **state)
{
	harness_program(program, "crowd");
	return cored_crowd(state);
}

static void test_core_gives_every_fiber_that_the_process_had(void **state)
{
	struct harness_process *p;
	json_t *answer;

	(void)state;
	cored_crowd_needed();
	/* First with the executable that the core names, then with it as an argument. */
	for (int given = 0; given < 2; given++) {
		p = given ? cli_run("fibertrace", "--core", core, program, "--json", "--each", NULL)
			  : cli_run("fibertrace", "--core", core, "--json", "--each", NULL);
		answer = json_well(p);
		json_promise_answer(answer, "core");
		assert_true(json_is_true(json_object_get(answer, "complete")));
		crowd_walked(&crowd, answer);
		json_decref(answer);
	}
}

static void test_core_is_grouped_by_default(void **state)
{
	struct harness_process *p;
	char conds[32];
	json_t *answer;

	(void)state;
	cored_crowd_needed();
	p = cli_run("fibertrace", "--core", core, "--json", NULL);
	answer = json_well(p);
	json_promise_answer(answer, "core");
	assert_in_range(json_array_size(json_object_get(answer, "groups")), crowd_kinds(&crowd) - 2,
			crowd_kinds(&crowd) + 1);
	json_decref(answer);
	p = cli_run("fibertrace", "--core", core, NULL);
	cli_expect(p, 0);
	snprintf(conds, sizeof(conds), "%zu fibers", crowd_count(&crowd, "cond"));
	cli_contains(p->out.bytes, conds);
	cli_contains(p->out.bytes, "wait_for_cond");
	harness_free(p);
}

static void copy(const char *from, const char *to, off_t size)
{
	char piece[1 << 16];
	const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while (size > 0 &&
	       (n = read(in, piece, size < (off_t)sizeof(piece) ? (size_t)size : sizeof(piece))) >
		       0) {
		assert_int_equal(write(out, piece, (size_t)n), n);
		size -= n;
	}
	close(in);
	close(out);
}

static void test_truncated_core_is_partial_or_refused_and_never_a_crash(void **state)
{
	char cut[HARNESS_PATH];
	struct stat st;

	(void)state;
	cored_crowd_needed();
	assert_int_equal(stat(core, &st), 0);
	harness_file(cut, "cut");
	for (int i = 0; i < 16; i++) {
		const off_t few[] = {0, 1, 15, 63, 64, 500, 4096, 20000};
		const off_t size = i < 8 ? few[i] : st.st_size / 8 * (i - 8) + 4097;
		struct harness_process *p;

		copy(core, cut, size);
		p = cli_run("fibertrace", "--core", cut, program, NULL);
		if (harness_exit_code(p) != 1)
			cli_expect(p, 2);
		/* The message says what is missing. */
		if (harness_exit_code(p) == 2)
			cli_contains(p->err.bytes, "fibertrace: ");
		else
			assert_non_null(strstr(p->out.bytes, "truncated")
						? strstr(p->out.bytes, "truncated")
						: strstr(p->err.bytes, "truncated"));
		harness_free(p);
	}
}

static void test_core_of_a_program_without_fibers_is_refused_by_what_needs_them(void **state)
{
	struct harness_process *plain = cli_without_fibers();
	char foreign[HARNESS_PATH];

	(void)state;
	cored_crowd_needed();
	cli_core(plain->pid, "foreign", foreign);
	cli_expect_error(cli_run("fibertrace", "tree", "--core", foreign, NULL), 2, "fibertrace",
			 foreign);
	harness_free(plain);
}

static void test_core_without_its_executable_says_so(void **state)
{
	char own[HARNESS_PATH], lonely[HARNESS_PATH], given[HARNESS_PATH];
	struct harness_process *p;
	struct crowd other;

	(void)state;
	cored_crowd_needed();
	copy(program, harness_file(own, "crowd-that-goes"), 1 << 30);
	other = crowd_start(NULL, own, "22", NULL);
	cli_core(other.process->pid, "lonely", lonely);
	crowd_end(&other);
	assert_int_equal(rename(own, harness_file(given, "crowd-elsewhere")), 0);
	p = cli_run("fibertrace", "--core", lonely, NULL);
	if (harness_exit_code(p) != 2)
		cli_expect(p, 1);
	assert_non_null(strstr(p->out.bytes, "crowd-that-goes")
				? p->out.bytes
				: strstr(p->err.bytes, "crowd-that-goes"));
	harness_free(p);
	/* The remedy: name the executable's present path. */
	p = cli_run("fibertrace", "--core", lonely, given, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "wait_for_mutex");
	harness_free(p);
}

static void test_core_with_another_executable_is_refused(void **state)
{
	char other[HARNESS_PATH];

	(void)state;
	cored_crowd_needed();
	cli_expect_error(
		cli_run("fibertrace", "--core", core, harness_program(other, "spin"), NULL), 2,
		"fibertrace", "spin");
}

static void test_files_that_are_no_core_are_refused(void **state)
{
	char text[HARNESS_PATH], fifo[HARNESS_PATH];
	FILE *file = fopen(harness_file(text, "text"), "w");

	(void)state;
	assert_non_null(file);
	fprintf(file,
		"this is a text, longer than the header of an ELF file, but no ELF file: %s\n",
		"a line of a poem, and some more of it");
	fclose(file);
	cli_expect_error(cli_run("fibertrace", "--core", text, NULL), 2, "fibertrace", text);
	cli_expect_error(cli_run("fibertrace", "--core", "/nonexistent/core", NULL), 2,
			 "fibertrace", "/nonexistent/core");
	cli_expect_error(cli_run("fibertrace", "--core", "/", NULL), 2, "fibertrace", "/");
	cli_expect_error(cli_run("fibertrace", "--core", "/dev/null", NULL), 2, "fibertrace",
			 "/dev/null");
	/* An ELF file that is not a core. */
	cli_expect_error(cli_run("fibertrace", "--core", harness_program(program, "crowd"), NULL),
			 2, "fibertrace", "crowd");
	/* The FIFO has no writer: a blocking open would hang. */
	assert_int_equal(mkfifo(harness_file(fifo, "fifo"), 0600), 0);
	cli_expect_error(cli_run("fibertrace", "--core", fifo, NULL), 2, "fibertrace", fifo);
}

/* A copy of the file whose ELF header names another machine (EM_S390, 22), little-endian. */
static void of_another_machine(const char *from, const char *to)
{
	int fd;

	copy(from, to, (off_t)1 << 40);
	fd = open(to, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "\x16\x00", 2, 18), 2);
	close(fd);
}

static void test_files_of_another_machine_are_refused(void **state)
{
	char other_core[HARNESS_PATH], other_program[HARNESS_PATH];

	(void)state;
	cored_crowd_needed();
	of_another_machine(core, harness_file(other_core, "other-core"));
	of_another_machine(program, harness_file(other_program, "other-program"));
	cli_expect_error(cli_run("fibertrace", "--core", other_core, NULL), 2, "fibertrace",
			 other_core);
	cli_expect_error(cli_run("fibertrace", "--core", core, other_program, NULL), 2,
			 "fibertrace", other_program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_gives_every_fiber_that_the_process_had),
		cmocka_unit_test(test_core_is_grouped_by_default),
		cmocka_unit_test(test_truncated_core_is_partial_or_refused_and_never_a_crash),
		cmocka_unit_test(
			test_core_of_a_program_without_fibers_is_refused_by_what_needs_them),
		cmocka_unit_test(test_core_without_its_executable_says_so),
		cmocka_unit_test(test_core_with_another_executable_is_refused),
		cmocka_unit_test(test_files_that_are_no_core_are_refused),
		cmocka_unit_test(test_files_of_another_machine_are_refused),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, cored_crowd_end);
}

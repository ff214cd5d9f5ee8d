/* SPDX-License-Identifier: MIT */
/*
 * test_explore_formats.c - reports of explored tests in each format, read by other programs' parsers
 *
 * fixtures/reports/outcomes.c has a test for each sort of outcome, with hostile names.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define PROGRAM "reports/outcomes"
#define PYTHON	"/usr/bin/python3"

/* Nothing in a text may control a terminal. */
static void expect_plain(const char *text)
{
	for (; *text; text++)
		if (*text != '\n' && (*text < 0x20 || *text >= 0x7f))
			fail_msg("byte 0x%02x in the output", (unsigned char)*text);
}

/* The path of a file in the folder of this test, which does not exist. */
static const char *new_file(const char *name)
{
	static char path[HARNESS_PATH];

	snprintf(path, sizeof path, "%s/%s", harness_folder(), name);
	unlink(path);
	return path;
}

static char *read_file(const char *path)
{
	static char text[1 << 20];
	FILE *in = fopen(path, "r");
	size_t n;

	assert_non_null(in);
	n = fread(text, 1, sizeof text - 1, in);
	fclose(in);
	text[n] = 0;
	return text;
}

/* Run a check of Python, with a file as its argument. */
static void python(const char *code, const char *file)
{
	struct harness_process *p = cli_run(PYTHON, "-c", code, file, NULL);

	if (harness_exit_code(p) != 0)
		print_error("%s%s", p->out.bytes, p->err.bytes);
	cli_ended(p, 0);
}

/* -- formats -- */

static void test_tap_is_read_by_its_own_parser(void **state)
{
	/* Test::Harness of Debian knows versions up to 13; the rest of the document is the same. */
	static const char code[] =
		"import subprocess, sys\n"
		"text = open(sys.argv[1]).read()\n"
		"assert text.startswith('TAP version 14\\n1..4\\n'), text\n"
		"text = text.replace('version 14', 'version 13', 1)\n"
		"open(sys.argv[1], 'w').write(text)\n"
		"perl = r'''use TAP::Parser; my $p = TAP::Parser->new({source => $ARGV[0]});\n"
		"while (my $r = $p->next) { if ($r->is_test) { print $r->is_ok ? \"ok\" : \"no\","
		" \"|\", $r->description, \"|\", $r->directive, \"\\n\" }\n"
		"  if ($r->is_yaml) { print \"yaml|\", $r->data->{verdict}, \"|\","
		" $r->data->{token} // \"\", \"\\n\" } }\n"
		"print \"errors \", scalar($p->parse_errors), \"\\n\";'''\n"
		"out = subprocess.run(['perl', '-e', perl, sys.argv[1]], capture_output=True,"
		" text=True, check=True).stdout.splitlines()\n"
		"assert out[0] == 'ok|- passing|' and out[1] == 'yaml|passed|', out\n"
		"assert out[2] == 'no|- fruit|' and out[3].startswith('yaml|failed|ft1-'), out\n"
		"assert out[4].startswith('no|- hostile') and out[4].endswith('|'), out\n"
		"assert out[6] == 'no|- crashes|' and out[7].startswith('yaml|crashed|ft1-'), out\n"
		"assert out[-1] == 'errors 0', out\n";
	const char *file = new_file("outcomes.tap");

	(void)state;
	cli_ended(cli_run(PROGRAM, "--format", "tap", "-o", file, "passing", "fruit", "hostile*",
			  "crashes", NULL),
		  1);
	expect_plain(read_file(file));
	python(code, file);
}

static void test_junit_is_xml_with_the_report_in_its_failures(void **state)
{
	static const char code[] =
		"import sys, xml.etree.ElementTree as E\n"
		"s = E.parse(sys.argv[1]).getroot()[0]\n"
		"assert s.get('tests') == '4' and s.get('failures') == '3' and"
		" s.get('errors') == '0', s.attrib\n"
		"c = {x.get('name').split()[0]: x for x in s}\n"
		"assert len(c['passing']) == 0\n"
		"f = c['fruit'][0]\n"
		"assert f.tag == 'failure' and f.get('type') == 'failed', f.attrib\n"
		"assert f.get('message') == 'apples == 2' or f.get('message') == 'pears == 2'\n"
		"assert 'FIBER_TEST_REPLAY=ft1-' in f.text and 'trace:' in f.text, f.text\n"
		"f = c['hostile'][0]\n"
		"assert ']]> <b> & \" \\\\ # SKIP' in f.get('message'), f.get('message')\n"
		"assert '\\\\x1b[31m' in f.get('message') and '\\u00fc' in f.get('message')\n"
		"assert c['crashes'][0].get('type') == 'crashed'\n";
	const char *file = new_file("outcomes.xml");

	(void)state;
	cli_ended(cli_run(PROGRAM, "--format=junit", "-o", file, "passing", "fruit", "hostile*",
			  "crashes", NULL),
		  1);
	expect_plain(read_file(file));
	python(code, file);
}

/* The schema is checked by scripts/check-schema.py. */
static void test_json_has_the_texts_of_the_program_and_the_finding(void **state)
{
	struct harness_process *p =
		cli_run(PROGRAM, "--format", "json", "hostile*", "two-places", NULL);
	json_t *answer, *test, *last;

	(void)state;
	expect_plain(p->out.bytes);
	answer = json_ended(p, 1);
	test = json_array_get(json_object_get(answer, "tests"), 0);
	assert_string_equal(json_text(test, "name"),
			    "hostile <&> \"#\" \\ \033[2J \xef\xbf\xbd \xc3\xbc");
	assert_string_equal(json_text(test, "message"),
			    "\033[31m ]]> <b> & \" \\ # SKIP \xef\xbf\xbd \xc3\xbc");
	assert_string_equal(json_text(test, "verdict"), "failed");
	last = json_array_get(json_object_get(test, "trace"), 1);
	assert_string_equal(json_text(last, "kind"), "choose");
	assert_int_equal(json_int(last, "result"), 1);
	test = json_array_get(json_object_get(answer, "tests"), 1);
	assert_string_equal(json_text(test, "verdict"), "deadlock");
	test = json_array_get(json_object_get(test, "fibers"), 0);
	assert_int_equal(json_int(test, "id"), 1);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	json_decref(answer);
}

static void test_json_of_a_deadlock_has_its_cycle(void **state)
{
	json_t *answer =
		json_ended(cli_run("bugs/deadlock_ab_ba", "--format", "json", "bug", NULL), 1);
	json_t *test = json_array_get(json_object_get(answer, "tests"), 0);
	json_t *cycle = json_array_get(json_object_get(test, "deadlocks"), 0);
	json_t *waiter = json_array_get(json_object_get(test, "fibers"), 1);

	(void)state;
	assert_int_equal(json_array_size(cycle), 2);
	assert_int_equal(json_integer_value(json_array_get(cycle, 0)), 2);
	assert_int_equal(json_integer_value(json_array_get(cycle, 1)), 3);
	assert_string_equal(json_text(json_object_get(waiter, "wait"), "objectName"), "bob");
	assert_int_equal(json_int(json_object_get(waiter, "wait"), "holderId"), 3);
	json_decref(answer);
}

/* What a test prints must not be in the middle of a document. */
static void test_output_of_tests_is_not_in_a_document(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--format", "tap", "passing", NULL);

	(void)state;
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "not ok"));
	harness_free(p);
}

static void test_text_is_plain(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "hostile*", NULL);

	(void)state;
	cli_expect(p, 1);
	expect_plain(p->out.bytes);
	cli_contains(p->out.bytes, "failed: \\x1b[31m ]]> <b> & \" \\ # SKIP \\xff \\xc3\\xbc\n");
	cli_contains(p->out.bytes, "stderr of the test:\n]]> \\x1b[2J </failure> \\xff\n");
	harness_free(p);
	p = cli_run(PROGRAM, "--list", NULL);
	cli_expect(p, 0);
	expect_plain(p->out.bytes);
	harness_free(p);
}

/* -- the file -- */

static void test_file_is_there_whole_or_not_at_all(void **state)
{
	char folder[HARNESS_PATH], file[HARNESS_PATH + 8];
	struct stat st;

	(void)state;
	snprintf(folder, sizeof folder, "%s/out", harness_folder());
	mkdir(folder, 0755);
	snprintf(file, sizeof file, "%s/file", folder);
	cli_ended(cli_run(PROGRAM, "-o", file, "passing", NULL), 0);
	assert_string_equal(read_file(file), "fiber-test: passing: passed: 2000 schedules\n");
	/* No temporary file is left. */
	unlink(file);
	assert_int_equal(rmdir(folder), 0);
	cli_expect_error(cli_run(PROGRAM, "-o", file, "passing", NULL), 2, PROGRAM,
			 "No such file or directory");
	cli_expect_error(cli_run(PROGRAM, "-o", "/dev/full", "passing", NULL), 2, PROGRAM,
			 "is no file");
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	cli_expect_error(cli_run(PROGRAM, "-o", harness_folder(), "passing", NULL), 2, PROGRAM,
			 "Is a directory");
}

static bool full_stdout(const void *place)
{
	const int fd = open("/dev/full", O_WRONLY);

	(void)place;
	return fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0;
}

static void test_full_disk_is_no_pass(void **state)
{
	static const struct harness_how how = {.enter = full_stdout};

	(void)state;
	cli_expect_error(cli_run_how(&how, PROGRAM, "--format", "json", "passing", NULL), 2,
			 PROGRAM, "No space left on device");
}

/* -- going on after a finding -- */

static void expect_nine(struct harness_process *p)
{
	json_t *answer = json_ended(p, 1);
	json_t *test = json_array_get(json_object_get(answer, "tests"), 0);
	json_t *others = json_object_get(test, "otherFindings");

	assert_string_equal(json_text(test, "message"), "one and one");
	assert_int_equal(json_int(test, "times"), 1);
	assert_int_equal(json_array_size(others), 1);
	assert_string_equal(json_text(json_array_get(others, 0), "message"), "one and two");
	assert_int_equal(json_int(json_array_get(others, 0), "times"), 1);
	/* Of nine schedules all others were run too. */
	assert_int_equal(json_int(test, "schedules"), 7);
	json_decref(answer);
}

static void test_every_schedule_is_run_in_spite_of_findings(void **state)
{
	(void)state;
	expect_nine(cli_run(PROGRAM, "--keep-going", "--strategy", "exhaustive", "--format", "json",
			    "nine", NULL));
	expect_nine(cli_run(PROGRAM, "--keep-going", "--strategy", "bound", "--format", "json",
			    "nine", NULL));
}

/* The findings, their schedules and how often each is found depend on seed and strategy alone. */
static void test_jobs_do_not_matter_to_distinct_findings(void **state)
{
	struct harness_process *one = cli_run(PROGRAM, "--keep-going", "--strategy", "random",
					      "--schedules", "60", "fruit", NULL);
	struct harness_process *three = cli_run(PROGRAM, "--keep-going", "--strategy", "random",
						"--schedules", "60", "-j", "3", "fruit", NULL);

	(void)state;
	cli_expect(one, 1);
	cli_contains(one->out.bytes, "failed: apples == 2\n");
	cli_contains(one->out.bytes, "failed: pears == 2\n");
	cli_contains(one->out.bytes, "fiber-test: fruit: 2 distinct findings\n");
	assert_string_equal(one->out.bytes, three->out.bytes);
	harness_free(one);
	harness_free(three);
}

static void test_same_message_in_other_places_is_another_finding(void **state)
{
	struct harness_process *p = cli_run(PROGRAM, "--keep-going", "two-places", NULL);

	(void)state;
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "[suspended: event 1]");
	cli_contains(p->out.bytes, "[suspended: sem 1]");
	cli_contains(p->out.bytes, "2 distinct findings\n");
	harness_free(p);
}

/* -- processes that end in other ways -- */

static void expect_first_line(const char *test, const char *line)
{
	struct harness_process *p = cli_run(PROGRAM, test, NULL);

	cli_expect(p, 1);
	cli_contains(p->out.bytes, line);
	cli_contains(p->out.bytes, "\nfiber-test: replay: FIBER_TEST_REPLAY=ft1-");
	harness_free(p);
}

static void test_stopped_and_killed_processes_are_findings(void **state)
{
	(void)state;
	expect_first_line("is-stopped", "fiber-test: is-stopped: crashed: stopped by signal 19");
	expect_first_line("is-killed", "fiber-test: is-killed: crashed: killed by SIGKILL: ");
}

static void test_reports_of_abort_crash_and_exit_have_a_trace(void **state)
{
	static const char *const tests[][2] = {
		{"aborts", "fiber-test: aborts: failed: another library says why\n"},
		{"crashes", "fiber-test: crashes: crashed: signal 11 "},
		{"exits",
		 "fiber-test: exits: failed: exit("}, /* LeakSanitizer changes the status */
	};
	struct harness_process *p;

	(void)state;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		p = cli_run(PROGRAM, tests[i][0], NULL);
		cli_expect(p, 1);
		cli_contains(p->out.bytes, tests[i][1]);
		cli_contains(p->out.bytes, "fiber 1 \"\" [running]\n");
		cli_contains(p->out.bytes, "choose which = 1");
		harness_free(p);
	}
}

/* -- signals -- */

static bool has_a_child(void *pid)
{
	char path[64], text[64] = "";
	FILE *in;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", *(pid_t *)pid, *(pid_t *)pid);
	in = fopen(path, "r");
	if (!in)
		return false;
	if (!fgets(text, sizeof text, in))
		text[0] = 0;
	fclose(in);
	return text[0] != 0;
}

static struct harness_process *interrupt(int signal, const char *format)
{
	char program[HARNESS_PATH];
	const char *const argv[] = {program,	"--schedules", "99999999", "--time", "none",
				    "--format", format,	       "slow",	   NULL};
	struct harness_process *p;

	harness_program(program, PROGRAM);
	p = harness_start(argv, NULL);
	assert_true(harness_until(has_a_child, &p->pid, CLI_SECONDS));
	usleep(20000); /* it may be in its first schedule or in a later one */
	kill(p->pid, signal);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	return p;
}

static void test_sigint_ends_with_a_summary_and_a_token(void **state)
{
	struct harness_process *p = interrupt(SIGINT, "text");

	(void)state;
	cli_expect(p, 130);
	cli_contains(p->out.bytes, "fiber-test: slow: interrupted after ");
	cli_contains(p->out.bytes, "fiber-test: the schedule that ran: FIBER_TEST_REPLAY=ft1-");
	harness_free(p);
}

static void test_sigterm_leaves_a_complete_document(void **state)
{
	struct harness_process *p = interrupt(SIGTERM, "json");
	json_t *answer, *test;

	(void)state;
	cli_expect(p, 143);
	answer = json_answer(p);
	test = json_array_get(json_object_get(answer, "tests"), 0);
	assert_true(json_is_null(json_object_get(test, "verdict")));
	assert_memory_equal(json_text(test, "running"), "ft1-", 4);
	assert_true(json_is_false(json_object_get(answer, "complete")));
	json_decref(answer);
	harness_free(p);
	p = interrupt(SIGTERM, "tap");
	cli_expect(p, 143);
	cli_contains(p->out.bytes, "not ok 1 - slow\n");
	cli_contains(p->out.bytes, "Bail out! SIGTERM\n");
	harness_free(p);
}

/* -- cmocka -- */

static void test_findings_are_in_the_outputs_of_cmocka(void **state)
{
	static const char *const formats[] = {"CMOCKA_MESSAGE_OUTPUT=TAP",
					      "CMOCKA_MESSAGE_OUTPUT=XML",
					      "CMOCKA_MESSAGE_OUTPUT=SUBUNIT"};
	struct harness_process *p;

	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		const char *const env[] = {formats[i], NULL};
		const struct harness_how how = {.env = env};

		p = cli_run_how(&how, "reports/in_cmocka", NULL);
		cli_expect(p, 5);
		cli_contains(p->out.bytes, "fiber-test: test: failed: counter == 2\n");
		cli_contains(p->out.bytes, "fiber-test: replay: FIBER_TEST_REPLAY=ft1-");
		cli_contains(p->out.bytes, "fiber-test: test: failed: 0x1 != 0\n");
		cli_contains(p->out.bytes, "test_pass");
		cli_contains(p->err.bytes, "fiber-test: test: failed: counter == 2\n");
		/* It would end the CDATA section. */
		assert_null(strstr(p->out.bytes, "]]></failure>\n\n"));
		harness_free(p);
	}
}

/* In the first fiber, another, a nested one and on a thread: the tests behind it run, and the exit status counts. */
static void test_assertions_of_cmocka_fail_their_test_from_anywhere(void **state)
{
	static const char *const programs[] = {"reports/in_cmocka", "reports/in_cmocka-fortified",
					       "reports/in_cmocka-seen"};
	static const char *const env[] = {"CMOCKA_MESSAGE_OUTPUT=TAP", NULL};
	static const struct harness_how how = {.env = env};

	(void)state;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct harness_process *p = cli_run_how(&how, programs[i], NULL);
		unsigned places = 0;

		cli_expect(p, 5);
		for (const char *at = p->out.bytes;
		     (at = strstr(at, "# fixtures/reports/in_cmocka.c:")); at++)
			places++;
		assert_true(places >= 8);
		cli_contains(p->out.bytes,
			     "not ok 2 - test_assertion_of_cmocka_in_the_first_fiber\n"
			     "# fiber-test: test: failed: 0x");
		cli_contains(p->out.bytes, "not ok 3 - test_assertion_of_cmocka_in_another_fiber\n"
					   "# fiber-test: test: failed: 0x1 != 0\n");
		cli_contains(p->out.bytes, "not ok 4 - test_assertion_of_cmocka_in_a_nested_fiber\n"
					   "# fiber-test: test: failed: 0x1 != 0\n");
		cli_contains(p->out.bytes, "not ok 5 - test_assertion_of_cmocka_on_a_thread\n"
					   "# fiber-test: test: failed: \"thread\" != \"fiber\"\n");
		cli_contains(p->out.bytes, "ok 6 - test_pass\n");
		harness_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tap_is_read_by_its_own_parser),
		cmocka_unit_test(test_junit_is_xml_with_the_report_in_its_failures),
		cmocka_unit_test(test_json_has_the_texts_of_the_program_and_the_finding),
		cmocka_unit_test(test_json_of_a_deadlock_has_its_cycle),
		cmocka_unit_test(test_output_of_tests_is_not_in_a_document),
		cmocka_unit_test(test_text_is_plain),
		cmocka_unit_test(test_file_is_there_whole_or_not_at_all),
		cmocka_unit_test(test_full_disk_is_no_pass),
		cmocka_unit_test(test_every_schedule_is_run_in_spite_of_findings),
		cmocka_unit_test(test_jobs_do_not_matter_to_distinct_findings),
		cmocka_unit_test(test_same_message_in_other_places_is_another_finding),
		cmocka_unit_test(test_stopped_and_killed_processes_are_findings),
		cmocka_unit_test(test_reports_of_abort_crash_and_exit_have_a_trace),
		cmocka_unit_test(test_sigint_ends_with_a_summary_and_a_token),
		cmocka_unit_test(test_sigterm_leaves_a_complete_document),
		cmocka_unit_test(test_findings_are_in_the_outputs_of_cmocka),
		cmocka_unit_test(test_assertions_of_cmocka_fail_their_test_from_anywhere),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_hostile_names.c - the tools print no terminal control characters and no invisible ones
 *
 * The program's names, labels, locks and registry consist of them (fixtures/names.c). Every command
 * that shows a program is run in every form: from memory, over the control socket and from a
 * snapshot. The values in JSON must still be equal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_program.h"
#include "tests/harness/watchdog.h"

static char snapshot[HARNESS_PATH], recording[HARNESS_PATH];

static int begin(void **state)
{
	struct harness_process *p;

	(void)state;
	program = cli_start(NULL, "ready ", "names", NULL);
	pid = cli_number((uint64_t)program->pid);
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "names.snap"), NULL);
	cli_ended(p, 0);
	p = cli_run("fibertrace", "record", pid, "-o", harness_file(recording, "names.rec"),
		    "--for", "100ms", NULL);
	cli_ended(p, 0);
	return 0;
}

/* A second list of the forbidden bytes, independent of inspect/plain.c. */
static bool is_hidden(const unsigned char *t)
{
	static const char *const hidden[] = {
		"\xd8\x9c",	"\xc2\xad",	    "\xef\xbb\xbf",	"\xe2\x80\x8b",
		"\xe2\x80\x8e", "\xe2\x80\x8f",	    "\xe2\x80\xa8",	"\xe2\x80\xa9",
		"\xe2\x80\xaa", "\xe2\x80\xab",	    "\xe2\x80\xac",	"\xe2\x80\xad",
		"\xe2\x80\xae", "\xe2\x81\xa6",	    "\xe2\x81\xa7",	"\xe2\x81\xa8",
		"\xe2\x81\xa9", "\xf3\xa0\x81\x81", "\xf3\xa0\x81\xbf",
	};

	if ((t[0] < ' ' && t[0] != '\n') || t[0] == 0x7f || t[0] >= 0xf8)
		return true;
	if (t[0] == 0xc2 && t[1] >= 0x80 && t[1] < 0xa0)
		return true;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (!strncmp((const char *)t, hidden[i], strlen(hidden[i])))
			return true;
	return false;
}

static void assert_plain(const char *what, const struct harness_text *text)
{
	for (size_t i = 0; i < text->size; i++) {
		const unsigned char *t = (const unsigned char *)text->bytes + i;

		if (*t == '\t' && i && (t[-1] == '\n' || t[-1] == '\t')) /* indented lines */
			continue;
		if (is_hidden(t))
			fail_msg("%s: byte %zu: %02x %02x %02x behind: %.60s", what, i, t[0], t[1],
				 t[2], text->bytes + (i > 60 ? i - 60 : 0));
	}
}

/* Run a tool and check both outputs. The tool may fail: error messages have names, too. */
static struct harness_process *look(const char *tool, const char *const words[4], const char *who,
				    const char *more)
{
	struct harness_process *p =
		cli_run(tool, words[0], who, more ? more : words[1], more ? words[1] : words[2],
			more ? words[2] : NULL, NULL);
	char what[256];

	snprintf(what, sizeof(what), "%s %s %s", tool, words[0], more ? more : "");
	assert_in_range(harness_exit_code(p), 0, 3);
	assert_true(p->out.size > 0);
	assert_plain(what, &p->out);
	assert_plain(what, &p->err);
	return p;
}

static const char *const both[][4] = {
	{"list"},
	{"list", "--columns", "all"},
	{"stacks"},
	{"stacks", "--group-by", "label.text"},
	{"bt", "--all"},
	{"bt", "2"},
	{"show", "2"},
	{"show", "5"},
	{"tree"},
	{"waits"},
	{"deadlock"},
	{"list", "--group-by", "name"},
	{"stacks", "--group-by", "state"},
	{"list", "--group-by", "waiting"},
};
static const char *const asked[][4] = {{"pinned"},  {"slow"},  {"carriers"},
				       {"metrics"}, {"audit"}, {"top", "--once"}};

#define table_each(table, i) for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)

static void look_at_all(const char *who)
{
	static const char *const forms[] = {NULL, "--json", "--json=lines"};

	table_each (forms, f) {
		table_each (both, i) {
			harness_free(look("fiberctl", both[i], who, forms[f]));
			harness_free(look("fibertrace", both[i], who, forms[f]));
		}
		table_each (asked, i)
			harness_free(look("fiberctl", asked[i], who, forms[f]));
	}
}

static void test_no_command_shows_what_a_terminal_obeys(void **state)
{
	(void)state;
	look_at_all(pid);
}

static void test_no_command_shows_it_of_a_snapshot(void **state)
{
	(void)state;
	look_at_all(snapshot);
}

static void test_no_difference_of_snapshots_shows_it(void **state)
{
	static const char *const forms[] = {NULL, "--json"};

	(void)state;
	table_each (forms, f) {
		struct harness_process *p =
			cli_run("fiberctl", "diff", snapshot, pid, forms[f], NULL);

		cli_expect(p, 0);
		assert_plain("diff", &p->out);
		harness_free(p);
	}
}

static void test_no_picture_has_it(void **state)
{
	static const char *const printed[][4] = {{"stacks", "--folded"},
						 {"stacks", "--folded", "--group-by=label.text"},
						 {"waits", "--dot"}};
	static const char *const drawn[] = {"--svg", "--speedscope"};
	char path[HARNESS_PATH];

	(void)state;
	table_each (printed, i) {
		harness_free(look("fiberctl", printed[i], pid, NULL));
		harness_free(look("fibertrace", printed[i], pid, NULL));
	}
	table_each (drawn, i) {
		struct harness_process *p;

		p = cli_run("fibertrace", "stacks", pid, "--group-by", "label.text", drawn[i],
			    harness_file(path, drawn[i] + 2), NULL);
		cli_ended(p, 0);
		p = cli_run("/bin/cat", path, NULL);
		assert_true(p->out.size > 1000);
		assert_plain(drawn[i], &p->out);
		harness_free(p);
	}
}

static void test_no_form_of_a_recording_has_it(void **state)
{
	static const char *const forms[][4] = {{"report"}, {"report", "--json"}};
	char path[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	table_each (forms, i)
		harness_free(look("fibertrace", forms[i], recording, NULL));
	p = cli_run("fibertrace", "report", "--html", "-o", harness_file(path, "page.html"),
		    recording, NULL);
	cli_ended(p, 0);
	p = cli_run("/bin/sed", "-n", "/id=\"data\"/p", path, NULL);
	assert_true(p->out.size > 1000);
	assert_plain("page", &p->out);
	/* The page shows these texts escaped as on a terminal, and in no other form. */
	cli_contains(p->out.bytes, "a\\\\xe2\\\\x80\\\\xaeb");
	assert_null(strstr(p->out.bytes, "\\u202e"));
	harness_free(p);
	p = cli_run("fibertrace", "export", recording, "--perfetto", "-o",
		    harness_file(path, "events.json"), NULL);
	cli_ended(p, 0);
	p = cli_run("/bin/cat", path, NULL);
	assert_plain("events", &p->out);
	cli_contains(p->out.bytes, "a\\\\xe2\\\\x80\\\\xaeb");
	harness_free(p);
}

static void test_json_is_equal_to_the_names(void **state)
{
	static const char *const tools[] = {"fiberctl", "fibertrace"};
	static const char *const escaped[] = {
		"\\u009b", "\\u202e", "\\u2066", "\\u2069", "\\u007f", "\\u061c", "\\udb40\\udc41",
	};

	(void)state;
	table_each (tools, t) {
		struct harness_process *p = cli_run(tools[t], "list", pid, "--json", NULL);
		json_t *answer, *fiber;
		size_t i, found = 0;

		table_each (escaped, k)
			cli_contains(p->out.bytes, escaped[k]);
		answer = json_well(p);
		json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
			const char *name = json_text(fiber, "name");
			const json_t *labels = json_object_get(fiber, "labels");

			found += !strcmp(name, "a\xe2\x80\xae"
					       "b") ||
				 !strcmp(name, "a\xc2\x9b"
					       "b") ||
				 !strcmp(name, "a\x7f"
					       "b");
			if (json_object_size(labels)) {
				assert_string_equal(json_text(labels, "text"), name);
				assert_string_equal(json_text(labels, name), "key");
			}
		}
		assert_int_equal(found, 3);
		json_decref(answer);
	}
}

static void test_the_library_logs_nothing_of_it(void **state)
{
	(void)state;
	harness_end(program);
	cli_contains(program->err.bytes, "waits while pinned");
	assert_plain("names", &program->err);
	cli_contains(program->err.bytes, "\"hold\\xe2\\x80\\xae\\x1b[2J\\x7fholder\"");
}

static void test_a_registry_of_such_words_is_plain_too(void **state)
{
	(void)state;
	end(state);
	program = cli_start(NULL, "ready ", "names", "--lie", NULL);
	pid = cli_number((uint64_t)program->pid);
	look_at_all(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_command_shows_what_a_terminal_obeys),
		cmocka_unit_test(test_no_command_shows_it_of_a_snapshot),
		cmocka_unit_test(test_no_difference_of_snapshots_shows_it),
		cmocka_unit_test(test_no_picture_has_it),
		cmocka_unit_test(test_no_form_of_a_recording_has_it),
		cmocka_unit_test(test_json_is_equal_to_the_names),
		cmocka_unit_test(test_the_library_logs_nothing_of_it),
		cmocka_unit_test(test_a_registry_of_such_words_is_plain_too),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, begin, end);
}

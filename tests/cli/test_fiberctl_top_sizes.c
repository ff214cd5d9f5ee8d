/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_top_sizes.c - the live screen of many carriers and long names, on several terminal
 * sizes
 *
 * No word may be cut: each word is a number, or it is known from the same screen on a large
 * terminal. The verdict may change between two screens, because a rule reports only what is old
 * enough: all verdicts are known.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "inspect/why/rules.h"
#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/picture.h"
#include "tests/harness/watchdog.h"

enum { CARRIERS = 16 };

static struct crowd crowd;
static const char *pid;
static struct picture picture;
static char *known; /* words, each with a newline before and after it */

static int start(void **state)
{
	(void)state;
	crowd = crowd_of(cli_start(NULL, "ready ", "crowd", "60", "--stuck", "--long-names",
				   "--carriers", "16", NULL));
	pid = strdup(cli_number((uint64_t)crowd.process->pid));
	return 0;
}

static int stop(void **state)
{
	(void)state;
	crowd_end(&crowd);
	free(known);
	return 0;
}

/* -- words -- */

/* The next word of a text, without trailing punctuation; NULL: the text has ended. */
static char *next_word(char **text)
{
	char *word;
	size_t n;

	do {
		word = strsep(text, " \n");
	} while (word && !*word);
	if (!word)
		return NULL;
	for (n = strlen(word); n > 1 && strchr(",;:", word[n - 1]); n--)
		word[n - 1] = 0;
	return word;
}

static void know(const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;

	while ((word = next_word(&rest))) {
		const size_t n = known ? strlen(known) : 0;

		char *grown = realloc(known, n + strlen(word) + 3);

		assert_non_null(grown);
		known = grown;
		sprintf(known + n, "%s%s\n", n ? "" : "\n", word);
	}
	free(copy);
}

/* 12, 99.3%, 1m30s; 12.3s) */
static bool is_number(const char *word)
{
	return isdigit((unsigned char)word[0]) && word[strspn(word, "0123456789.%dhmnsuk)")] == 0;
}

static void expect_whole_words(void)
{
	for (unsigned i = 0; i < picture.rows; i++) {
		char *copy = strdup(picture.line[i]), *rest = copy, *word, wanted[300];

		assert_true(strlen(picture.line[i]) <= picture.columns);
		while ((word = next_word(&rest))) {
			snprintf(wanted, sizeof(wanted), "\n%s\n", word);
			if (is_number(word) || strcmp(word, "...") == 0 || strstr(known, wanted))
				continue;
			picture_print(&picture);
			fail_msg("row %u: '%s' is a part of a word", i + 1, word);
		}
		free(copy);
	}
}

static void know_picture(void)
{
	for (unsigned i = 0; i < picture.rows; i++)
		know(picture.line[i]);
}

/* The words for a verdict, whatever it is when a screen is drawn. */
static void know_verdicts(void)
{
	know("ok");
	for (size_t i = 0; ins_rules[i]; i++)
		know(ins_rules[i]->name);
}

/* Collect all words of the list without a limit. */
static void know_list(void)
{
	struct harness_process *p =
		cli_run("fiberctl", "top", pid, "--once", "--limit", "500", NULL);

	cli_expect(p, 0);
	know(p->out.bytes);
	know("h: help, q: end, s: order, r: turn, g: group, f: freeze, /: where, enter: "
	     "stack "
	     "by cpu, largest first; every; and more");
	know_verdicts();
	harness_free(p);
}

/* -- terminals -- */

static void resize(struct terminal *t, unsigned short rows, unsigned short columns,
		   const char *last)
{
	terminal_resize(t, rows, columns);
	picture_await(t, rows, columns, last, &picture);
}

static struct terminal *begin(unsigned short rows, unsigned short columns, const char *last)
{
	struct terminal *t = terminal_start("vt100", "fiberctl", "top", pid, "-n", "60", NULL);

	/* The second refresh is the first with CPU shares. */
	do
		picture_await(t, 40, 120, "every 1m0s", &picture);
	while (picture_find(&picture, 0, "; in ") != 0);
	resize(t, rows, columns, last);
	return t;
}

static void end(struct terminal *t)
{
	int status;

	terminal_type(t, "q");
	status = terminal_end(t);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The row of a text below another row. */
static int expect_row(int above, const char *text)
{
	const int row = picture_find(&picture, above + 1, text);

	if (row < 0) {
		picture_print(&picture);
		fail_msg("nowhere below row %d: %s", above + 1, text);
	}
	return row;
}

/* Check all parts in their order, and the counts of omitted carriers and groups. */
static void expect_all_parts(size_t least_fibers)
{
	char text[64];
	int row;

	snprintf(text, sizeof(text), "crowd, process %s: %zu fibers, %d carriers", pid, crowd.count,
		 CARRIERS);
	assert_int_equal(expect_row(-1, text), 0);
	row = expect_row(0, "states: 16 running,");
	row = expect_row(row, "waits: ");
	row = expect_row(row, "CARRIER STATE ");
	assert_non_null(strstr(picture.line[row], "CPU%"));
	row = expect_row(row, " running ");
	row = expect_row(row, "more: ");
	assert_non_null(strstr(picture.line[row], " running"));
	row = expect_row(row, "COUNT ");
	assert_non_null(strstr(picture.line[row], "KIND"));
	row = expect_row(row, " more");
	row = expect_row(row, "ID STATE ");
	assert_non_null(strstr(picture.line[row], "NAME"));
	assert_non_null(strstr(picture.line[row], "WAIT"));
	for (size_t i = 1; i <= least_fibers; i++) {
		assert_non_null(strstr(picture.line[row + (int)i], "running-"));
		assert_non_null(strstr(picture.line[row + (int)i], "on carrier "));
	}
	row = expect_row(row, "h: help, q: end, ");
	assert_int_equal(row, picture.rows - 2);
}

static void test_top_fits_a_terminal_of_80_by_24(void **state)
{
	struct terminal *t = begin(24, 80, "every 1m0s");

	(void)state;
	know_list();
	expect_all_parts(5);
	expect_whole_words();
	/* The kinds of wait need more than their two rows. */
	assert_true(picture_find(&picture, 0, " and ") < picture_find(&picture, 0, "CARRIER"));
	end(t);
}

static void test_top_of_40_by_10_has_what_matters_and_no_part_of_a_word(void **state)
{
	struct terminal *t = begin(10, 40, "h: help");
	int row;

	(void)state;
	know_list();
	expect_whole_words();
	assert_int_equal(expect_row(-1, "crowd, process "), 0);
	row = expect_row(0, "ID ");
	assert_true(row <= 2);
	assert_non_null(strstr(picture.line[row], "CPU%"));
	assert_non_null(strstr(picture.line[row], "NAME"));
	for (unsigned i = 1; i <= 5; i++)
		expect_row(row + (int)i - 1, "running-");
	/* The longest names are shown whole, too. */
	terminal_type(t, "<");
	picture_await(t, 10, 40, "by id, smallest first; h: help", &picture);
	expect_row(row, "with-long-name-");
	know("by id, smallest");
	expect_whole_words();
	end(t);
}

static void test_top_of_200_by_50_leaves_less_out(void **state)
{
	struct terminal *t = begin(50, 200, "every 1m0s");
	int row;

	(void)state;
	know_list();
	expect_all_parts(10);
	expect_whole_words();
	row = expect_row(-1, "waits: ");
	assert_null(strstr(picture.line[row], " more"));
	assert_null(strstr(picture.line[row + 1], " more"));
	expect_row(row, "RUNTIME    CARRIER STATE           FIBER     QUEUED   CPU%   SWITCH/S");
	end(t);
}

static void test_top_follows_its_terminal_from_size_to_size(void **state)
{
	struct terminal *t = begin(24, 80, "every 1m0s");

	(void)state;
	know_list();
	resize(t, 10, 40, "h: help");
	expect_whole_words();
	resize(t, 50, 200, "every 1m0s");
	expect_all_parts(10);
	resize(t, 24, 80, "every 1m0s");
	expect_all_parts(5);
	expect_whole_words();
	/* These sizes have almost no room; the tool still runs. */
	resize(t, 3, 26, "h: help");
	resize(t, 2, 5, "h:...");
	resize(t, 1, 1, "h");
	resize(t, 24, 80, "every 1m0s");
	expect_all_parts(5);
	end(t);
}

/* The help and a backtrace are text, which is folded. */
static void test_top_folds_text_between_its_words(void **state)
{
	struct terminal *t = begin(50, 200, "every 1m0s");

	(void)state;
	terminal_type(t, "h");
	picture_await(t, 50, 200, "any key goes back", &picture);
	know_picture();
	know("up, down: more; any other key goes back");
	resize(t, 24, 80, "key goes back");
	expect_whole_words();
	resize(t, 10, 40, "any other key goes back");
	expect_whole_words();
	resize(t, 50, 200, "any key goes back");
	/* The fiber with the smallest id, which has a long name. */
	terminal_type(t, "x<");
	picture_await(t, 50, 200, "by id, smallest first; every 1m0s", &picture);
	terminal_type(t, "\r");
	picture_await(t, 50, 200, "any key goes back", &picture);
	expect_row(-1, "with-long-name-");
	know_picture();
	resize(t, 24, 80, "key goes back");
	expect_whole_words();
	terminal_type(t, "x");
	picture_await(t, 24, 80, "every 1m0s", &picture);
	end(t);
}

/* The end of a condition is visible while it is typed; afterwards it is shortened, not cut. */
static void test_top_shows_the_end_of_a_long_condition(void **state)
{
	struct terminal *t = begin(10, 40, "h: help");

	(void)state;
	terminal_type(t, "/id>0 and name~with-long and cpu>=0 and state=suspended");
	picture_await(t, 10, 40, "and state=suspended_", &picture);
	terminal_type(t, "\r");
	picture_await(t, 10, 40, "; h: help", &picture);
	assert_non_null(strstr(picture.line[9], " match id>0 and ...; h: help"));
	end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_fits_a_terminal_of_80_by_24),
		cmocka_unit_test(test_top_of_40_by_10_has_what_matters_and_no_part_of_a_word),
		cmocka_unit_test(test_top_of_200_by_50_leaves_less_out),
		cmocka_unit_test(test_top_follows_its_terminal_from_size_to_size),
		cmocka_unit_test(test_top_folds_text_between_its_words),
		cmocka_unit_test(test_top_shows_the_end_of_a_long_condition),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}

/* SPDX-License-Identifier: MIT */
/* test_render_text.c - the line to grep for, frames, groups, the end; names are escaped */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/render.h"
#include "tests/harness/inspect/nowhere.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;
static char *text;
static size_t size;

static FILE *begin(void)
{
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	return out;
}

static const char *header(const struct ins_fiber *fiber)
{
	FILE *out = begin();

	ins_text_header(out, &layout, fiber);
	fclose(out);
	return text;
}

static const char *frames(const struct ins_walk *walk)
{
	FILE *out = begin();

	ins_text_frames(out, symbols, walk);
	fclose(out);
	return text;
}

static void only_printable(const char *what)
{
	for (; *what; what++)
		assert_true(*what == '\n' || (*what >= 0x20 && *what < 0x7f));
}

static void test_the_header_line_is_as_promised(void **state)
{
	struct ins_fiber f = rows_fiber(7741, "req-7741");

	(void)state;
	f.row.age = INT64_C(134000000000);
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.holder = 88;
	strcpy(f.row.object_name, "cfg");
	assert_string_equal(
		header(&f),
		"fiber 7741 \"req-7741\" [suspended: mutex \"cfg\" held by 88, 2m14s]\n");
	f.row.wait_kind = FIB_WAIT_NONE;
	f.row.state = FIBER_CREATED;
	assert_string_equal(header(&f), "fiber 7741 \"req-7741\" [created, 2m14s]\n");
	f.row.state = FIBER_RUNNING;
	f.row.carrier = 3;
	assert_string_equal(header(&f), "fiber 7741 \"req-7741\" [running: carrier 3, 2m14s]\n");
	f.row.wait_kind = FIB_WAIT_MUTEX;
	assert_string_equal(header(&f), "fiber 7741 \"req-7741\" [running: carrier 3, pinned in "
					"mutex \"cfg\" held by 88, 2m14s]\n");
}

static void test_a_thread_is_called_one_and_has_no_age(void **state)
{
	struct ins_fiber f = rows_fiber(1, "worker");

	(void)state;
	f.flags = INS_FIBER_THREAD;
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.wait_object = 0x5f10;
	assert_string_equal(header(&f), "thread 1 \"worker\" [suspended: mutex@0x5f10]\n");
}

static void test_hostile_names_stay_in_their_quotes(void **state)
{
	struct ins_fiber f = rows_fiber(1, "");
	unsigned c;

	(void)state;
	for (c = 1; c < 256; c++) {
		memset(f.row.name, (int)c, sizeof f.row.name - 1);
		memset(f.row.object_name, (int)c, sizeof f.row.object_name - 1);
		f.row.wait_kind = FIB_WAIT_MUTEX;
		only_printable(header(&f));
		assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	}
	strcpy(f.row.name, "x\" [dead, 0s]");
	header(&f);
	assert_int_equal(strncmp(text, "fiber 1 \"x\\\" [dead, 0s]\" [suspended: ", 37), 0);
}

static void test_hostile_words_of_the_layout_do_not_reach_the_terminal(void **state)
{
	struct ins_fiber f = rows_fiber(1, "a");

	(void)state;
	strcpy(layout.state_names[FIBER_SUSPENDED], "\x1b[2J\r\n");
	strcpy(layout.wait_names[FIB_WAIT_SEM], "\x1b]0;x\x07");
	layout.state_count = 8;
	layout.wait_count = FIB_LAYOUT_WAITS;
	f.row.wait_kind = FIB_WAIT_SEM;
	only_printable(header(&f));
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	memset(&layout, 0, sizeof layout);
}

static void test_a_truncated_walk_says_so_and_why(void **state)
{
	static struct ins_walk walk;

	(void)state;
	walk.count = 1;
	walk.pc[0] = 0x1234;
	walk.truncated = true;
	strcpy(walk.reason, "no module at 0x1234: \x1b[2J");
	assert_string_equal(frames(&walk),
			    "  #0  0x1234\n  truncated: no module at 0x1234: \\x1b[2J\n");
	walk.truncated = false;
	walk.count = 0;
	strcpy(walk.reason, "it has ended");
	assert_string_equal(frames(&walk), "  no frames: it has ended\n");
}

static void test_a_group_is_one_line(void **state)
{
	struct ins_groups *groups;
	static struct ins_walk walk;
	struct ins_fiber f = rows_fiber(3, "only\x1b");
	FILE *out;
	unsigned i;

	(void)state;
	assert_int_equal(ins_groups_new(&groups), 0);
	assert_int_equal(ins_groups_add(groups, NULL, &f, &walk), 0);
	ins_groups_sort(groups);
	out = begin();
	ins_text_group(out, &layout, ins_groups_at(groups, 0));
	fclose(out);
	assert_string_equal(text, "1 fiber [suspended, 1.5s] id 3 \"only\\x1b\"\n");
	for (i = 4; i < 14; i++) {
		f.row.id = i;
		f.row.age = i * INT64_C(1000000000);
		assert_int_equal(ins_groups_add(groups, NULL, &f, &walk), 0);
	}
	ins_groups_sort(groups);
	out = begin();
	ins_text_group(out, &layout, ins_groups_at(groups, 0));
	fclose(out);
	assert_string_equal(text,
			    "11 fibers [suspended, 1.5s to 13s, median 8s] ids 3, 4, 5, 6, 7, "
			    "8, 9, 10, ...\n");
	ins_groups_free(groups);
}

static void test_the_end_names_every_problem_and_the_numbers(void **state)
{
	const struct ins_summary summary = {.total = 10, .shown = 8, .sampled_ns = 2000000};
	struct ins_problems problems = {0};
	FILE *out = begin();

	(void)state;
	ins_problems_add(&problems, "%s: is missing", "/lib/\nx");
	ins_problems_add(&problems, "again");
	ins_problems_add(&problems, "again");
	ins_text_end(out, &summary, &problems);
	fclose(out);
	assert_string_equal(text, "incomplete: /lib/\\x0ax: is missing\n"
				  "incomplete: again (2 times)\n"
				  "shown 8 of 10 fibers, sampled over 2ms\n");
	ins_problems_free(&problems);
}

static void test_the_last_line_says_that_it_is_of_a_snapshot(void **state)
{
	const struct ins_summary summary = {.total = 8,
					    .shown = 8,
					    .sampled_ns = 2000000,
					    .taken = INT64_C(1700000000000000000),
					    .host = "vm"};
	const struct ins_problems none = {0};
	FILE *out = begin();

	(void)state;
	ins_text_end(out, &summary, &none);
	fclose(out);
	assert_memory_equal(
		text, "shown 8 of 8 fibers, sampled over 2ms; snapshot of vm, taken 2023-", 60);
	assert_string_equal(strchr(text, '\n'), "\n");
}

static int stop(void **state)
{
	(void)state;
	free(text);
	return nowhere_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_header_line_is_as_promised),
		cmocka_unit_test(test_a_thread_is_called_one_and_has_no_age),
		cmocka_unit_test(test_hostile_names_stay_in_their_quotes),
		cmocka_unit_test(test_hostile_words_of_the_layout_do_not_reach_the_terminal),
		cmocka_unit_test(test_a_truncated_walk_says_so_and_why),
		cmocka_unit_test(test_a_group_is_one_line),
		cmocka_unit_test(test_the_end_names_every_problem_and_the_numbers),
		cmocka_unit_test(test_the_last_line_says_that_it_is_of_a_snapshot),
	};

	return HEAD_RUN(tests, nowhere_start, stop);
}

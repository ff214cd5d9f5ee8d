/* SPDX-License-Identifier: MIT */
/* test_fiberctl_tree.c - the tree is what the fixture family prints, with every fiber once */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define LINKS	 40 /* deeper than lines are indented */
#define CHILDREN 5

static struct crowd family; /* the holder's column has the parent */
static char pid[16];

static int start(void **state)
{
	(void)state;
	family = crowd_start(NULL, "family", "--links=40", "--children=5");
	snprintf(pid, sizeof(pid), "%d", family.process->pid);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	crowd_end(&family);
	return 0;
}

static void test_tree_has_every_fiber_once_below_its_parent(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "tree", pid, "--json", NULL);
	json_t *answer, *fiber;
	size_t i;

	(void)state;
	answer = json_well(p);
	json_promise_answer(answer, "control");
	assert_int_equal(family.count, LINKS + CHILDREN);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), family.count);
	assert_int_equal(json_int(answer, "shown"), family.count);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		/* family prints the chain from the top, then the brood, which is the order of the
		 * tree. */
		const struct crowd_member *const m = &family.members[i];
		const bool link = i < LINKS;

		json_promise_fiber(fiber, false);
		json_promise(fiber, "fiber", "depth:i children:i orphan:b");
		assert_int_equal(json_int(fiber, "id"), m->id);
		assert_int_equal(json_int(fiber, "parentId"), strtoull(m->holder, NULL, 10));
		assert_int_equal(json_int(fiber, "depth"), link ? i : 0);
		assert_int_equal(json_int(fiber, "children"), link && i + 1 < LINKS);
		assert_int_equal(json_is_true(json_object_get(fiber, "orphan")), !link);
		assert_string_equal(json_text(json_object_get(fiber, "spawn"), "function"),
				    i ? "spawn" : "start");
	}
	json_decref(answer);
}

/* The first child reuses the stack of its parent, which has exited. */
static void test_backtraces_of_those_whose_parent_has_ended_are_whole(void **state)
{
	struct harness_process *p =
		cli_run("fiberctl", "bt", pid, "--all", "--where", "name~^child", NULL);
	const char *at = p->out.bytes;
	unsigned count = 0;

	(void)state;
	cli_expect(p, 0);
	while ((at = strstr(at, " child_main+"))) {
		at++;
		count++;
	}
	assert_int_equal(count, CHILDREN);
	assert_null(strstr(p->out.bytes, "truncated"));
	harness_free(p);
}

/* The start of the line of member i. */
static void expect_line(const char *text, size_t i)
{
	const struct crowd_member *const m = &family.members[i];
	const size_t level = i < LINKS ? i : 1;
	char wanted[160];

	if (level > 24)
		snprintf(wanted, sizeof(wanted),
			 "\n%48s[%zu] fiber %" PRIu64 " \"%s\" [suspended: park, ", "", level,
			 m->id, m->name);
	else
		snprintf(wanted, sizeof(wanted), "\n%*sfiber %" PRIu64 " \"%s\" [suspended: park, ",
			 (int)level * 2, "", m->id, m->name);
	/* The first line has no newline before it. */
	cli_contains(text, wanted + !i);
}

static void test_text_indents_marks_orphans_and_counts(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "tree", pid, NULL);
	char wanted[64];

	(void)state;
	cli_expect(p, 0);
	for (size_t i = 0; i < family.count; i++)
		expect_line(p->out.bytes, i);
	snprintf(wanted, sizeof(wanted), "\n(ended %s)\n  fiber ", family.members[LINKS].holder);
	cli_contains(p->out.bytes, wanted);
	cli_contains(p->out.bytes,
		     "\norphans: 5, of 1 fiber that has ended\nshown 45 of 45 fibers, ");
	harness_free(p);
}

static void test_a_limit_leaves_out_and_says_how_many(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "tree", pid, "--limit", "7", NULL);
	const json_t *ended;
	json_t *answer;

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\"link-6\"");
	assert_null(strstr(p->out.bytes, "\"link-7\""));
	cli_contains(p->out.bytes,
		     "\norphans: 5, of 1 fiber that has ended\n"
		     "left out: 38 fibers past the limit of 7\nshown 7 of 45 fibers, ");
	harness_free(p);
	p = cli_run("fiberctl", "tree", pid, "--json", "--limit=7", NULL);
	answer = json_well(p);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), 7);
	assert_int_equal(json_int(answer, "shown"), 7);
	assert_int_equal(json_int(answer, "matched"), family.count);
	assert_int_equal(json_int(json_object_get(answer, "leftOut"), "fibers"), 38);
	/* The count includes the orphans that are not shown. */
	assert_int_equal(json_int(answer, "orphans"), CHILDREN);
	ended = json_object_get(answer, "endedParents");
	assert_int_equal(json_array_size(ended), 1);
	assert_int_equal(json_integer_value(json_array_get(ended, 0)),
			 strtoull(family.members[LINKS].holder, NULL, 10));
	assert_int_equal(json_int(answer, "total"), family.count);
	json_decref(answer);
	cli_expect_error(cli_run("fiberctl", "tree", pid, "--limit=x", NULL), 64, "fiberctl",
			 "--limit");
}

static void test_where_keeps_those_that_are_meant_and_those_above_them(void **state)
{
	json_t *answer = json_well(
		cli_run("fiberctl", "tree", pid, "--json", "--where", "name=link-5", NULL));
	const json_t *fibers = json_object_get(answer, "fibers"), *fiber;
	struct harness_process *p;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(fibers), 6);
	assert_int_equal(json_int(answer, "shown"), 6);
	assert_int_equal(json_int(answer, "matched"), 1);
	assert_int_equal(json_int(json_object_get(answer, "leftOut"), "fibers"), 0);
	assert_int_equal(json_int(answer, "orphans"), 0);
	assert_int_equal(json_array_size(json_object_get(answer, "endedParents")), 0);
	assert_int_equal(json_int(answer, "total"), family.count);
	json_array_foreach (fibers, i, fiber) {
		assert_int_equal(json_int(fiber, "id"), family.members[i].id);
		assert_int_equal(json_int(fiber, "depth"), i);
		assert_int_equal(json_int(fiber, "children"), 1);
	}
	json_decref(answer);

	/* An orphan is below its exited parent, no matter which other children of it match. */
	p = cli_run("fiberctl", "tree", pid, "--where", "name=link-1 or name=child-3", NULL);
	cli_expect(p, 0);
	expect_line(p->out.bytes, 0);
	expect_line(p->out.bytes, 1);
	cli_contains(p->out.bytes, ")\n  fiber ");
	cli_contains(p->out.bytes, " \"child-3\" ");
	assert_null(strstr(p->out.bytes, "link-2"));
	assert_null(strstr(p->out.bytes, "child-2"));
	cli_contains(p->out.bytes,
		     "\norphans: 1, of 1 fiber that has ended\nshown 3 of 45 fibers, ");
	harness_free(p);

	answer = json_well(
		cli_run("fiberctl", "tree", pid, "--json", "--where", "name=nobody", NULL));
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), 0);
	json_decref(answer);
	cli_expect_error(cli_run("fiberctl", "tree", pid, "--where", "weather=fine", NULL), 64,
			 "fiberctl", "weather");
}

static void test_whom_threads_spawned_stand_at_the_left(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "44", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "tree", cli_number((uint64_t)crowd.process->pid), NULL);
	size_t lines = 0;

	(void)state;
	cli_expect(p, 0);
	for (const char *at = p->out.bytes; (at = strstr(at, "fiber ")); at++) {
		assert_true(at == p->out.bytes || at[-1] == '\n');
		lines++;
	}
	assert_int_equal(lines, crowd.count);
	harness_free(p);
	crowd_end(&crowd);
}

static void test_a_chain_of_twenty_thousand_is_told_to_its_end(void **state)
{
	const bool slow = *harness_sanitizer();
	struct crowd deep =
		crowd_start(NULL, "family", slow ? "--links=2000" : "--links=20000", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "tree", cli_number((uint64_t)deep.process->pid), NULL);
	char wanted[64];

	(void)state;
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted), "[%d] fiber ", slow ? 1999 : 19999);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
	crowd_end(&deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_has_every_fiber_once_below_its_parent),
		cmocka_unit_test(test_backtraces_of_those_whose_parent_has_ended_are_whole),
		cmocka_unit_test(test_text_indents_marks_orphans_and_counts),
		cmocka_unit_test(test_a_limit_leaves_out_and_says_how_many),
		cmocka_unit_test(test_where_keeps_those_that_are_meant_and_those_above_them),
		cmocka_unit_test(test_whom_threads_spawned_stand_at_the_left),
		cmocka_unit_test(test_a_chain_of_twenty_thousand_is_told_to_its_end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}

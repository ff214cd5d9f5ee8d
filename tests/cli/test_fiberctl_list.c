/* SPDX-License-Identifier: MIT */
/* test_fiberctl_list.c - the list agrees with the crowd: every id, wait, object and holder */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "240", "--stuck");
}

static void test_list_json_is_what_crowd_says_about_every_fiber(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--json", NULL);
	json_t *answer = json_well(p);

	(void)state;
	json_promise_answer(answer, "control");
	assert_int_equal(json_int(answer, "pid"), crowd.process->pid);
	assert_string_equal(json_text(answer, "name"), "crowd");
	assert_int_equal(json_int(answer, "total"), crowd.count);
	assert_int_equal(json_int(answer, "shown"), crowd.count);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), crowd.count);
	for (size_t i = 0; i < crowd.count; i++) {
		const json_t *const fiber = json_fiber(answer, crowd.members[i].id);

		assert_non_null(fiber);
		json_promise_fiber(fiber, false);
		/* Stacks are expensive: a list has none. */
		assert_null(json_object_get(fiber, "frames"));
		crowd_agree(&crowd.members[i], fiber);
	}
	json_decref(answer);
}

/* The table's line with that fiber's name, which is the last column. */
static const char *row_of(const char *text, const struct crowd_member *m, char *buf, size_t size)
{
	const size_t length = strlen(m->name);

	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		const size_t n = (size_t)(end - text);
		const char *const at = memmem(text, n, m->name, length);

		if (!at || (at[length] >= '0' && at[length] <= '9'))
			continue;
		snprintf(buf, size, "%.*s", (int)n, text);
		return buf;
	}
	print_error("no line for %s\n", m->name);
	fail();
	return "";
}

static void test_list_text_shows_wait_object_and_holder(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, NULL);
	const struct crowd_member *m;
	char row[1024], wanted[128];

	(void)state;
	cli_expect(p, 0);
	for (size_t i = 0; i < crowd.count; i++) {
		m = &crowd.members[i];
		row_of(p->out.bytes, m, row, sizeof(row));
		assert_int_equal(strtoull(row, NULL, 10), m->id);
		cli_contains(row, m->kind);
	}
	m = crowd_find(&crowd, "mutex", "mutex-1");
	snprintf(wanted, sizeof(wanted), "mutex \"%s\"@0x", m->object);
	cli_contains(row_of(p->out.bytes, m, row, sizeof(row)), wanted);
	snprintf(wanted, sizeof(wanted), " held by %s", m->holder);
	cli_contains(row, wanted);
	m = crowd_find(&crowd, "fd", "fd-read-");
	snprintf(wanted, sizeof(wanted), "fd %s read", m->object);
	cli_contains(row_of(p->out.bytes, m, row, sizeof(row)), wanted);
	m = crowd_find(&crowd, "fd", "fd-write-");
	snprintf(wanted, sizeof(wanted), "fd %s write", m->object);
	cli_contains(row_of(p->out.bytes, m, row, sizeof(row)), wanted);
	m = crowd_find(&crowd, "join", "join-");
	snprintf(wanted, sizeof(wanted), "join %s", m->object);
	cli_contains(row_of(p->out.bytes, m, row, sizeof(row)), wanted);
	m = crowd_find(&crowd, "sleep", "sleep-");
	cli_contains(row_of(p->out.bytes, m, row, sizeof(row)), "sleep ");
	cli_contains(row, " left");
	m = crowd_find(&crowd, "mutex", "mutex-thread-");
	snprintf(wanted, sizeof(wanted), "held by thread %s", m->holder + strlen("thread:"));
	cli_contains(row_of(p->out.bytes, m, row, sizeof(row)), wanted);
	harness_free(p);
}

static void test_list_always_ends_with_how_many_and_how_long(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, NULL);
	char wanted[64];
	const char *last;

	(void)state;
	cli_expect(p, 0);
	assert_true(p->out.size > 1);
	p->out.bytes[p->out.size - 1] = '\0';
	last = strrchr(p->out.bytes, '\n') + 1;
	snprintf(wanted, sizeof(wanted), "shown %zu of %zu fibers, sampled over ", crowd.count,
		 crowd.count);
	assert_int_equal(strncmp(last, wanted, strlen(wanted)), 0);
	harness_free(p);
}

/* The output says which groups or fibers are omitted. */
static void test_list_of_some_groups_says_what_it_leaves_out(void **state)
{
	struct harness_process *all =
		cli_run("fiberctl", "list", pid, "-g", "object", "--json", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "list", pid, "-g", "object", "-l", "2", "--json", NULL);
	json_t *whole = json_answer(all), *answer = json_answer(p);
	const json_t *groups = json_object_get(answer, "groups");
	const json_t *left = json_object_get(answer, "leftOut");
	json_int_t sum;

	(void)state;
	cli_expect(p, 0);
	assert_int_equal(json_array_size(groups), 2);
	sum = json_int(json_array_get(groups, 0), "count") +
	      json_int(json_array_get(groups, 1), "count");
	json_promise(left, "leftOut", "groups:i fibers:i");
	assert_int_equal(json_int(left, "groups") + 2,
			 json_array_size(json_object_get(whole, "groups")));
	assert_int_equal(json_int(left, "fibers") + sum, crowd.count);
	assert_int_equal(json_int(answer, "shown"), sum);
	assert_int_equal(json_int(answer, "matched"), crowd.count);
	assert_int_equal(json_int(json_object_get(whole, "leftOut"), "groups"), 0);
	assert_int_equal(json_int(whole, "shown"), crowd.count);
	json_decref(answer);
	json_decref(whole);
	harness_free(p);
	harness_free(all);
}

static void test_show_json_is_one_fiber_with_all_its_keys(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "mutex", "mutex-");
	struct harness_process *p =
		cli_run("fiberctl", "show", pid, cli_number(m->id), "--json", NULL);
	json_t *answer, *fiber;

	(void)state;
	answer = json_well(p);
	json_promise_answer(answer, "control");
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), 1);
	fiber = json_fiber(answer, m->id);
	json_promise_fiber(fiber, false);
	crowd_agree(m, fiber);
	assert_string_equal(json_text(json_object_get(fiber, "spawn"), "function"), "start_member");
	assert_true(json_int(json_object_get(fiber, "stack"), "size") >= 65536);
	assert_true(json_int(json_object_get(fiber, "stack"), "used") > 0);
	assert_true(json_int(json_object_get(fiber, "stack"), "highWater") >=
		    json_int(json_object_get(fiber, "stack"), "used"));
	json_decref(answer);

	p = cli_run("fiberctl", "show", pid, cli_number(m->id), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, m->name);
	cli_contains(p->out.bytes, m->object);
	harness_free(p);
}

static void test_list_serves_twenty_thousand_fibers(void **state)
{
	const bool slow = *harness_sanitizer();
	struct crowd big = crowd_start(NULL, "crowd", slow ? "2000" : "20000", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "list", cli_number((uint64_t)big.process->pid), "--json", NULL);
	json_t *answer = json_well(p);

	(void)state;
	assert_int_equal(json_int(answer, "total"), big.count);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), big.count);
	json_decref(answer);
	crowd_end(&big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_json_is_what_crowd_says_about_every_fiber),
		cmocka_unit_test(test_list_text_shows_wait_object_and_holder),
		cmocka_unit_test(test_list_always_ends_with_how_many_and_how_long),
		cmocka_unit_test(test_list_of_some_groups_says_what_it_leaves_out),
		cmocka_unit_test(test_show_json_is_one_fiber_with_all_its_keys),
		cmocka_unit_test(test_list_serves_twenty_thousand_fibers),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}

/* SPDX-License-Identifier: MIT */
/* test_fiberctl_stacks.c - the groups are the kinds of crowd and the places of places */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

#define FIBERS 900 /* of places: 3 in each of 300 places; each of two teams has a third */

static struct harness_process *places;
static char places_pid[16];

static int start(void **state)
{
	(void)state;
	places = cli_start(NULL, "ready ", "places", "900", "--teams=2", NULL);
	snprintf(places_pid, sizeof(places_pid), "%d", places->pid);
	return one_crowd("crowd", "240", "--stuck");
}

static int stop(void **state)
{
	harness_free(places);
	return one_crowd_end(state);
}

static json_t *ask(const char *who, const char *option)
{
	struct harness_process *p = cli_run("fiberctl", "stacks", who, "--json", option, NULL);
	json_t *answer;

	cli_expect(p, 0);
	answer = json_answer(p);
	json_promise_answer(answer, "control");
	harness_free(p);
	return answer;
}

static const struct crowd_member *member(uint64_t id)
{
	for (size_t i = 0; i < crowd.count; i++)
		if (crowd.members[i].id == id)
			return &crowd.members[i];
	fail();
	return NULL;
}

/* Count the members of m's kind, which is the name up to its number: "fd-read". */
static size_t of_the_kind(const struct crowd_member *m)
{
	const size_t length = (size_t)(strrchr(m->name, '-') - m->name) + 1;
	size_t n = 0;

	for (size_t i = 0; i < crowd.count; i++)
		n += !strncmp(crowd.members[i].name, m->name, length) &&
		     strrchr(crowd.members[i].name, '-') == crowd.members[i].name + length - 1;
	return n;
}

/* A fiber that yields is in one of two places: usually it switches directly to the next one,
 * sometimes its carrier polls first. So this kind may be in two groups. */
static bool yields(const json_t *group)
{
	return strcmp(json_text(group, "state"), "runnable") == 0;
}

static void expect_group(const json_t *group)
{
	const json_t *const ids = json_object_get(group, "fiberIds");
	const json_t *const ages = json_object_get(group, "ageNs");
	const struct crowd_member *const first =
		member((uint64_t)json_integer_value(json_array_get(ids, 0)));
	const json_t *id;
	size_t i;

	json_promise(group, "group", JSON_GROUP);
	json_promise_frames(json_object_get(group, "frames"));
	assert_true(json_is_null(json_object_get(group, "key")));
	assert_true(json_int(group, "count") <= (json_int_t)of_the_kind(first));
	assert_true(yields(group) || json_int(group, "count") == (json_int_t)of_the_kind(first));
	json_array_foreach (ids, i, id)
		assert_int_equal(of_the_kind(member((uint64_t)json_integer_value(id))),
				 of_the_kind(first));
	assert_true(json_int(ages, "min") <= json_int(ages, "median"));
	assert_true(json_int(ages, "median") <= json_int(ages, "max"));
	if (strcmp(first->kind, json_text(group, "state")))
		assert_string_equal(json_text(json_object_get(group, "wait"), "kind"), first->kind);
	assert_int_equal(json_array_size(json_object_get(group, "frames")) > 0,
			 strcmp(first->kind, "dead") != 0);
}

static void test_stacks_are_the_kinds_of_crowd_largest_first(void **state)
{
	json_t *answer = ask(pid, NULL), *group;
	json_int_t last = INT64_MAX, sum = 0;
	size_t i, yielding = 0;

	(void)state;
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		expect_group(group);
		yielding += yields(group);
		assert_true(json_int(group, "count") <= last);
		last = json_int(group, "count");
		sum += last;
	}
	assert_in_range(yielding, 1, 2);
	assert_int_equal(i - yielding, crowd_kinds(&crowd) - 1);
	assert_int_equal(sum, crowd.count);
	assert_int_equal(json_int(answer, "total"), crowd.count);
	assert_int_equal(json_int(answer, "shown"), crowd.count);
	json_decref(answer);
}

static void test_three_hundred_places_are_three_hundred_groups(void **state)
{
	json_t *answer = ask(places_pid, NULL), *group;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(answer, "groups")), 300);
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		const json_t *const ids = json_object_get(group, "fiberIds");
		const json_int_t first = json_integer_value(json_array_get(ids, 0));

		/* Fiber i is in place i % 300, and ids count up. */
		assert_int_equal(json_int(group, "count"), 3);
		assert_int_equal(json_integer_value(json_array_get(ids, 1)) - first, 300);
		assert_int_equal(json_integer_value(json_array_get(ids, 2)) - first, 600);
	}
	json_decref(answer);
}

static void test_group_by_state_and_wait_keep_the_equal_together(void **state)
{
	static const char *const by[] = {"--group-by=state", "--group-by=wait"};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		json_t *answer = ask(pid, by[k]), *group;
		json_int_t sums[64] = {0};
		char keys[64][32];
		size_t i, n = 0;

		json_array_foreach (json_object_get(answer, "groups"), i, group) {
			const char *const key = json_text(group, "key");

			assert_string_equal(key,
					    k ? json_text(json_object_get(group, "wait"), "kind")
					      : json_text(group, "state"));
			if (!n || strcmp(keys[n - 1], key))
				snprintf(keys[n++], sizeof(keys[0]), "%s", key);
			sums[n - 1] += json_int(group, "count");
		}
		/*
		 * Each key occurs once. The keys with most fibers come first, groups without a key
		 * last.
		 */
		for (i = 0; i < n; i++)
			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(keys[i], keys[j]);
		for (i = 1; i < n; i++)
			assert_true(sums[i] <= sums[i - 1] || !keys[i][0]);
		json_decref(answer);
	}
}

/* The number of fibers in the groups of a key; key NULL: in the groups without a key. */
static json_int_t of_key(const json_t *answer, const char *key)
{
	const json_t *group;
	json_int_t n = 0;
	size_t i;

	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		const char *const is = json_string_value(json_object_get(group, "key"));

		if (key ? is && !strcmp(is, key) : !is)
			n += json_int(group, "count");
	}
	return n;
}

static void test_group_by_a_label_counts_its_values_and_who_has_none(void **state)
{
	json_t *answer = ask(places_pid, "--group-by=label.team");
	struct harness_process *p;

	(void)state;
	/* 900 fibers in 300 places, by i % 3: each team is in its own places. */
	assert_int_equal(json_array_size(json_object_get(answer, "groups")), 300);
	assert_int_equal(of_key(answer, "t0"), FIBERS / 3);
	assert_int_equal(of_key(answer, "t1"), FIBERS / 3);
	assert_int_equal(of_key(answer, NULL), FIBERS / 3);
	json_decref(answer);

	p = cli_run("fiberctl", "stacks", places_pid, "--group-by", "label.team", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "== label.team \"t0\": 300 fibers\n");
	cli_contains(p->out.bytes, "== label.team \"t1\": 300 fibers\n");
	cli_contains(p->out.bytes, "== no label.team: 300 fibers\n");
	harness_free(p);
}

static void test_group_by_any_field_counts_as_the_list_does(void **state)
{
	static const char *const fields[] = {"id",     "object", "address", "holder",
					     "target", "fd",	 "carrier", "fn",
					     "spawn",  "size",	 "name",    "label.none"};

	(void)state;
	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
		char option[64];
		struct harness_process *p =
			cli_run("fiberctl", "list", pid, "--group-by", fields[k], "--json", NULL);
		json_t *answer, *list;
		const json_t *value;
		size_t i;

		snprintf(option, sizeof(option), "--group-by=%s", fields[k]);
		answer = ask(pid, option);
		list = json_well(p);
		json_array_foreach (json_object_get(list, "groups"), i, value)
			assert_int_equal(
				of_key(answer, json_string_value(json_object_get(value, "value"))),
				json_int(value, "count"));
		assert_true(i > 0);
		json_decref(answer);
		json_decref(list);
	}
}

static void test_a_key_that_is_a_number_stands_without_quotes(void **state)
{
	struct harness_process *p =
		cli_run("fiberctl", "stacks", pid, "--group-by", "carrier", NULL);
	char wanted[64];

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "== carrier 0: 1 fiber\n");
	cli_contains(p->out.bytes, "== carrier 1: 1 fiber\n");
	snprintf(wanted, sizeof(wanted), "== no carrier: %zu fibers\n", crowd.count - 2);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
}

static void test_min_leaves_out_small_groups_and_says_how_many(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "stacks", pid, "--min", "3", NULL);
	json_t *answer = ask(pid, NULL), *group;
	json_int_t groups = 0, fibers = 0;
	const json_t *left;
	char wanted[64];
	size_t i;

	(void)state;
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		groups += json_int(group, "count") < 3;
		fibers += json_int(group, "count") < 3 ? json_int(group, "count") : 0;
	}
	assert_true(fibers >= 2); /* those that occupy the carriers */
	json_decref(answer);
	answer = ask(pid, "--min=3");
	left = json_object_get(answer, "leftOut");
	assert_int_equal(json_int(left, "groups"), groups);
	assert_int_equal(json_int(left, "fibers"), fibers);
	assert_int_equal(json_int(answer, "shown"), (json_int_t)crowd.count - fibers);
	json_decref(answer);
	answer = ask(pid, NULL);
	assert_int_equal(json_int(json_object_get(answer, "leftOut"), "groups"), 0);
	assert_int_equal(json_int(json_object_get(answer, "leftOut"), "fibers"), 0);
	json_decref(answer);
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted), "left out: %d fibers in %d group%s of fewer than 3\n",
		 (int)fibers, (int)groups, groups == 1 ? "" : "s");
	cli_contains(p->out.bytes, wanted);
	snprintf(wanted, sizeof(wanted), "%zu of %zu fibers", crowd.count - (size_t)fibers,
		 crowd.count);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
}

static void test_text_says_how_many_wait_for_what_and_where(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "stacks", pid, NULL);
	const struct crowd_member *const m = crowd_find(&crowd, "mutex", "mutex-thread-");
	char wanted[128];

	(void)state;
	cli_expect(p, 0);
	/* All fibers wait for one mutex, so the mutex is named. */
	snprintf(wanted, sizeof(wanted),
		 "%zu fibers [suspended: mutex \"thread-lock\" held by thread %s, ", of_the_kind(m),
		 m->holder + strlen("thread:"));
	cli_contains(p->out.bytes, wanted);
	/* Each of these fibers waits for its own event, so no event is named. */
	snprintf(wanted, sizeof(wanted), "%zu fibers [suspended: event, ",
		 of_the_kind(crowd_find(&crowd, "event", "event-")));
	cli_contains(p->out.bytes, wanted);
	cli_contains(p->out.bytes, " event_inner+0x");
	harness_free(p);
}

/* "a;b;c 12": the only blank is before the count. Returns the count. */
static unsigned long expect_folded(const char *line, size_t length)
{
	const char *const blank = memchr(line, ' ', length);
	char *end;
	unsigned long n;

	assert_non_null(blank);
	n = strtoul(blank + 1, &end, 10);
	assert_ptr_equal(end, line + length);
	assert_true(n > 0);
	assert_null(memmem(line, (size_t)(blank - line), ";;", 2));
	assert_true(line[0] != ';' && blank[-1] != ';');
	return n;
}

static void test_folded_lines_count_every_fiber(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "stacks", pid, "--folded", NULL);
	unsigned long sum = 0;
	char wanted[160];

	(void)state;
	cli_expect(p, 0);
	for (const char *at = p->out.bytes, *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		assert_non_null(end);
		sum += expect_folded(at, (size_t)(end - at));
	}
	assert_int_equal(sum, crowd.count);
	/* Two run, and their threads sleep in pause(): so their stacks are known. */
	cli_contains(p->out.bytes, "\nstuck_main;");
	snprintf(wanted, sizeof(wanted), "[dead] %zu\n", crowd_count(&crowd, "dead"));
	cli_contains(p->out.bytes, wanted);
	cli_contains(p->out.bytes, "\nmember_main;join_main;join_outer;join_inner;wait_for_join;"
				   "fiber_join ");
	harness_free(p);

	p = cli_run("fiberctl", "stacks", places_pid, "--folded", "--group-by=label.team", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\nt1;place_main;");
	cli_contains(p->out.bytes, "\n[none];place_main;");
	harness_free(p);
}

static void test_stacks_refuses_what_it_does_not_understand(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--group-by=weather", NULL), 64,
			 "fiberctl", "--group-by: 'weather': no such field; there are: id, ");
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--group-by=label.", NULL), 64,
			 "fiberctl", "--group-by: 'label.': no such field");
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--folded", "--json", NULL), 64,
			 "fiberctl", "--folded");
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--min=0", NULL), 64, "fiberctl",
			 "--min");
	cli_expect_error(cli_run("fiberctl", "stacks", NULL), 64, "fiberctl", "PROCESS");
	cli_expect_error(cli_run("fiberctl", "stacks", "999999999", NULL), 2, "fiberctl",
			 "999999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_are_the_kinds_of_crowd_largest_first),
		cmocka_unit_test(test_three_hundred_places_are_three_hundred_groups),
		cmocka_unit_test(test_group_by_state_and_wait_keep_the_equal_together),
		cmocka_unit_test(test_group_by_a_label_counts_its_values_and_who_has_none),
		cmocka_unit_test(test_group_by_any_field_counts_as_the_list_does),
		cmocka_unit_test(test_a_key_that_is_a_number_stands_without_quotes),
		cmocka_unit_test(test_min_leaves_out_small_groups_and_says_how_many),
		cmocka_unit_test(test_text_says_how_many_wait_for_what_and_where),
		cmocka_unit_test(test_folded_lines_count_every_fiber),
		cmocka_unit_test(test_stacks_refuses_what_it_does_not_understand),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}

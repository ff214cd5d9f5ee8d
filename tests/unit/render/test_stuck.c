/* SPDX-License-Identifier: MIT */
/* test_stuck.c - how often a source is read, and for which stacks; over a fake source */
#include <errno.h>
#include <stdlib.h>

#include "inspect/render/stuck.h"
#include "inspect/source/source.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/inspect/waiting.h"

#include <jansson.h>

/* A fake source: the fibers of each reading, and how often it was read. */
static struct {
	struct ins_source source;
	const struct waiting *readings[3];
	unsigned read, stacks;
	bool gone; /* no fiber that is requested by id exists */
	int fails; /* error of the second reading, or 0 */
} fake;

static char *text;
static struct ins_error error;
static size_t found;

static int fake_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *why)
{
	const struct waiting *w = fake.readings[fake.read ? fake.read - 1 : 0];
	struct ins_fiber fiber;
	int rc = 0;

	(void)source;
	assert_false(request->labels || request->modules || request->high_water);
	if (!request->id) {
		w = fake.readings[fake.read++];
		assert_false(request->stacks);
		if (fake.read == 2 && fake.fails)
			return ins_error_set(why, fake.fails, "it went away");
		ret->sampled_ns = 10;
	} else {
		assert_true(request->stacks);
		fake.stacks++;
		if (fake.gone)
			return -ESRCH;
	}
	for (size_t i = 0; rc == 0 && i < ins_table_count(w->table); i++) {
		ins_table_get(w->table, i, &fiber);
		ret->total++;
		if (request->id && request->id != fiber.row.id)
			continue;
		ret->shown++;
		rc = fn(context, &fiber);
	}
	return rc;
}

static void fake_close(struct ins_source *source)
{
	(void)source;
}

static const struct ins_source_ops ops = {.read = fake_read, .close = fake_close};

static int begin(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.source.kind = "control";
	fake.source.pid = 7;
	fake.source.ops = &ops;
	rows_layout(&fake.source.layout);
	text = NULL;
	found = 99;
	return ins_modules_new(0, NULL, NULL, &fake.source.problems, &fake.source.modules);
}

static int end(void **state)
{
	(void)state;
	ins_modules_free(fake.source.modules);
	ins_problems_free(&fake.source.problems);
	free(text);
	return 0;
}

/* Confirm and print. */
static int answer(const struct ins_stuck *stuck, bool still)
{
	struct ins_confirmed confirmed;
	int rc = ins_confirm_deadlocks(stuck->source, stuck->pid, still, &confirmed, &error);

	if (rc == 0) {
		found = ins_deadlocks_lasting(confirmed.found);
		rc = ins_stuck_print(stuck, &confirmed, &error);
	}
	ins_confirmed_free(&confirmed);
	return rc;
}

static int ask(bool still, bool json)
{
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const struct ins_stuck stuck = {.source = &fake.source, .json = json, .out = out};
	int rc = answer(&stuck, still);

	fclose(out);
	return rc;
}

static struct waiting ring(uint64_t n, uint64_t seq)
{
	struct waiting w = waiting_new();

	for (uint64_t id = 1; id <= n; id++) {
		struct ins_fiber fiber = waiting_for(id, FIB_WAIT_MUTEX, id, id == n ? 1 : id + 1);

		fiber.row.seq = seq;
		waiting_put(&w, &fiber);
	}
	return w;
}

static void test_without_a_suspicion_one_reading_is_enough(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_free_one(&w, 1, 0);
	fake.readings[0] = &w;
	assert_int_equal(ask(false, false), 0);
	assert_int_equal(fake.read, 1);
	assert_int_equal(found, 0);
	assert_string_equal(text, "no deadlock\nshown 1 of 1 fiber, sampled over 10ns\n");
	waiting_free(&w);
}

static void test_what_stands_in_two_readings_is_found(void **state)
{
	struct waiting w = ring(2, 4);

	(void)state;
	fake.readings[0] = fake.readings[1] = &w;
	assert_int_equal(ask(false, false), 0);
	assert_int_equal(fake.read, 2);
	assert_int_equal(fake.stacks, 2);
	assert_int_equal(found, 1);
	assert_ptr_equal(
		strstr(text, "deadlock: 2 fibers wait for each other in a cycle\nfiber 1 "), text);
	assert_non_null(
		strstr(text, "\nfiber 2 \"f2\" [suspended: mutex \"o2\" held by 1, 1.5s]\n"));
	assert_non_null(strstr(text, "\n1 deadlock; unchanged in 2 readings\n"));
	assert_non_null(strstr(text, "\nshown 2 of 2 fibers, sampled over 20ns\n"));
	waiting_free(&w);
}

static void test_what_moved_between_two_readings_is_not(void **state)
{
	struct waiting first = ring(2, 4), second = ring(2, 6);

	(void)state;
	fake.readings[0] = &first;
	fake.readings[1] = &second;
	assert_int_equal(ask(false, false), 0);
	assert_int_equal(fake.read, 2);
	assert_int_equal(fake.stacks, 0);
	assert_int_equal(found, 0);
	assert_string_equal(text, "no deadlock\nshown 2 of 2 fibers, sampled over 20ns\n");
	waiting_free(&first);
	waiting_free(&second);
}

static struct waiting self_lock(void)
{
	struct waiting w = waiting_new();

	waiting_lock(&w, 1, 1, 1);
	return w;
}

static void test_what_is_fleeting_is_read_three_times(void **state)
{
	struct waiting w = self_lock();

	(void)state;
	fake.readings[0] = fake.readings[1] = fake.readings[2] = &w;
	assert_int_equal(ask(false, false), 0);
	assert_int_equal(fake.read, 3);
	assert_int_equal(found, 1);
	assert_non_null(strstr(text, "\n1 deadlock; unchanged in 3 readings\n"));
	assert_non_null(strstr(text, "\nshown 1 of 1 fiber, sampled over 30ns\n"));
	waiting_free(&w);
}

static void test_what_was_handed_over_by_the_third_reading_is_not_found(void **state)
{
	struct waiting w = self_lock(), last = waiting_new();

	(void)state;
	waiting_free_one(&last, 1, 0);
	fake.readings[0] = fake.readings[1] = &w;
	fake.readings[2] = &last;
	assert_int_equal(ask(false, false), 0);
	assert_int_equal(fake.read, 3);
	assert_int_equal(found, 0);
	waiting_free(&w);
	waiting_free(&last);
}

static void test_what_does_not_move_needs_one_reading(void **state)
{
	struct waiting w = ring(2, 4);

	(void)state;
	fake.readings[0] = &w;
	assert_int_equal(ask(true, false), 0);
	assert_int_equal(fake.read, 1);
	assert_int_equal(found, 1);
	assert_non_null(strstr(text, "\n1 deadlock\n"));
	waiting_free(&w);
}

static void test_of_a_large_cycle_the_first_are_shown_and_the_others_counted(void **state)
{
	struct waiting w = ring(100, 4);
	json_t *root, *row;

	(void)state;
	fake.readings[0] = &w;
	assert_int_equal(ask(true, false), 0);
	assert_int_equal(fake.stacks, INS_STUCK_CYCLE);
	assert_non_null(
		strstr(text, "\n... and 84 more of these 100 fibers: --json has their ids\n"));
	free(text);
	fake.read = fake.stacks = 0;
	assert_int_equal(ask(true, true), 0);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_int_equal(json_integer_value(json_object_get(root, "found")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "readings")), 1);
	row = json_array_get(json_object_get(root, "findings"), 0);
	assert_int_equal(json_array_size(json_object_get(row, "fiberIds")), 100);
	assert_int_equal(json_array_size(json_object_get(row, "fibers")), INS_STUCK_CYCLE);
	assert_non_null(
		json_object_get(json_array_get(json_object_get(row, "fibers"), 0), "frames"));
	json_decref(root);
	waiting_free(&w);
}

static void test_of_very_many_findings_all_are_said_and_not_all_stacks_read(void **state)
{
	struct waiting w = waiting_new();
	unsigned lines = 0;

	(void)state;
	for (uint64_t id = 1; id <= 1000; id++)
		waiting_lock(&w, id, id, id);
	fake.readings[0] = &w;
	assert_int_equal(ask(true, false), 0);
	assert_int_equal(found, 1000);
	assert_int_equal(fake.stacks, INS_STUCK_ALL);
	for (const char *at = text; (at = strstr(at, "deadlock: fiber ")); at++)
		lines++;
	assert_int_equal(lines, 1000);
	assert_non_null(strstr(text,
			       "\nfiber 1000 \"f1000\" [suspended: mutex \"o1000\" held by 1000, "
			       "1.5s]\n  no frames: 64 stacks are shown already\n"));
	waiting_free(&w);
}

static void test_a_fiber_whose_stack_was_not_read_has_all_keys_too(void **state)
{
	struct waiting w = waiting_new();
	json_t *root, *findings, *fiber;

	(void)state;
	for (uint64_t id = 1; id <= INS_STUCK_ALL + 1; id++)
		waiting_lock(&w, id, id, id);
	fake.readings[0] = &w;
	assert_int_equal(ask(true, true), 0);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	findings = json_object_get(root, "findings");
	assert_int_equal(json_array_size(findings), INS_STUCK_ALL + 1);
	fiber = json_array_get(json_object_get(json_array_get(findings, INS_STUCK_ALL), "fibers"),
			       0);
	assert_true(json_is_array(json_object_get(fiber, "frames")));
	assert_int_equal(json_array_size(json_object_get(fiber, "frames")), 0);
	assert_true(json_is_true(json_object_get(fiber, "truncated")));
	json_decref(root);
	waiting_free(&w);
}

static void test_a_fiber_that_ended_before_its_stack_was_read_is_said_to_have(void **state)
{
	struct waiting w = ring(2, 4);

	(void)state;
	fake.readings[0] = &w;
	fake.gone = true;
	assert_int_equal(ask(true, false), 0);
	assert_non_null(strstr(text, "\nfiber 2 has ended since\n"));
	waiting_free(&w);
}

static void test_a_source_that_fails_says_why_and_nothing_is_printed(void **state)
{
	struct waiting w = ring(2, 4);

	(void)state;
	fake.readings[0] = fake.readings[1] = &w;
	fake.fails = -EPIPE;
	assert_int_equal(ask(false, false), -EPIPE);
	assert_string_equal(error.text, "it went away");
	assert_string_equal(text, "");
	waiting_free(&w);
}

/* The same deadlocks, read from process memory without a socket. */
static void test_the_memory_of_a_live_process_has_the_same_deadlocks(void **state)
{
	char path[HARNESS_PATH], *said;
	const char *const argv[] = {harness_program(path, "deadlock"), "--philosophers", "5",
				    "--gone", NULL};
	struct harness_process *p = harness_start(argv, NULL);
	struct ins_stuck stuck = {0};
	size_t size;

	(void)state;
	assert_non_null(harness_wait_line(p, "ready ", 30));
	assert_int_equal(ins_source_open_live(p->pid, &error, &stuck.source), 0);
	stuck.pid = p->pid;
	stuck.out = open_memstream(&said, &size);
	assert_int_equal(answer(&stuck, false), 0);
	fclose(stuck.out);
	assert_int_equal(found, 2);
	assert_non_null(strstr(said, "deadlock: 5 fibers wait for each other in a cycle\n"));
	assert_non_null(strstr(said, ", which has ended; 1 fiber waits for it\n"));
	assert_non_null(strstr(said, " member_main"));
	assert_non_null(strstr(said, "\n2 deadlocks; unchanged in 2 readings\n"));
	free(said);
	ins_source_close(stuck.source);
	harness_free(p);
}

#define STUCK_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STUCK_TEST(test_without_a_suspicion_one_reading_is_enough),
		STUCK_TEST(test_what_stands_in_two_readings_is_found),
		STUCK_TEST(test_what_moved_between_two_readings_is_not),
		STUCK_TEST(test_what_is_fleeting_is_read_three_times),
		STUCK_TEST(test_what_was_handed_over_by_the_third_reading_is_not_found),
		STUCK_TEST(test_what_does_not_move_needs_one_reading),
		STUCK_TEST(test_of_a_large_cycle_the_first_are_shown_and_the_others_counted),
		STUCK_TEST(test_of_very_many_findings_all_are_said_and_not_all_stacks_read),
		STUCK_TEST(test_a_fiber_whose_stack_was_not_read_has_all_keys_too),
		STUCK_TEST(test_a_fiber_that_ended_before_its_stack_was_read_is_said_to_have),
		STUCK_TEST(test_the_memory_of_a_live_process_has_the_same_deadlocks),
		STUCK_TEST(test_a_source_that_fails_says_why_and_nothing_is_printed),
	};

	return HEAD_RUN(tests, NULL, NULL);
}

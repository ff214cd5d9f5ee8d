/* SPDX-License-Identifier: MIT */
/* test_watch.c - totals count all fibers; leaders and groups count the matching ones */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/query/watch.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/query/sights.h"

static struct ins_query plain_wish(void)
{
	return (struct ins_query){
		.sort = sights_field("cpu"), .backwards = true, .group = sights_field("wait")};
}

/* Look at ten fibers at `now`; 3 of them wait. Fiber id uses id * 1000 ns of CPU per ns. */
static void look(struct ins_watch *watch, const struct ins_query *wish, int64_t now)
{
	uint64_t id;

	ins_watch_begin(watch, wish);
	for (id = 1; id <= 10; id++) {
		struct ins_fiber fiber =
			sights_fiber(id, now, id * 1000 * (uint64_t)now, id * (uint64_t)now);
		struct ins_sight sight = sights_of(&fiber);

		if (id <= 3)
			fiber.row.wait_kind = FIB_WAIT_MUTEX;
		if (id == 10)
			fiber.row.state = FIBER_RUNNING;
		assert_int_equal(ins_watch_add(watch, &sight), 0);
	}
	ins_watch_end(watch);
}

static void test_watch_totals_are_of_all_and_since_the_look_before(void **state)
{
	const struct ins_query wish = plain_wish();
	const struct ins_watch_totals *t;
	struct ins_watch *watch;

	(void)state;
	assert_int_equal(ins_watch_new(5, &watch), 0);
	look(watch, &wish, 100);
	t = ins_watch_totals(watch);
	assert_int_equal(t->fibers, 10);
	assert_int_equal(t->ns, 0);
	assert_int_equal(t->cpu, 0);
	look(watch, &wish, 300);
	t = ins_watch_totals(watch);
	assert_int_equal(t->ns, 200);
	assert_int_equal(t->cpu, 55 * 1000 * 200);
	assert_int_equal(t->switches, 55 * 200);
	assert_int_equal(t->state[FIBER_SUSPENDED], 9);
	assert_int_equal(t->state[FIBER_RUNNING], 1);
	assert_int_equal(t->wait[FIB_WAIT_MUTEX], 3);
	assert_int_equal(ins_watch_top_n(watch), 5);
	assert_int_equal(ins_watch_top_n_row(watch, 0)->fiber.row.id, 10);
	assert_int_equal(ins_watch_top_n_row(watch, 0)->did.cpu, 10 * 1000 * 200);
	assert_int_equal(ins_watch_group_totals(watch), 2);
	ins_watch_free(watch);
}

static void test_watch_shows_only_what_matches(void **state)
{
	struct ins_query wish = plain_wish();
	struct ins_select *select;
	struct ins_watch *watch;
	struct ins_error error;

	(void)state;
	assert_int_equal(ins_select_parse("wait=mutex and id>1", &select, &error), 0);
	assert_int_equal(ins_watch_new(5, &watch), 0);
	look(watch, &wish, 100);
	wish.select = select;
	look(watch, &wish, 200);
	assert_int_equal(ins_watch_totals(watch)->fibers, 10);
	assert_int_equal(ins_watch_totals(watch)->matched, 2);
	assert_int_equal(ins_watch_totals(watch)->cpu, 55 * 1000 * 100);
	assert_int_equal(ins_watch_top_n(watch), 2);
	assert_int_equal(ins_watch_top_n_row(watch, 0)->fiber.row.id, 3);
	assert_true(ins_watch_top_n_row(watch, 0)->did.known);
	assert_int_equal(ins_watch_group_totals(watch), 1);
	assert_int_equal(ins_group_totals_at(ins_watch_groups(watch), 0)->cpu, 5 * 1000 * 100);
	ins_watch_free(watch);
	ins_select_free(select);
}

static void test_watch_without_a_group_has_none(void **state)
{
	struct ins_query wish = plain_wish();
	struct ins_watch *watch;

	(void)state;
	assert_int_equal(ins_watch_new(5, &watch), 0);
	look(watch, &wish, 100);
	assert_int_equal(ins_watch_group_totals(watch), 2);
	wish.group = (struct ins_field){0};
	look(watch, &wish, 200);
	assert_int_equal(ins_watch_group_totals(watch), 0);
	ins_watch_free(watch);
}

static void test_watch_survives_states_and_waits_that_do_not_exist(void **state)
{
	const struct ins_query wish = plain_wish();
	struct ins_fiber fiber = sights_fiber(1, 1, 0, 0);
	struct ins_sight sight = sights_of(&fiber);
	struct ins_watch *watch;

	(void)state;
	fiber.row.state = 255;
	fiber.row.wait_kind = 255;
	assert_int_equal(ins_watch_new(5, &watch), 0);
	ins_watch_begin(watch, &wish);
	assert_int_equal(ins_watch_add(watch, &sight), 0);
	ins_watch_end(watch);
	assert_int_equal(ins_watch_totals(watch)->state[INS_WATCH_STATES - 1], 1);
	assert_int_equal(ins_watch_totals(watch)->wait[INS_WATCH_WAITS - 1], 1);
	ins_watch_free(watch);
}

static void test_watch_asks_only_for_what_is_needed(void **state)
{
	struct ins_query wish = plain_wish();
	struct ins_request request = {0};

	(void)state;
	ins_query_wants(&wish, &request);
	assert_false(request.labels || request.high_water || request.modules || request.stacks);
	wish.sort = sights_field("high-water");
	wish.group = sights_field("label.tenant");
	ins_query_wants(&wish, &request);
	assert_true(request.labels && request.high_water);
}

static void test_watch_rates_are_of_time_and_never_overflow(void **state)
{
	(void)state;
	assert_int_equal(ins_watch_permille(500, 1000), 500);
	assert_int_equal(ins_watch_permille(2000, 1000), 2000);
	assert_int_equal(ins_watch_permille(5, 0), 0);
	assert_int_equal(ins_watch_rate(30, INT64_C(2000000000)), 15);
	assert_int_equal(ins_watch_rate(5, -1), 0);
	assert_int_equal(ins_watch_rate(UINT64_MAX, 1), UINT64_C(1000000000000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch_totals_are_of_all_and_since_the_look_before),
		cmocka_unit_test(test_watch_shows_only_what_matches),
		cmocka_unit_test(test_watch_without_a_group_has_none),
		cmocka_unit_test(test_watch_survives_states_and_waits_that_do_not_exist),
		cmocka_unit_test(test_watch_asks_only_for_what_is_needed),
		cmocka_unit_test(test_watch_rates_are_of_time_and_never_overflow),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

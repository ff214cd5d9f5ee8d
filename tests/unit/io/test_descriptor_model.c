/* SPDX-License-Identifier: MIT */
/*
 * test_descriptor_model.c - descriptor_model.h in every interleaving, and with a rule left out
 *
 * The whole model must find nothing wrong. With any rule left out it must find an error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "descriptor_model.h"

enum { STAYS_OPEN, CLOSES, AND_ACCEPTS };

/* old, new: number of bytes that arrive for the file, and for the next file. */
static void run(enum broken rule, unsigned closes, bool keeps, unsigned old, unsigned new,
		struct explore *e)
{
	struct model first = {.number = OLD,
			      .generation = 1,
			      .fresh = 1,
			      .accepts = closes == AND_ACCEPTS,
			      .keeps = keeps};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	first.r[HEIR].at = END;
	first.closer = !closes ? END : rule == LETS_GO_OPENLY ? LET_GO : RENEW;
	first.opener = closes ? OPEN : END;
	first.to_come[OLD] = (uint8_t)old;
	first.to_come[NEW] = (uint8_t) new;
	explore(e, &first);
}

static void test_descriptor_model_leaves_nobody_beside_his_bytes_or_on_what_is_closed(void **state)
{
	struct explore e;
	unsigned closes, keeps, bytes;

	(void)state;
	for (closes = STAYS_OPEN; closes <= AND_ACCEPTS; closes++) {
		for (keeps = bytes = 0; bytes <= 3; bytes += keeps, keeps = !keeps) {
			run(NOTHING, closes, keeps, bytes, bytes / 2 + 1, &e);
			if (e.found)
				print_message("# %s: %s\n", e.found, e.way);
			assert_null(e.found);
			assert_true(e.states > 20 * (bytes + 1) && e.finals > 0);
		}
	}
}

static void goes_wrong(enum broken rule, unsigned closes, unsigned old, unsigned new,
		       const char *what)
{
	struct explore e;

	run(rule, closes, rule >= LETS_GO_OPENLY && rule <= LOOKS_OPENLY, old, new, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_descriptor_model_that_misses_an_edge_sleeps_beside_its_bytes(void **state)
{
	(void)state;
	goes_wrong(JOINS_BLINDLY, STAYS_OPEN, 2, 0, "a fiber sleeps beside its bytes");
	goes_wrong(TRIES_FIRST, STAYS_OPEN, 2, 0, "a fiber sleeps beside its bytes");
	goes_wrong(WAKES_BEFORE, STAYS_OPEN, 2, 0, "a fiber sleeps beside its bytes");
}

/* This bug occurred: edges were noted after the close, and the number was reused and registered
 * again. */
static void test_descriptor_model_that_asks_for_no_generation_sleeps_on_a_stranger(void **state)
{
	(void)state;
	goes_wrong(JOINS_A_STRANGER, AND_ACCEPTS, 0, 1, "a fiber sleeps on what was closed");
}

static void test_descriptor_model_without_the_gate_registers_with_a_token_of_the_past(void **state)
{
	(void)state;
	goes_wrong(WATCHES_OPENLY, AND_ACCEPTS, 0, 1, "a fiber sleeps beside its bytes");
}

static void test_descriptor_model_that_wakes_too_seldom_leaves_them_on_what_is_closed(void **state)
{
	(void)state;
	goes_wrong(WAKES_ONCE, CLOSES, 0, 0, "a fiber sleeps on what was closed");
	goes_wrong(WAKES_NOBODY, CLOSES, 0, 0, "a fiber sleeps on what was closed");
}

static void test_descriptor_model_that_receives_openly_gives_a_stranger_s_bytes(void **state)
{
	(void)state;
	goes_wrong(RECEIVES_OPENLY, AND_ACCEPTS, 1, 1, "a fiber was given a stranger's bytes");
	goes_wrong(RECEIVES_FOR_ANYBODY, AND_ACCEPTS, 0, 1, "a fiber was given a stranger's bytes");
}

static void test_descriptor_model_that_lets_go_too_seldom_keeps_a_closed_file(void **state)
{
	(void)state;
	goes_wrong(LETS_GO_OPENLY, CLOSES, 0, 0, "the poller keeps a closed file open");
	goes_wrong(LETS_GO_ONCE, CLOSES, 0, 0, "the poller keeps a closed file open");
	goes_wrong(LOOKS_OPENLY, CLOSES, 0, 0, "the poller keeps a closed file open");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_descriptor_model_leaves_nobody_beside_his_bytes_or_on_what_is_closed),
		cmocka_unit_test(test_descriptor_model_that_misses_an_edge_sleeps_beside_its_bytes),
		cmocka_unit_test(
			test_descriptor_model_that_asks_for_no_generation_sleeps_on_a_stranger),
		cmocka_unit_test(
			test_descriptor_model_without_the_gate_registers_with_a_token_of_the_past),
		cmocka_unit_test(
			test_descriptor_model_that_wakes_too_seldom_leaves_them_on_what_is_closed),
		cmocka_unit_test(
			test_descriptor_model_that_receives_openly_gives_a_stranger_s_bytes),
		cmocka_unit_test(test_descriptor_model_that_lets_go_too_seldom_keeps_a_closed_file),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_peer_silence.c - a client that waits long for the first byte is notified of the progress */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "records.h"
#include "service/answer.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

#define MANY 20000u
#define STEP (FIB_PEER_STILL / 5)

/* Let the peer make the whole answer, each turn taking STEP ns. Returns what the client
 * received. */
struct heard {
	unsigned stills, others;
	int64_t silence; /* the longest silence, ns */
	uint64_t place;	 /* the last reported place in the walk */
};

/* Check that the frame reports progress, and a later place than the frame before. */
static void expect_place(const void *payload, size_t length, uint64_t *place)
{
	struct fib_wire_still still;

	assert_int_equal(length, sizeof still);
	memcpy(&still, payload, sizeof still);
	assert_true(still.done > *place);
	assert_true(still.done <= still.all);
	assert_true(still.all >= MANY);
	*place = still.done;
}

static void hear(struct talk *t, struct heard *ret)
{
	int64_t last = t->now;
	const void *payload;
	size_t length;
	unsigned type;

	*ret = (struct heard){0};
	do {
		t->now += STEP;
		talk_turn(t);
		while (talk_take(t))
			;
		while ((type = talk_frame(t, &payload, &length)) != 0) {
			ret->stills += type == FIB_WIRE_STILL;
			if (type == FIB_WIRE_STILL)
				expect_place(payload, length, &ret->place);
			ret->others += type != FIB_WIRE_STILL;
			if (t->now - last > ret->silence)
				ret->silence = t->now - last;
			last = t->now;
		}
	} while (t->peer.command || fib_peer_filled(&t->peer));
}

static void test_peer_says_now_and_then_that_it_is_still_looking(void **state)
{
	struct fib_wire_id nobody = {UINT64_C(1) << 60};
	struct fiber *all[MANY];
	struct heard heard;
	struct talk t;
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++)
		all[i] = record_make("one", 0, 0);
	talk_begin(&t);
	t.brief = true; /* as in a program that uses every CPU */
	talk_request(&t, FIB_WIRE_SHOW, &nobody, sizeof nobody);
	hear(&t, &heard);
	assert_true(t.turns > 50);
	assert_true(heard.stills > 5);
	assert_in_range(heard.silence, 1, FIB_PEER_STILL + 2 * STEP);
	/* A client that receives data all the time needs no such report. */
	talk_request(&t, FIB_WIRE_LIST, NULL, 0);
	hear(&t, &heard);
	assert_true(heard.others > 50);
	assert_int_equal(heard.stills, 0);
	talk_end(&t);
	for (i = 0; i < MANY; i++)
		record_end(all[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peer_says_now_and_then_that_it_is_still_looking),
	};

	harness_watchdog(60);
	fib_registry_init();
	fib_answer_introduce("unit", FIB_WIRE_RW);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_render_trace_events.c - the timeline's events for a fully known recording */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>

#include "inspect/render/render_trace_events.h"
#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

static char *render(struct ins_recording *r)
{
	struct ins_replay *replay;
	char *at = NULL;
	size_t size;
	FILE *out = open_memstream(&at, &size);

	assert_non_null(out);
	assert_int_equal(ins_replay_new(r, &replay), 0);
	assert_int_equal(ins_trace_events(out, r, replay), 0);
	assert_int_equal(fclose(out), 0);
	ins_replay_free(replay);
	ins_recording_close(r);
	return at;
}

static void must_have(const char *all, const char *what)
{
	if (!strstr(all, what))
		fail_msg("%s is not in:\n%s", what, all);
}

static void test_timeline_has_tracks_slices_and_arrows(void **state)
{
	char *all = render(made_three());
	json_t *parsed = json_loads(all, 0, NULL);

	(void)state;
	assert_non_null(parsed);
	json_decref(parsed);
	must_have(all,
		  "\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"carrier 0 "
		  "(runtime 1)\"}");
	must_have(all,
		  "\"pid\":2,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"1 \\\"one\\\" "
		  "serve</script>\"}");
	must_have(all, "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.600,\"dur\":0.100,\"name\":\"1 "
		       "\\\"one\\\"\"");
	must_have(all,
		  "{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":0.300,\"dur\":0.200,\"name\":\"mutex "
		  "\\\"lock\\\"@0xabc\",\"cat\":\"waiting\",\"args\":{\"fiber\":1}}");
	/* 3 wakes 1 at 500. */
	must_have(all, "{\"ph\":\"s\",\"pid\":2,\"tid\":3,\"ts\":0.500,\"id\":3,");
	must_have(all, "{\"ph\":\"f\",\"pid\":2,\"tid\":1,\"ts\":0.500,\"id\":3,\"cat\":\"wake\","
		       "\"name\":\"wake\",\"bp\":\"e\"}");
	/* The carrier itself wakes 3 at 400. */
	must_have(all, "{\"ph\":\"s\",\"pid\":1,\"tid\":2,\"ts\":0.400,\"id\":2,");
	must_have(all, "\"name\":\"steals 1 from carrier 0\"");
	free(all);
}

static void test_timeline_is_json_whatever_names_are(void **state)
{
	struct made m = made_begin("names.rec", 100);
	const struct fib_event e[] = {
		made_run(10, 1, FIB_EVENT_NOBODY, 0, 0),
		{.type = FIB_EVENT_NAME, .fiber = 1, .time = 0xff22090a5c22}, /* "\ LF TAB " \xff */
	};
	char *all;
	json_t *parsed;

	(void)state;
	memcpy(m.head.name, "a\"\\\n\xc3", 5);
	made_ring(&m, 0, 0, e, 2);
	all = render(made_end(&m));
	parsed = json_loads(all, 0, NULL);
	assert_non_null(parsed);
	json_decref(parsed);
	free(all);
}

/* The second hole ends, by the clocks, after the recording. */
static void test_timeline_has_holes_that_end_where_the_next_event_is_or_all(void **state)
{
	struct made m = made_begin("holes.rec", 100);
	const struct fib_event e[] = {made_event(FIB_EVENT_STEAL, 10, 1),
				      made_event(FIB_EVENT_STEAL, 40, 1),
				      made_event(FIB_EVENT_STEAL, 200, 1)};
	char *all;

	(void)state;
	made_ring(&m, 0, 0, e, 1);
	made_ring(&m, 0, 5, e + 1, 1);
	made_ring(&m, 0, 6, e + 2, 1);
	all = render(made_end(&m));
	must_have(all, "\"ts\":0.010,\"dur\":0.030,\"name\":\"5 events lost\"");
	must_have(all, "\"ts\":0.040,\"dur\":0.060,\"name\":\"6 events lost\"");
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline_has_tracks_slices_and_arrows),
		cmocka_unit_test(test_timeline_is_json_whatever_names_are),
		cmocka_unit_test(test_timeline_has_holes_that_end_where_the_next_event_is_or_all),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

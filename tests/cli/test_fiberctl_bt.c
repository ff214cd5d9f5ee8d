/* SPDX-License-Identifier: MIT */
/* test_fiberctl_bt.c - backtraces of suspended fibers: header, functions, lines, inlines */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "110", NULL);
}

static void matches(const char *text, const char *pattern)
{
	regex_t regex;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE), 0);
	if (regexec(&regex, text, 0, NULL, 0)) {
		print_error("no line matches %s in:\n%.3000s\n", pattern, text);
		fail();
	}
	regfree(&regex);
}

static void test_bt_has_one_greppable_header_and_the_calls_of_the_fiber(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "mutex", "mutex-1");
	struct harness_process *p = cli_run("fiberctl", "bt", pid, cli_number(m->id), NULL);
	char pattern[256];
	const char *at;

	(void)state;
	cli_expect(p, 0);
	snprintf(pattern, sizeof(pattern),
		 "^fiber %s \"%s\" \\[suspended: mutex \"%s\" held by %s, [0-9].*\\]$",
		 cli_number(m->id), m->name, m->object, m->holder);
	matches(p->out.bytes, pattern);
	/* In this order, each with its line; the innermost one was inlined into mutex_inner. */
	at = strstr(p->out.bytes, "fiber_mutex_lock");
	assert_non_null(at);
	at = strstr(at, "wait_for_mutex");
	assert_non_null(at);
	at = strstr(at, "mutex_inner");
	assert_non_null(at);
	at = strstr(at, "mutex_outer");
	assert_non_null(at);
	at = strstr(at, "mutex_main");
	assert_non_null(at);
	at = strstr(at, "member_main");
	assert_non_null(at);
	matches(p->out.bytes, "wait_for_mutex.*crowd_kinds\\.h:[0-9]+");
	matches(p->out.bytes, "wait_for_mutex.*inline");
	harness_free(p);
}

static void test_bt_of_each_kind_of_wait_names_its_functions(void **state)
{
	static const struct {
		const char *kind, *prefix, *chain[5];
	} kinds[] = {
		{"park", "park-", {"fiber_park", "wait_for_park", "park_inner", "park_outer"}},
		{"sleep",
		 "sleep-",
		 {"fiber_sleep", "wait_for_sleep", "sleep_inner", "sleep_outer"}},
		{"join", "join-", {"fiber_join", "wait_for_join", "join_inner", "join_outer"}},
		{"cond", "cond-", {"fiber_cond_wait", "wait_for_cond", "cond_inner", "cond_outer"}},
		{"sem", "sem-", {"fiber_sem_wait", "wait_for_sem", "sem_inner", "sem_outer"}},
		{"rwlock-read",
		 "rwlock-read-",
		 {"fiber_rwlock_rdlock", "wait_for_rdlock", "rdlock_inner", "rdlock_outer"}},
		{"rwlock-write",
		 "rwlock-write-",
		 {"fiber_rwlock_wrlock", "wait_for_wrlock", "wrlock_inner", "wrlock_outer"}},
		{"event",
		 "event-",
		 {"fiber_event_wait", "wait_for_event", "event_inner", "event_outer"}},
		{"barrier",
		 "barrier-",
		 {"fiber_barrier_wait", "wait_for_barrier", "barrier_inner", "barrier_outer"}},
		{"once", "once-", {"fiber_once", "wait_for_once", "once_inner", "once_outer"}},
		{"waitgroup",
		 "waitgroup-",
		 {"fiber_waitgroup_wait", "wait_for_waitgroup", "waitgroup_inner",
		  "waitgroup_outer"}},
		{"chan-send",
		 "chan-send-",
		 {"fiber_chan_send", "wait_for_sending", "sending_inner", "sending_outer"}},
		{"chan-recv",
		 "chan-recv-",
		 {"fiber_chan_recv", "wait_for_receiving", "receiving_inner", "receiving_outer"}},
		{"select",
		 "select-",
		 {"fiber_select", "wait_for_select", "select_inner", "select_outer"}},
		{"timer",
		 "timer-",
		 {"fiber_timer_wait", "wait_for_timer", "timer_inner", "timer_outer"}},
		{"fd", "fd-read-", {"fiber_read", "wait_for_reading", "reading_inner"}},
		{"fd", "fd-write-", {"fiber_write", "wait_for_writing", "writing_inner"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct crowd_member *m = crowd_find(&crowd, kinds[i].kind, kinds[i].prefix);
		struct harness_process *p = cli_run("fiberctl", "bt", pid, cli_number(m->id), NULL);
		const char *at = p->out.bytes;

		cli_expect(p, 0);
		for (const char *const *function = kinds[i].chain; *function; function++) {
			cli_contains(at, *function);
			at = strstr(at, *function);
		}
		harness_free(p);
	}
}

static void test_bt_all_shows_every_fiber_once(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "bt", pid, "--all", NULL);
	size_t headers = 0;

	(void)state;
	cli_expect(p, 0);
	for (const char *at = p->out.bytes; (at = strstr(at, "fiber ")); at++)
		headers += (at == p->out.bytes || at[-1] == '\n');
	assert_int_equal(headers, crowd.count);
	for (size_t i = 0; i < crowd.count; i++) {
		char header[128];

		snprintf(header, sizeof(header), "fiber %s \"%s\" [",
			 cli_number(crowd.members[i].id), crowd.members[i].name);
		cli_contains(p->out.bytes, header);
	}
	harness_free(p);
}

static void test_bt_json_keeps_the_promises_frame_by_frame(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "bt", pid, "--all", "--json", NULL);
	const json_t *fiber, *frames;
	json_t *answer;
	size_t i;

	(void)state;
	answer = json_well(p);
	json_promise_answer(answer, "control");
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), crowd.count);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		const bool dead = !strcmp(json_text(fiber, "state"), "dead");

		json_promise_fiber(fiber, true);
		frames = json_object_get(fiber, "frames");
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
		assert_true(dead == (json_array_size(frames) == 0));
	}
	json_decref(answer);
}

static void test_bt_shows_a_running_fiber_as_running_without_guessing_its_stack(void **state)
{
	struct crowd spin = crowd_start(NULL, "spin", NULL, NULL);
	const struct crowd_member *m = crowd_find(&spin, "running", "running-");
	struct harness_process *p =
		cli_run("fiberctl", "bt", cli_number((uint64_t)spin.process->pid),
			cli_number(m->id), "--json", NULL);
	json_t *answer = json_answer(p), *fiber = json_fiber(answer, m->id);

	(void)state;
	assert_in_range(harness_exit_code(p), 0, 1);
	json_promise_fiber(fiber, true);
	assert_string_equal(json_text(fiber, "state"), "running");
	assert_int_equal(json_array_size(json_object_get(fiber, "frames")), 0);
	assert_true(json_is_integer(json_object_get(fiber, "carrier")));
	json_decref(answer);
	harness_free(p);
	crowd_end(&spin);
}

/* The two running fibers have no stacks, but the condition excludes them. */
static void test_what_others_lack_is_not_missed_by_where(void **state)
{
	struct crowd spin = crowd_start(NULL, "spin", NULL, NULL);
	const char *who = cli_number((uint64_t)spin.process->pid);
	struct harness_process *p =
		cli_run("fiberctl", "bt", who, "--all", "-w", "wait=mutex", "--json", NULL);
	json_t *answer = json_answer(p);

	(void)state;
	cli_expect(p, 0);
	assert_int_equal(json_int(answer, "shown"), crowd_count(&spin, "mutex"));
	assert_true(json_is_true(json_object_get(answer, "complete")));
	json_decref(answer);
	harness_free(p);
	p = cli_run("fiberctl", "stacks", who, "-w", "wait=mutex", NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "incomplete"));
	harness_free(p);
	p = cli_run("fiberctl", "stacks", who, "-w", "wait=mutex or state=running", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "\nincomplete: 2 fibers are incomplete");
	harness_free(p);
	crowd_end(&spin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bt_has_one_greppable_header_and_the_calls_of_the_fiber),
		cmocka_unit_test(test_bt_of_each_kind_of_wait_names_its_functions),
		cmocka_unit_test(test_bt_all_shows_every_fiber_once),
		cmocka_unit_test(test_bt_json_keeps_the_promises_frame_by_frame),
		cmocka_unit_test(
			test_bt_shows_a_running_fiber_as_running_without_guessing_its_stack),
		cmocka_unit_test(test_what_others_lack_is_not_missed_by_where),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}

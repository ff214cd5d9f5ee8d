/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_leaks.c - each kind of leak of the fixture leaks is found, and its twin is not
 *
 * A process that runs, one that is stopped for the look, and a core give the same result.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define FOUND 3

static const struct kind {
	const char *name;
	const char *wait; /* of a group */
	size_t lost;
} kinds[] = {
	{"chan-recv", "chan-recv", 1},
	{"chan-send", "chan-send", 1},
	{"chan-full", "chan-send", 1},
	{"mutex", "mutex", 1},
	{"rwlock-write", "rwlock-write", 2},
	{"rwlock-read", "rwlock-read", 2},
	{"cond", "cond", 1},
	{"sem", "sem", 1},
	{"event", "event", 1},
	{"own-event", "event", 1},
	{"barrier", "barrier", 2},
	{"once", "once", 2},
	{"waitgroup", "waitgroup", 1},
	{"group", "group", 2},
	{"join", "join", 2},
	{"select", "select", 1},
	{"two-sems", "sem", 2},
	{"three-chans", "chan-recv", 3},
	{"mutex-and-sem", "mutex", 2},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const char group_keys[] = "fibers:i fiberIds:a wait:s object:x? spawnPlace:s? place:s? "
				 "longestNs:i stackBytes:i example:i";

/* The answer about a process or a core. option: one more, or NULL. */
static json_t *ask(const char *who, const char *option, int code)
{
	json_t *answer;

	answer = json_ended(cli_run("fibertrace", "leaks", who, "--json", option, NULL), code);

	json_promise(answer, "answer",
		     JSON_ANSWER " groups:a found:i lost:i unsure:i cancellable:i parked:i moved:i "
				 "snapshot:o? stopped:b looks:i "
				 "readBytes:i tookNs:i");
	return answer;
}

static void expect(json_t *answer, const struct kind *kind)
{
	const json_t *group;
	bool found = false;
	size_t i;

	if (json_int(answer, "lost") != (json_int_t)kind->lost)
		fail_msg("%s: %s", kind->name, json_dumps(answer, 0));
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		json_promise(group, "group", group_keys);
		found |= !strcmp(json_text(group, "wait"), kind->wait);
	}
	assert_true(found);
	assert_int_equal(json_int(answer, "unsure"), 0);
	json_decref(answer);
}

static void expect_nothing(json_t *answer)
{
	if (json_int(answer, "lost") || json_int(answer, "unsure"))
		fail_msg("%s", json_dumps(answer, 0));
	assert_int_equal(json_array_size(json_object_get(answer, "groups")), 0);
	json_decref(answer);
}

static void test_each_kind_is_found_and_its_twin_is_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		char twin[64];
		struct harness_process *p = cli_start(NULL, "ready ", "leaks", kinds[i].name, NULL);

		expect(ask(cli_number((uint64_t)p->pid), NULL, FOUND), &kinds[i]);
		harness_free(p);
		snprintf(twin, sizeof twin, "no-%s", kinds[i].name);
		p = cli_start(NULL, "ready ", "leaks", twin, NULL);
		expect_nothing(ask(cli_number((uint64_t)p->pid), NULL, 0));
		harness_free(p);
	}
}

static size_t all_lost(void)
{
	size_t all = 0;

	for (size_t i = 0; i < KINDS; i++)
		all += kinds[i].lost;
	return all;
}

static void test_all_kinds_at_once_are_found_in_every_source(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "all", NULL);
	const struct kind all = {"all", "select", all_lost()};
	const char *who = cli_number((uint64_t)p->pid);
	char core[HARNESS_PATH];
	json_t *answer;

	(void)state;
	expect(ask(who, NULL, FOUND), &all);
	answer = ask(who, "--stop", FOUND);
	assert_true(json_is_true(json_object_get(answer, "stopped")));
	assert_int_equal(json_int(answer, "looks"), 1);
	assert_int_equal(json_int(answer, "parked"), 1);
	expect(answer, &all);
	cli_core(p->pid, "leaks.core", core);
	answer = ask(core, NULL, 1);
	assert_int_equal(json_int(answer, "lost"), 0);
	assert_int_equal(json_int(answer, "unsure"), all.lost);
	assert_true(json_array_size(json_object_get(answer, "groups")) > 0);
	cli_contains(json_string_value(json_array_get(json_object_get(answer, "problems"), 0)),
		     "the epoll data of the kernel is not in a core");
	json_decref(answer);
	harness_free(p);
}

/* What an answer of the program had in memory does not count as the program's pointers. */
static void test_they_are_found_after_the_program_has_listed_them(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "all", NULL);
	const struct kind all = {"all", "select", all_lost()};
	const char *who = cli_number((uint64_t)p->pid);

	(void)state;
	cli_ended(cli_run("fiberctl", "list", who, NULL), 0);
	cli_ended(cli_run("fiberctl", "bt", who, "--all", NULL), 0);
	expect(ask(who, NULL, FOUND), &all);
	harness_free(p);
}

static void test_no_twin_is_found_in_any_source(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "no-all", NULL);
	const char *who = cli_number((uint64_t)p->pid);

	(void)state;
	expect_nothing(ask(who, NULL, 0));
	expect_nothing(ask(who, "--stop", 0));
	assert_int_equal(kill(p->pid, SIGSTOP), 0);
	expect_nothing(ask(who, NULL, 0));
	assert_int_equal(kill(p->pid, SIGCONT), 0);
	harness_free(p);
}

static void test_text_has_the_verdict_the_places_and_the_command_for_more(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "three-chans", NULL), *q;
	char who[32], line[128];

	(void)state;
	snprintf(who, sizeof who, "%d", (int)p->pid);
	q = cli_run("fibertrace", "leaks", who, NULL);
	cli_expect(q, FOUND);
	snprintf(line, sizeof line,
		 "leaks (pid %s): 3 of 4 fibers are lost: nothing alive can wake them\n", who);
	assert_int_equal(strncmp(q->out.bytes, line, strlen(line)), 0);
	cli_contains(q->out.bytes, "\n  3 in chan-recv, spawned at leaks.c:");
	cli_contains(q->out.bytes, " \"stage\" waits for chan-recv@0x");
	cli_contains(q->out.bytes, " in pass_on\n");
	snprintf(line, sizeof line, "\n  more: fibertrace show %s ", who);
	cli_contains(q->out.bytes, line);
	harness_free(q);
	harness_free(p);
}

static void test_the_object_of_the_example_is_named(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "own-event", NULL), *q;

	(void)state;
	q = cli_run("fibertrace", "leaks", cli_number((uint64_t)p->pid), NULL);
	cli_expect(q, FOUND);
	cli_contains(q->out.bytes, " waits for event \"own\" at leaks.c:");
	harness_free(q);
	harness_free(p);
}

static void test_parked_fibers_are_not_lost_but_counted(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "park", NULL), *q;

	(void)state;
	q = cli_run("fibertrace", "leaks", cli_number((uint64_t)p->pid), NULL);
	cli_expect(q, 0);
	cli_contains(q->out.bytes, ": no fiber is lost\n  not counted: 1 in fiber_park, whose "
				   "handle nothing alive has\n");
	harness_free(q);
	harness_free(p);
}

static void test_members_of_a_group_that_can_be_cancelled_are_counted_apart(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "led", NULL), *q;
	const char *who = cli_number((uint64_t)p->pid);
	json_t *answer;

	(void)state;
	answer = ask(who, NULL, 0);
	assert_int_equal(json_int(answer, "lost"), 0);
	assert_int_equal(json_int(answer, "cancellable"), 3);
	json_decref(answer);
	q = cli_run("fibertrace", "leaks", who, NULL);
	cli_expect(q, 0);
	cli_contains(q->out.bytes,
		     ": no fiber is lost\n  not counted: 3 that could be cancelled: ");
	harness_free(q);
	harness_free(p);
}

static void test_why_searches_the_memory_only_if_asked(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "sem", NULL);
	const char *who = cli_number((uint64_t)p->pid);
	json_t *answer = json_ended(cli_run("fibertrace", "why", who, "--json", NULL), 0);
	const json_t *found;

	(void)state;
	assert_int_equal(json_int(answer, "found"), 0);
	json_decref(answer);
	answer = json_ended(cli_run("fibertrace", "why", who, "--deep", "--json", NULL), FOUND);
	found = json_array_get(json_object_get(answer, "findings"), 0);
	assert_string_equal(json_text(found, "rule"), "leaks");
	assert_string_equal(json_text(found, "severity"), "lasting");
	assert_int_equal(json_int(found, "fibers"), 1);
	json_decref(answer);
	harness_free(p);
}

static void test_a_source_without_memory_is_an_error(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "sem", NULL);
	const char *who = cli_number((uint64_t)p->pid);
	char snapshot[HARNESS_PATH];

	(void)state;
	cli_ended(cli_run("fiberctl", "snapshot", who, "-o", harness_file(snapshot, "leaks.snap"),
			  "--force", NULL),
		  0);
	cli_expect_error(cli_run("fibertrace", "leaks", snapshot, NULL), 2, "fibertrace",
			 "a snapshot has no memory of the program: give the process or its core to "
			 "fibertrace");
	cli_expect_error(cli_run("fiberctl", "why", who, "--deep", NULL), 2, "fiberctl",
			 "--deep: this source has no memory of the program");
	harness_free(p);
}

static void test_only_a_process_can_be_stopped(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "sem", NULL);
	char core[HARNESS_PATH];

	(void)state;
	cli_core(p->pid, "leaks.core", core);
	cli_expect_error(cli_run("fibertrace", "leaks", core, "--stop", NULL), 64, "fibertrace",
			 "--stop: only a process can be stopped");
	harness_free(p);
}

/* Without registers a finding is not certain: a pointer could be in one. */
static void test_nothing_is_reported_where_no_thread_may_be_stopped(void **state)
{
	struct harness_process *p;
	const json_t *problems;
	json_t *answer;

	(void)state;
	p = cli_start(NULL, "ready ", "leaks", "sem", NULL);
	answer = json_ended(cli_run("fibertrace", "leaks", cli_number((uint64_t)p->pid),
				    "--no-pause", "--json", NULL),
			    1);
	problems = json_object_get(answer, "problems");
	assert_int_equal(json_int(answer, "lost"), 0);
	assert_int_equal(json_int(answer, "unsure"), 1);
	cli_contains(json_string_value(json_array_get(problems, 0)),
		     "1 fiber seems lost, but the registers of ");
	json_decref(answer);
	harness_free(p);
}

/* A registry that says what is not true costs neither time nor memory of the process. */
static void test_wrong_records_are_survived(void **state)
{
	static const char *const lies[] = {"shared",	"anonymous",   "private",   "file",
					   "scattered", "overlapping", "untouched", "objects"};

	(void)state;
	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		struct harness_process *p = cli_start(NULL, "ready ", "liar", lies[i], NULL), *q;
		int code;

		q = cli_run("fibertrace", "leaks", cli_number((uint64_t)p->pid), NULL);
		code = harness_exit_code(q);
		if (code != 0 && code != 1)
			fail_msg("%s: exit status %d: %s", lies[i], code, q->err.bytes);
		harness_free(q);
		harness_free(p);
	}
}

/* The size is that of a test; the bench has more. */
static void test_one_in_a_hundred_of_a_crowd_is_found(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "leaks", "crowd", "2000", "80", NULL);
	json_t *answer = ask(cli_number((uint64_t)p->pid), "--stop", FOUND);

	(void)state;
	/* A pointer of malloc() or on a stack may keep one. */
	assert_in_range(json_int(answer, "lost"), 18, 20);
	json_decref(answer);
	harness_free(p);
}

static void test_memory_is_searched(void **state)
{
	(void)state;
	cli_skip("a sanitizer has a malloc() of its own, and its shadow takes minutes to read");
}

int main(void)
{
	const struct CMUnitTest sanitized[] = {
		cmocka_unit_test(test_memory_is_searched),
		cmocka_unit_test(test_a_source_without_memory_is_an_error),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_is_found_and_its_twin_is_not),
		cmocka_unit_test(test_all_kinds_at_once_are_found_in_every_source),
		cmocka_unit_test(test_they_are_found_after_the_program_has_listed_them),
		cmocka_unit_test(test_no_twin_is_found_in_any_source),
		cmocka_unit_test(test_text_has_the_verdict_the_places_and_the_command_for_more),
		cmocka_unit_test(test_the_object_of_the_example_is_named),
		cmocka_unit_test(test_parked_fibers_are_not_lost_but_counted),
		cmocka_unit_test(test_members_of_a_group_that_can_be_cancelled_are_counted_apart),
		cmocka_unit_test(test_why_searches_the_memory_only_if_asked),
		cmocka_unit_test(test_a_source_without_memory_is_an_error),
		cmocka_unit_test(test_only_a_process_can_be_stopped),
		cmocka_unit_test(test_nothing_is_reported_where_no_thread_may_be_stopped),
		cmocka_unit_test(test_wrong_records_are_survived),
		cmocka_unit_test(test_one_in_a_hundred_of_a_crowd_is_found),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (*harness_sanitizer())
		return cmocka_run_group_tests(sanitized, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_slow.c - injected long runs are reported with fiber and function, and no others
 *
 * If the machine pauses while a well-behaved fiber runs, and charges it for that, it is a long run
 * too. The fixture measures these with its own clocks, and only those are accepted.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define TIMES	  (*harness_sanitizer() ? "40" : "100") /* number of injected runs */
#define THRESHOLD 20000					/* us that a fiber may occupy its carrier */
#define CHARGED	  (THRESHOLD / 8) /* us of CPU time from which a run counts as computing */

/* ThreadSanitizer delays signal handlers, so the computation is over by then. */
static void skip_without_signals(void)
{
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("handlers are called late under ThreadSanitizer");
}

static json_t *ask(pid_t pid)
{
	struct harness_process *p =
		cli_run("fiberctl", "slow", cli_number((uint64_t)pid), "--json", NULL);
	json_t *answer = json_well(p);

	json_promise(answer, "answer", JSON_ANSWER " sites:a events:a");
	assert_string_equal(json_text(answer, "source"), "control");
	return answer;
}

/* Return an event of the fiber; *ret is the number of its events. */
static json_t *event_of(json_t *answer, json_int_t fiber, unsigned *ret)
{
	json_t *event, *found = NULL;
	size_t i;

	*ret = 0;
	json_array_foreach (json_object_get(answer, "events"), i, event) {
		if (json_int(event, "fiberId") != fiber)
			continue;
		found = event;
		++*ret;
	}
	return found;
}

/* Count the long runs of a well-behaved fiber that the fixture itself measured; fiber 0: of any. */
static unsigned lapses_of(const char *out, json_int_t fiber)
{
	unsigned lapses = 0;
	unsigned long id;
	long took, used;

	for (; (out = strstr(out, "lapse\t")); out++) {
		assert_int_equal(sscanf(out, "lapse %lu %ld %ld", &id, &took, &used), 3);
		if ((!fiber || (json_int_t)id == fiber) && took >= THRESHOLD && used >= CHARGED)
			lapses++;
	}
	return lapses;
}

/* ThreadSanitizer has its own locks: if their holder is off the CPU, others wait in futex(2). */
static bool waits_for_the_sanitizer(json_t *event)
{
	return strcmp(harness_sanitizer(), "thread") == 0 &&
	       json_is_string(json_object_get(event, "systemCall")) &&
	       strcmp(json_text(event, "systemCall"), "futex") == 0;
}

/*
 * Well-behaved fibers have no name. Accept only those of their long runs that the fixture measured.
 */
static void expect_nobody_else(json_t *answer, const char *out)
{
	json_t *event;
	size_t i;

	json_array_foreach (json_object_get(answer, "events"), i, event) {
		const json_int_t fiber = json_int(event, "fiberId");
		unsigned events;

		if (*json_text(event, "name") || waits_for_the_sanitizer(event))
			continue;
		event_of(answer, fiber, &events);
		if (events > lapses_of(out, fiber))
			fail_msg("fiber %lld behaves and is reported: %s", (long long)fiber,
				 json_dumps(event, JSON_COMPACT));
	}
}

/* Whether the event matches the fixture's line about its fiber. */
static bool matches(json_t *event, const char *name, const char *function, const char *kind)
{
	json_promise(event, "event",
		     "number:i fiberId:i name:s beganNs:i durationNs:i lasts:b carrier:i? site:o? "
		     "truncated:b kind:s wait:o? refused:b");
	return strcmp(json_text(event, "name"), name) == 0 &&
	       strcmp(json_text(json_object_get(event, "site"), "function"), function) == 0 &&
	       strcmp(json_text(event, "kind"), kind) == 0 &&
	       json_int(event, "durationNs") >= 20000000 &&
	       !json_is_true(json_object_get(event, "lasts"));
}

static void say_what_came(const char *name, const json_t *event)
{
	char *text = event ? json_dumps(event, JSON_COMPACT) : NULL;

	print_message("# %s: %s\n", name, text ? text : "nothing");
	free(text);
}

/* The number of injected runs that were not found. */
static unsigned missing_of(json_t *answer, const char *out, const char *kind)
{
	unsigned injected = 0, missing = 0;

	for (; *out; out += strcspn(out, "\n"), out += *out == '\n') {
		char name[32], function[32];
		unsigned long id;
		unsigned events;
		long result;
		json_t *event;

		if (sscanf(out, "%lu %31s %31s %ld", &id, name, function, &result) != 4)
			continue;
		/* No sleep was cut short. */
		assert_int_equal(result, 0);
		injected++;
		event = event_of(answer, (json_int_t)id, &events);
		assert_in_range(events, 0, 1);
		if (event && matches(event, name, function, kind))
			continue;
		say_what_came(name, event);
		missing++;
	}
	assert_int_equal(injected, atoi(TIMES));
	return missing;
}

/*
 * Inject long runs of this kind. At most 1 % may be missed. A sanitizer slows the sampling, so a
 * few more are not seen twice there; sanitizer builds look for other errors.
 */
static void inject(const char *option, const char *kind)
{
	const unsigned most = *harness_sanitizer() ? 4 : 1;
	struct harness_process *hog = cli_start(NULL, "ready ", "hog", option, TIMES, NULL);
	json_t *answer = ask(hog->pid);
	unsigned missing;

	harness_end(hog);
	missing = missing_of(answer, hog->out.bytes, kind);
	if (missing)
		print_message("# %u of %s missing\n", missing, TIMES);
	assert_true(missing <= most);
	expect_nobody_else(answer, hog->out.bytes);
	json_decref(answer);
	harness_free(hog);
}

static void test_fibers_that_compute_for_long_are_reported(void **state)
{
	(void)state;
	skip_without_signals();
	inject("--spin", "computing");
}

static void test_fibers_that_sleep_in_the_system_are_reported_and_not_woken(void **state)
{
	(void)state;
	inject("--sleep", "system-call");
}

static void test_frames_of_variable_size_are_walked_out_of_a_system_call(void **state)
{
	(void)state;
	inject("--poll", "system-call");
}

static void test_a_clean_run_reports_nothing(void **state)
{
	struct harness_process *hog = cli_start(NULL, "ready ", "hog", "--clean", "3000", NULL), *p;
	json_t *answer = ask(hog->pid);
	unsigned lapses;

	(void)state;
	p = cli_run("fiberctl", "slow", cli_number((uint64_t)hog->pid), NULL);
	harness_end(hog);
	lapses = lapses_of(hog->out.bytes, 0);
	expect_nobody_else(answer, hog->out.bytes);
	cli_expect(p, 0);
	if (lapses) {
		print_message("# the machine stood still beneath who behaves: %u times\n", lapses);
	} else {
		assert_int_equal(json_int(answer, "total"), 0);
		assert_string_equal(p->out.bytes, "shown 0 of 0 long runs, in 0 places\n");
		assert_string_equal(hog->err.bytes, "");
	}
	json_decref(answer);
	harness_free(p);
	harness_free(hog);
}

static void test_runs_of_one_place_are_counted_together(void **state)
{
	struct harness_process *hog;
	json_t *answer, *site;
	unsigned spun = 0, slept = 0;
	size_t i;

	(void)state;
	skip_without_signals();
	hog = cli_start(NULL, "ready ", "hog", "--spin", "4", "--sleep", "3", NULL);
	answer = ask(hog->pid);
	harness_end(hog);
	json_array_foreach (json_object_get(answer, "sites"), i, site) {
		const bool spins = strcmp(json_text(site, "kind"), "computing") == 0;
		json_t *took = json_object_get(site, "durationNs");
		json_t *first = json_array_get(json_object_get(site, "fiberIds"), 0);

		if (lapses_of(hog->out.bytes, json_integer_value(first)))
			continue;
		(*(spins ? &spun : &slept))++;
		json_promise(
			site, "site",
			"count:i lasting:i fiberIds:a durationNs:o site:o frames:a truncated:b "
			"reason:s? kind:s wait:o? refused:b");
		json_promise_frames(json_object_get(site, "frames"));
		assert_int_equal(json_int(site, "count"), spins ? 4 : 3);
		assert_string_equal(json_text(json_object_get(site, "site"), "function"),
				    spins ? "hog_spin" : "hog_sleep");
		assert_true(json_int(took, "min") <= json_int(took, "median") &&
			    json_int(took, "median") <= json_int(took, "max") &&
			    json_int(took, "max") <= json_int(took, "total"));
		assert_false(json_is_true(json_object_get(site, "truncated")));
		if (!spins)
			cli_contains(json_text(site, "systemCall"), "nanosleep");
	}
	assert_int_equal(spun, 1);
	assert_int_equal(slept, 1);
	json_decref(answer);
	harness_free(hog);
}

struct told {
	struct harness_process *follow;
	const char *what;
};

/* Each call waits for at most 1 s; harness_until() repeats it. */
static bool is_told(void *arg)
{
	const struct told *told = arg;

	harness_wait_line(told->follow, told->what, 1);
	return strstr(told->follow->out.bytes, told->what) != NULL;
}

/* A follower eventually prints `what`. */
static void expect_told(struct harness_process *follow, const char *what)
{
	struct told told = {follow, what};

	assert_true(harness_until(is_told, &told, CLI_SECONDS));
}

static void test_what_goes_on_is_said_to_go_on_and_follow_tells_each(void **state)
{
	struct harness_process *hog, *follow, *p;
	char tool[HARNESS_PATH];
	const char *argv[] = {harness_program(tool, "fiberctl"), "slow", NULL, "--follow", NULL};
	const char *pid, *out, *line;

	(void)state;
	skip_without_signals();
	hog = cli_start(NULL, "ready ", "hog", "--sleep", "2", "--forever", NULL);
	argv[2] = pid = cli_number((uint64_t)hog->pid);
	follow = harness_start(argv, NULL);
	expect_told(follow, "\"sleep-0\" in system call ");
	expect_told(follow, "\"sleep-1\" in system call ");
	expect_told(follow, "\"forever\" computing: hog_forever at ");
	cli_contains(follow->out.bytes, " and on fiber ");
	p = cli_run("fiberctl", "slow", pid, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "1 of them going on] fiber ");
	harness_free(p);
	/* No event is printed twice. */
	harness_end(hog);
	assert_true(harness_wait_end(follow, CLI_SECONDS));
	assert_int_equal(harness_exit_code(follow), 2);
	out = follow->out.bytes;
	line = strstr(out, "\"forever\"");
	assert_null(line ? strstr(line + 1, "\"forever\"") : NULL);
	harness_free(follow);
	harness_free(hog);
}

static void test_a_program_that_handles_the_signal_is_left_alone(void **state)
{
	struct harness_process *hog, *p;

	(void)state;
	skip_without_signals();
	hog = cli_start(NULL, "ready ", "hog", "--spin", "2", "--sleep", "1", "--own-signal", NULL);
	p = cli_run("fiberctl", "slow", cli_number((uint64_t)hog->pid), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "2 times computing [");
	cli_contains(p->out.bytes, "no frames: the program handles or blocks SIGURG");
	cli_contains(p->out.bytes, "hog_sleep at ");
	harness_free(p);
	assert_non_null(harness_wait_line(hog, "signals 0", CLI_SECONDS));
	harness_free(hog);
}

static void test_lines_on_stderr_name_the_place_and_are_one_a_minute(void **state)
{
	char program[HARNESS_PATH], place[32];
	const char *const resolve[] = {"addr2line", "-fe", harness_program(program, "hog"), place,
				       NULL};
	struct harness_process *hog, *p;
	unsigned lines = 0;
	const char *at;

	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("ThreadSanitizer's frames leave words that look like callers");
	hog = cli_start(NULL, "ready ", "hog", "--sleep", "30", NULL);
	harness_end(hog);
	for (at = hog->err.bytes; (at = strstr(at, "\"sleep-")); at++)
		lines++;
	assert_int_equal(lines, 1);
	at = strstr(hog->err.bytes, "\"sleep-");
	cli_contains(at, " holds carrier ");
	cli_contains(at, "in a system call, probably from hog+0x");
	cli_contains(hog->err.bytes, "; other fibers wait meanwhile: 'fiberctl slow ");
	assert_int_equal(sscanf(strstr(at, "hog+0x"), "hog+%31[0-9a-fx]", place), 1);
	p = harness_run(resolve, NULL, CLI_SECONDS);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "hog_sleep\n");
	harness_free(p);
	harness_free(hog);
}

static void test_a_program_that_only_computes_has_no_line(void **state)
{
	struct harness_process *hog;
	json_t *answer;

	(void)state;
	skip_without_signals();
	hog = cli_start(NULL, "ready ", "hog", "--alone", "--spin", "8", "--sleep", "2", NULL);
	answer = ask(hog->pid);
	harness_end(hog);
	assert_true(json_int(answer, "total") >= 2);
	assert_string_equal(hog->err.bytes, "");
	json_decref(answer);
	harness_free(hog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fibers_that_compute_for_long_are_reported),
		cmocka_unit_test(test_fibers_that_sleep_in_the_system_are_reported_and_not_woken),
		cmocka_unit_test(test_frames_of_variable_size_are_walked_out_of_a_system_call),
		cmocka_unit_test(test_a_clean_run_reports_nothing),
		cmocka_unit_test(test_runs_of_one_place_are_counted_together),
		cmocka_unit_test(test_what_goes_on_is_said_to_go_on_and_follow_tells_each),
		cmocka_unit_test(test_a_program_that_handles_the_signal_is_left_alone),
		cmocka_unit_test(test_lines_on_stderr_name_the_place_and_are_one_a_minute),
		cmocka_unit_test(test_a_program_that_only_computes_has_no_line),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

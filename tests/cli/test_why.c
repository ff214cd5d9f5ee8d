/* SPDX-License-Identifier: MIT */
/* test_why.c - what why prints, of programs with and without fibers, and its verdict in a word */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define LASTS 3
#define SLOW  4
#define TURN  20000000 /* ns: of a worker of trouble delay */

static void test_text_has_the_numbers_the_place_and_the_command_for_more(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "convoy", NULL), *q;
	char who[32], line[128];

	(void)state;
	snprintf(who, sizeof who, "%d", (int)p->pid);
	q = cli_run("fiberctl", "why", who, NULL);
	cli_expect(q, SLOW);
	snprintf(line, sizeof line,
		 "trouble (pid %s): 5 of 9 fibers wait for locks behind one that sleeps\n", who);
	assert_int_equal(strncmp(q->out.bytes, line, strlen(line)), 0);
	cli_contains(q->out.bytes,
		     "\n  fiber 2 \"compactor\" holds rwlock \"table\" for at least ");
	cli_contains(q->out.bytes, " left at trouble.c:");
	cli_contains(q->out.bytes, " in compact\n  behind it: 4 in rwlock-read (longest ");
	snprintf(line, sizeof line, "\n  more: fiberctl show %s 2; fiberctl waits %s\n", who, who);
	cli_contains(q->out.bytes, line);
	cli_contains(q->out.bytes,
		     "\nnothing else: 2 wait for input, 2 sleep, 5 wait for locks, 0 ");
	harness_free(q);
	harness_free(p);
}

/* The commands for more are about the fibers of the same module. */
static void test_text_has_the_module_in_the_command_for_more(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "convoy", NULL), *q;
	static const char *const tools[] = {"fiberctl", "fibertrace"};
	const char *const who = cli_number((uint64_t)p->pid);
	char line[160];
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		q = cli_run(tools[i], "why", "--module", "trouble", who, NULL);
		cli_expect(q, SLOW);
		snprintf(line, sizeof line,
			 "\n  more: %s show %s --module trouble 2; %s waits %s --module trouble\n",
			 tools[i], who, tools[i], who);
		cli_contains(q->out.bytes, line);
		harness_free(q);
	}
	q = cli_run("fiberctl", "show", who, "--module", "trouble", "2", NULL);
	cli_expect(q, 0);
	cli_contains(q->out.bytes, "fiber 2 \"compactor\"");
	harness_free(q);
	q = cli_run("fiberctl", "show", who, "--module", "trouble", "x", NULL);
	snprintf(line, sizeof line, "see 'fiberctl list %s --module trouble'", who);
	cli_expect_error(q, 64, "fiberctl", line);
	harness_free(p);
}

static void test_text_has_the_peer_that_the_root_waits_for(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "convoy-peer", NULL), *q;

	(void)state;
	q = cli_run("fiberctl", "why", cli_number((uint64_t)p->pid), NULL);
	cli_expect(q, SLOW);
	cli_contains(q->out.bytes, " behind one that waits for a descriptor\n");
	cli_contains(q->out.bytes, " (peer 127.0.0.1:");
	harness_free(q);
	harness_free(p);
}

/* Ask for the text on a trouble, in which fiberctl must say this. */
static void expect_text(const char *name, const char *first, const char *second)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", name, NULL), *q;

	q = cli_run("fiberctl", "why", cli_number((uint64_t)p->pid), NULL);
	cli_expect(q, SLOW);
	cli_contains(q->out.bytes, first);
	cli_contains(q->out.bytes, second);
	harness_free(q);
	harness_free(p);
}

static void test_text_says_whether_a_kept_carrier_computes_or_is_in_a_call(void **state)
{
	(void)state;
	expect_text("carrier", " has kept carrier 0 for ",
		    "\n  it is computing, and runs trouble.c:");
	expect_text("carrier-call", ", and 5 fibers that can run wait\n",
		    "\n  it is in system call clock_nanosleep at trouble.c:");
}

static void test_text_says_whether_the_root_of_a_convoy_computes_or_is_in_a_call(void **state)
{
	(void)state;
	expect_text("convoy-computes", " behind one that is computing\n", "s, computing\n");
	expect_text("convoy-call", " behind one that is in system call clock_nanosleep\n",
		    ", in system call clock_nanosleep at trouble.c:");
}

static void take_snapshot(pid_t pid, const char *name, char path[HARNESS_PATH])
{
	struct harness_process *p = cli_run("fiberctl", "snapshot", cli_number((uint64_t)pid), "-o",
					    harness_file(path, name), "--force", NULL);

	/* 1: a fiber that was spawned at that moment is incomplete. */
	assert_true(p->ended && (p->status == 0 || WEXITSTATUS(p->status) == 1));
	harness_free(p);
}

static bool was_seen(void *pid)
{
	struct harness_process *p = cli_run("fiberctl", "why", (const char *)pid, NULL);
	bool ret = strstr(p->out.bytes, "\n  it is computing, and was seen at trouble.c:") &&
		   strstr(p->out.bytes, " in compute\n");

	harness_free(p);
	return ret;
}

static void test_text_has_the_place_where_the_watchdog_has_seen_a_run(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "carrier", NULL), *q;
	const char *pid = cli_number((uint64_t)p->pid);
	char path[HARNESS_PATH];

	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("ThreadSanitizer delays the signal by which a stack is copied");
	assert_false(was_seen((void *)pid)); /* the watchdog is off */
	harness_free(cli_run("fiberctl", "watchdog", pid, "20ms", NULL));
	assert_true(harness_until(was_seen, (void *)pid, 30));
	take_snapshot(p->pid, "seen.snap", path);
	q = cli_run("fiberctl", "why", path, NULL);
	cli_expect(q, SLOW);
	cli_contains(q->out.bytes, "\n  it was seen computing at trouble.c:");
	harness_free(q);
	harness_free(p);
}

/* One runtime delays its fibers; in the other a carrier is kept. */
static void test_a_kept_carrier_is_not_blamed_for_fibers_of_another_runtime(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "carrier-beside", NULL);
	const char *pid = cli_number((uint64_t)p->pid);
	json_t *answer = json_ended(cli_run("fiberctl", "why", pid, "--json", NULL), SLOW);
	const json_t *carrier = json_finding(answer, "carrier");
	const json_t *delay = json_finding(answer, "delay");
	json_int_t turns;

	(void)state;
	if (!carrier || !delay)
		fail_msg("%s", json_dumps(answer, 0));
	cli_contains(json_text(carrier, "text"), ", and 5 fibers that can run wait");
	/* One of the forty runs, and one more for each turn that ends while their rows are read. */
	turns = json_int(answer, "sampledNs") / TURN;
	assert_in_range(json_int(delay, "fibers"), turns < 37 ? 38 - turns : 1, 40);
	json_decref(answer);
	harness_free(p);
}

static void test_text_of_a_delay_has_the_percentile_and_what_ran_instead(void **state)
{
	(void)state;
	expect_text("delay", " at the 99th percentile, the longest for ",
		    " in compute_long_and_yield (100 %)\n");
}

static void test_text_has_the_place_of_a_pinned_wait(void **state)
{
	(void)state;
	expect_text("pinned", "1 fiber waits while it is pinned, ", " in sleep_pinned\n");
}

/* The stack of a fiber whose thread sleeps is known without a stop, so the answer is complete. */
static void test_stack_of_a_pinned_wait_and_of_a_call_is_shown(void **state)
{
	static const char *const troubles[][3] = {{"pinned", "2", "sleep_pinned+"},
						  {"carrier-call", "7", "block_in_call+"}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const *const t = troubles[i];
		struct harness_process *p = cli_start(NULL, "ready ", "trouble", t[0], NULL), *q;
		const char *pid = cli_number((uint64_t)p->pid);

		q = cli_run("fiberctl", "bt", pid, t[1], NULL);
		cli_expect(q, 0);
		cli_contains(q->out.bytes, t[2]);
		harness_free(q);
		q = cli_run("fiberctl", "show", pid, t[1], NULL);
		cli_expect(q, 0);
		cli_contains(q->out.bytes, i ? "block_in_call at " : "sleep_pinned at ");
		harness_free(q);
		if (!*harness_sanitizer()) {
			q = cli_run("fibertrace", "stacks", pid, "--no-pause", NULL);
			cli_expect(q, 0);
			cli_contains(q->out.bytes, t[2]);
			harness_free(q);
		}
		harness_free(p);
	}
}

static void test_text_of_a_healthy_program_says_what_it_waits_for(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "no-convoy", NULL), *q;

	(void)state;
	q = cli_run("fiberctl", "why", cli_number((uint64_t)p->pid), NULL);
	cli_expect(q, 0);
	assert_int_equal(strncmp(q->out.bytes, "nothing found: 2 wait for input, ", 33), 0);
	harness_free(q);
	harness_free(p);
}

/* Ask for the verdict on a program without fibers, or its core. NULL: nothing must be found. */
static void expect_of_threads(const char *who, const char *rule, int code, const char *place)
{
	json_t *answer = json_ended(cli_run("fibertrace", "why", who, "--json", NULL), code);
	const json_t *found = rule ? json_finding(answer, rule) : NULL;

	if (json_array_size(json_object_get(answer, "findings")) != (rule ? 1u : 0u))
		fail_msg("%s: %s", who, json_dumps(answer, 0));
	if (rule) {
		assert_non_null(found);
		cli_contains(json_text(found, "text"), " threads wait for ");
		cli_contains(json_text(found, "place"), place);
	}
	json_decref(answer);
}

static void test_verdict_of_threads(void **state)
{
	static const struct {
		const char *scene, *rule, *place;
		int code;
	} scenes[] = {
		{"ring", "deadlock", " in lock_next", LASTS},
		{"convoy", "convoy", " in lock_and_sleep", SLOW},
		{"busy", NULL, "", 0},
	};
	char who[32], core[HARNESS_PATH];

	(void)state;
	if (*harness_sanitizer())
		cli_skip("a sanitizer takes the place of the C library's locks");
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		struct harness_process *p =
			cli_start(NULL, "ready ", "threads", scenes[i].scene, "5", NULL);

		snprintf(who, sizeof who, "%d", (int)p->pid);
		expect_of_threads(who, scenes[i].rule, scenes[i].code, scenes[i].place);
		if (i == 0) {
			cli_core(p->pid, "threads.core", core);
			expect_of_threads(core, scenes[i].rule, scenes[i].code, scenes[i].place);
		}
		harness_free(p);
	}
}

/* What `fiberctl` alone says beside a program. */
struct verdict {
	int pid;
	const char *word;
	char said[4096];
};

static bool has_word(void *arg)
{
	struct verdict *v = arg;
	struct harness_process *q = cli_run("fiberctl", NULL);
	char pattern[64];
	const char *line;

	snprintf(v->said, sizeof v->said, "%s", q->out.bytes);
	harness_free(q);
	snprintf(pattern, sizeof pattern, "\n%10d ", v->pid);
	line = strstr(v->said, pattern);
	snprintf(pattern, sizeof pattern, " %s ", v->word);
	return line && strstr(line + 1, pattern);
}

/* Its fibers may still be on the way to where they wait. One that is well is so from the beginning. */
static void expect_word(const char *name, const char *word)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", name, NULL);
	struct verdict v = {.pid = (int)p->pid, .word = word};

	if (strcmp(word, "ok") ? !harness_until(has_word, &v, 30) : !has_word(&v))
		fail_msg("no \"%s\" beside %d in:\n%s", word, v.pid, v.said);
	harness_free(p);
}

static void test_list_of_programs_has_the_verdict_in_a_word(void **state)
{
	(void)state;
	expect_word("convoy", "convoy 5");
	expect_word("deadlock", "deadlock 2");
	expect_word("no-convoy", "ok");
}

static bool why_lasts(void *pid)
{
	struct harness_process *p = cli_run("fiberctl", "why", (const char *)pid, NULL);
	bool ret = harness_exit_code(p) == LASTS;

	harness_free(p);
	return ret;
}

/* The main thread enters the library just after the fixture is ready. */
static void expect_deadlock(const char *option, const char *more, const char *text)
{
	struct harness_process *p = cli_start(NULL, "ready", "deadlock", option, more, NULL), *q;
	const char *pid = cli_number((uint64_t)p->pid);

	assert_true(harness_until(why_lasts, (void *)pid, 30));
	q = cli_run("fiberctl", "why", pid, NULL);
	cli_expect(q, LASTS);
	cli_contains(q->out.bytes, text);
	harness_free(q);
	harness_free(p);
}

static void test_waits_that_no_fiber_and_no_thread_can_end_are_found(void **state)
{
	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("ThreadSanitizer adds a thread of its own to each program");
	expect_deadlock("--semaphore", "--finish",
			"all 2 fibers wait, and nothing is left that could wake one");
}

static void test_readers_that_wait_for_each_other_are_found(void **state)
{
	(void)state;
	expect_deadlock("--upgrade", "2", "2 fibers wait for each other");
}

/* Whether why reports growth since the snapshot: it needs some time. */
struct growing {
	char pid[32], snapshot[HARNESS_PATH];
};

static bool has_grown(void *context)
{
	const struct growing *g = context;
	struct harness_process *p =
		cli_run("fiberctl", "why", g->pid, "--since", g->snapshot, "--json", NULL);
	bool ret = harness_exit_code(p) == SLOW;
	json_t *answer;

	if (ret) {
		answer = json_ended(p, SLOW);
		assert_non_null(json_finding(answer, "growth"));
		json_decref(answer);
	} else {
		/* The snapshot is not old enough yet. */
		cli_expect_error(p, 2, "fiberctl", "growth shows after 2s");
	}
	return ret;
}

static void test_growth_is_found_since_an_older_snapshot(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "growth", NULL), *q;
	struct growing g;
	char later[HARNESS_PATH];

	(void)state;
	snprintf(g.pid, sizeof g.pid, "%d", (int)p->pid);
	take_snapshot(p->pid, "since.snap", g.snapshot);
	assert_true(harness_until(has_grown, &g, 30));
	take_snapshot(p->pid, "later.snap", later);
	q = cli_run("fiberctl", "why", later, "--since", g.snapshot, NULL);
	cli_expect(q, SLOW);
	cli_contains(q->out.bytes, " fibers from one place only get more: ");
	cli_contains(q->out.bytes, "spawned at trouble.c:");
	harness_free(q);
	/* The other way round. */
	cli_expect_error(cli_run("fiberctl", "why", g.snapshot, "--since", later, NULL), 2,
			 "fiberctl", "is newer than what it is compared with");
	harness_free(p);
}

static void test_since_needs_a_snapshot_of_the_same_process(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "no-stack", NULL);
	struct harness_process *q = cli_start(NULL, "ready ", "trouble", "no-stack", NULL);
	const char *pid = cli_number((uint64_t)p->pid);
	char other[HARNESS_PATH], wrong[HARNESS_PATH];
	FILE *file = fopen(harness_file(wrong, "wrong.snap"), "w");

	(void)state;
	assert_non_null(file);
	fputs("not a snapshot\n", file);
	assert_int_equal(fclose(file), 0);
	take_snapshot(q->pid, "other.snap", other);
	cli_expect_error(cli_run("fiberctl", "why", pid, "--since", other, NULL), 2, "fiberctl",
			 "is from another process, or from another run of the program");
	cli_expect_error(cli_run("fiberctl", "why", pid, "--since", wrong, NULL), 2, "fiberctl",
			 "wrong.snap");
	cli_expect_error(cli_run("fiberctl", "why", pid, "--since", "/nowhere.snap", NULL), 2,
			 "fiberctl", "/nowhere.snap");
	cli_expect_error(cli_run("fiberctl", "why", pid, "--since", NULL), 64, "fiberctl",
			 "--since");
	harness_free(q);
	harness_free(p);
}

static bool has_lost_events(void *pid)
{
	struct harness_process *p = cli_run("fiberctl", "why", (const char *)pid, "--json", NULL);
	bool ret = harness_exit_code(p) == SLOW;
	json_t *answer;

	if (ret) {
		answer = json_ended(p, SLOW);
		ret = json_finding(answer, "recorder") != NULL;
		json_decref(answer);
	} else {
		harness_free(p);
	}
	return ret;
}

static void test_a_recording_that_loses_events_is_found_while_it_goes_on(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "digits", "--no-spawn", NULL), *q;
	const char *pid = cli_number((uint64_t)p->pid);
	char path[HARNESS_PATH];

	(void)state;
	assert_false(has_lost_events((void *)pid));
	q = cli_start(NULL, "", "fibertrace", "record", pid, "--for", "60s", "--ring", "256", "-o",
		      harness_file(path, "lossy.rec"), "--force", NULL);
	assert_true(harness_until(has_lost_events, (void *)pid, 30));
	harness_free(q);
	harness_free(p);
}

/* Ask about a fault of the fixture trouble. */
static void expect_trouble(const char *name, const char *text, const char *place)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", name, NULL);
	struct harness_process *q =
		cli_run("fiberctl", "why", cli_number((uint64_t)p->pid), "--for", "0.2", NULL);

	cli_expect(q, SLOW);
	cli_contains(q->out.bytes, text);
	cli_contains(q->out.bytes, place);
	harness_free(q);
	harness_free(p);
}

static void test_lost_posts_and_sets_are_suspected_as_lost_signals_are(void **state)
{
	(void)state;
	expect_trouble("signal",
		       ": only fiber 6 \"producer\" ever signalled it, and fiber 6 has ended",
		       " in work\n");
	expect_trouble("signal-post", ": only fiber 4 ever posted it, and fiber 4 has ended",
		       " in consume\n");
	expect_trouble("signal-set", ": only fiber 4 ever set it, and fiber 4 has ended",
		       " in follow\n");
}

static void test_usage_errors_are_named(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "why", "1", "--for", "soon", NULL), 64, "fiberctl",
			 "--for");
	cli_expect_error(cli_run("fiberctl", "why", cli_gone(), NULL), 2, "fiberctl",
			 "no such process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_has_the_numbers_the_place_and_the_command_for_more),
		cmocka_unit_test(test_text_has_the_module_in_the_command_for_more),
		cmocka_unit_test(test_text_has_the_peer_that_the_root_waits_for),
		cmocka_unit_test(test_text_says_whether_a_kept_carrier_computes_or_is_in_a_call),
		cmocka_unit_test(
			test_text_says_whether_the_root_of_a_convoy_computes_or_is_in_a_call),
		cmocka_unit_test(test_text_has_the_place_where_the_watchdog_has_seen_a_run),
		cmocka_unit_test(test_a_kept_carrier_is_not_blamed_for_fibers_of_another_runtime),
		cmocka_unit_test(test_text_of_a_delay_has_the_percentile_and_what_ran_instead),
		cmocka_unit_test(test_text_has_the_place_of_a_pinned_wait),
		cmocka_unit_test(test_stack_of_a_pinned_wait_and_of_a_call_is_shown),
		cmocka_unit_test(test_text_of_a_healthy_program_says_what_it_waits_for),
		cmocka_unit_test(test_growth_is_found_since_an_older_snapshot),
		cmocka_unit_test(test_since_needs_a_snapshot_of_the_same_process),
		cmocka_unit_test(test_a_recording_that_loses_events_is_found_while_it_goes_on),
		cmocka_unit_test(test_lost_posts_and_sets_are_suspected_as_lost_signals_are),
		cmocka_unit_test(test_usage_errors_are_named),
		cmocka_unit_test(test_verdict_of_threads),
		cmocka_unit_test(test_waits_that_no_fiber_and_no_thread_can_end_are_found),
		cmocka_unit_test(test_readers_that_wait_for_each_other_are_found),
		cmocka_unit_test(test_list_of_programs_has_the_verdict_in_a_word),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}

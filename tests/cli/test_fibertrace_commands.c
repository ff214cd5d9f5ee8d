/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_commands.c - fibertrace reads from memory what fiberctl gets from the program
 *
 * Each command runs in four ways (over the socket, from memory, from a core, from a snapshot) while
 * nothing changes, and the answers are compared field by field.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

/*
 * Fields that differ between the ways:
 * - the source, the number of readings and their duration;
 * - times, which go on in a process and end in a core when any fiber last ran;
 * - sentences that contain times;
 * - resident pages of stacks, known only to the running system;
 * - names of threads, which are gone after the exit.
 */
#define DIFFERENT                                                                                \
	"source sampledNs takenNs host leftNs readings ageNs runnableNs waitedNs livedNs cpuNs " \
	"why highWater "                                                                         \
	"holderName holderState"

/* A process with its core and snapshot. */
struct target {
	struct crowd crowd;
	char pid[16], core[HARNESS_PATH], snapshot[HARNESS_PATH];
};
static struct target crowd, stuck;

static void take(struct target *t, const char *name, const char *first, const char *second)
{
	char file[64];
	struct harness_process *p;

	t->crowd = crowd_start(NULL, name, first, second);
	snprintf(t->pid, sizeof(t->pid), "%d", t->crowd.process->pid);
	snprintf(file, sizeof(file), "%s.snap", name);
	/* A snapshot proves a deadlock only by old waits. */
	if (strcmp(name, "deadlock") == 0)
		crowd_grow_old(t->pid);
	p = cli_run("fiberctl", "snapshot", t->pid, "-o", harness_file(t->snapshot, file), NULL);
	cli_ended(p, 0);
	if (!*harness_sanitizer())
		cli_core(t->crowd.process->pid, name, t->core);
}

static int start(void **state)
{
	(void)state;
	take(&crowd, "crowd", "66", NULL);
	take(&stuck, "deadlock", "--ring=4", "--self");
	return 0;
}

static int stop(void **state)
{
	(void)state;
	crowd_end(&crowd.crowd);
	crowd_end(&stuck.crowd);
	return 0;
}

#define WORDS 8

/* Run `tool command [how] who words...`. */
static struct harness_process *run(const char *tool, const char *how, const char *who,
				   const char *const words[WORDS])
{
	const char *w[WORDS + 4] = {words[0]};
	unsigned n = 1;

	if (how)
		w[n++] = how;
	w[n++] = who;
	for (unsigned i = 1; i < WORDS && words[i]; i++)
		w[n++] = words[i];
	return cli_run(tool, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], NULL);
}

static json_t *ask(const char *tool, const char *how, const char *who,
		   const char *const words[WORDS], int code, const char *source)
{
	json_t *answer = json_ended(run(tool, how, who, words), code);

	assert_string_equal(json_text(answer, "source"), source);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	golden_without(answer, DIFFERENT);
	return answer;
}

static void all_agree(const struct target *t, const char *const words[WORDS], int code)
{
	json_t *told = ask("fiberctl", NULL, t->pid, words, code, "control");

	golden_expect_json(ask("fibertrace", NULL, t->pid, words, code, "live"),
			   json_deep_copy(told));
	golden_expect_json(ask("fibertrace", NULL, t->snapshot, words, code, "snapshot"),
			   json_deep_copy(told));
	golden_expect_json(ask("fibertrace", "--snapshot", t->snapshot, words, code, "snapshot"),
			   json_deep_copy(told));
	if (*t->core)
		golden_expect_json(ask("fibertrace", "--core", t->core, words, code, "core"),
				   json_deep_copy(told));
	json_decref(told);
}

static void test_lists_agree(void **state)
{
	static const char *const lists[][WORDS] = {
		{"list", "--json", "--sort", "id"},
		{"list", "--json", "--where", "wait=mutex or wait=fd", "--sort", "id"},
		{"list", "--json", "--where", "name~^sleep", "--sort", "-id"},
		{"list", "--json", "--sort", "name", "--limit", "3"},
		{"list", "--json", "--group-by", "wait"},
		{"list", "--json", "--group-by", "spawn", "--limit", "2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		all_agree(&crowd, lists[i], 0);
}

static void test_one_fiber_and_its_backtrace_agree(void **state)
{
	const char *const id = cli_number(crowd_find(&crowd.crowd, "mutex", "mutex-")->id);
	const char *const show[WORDS] = {"show", id, "--json"};
	const char *const bt[WORDS] = {"bt", id, "--json"};
	const char *const all[WORDS] = {"bt", "--all", "--json", "--where", "wait!=park"};

	(void)state;
	all_agree(&crowd, show, 0);
	all_agree(&crowd, bt, 0);
	all_agree(&crowd, all, 0);
}

static void test_stacks_agree(void **state)
{
	static const char *const stacks[][WORDS] = {
		{"stacks", "--json"},
		{"stacks", "--json", "--group-by", "wait"},
		{"stacks", "--json", "--group-by", "holder", "--min", "3"},
		{"stacks", "--json", "--frames", "6", "--where", "state=suspended"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		all_agree(&crowd, stacks[i], 0);
}

static void test_who_spawned_whom_and_who_waits_for_whom_agree(void **state)
{
	static const char *const answers[][WORDS] = {
		{"tree", "--json"},
		{"tree", "--json", "--limit", "5"},
		{"tree", "--json", "--where", "fn~main"},
		{"waits", "--json"},
		{"waits", "--json", "--limit", "1"},
		{"waits", "--json", "--where", "wait=mutex and fn~[a-z]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		all_agree(&crowd, answers[i], 0);
		all_agree(&stuck, answers[i], 0);
	}
}

static void test_deadlocks_agree_and_none_is_found_where_there_is_none(void **state)
{
	static const char *const deadlock[WORDS] = {"deadlock", "--json"};
	static const char *const cut[WORDS] = {"deadlock", "--json", "--frames", "2"};
	json_t *answer;

	(void)state;
	all_agree(&crowd, deadlock, 0);
	all_agree(&stuck, deadlock, 3);
	all_agree(&stuck, cut, 3);
	answer = ask("fibertrace", NULL, stuck.pid, deadlock, 3, "live");
	assert_int_equal(json_int(answer, "found"), 2);
	json_decref(answer);
}

static void test_text_without_json_agrees(void **state)
{
	static const char *const texts[][WORDS] = {
		{"stacks", "--folded"},
		{"stacks", "--folded", "--frames", "4"},
		{"waits", "--dot"},
		{"list", "--columns", "id,state,wait,name", "--limit", "9"},
	};
	struct harness_process *told, *read;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *const ways[][2] = {
			{NULL, stuck.pid}, {NULL, stuck.snapshot}, {"--core", stuck.core}};

		told = run("fiberctl", NULL, stuck.pid, texts[i]);
		cli_expect(told, 0);
		golden_text(told->out.bytes);
		for (size_t k = 0; k < 3 && *ways[k][1]; k++) {
			char *end;

			read = run("fibertrace", ways[k][0], ways[k][1], texts[i]);
			cli_expect(read, 0);
			golden_text(read->out.bytes);
			/* The last line of a list names its source. */
			end = strstr(read->out.bytes, "; snapshot of ");
			if (end)
				strcpy(end, "\n");
			golden_expect(read->out.bytes, told->out.bytes);
			harness_free(read);
		}
		harness_free(told);
	}
}

static void test_a_dead_process_shows_its_deadlock(void **state)
{
	struct harness_process *p;

	(void)state;
	if (!*stuck.core)
		cli_skip("no cores of sanitizer builds");
	p = cli_run("fibertrace", "deadlock", "--core", stuck.core, NULL);
	cli_expect(p, 3);
	cli_contains(p->out.bytes, "deadlock: ");
	cli_contains(p->out.bytes, "fiber_mutex_lock+0x");
	harness_free(p);
}

/* The number of frames of a fiber that text shows. */
static size_t shown_frames(const json_t *fiber)
{
	const json_t *frame;
	size_t i, n = 0;

	json_array_foreach (json_object_get(fiber, "frames"), i, frame)
		n += json_is_false(json_object_get(frame, "internal"));
	return n;
}

static void test_bare_fibertrace_selects_and_cuts(void **state)
{
	struct harness_process *p = cli_run("fibertrace", crowd.pid, "--json", "--each", "--where",
					    "wait=mutex", "--frames", "3", NULL);
	const size_t mutexes = crowd_count(&crowd.crowd, "mutex");
	json_t *answer = json_well(p), *fiber;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), mutexes);
	assert_int_equal(json_int(answer, "shown"), mutexes);
	assert_int_equal(json_int(answer, "total"), crowd.crowd.count);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		assert_string_equal(json_text(json_object_get(fiber, "wait"), "kind"), "mutex");
		assert_int_equal(shown_frames(fiber), 3);
		assert_true(json_int(fiber, "framesLeftOut") > 0);
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
	}
	json_decref(answer);
	p = cli_run("fibertrace", crowd.pid, "--where", "wait=mutex", "--frames", "1", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "  fiber_mutex_lock+0x");
	assert_null(strstr(p->out.bytes, "mutex_inner"));
	cli_contains(p->out.bytes, " frames left out\n");
	harness_free(p);
	p = cli_run("fibertrace", crowd.pid, "--where", "wait=mutex", "--frames", "1",
		    "--all-frames", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\n  #0  fib_arch_switch+0x");
	assert_null(strstr(p->out.bytes, "  #1  "));
	cli_contains(p->out.bytes, " frames left out\n");
	harness_free(p);
}

static void test_hidden_frames_do_not_count_among_those_that_are_left_out(void **state)
{
	const uint64_t number = crowd_find(&crowd.crowd, "cond", "cond-")->id;
	json_t *whole = json_well(
		cli_run("fibertrace", "bt", crowd.pid, cli_number(number), "--json", NULL));
	const size_t frames = shown_frames(json_array_get(json_object_get(whole, "fibers"), 0));

	(void)state;
	assert_true(frames > 3);
	for (size_t most = 1; most <= frames + 1; most++) {
		json_t *cut = json_well(cli_run("fibertrace", "bt", crowd.pid, cli_number(number),
						"--json", "--frames", cli_number(most), NULL));
		const json_t *const fiber = json_array_get(json_object_get(cut, "fibers"), 0);

		assert_int_equal(shown_frames(fiber), most < frames ? most : frames);
		assert_int_equal(json_int(fiber, "framesLeftOut"), frames - shown_frames(fiber));
		json_decref(cut);
	}
	json_decref(whole);
}

static void test_what_is_left_out_and_what_is_shown_are_all_frames(void **state)
{
	const uint64_t number = crowd_find(&crowd.crowd, "cond", "cond-")->id;
	json_t *whole = json_well(cli_run("fibertrace", "bt", crowd.pid, cli_number(number),
					  "--json", "--all-frames", NULL));
	const json_t *const all = json_array_get(json_object_get(whole, "fibers"), 0);
	const size_t frames = json_array_size(json_object_get(all, "frames"));

	(void)state;
	assert_true(frames > 5);
	assert_int_equal(json_int(all, "framesLeftOut"), 0);
	for (size_t most = 1; most <= frames + 1; most++) {
		json_t *cut = json_well(cli_run("fibertrace", "bt", crowd.pid, cli_number(number),
						"--json", "--all-frames", "--frames",
						cli_number(most), NULL));
		const json_t *const fiber = json_array_get(json_object_get(cut, "fibers"), 0);
		const json_t *const shown = json_object_get(fiber, "frames");
		const json_t *frame;
		size_t i;

		assert_int_equal(json_array_size(shown), most < frames ? most : frames);
		assert_int_equal(json_int(fiber, "framesLeftOut"), frames - json_array_size(shown));
		json_array_foreach (shown, i, frame)
			assert_true(json_equal(frame,
					       json_array_get(json_object_get(all, "frames"), i)));
		json_decref(cut);
	}
	json_decref(whole);
}

static void test_wrong_usage_is_refused(void **state)
{
	static const struct {
		const char *words[5], *what;
	} wrong[] = {
		{{"list", "--core"}, "--core"},
		{{"list"}, "PROCESS"},
		{{"deadlock", "PID", "--where", "id=1"}, "--where"},
		{{"bt", "PID", "1", "--where", "id=1"}, "--all"},
		{{"bt", "PID", "--all", "--frames=0"}, "--frames"},
		{{"PID", "--frames=x"}, "--frames"},
		{{"PID", "--where", "weather=fine"}, "weather"},
		{{"PID", "--group-by=wait"}, "--group-by"},
		{{"stacks", "PID", "--force"}, "--force"},
		{{"stacks", "PID", "--svg=x.svg", "--json"}, "--svg"},
		{{"waits", "PID", "--dot", "--json"}, "--dot"},
		{{"top", "PID"}, "one process at a time"},
		{{"list", "--core=x", "--snapshot=y"}, "--snapshot"},
		{{"list", "/nonexistent/x"}, "/nonexistent/x"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *w[5];

		for (size_t k = 0; k < 5; k++)
			w[k] = wrong[i].words[k] && !strcmp(wrong[i].words[k], "PID")
				       ? crowd.pid
				       : wrong[i].words[k];
		cli_expect_error(cli_run("fibertrace", w[0], w[1], w[2], w[3], w[4], NULL), 64,
				 "fibertrace", wrong[i].what);
	}
	cli_expect_error(cli_run("fibertrace", "deadlock", "--core", "/dev/null", NULL), 2,
			 "fibertrace", "/dev/null");
	cli_expect_error(cli_run("fibertrace", "show", crowd.pid, "999999", NULL), 2, "fibertrace",
			 "999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_agree),
		cmocka_unit_test(test_one_fiber_and_its_backtrace_agree),
		cmocka_unit_test(test_stacks_agree),
		cmocka_unit_test(test_who_spawned_whom_and_who_waits_for_whom_agree),
		cmocka_unit_test(test_deadlocks_agree_and_none_is_found_where_there_is_none),
		cmocka_unit_test(test_text_without_json_agrees),
		cmocka_unit_test(test_a_dead_process_shows_its_deadlock),
		cmocka_unit_test(test_bare_fibertrace_selects_and_cuts),
		cmocka_unit_test(test_hidden_frames_do_not_count_among_those_that_are_left_out),
		cmocka_unit_test(test_what_is_left_out_and_what_is_shown_are_all_frames),
		cmocka_unit_test(test_wrong_usage_is_refused),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}

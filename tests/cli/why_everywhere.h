/* SPDX-License-Identifier: MIT */
/*
 * why_everywhere.h - the verdict on a program of the fixture trouble is the same from every source
 *
 * fiberctl asks the program; fibertrace reads it while it runs and while it is stopped, a snapshot and
 * a core. All give the same verdict.
 */
#ifndef TESTS_CLI_WHY_EVERYWHERE_H
#define TESTS_CLI_WHY_EVERYWHERE_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define LASTS 3
#define SLOW  4

struct trouble {
	const char *name;
	const char *rule; /* NULL: nothing must be found */
	int code;
	const char *function; /* of its place; "": it has none that can be known */
	bool files;	      /* a core and a snapshot have it too */
	const char *time;     /* of --for */
};

/*
 * A process that does not run delays fibers and calls without a fault of its own. The core was written
 * before the stop: a debugger has read all pages of all stacks.
 */
static bool hidden_by_a_stop(const struct trouble *t)
{
	return t->rule && (!strcmp(t->rule, "carrier") || !strcmp(t->rule, "delay") ||
			   !strcmp(t->rule, "offload") || !strcmp(t->name, "stack-once"));
}

#define COMPUTES "computing"

/* What the evidence must say that a running fiber does; NULL: nothing. */
static const char *doing(const struct trouble *t)
{
	if (!strcmp(t->name, "carrier") || !strcmp(t->name, "convoy-computes"))
		return COMPUTES;
	return !strcmp(t->name, "carrier-call") || !strcmp(t->name, "convoy-call")
		       ? "in a system call"
		       : NULL;
}

/*
 * What a running fiber does is in the evidence. A snapshot does not know of one that computes. A call
 * that was interrupted, as by a debugger, has lost its name.
 */
static void expect_doing(const struct trouble *t, const json_t *found, const char *source)
{
	const json_t *evidence = json_object_get(found, "evidence");
	const char *const line = json_string_value(json_array_get(evidence, 0));
	const bool computes = !strcmp(doing(t), COMPUTES);

	assert_non_null(line);
	if (computes && !strcmp(source, "snapshot"))
		assert_null(strstr(line, COMPUTES));
	else if (computes || !strstr(line, "in system call clock_nanosleep"))
		cli_contains(line, doing(t));
}

/* Ask for the verdict on a program or a file. stopped: that is a finding too. */
static void expect(const struct trouble *t, const char *tool, const char *who, bool stopped)
{
	struct harness_process *p = cli_run(tool, "why", who, "--json", "--for", t->time, NULL);
	json_t *answer = json_ended(p, stopped ? LASTS : t->code);
	const size_t count = json_array_size(json_object_get(answer, "findings"));
	const json_t *found = t->rule ? json_finding(answer, t->rule) : NULL;
	const bool hidden = stopped && hidden_by_a_stop(t);

	if (count != (stopped ? 1u : 0u) + (t->rule && !hidden ? 1u : 0u))
		fail_msg("%s %s %s: %s", tool, t->name, who, json_dumps(answer, 0));
	json_promise(answer, "answer", JSON_ANSWER " findings:a found:i");
	assert_int_equal(json_int(answer, "found"), count);
	if (stopped)
		assert_non_null(json_finding(answer, "stopped"));
	if (t->rule && !hidden) {
		assert_non_null(found);
		json_promise(found, "finding",
			     "rule:s severity:s fibers:i fiberIds:a place:s? text:s evidence:a");
		assert_string_equal(json_text(found, "severity"),
				    t->code == LASTS ? "lasting" : "slow");
		cli_contains(json_text(found, "place"), t->function);
		if (doing(t))
			expect_doing(t, found, json_text(answer, "source"));
	}
	json_decref(answer);
}

static void expect_everywhere(void **state)
{
	const struct trouble *t = *state;
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", t->name, NULL), *q;
	char who[32], snapshot[HARNESS_PATH], core[HARNESS_PATH];
	const struct trouble in_a_file = {
		t->name, t->files ? t->rule : NULL, t->files ? t->code : 0, t->function, true,
		t->time};

	snprintf(who, sizeof who, "%d", (int)p->pid);
	expect(t, "fiberctl", who, false);
	/* 1: the stack of a fiber that runs is missing in it. */
	q = cli_run("fiberctl", "snapshot", who, "-o", harness_file(snapshot, "trouble.snap"),
		    "--force", NULL);
	assert_true(q->ended && (q->status == 0 || WEXITSTATUS(q->status) == 1));
	harness_free(q);
	expect(&in_a_file, "fiberctl", snapshot, false);
	/* growth needs a program that runs between the readings. */
	if (!*harness_sanitizer()) {
		expect(t, "fibertrace", who, false);
		cli_core(p->pid, "trouble.core", core);
		expect(&in_a_file, "fibertrace", core, false);
		assert_int_equal(kill(p->pid, SIGSTOP), 0);
		assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
		if (strcmp(t->name, "growth"))
			expect(t, "fibertrace", who, true);
		assert_int_equal(kill(p->pid, SIGCONT), 0);
	}
	harness_free(p);
}

static inline int why_everywhere(const struct trouble troubles[], size_t n)
{
	struct CMUnitTest tests[32];
	static char names[32][64];

	assert_true(n <= 32);
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof names[i], "test_verdict_of_%s_is_the_same_everywhere",
			 troubles[i].name);
		tests[i] = (struct CMUnitTest){names[i], expect_everywhere, NULL, NULL,
					       (void *)(uintptr_t)&troubles[i]};
	}
	harness_watchdog(110);
	return _cmocka_run_group_tests("why", tests, n, NULL, NULL);
}

#endif

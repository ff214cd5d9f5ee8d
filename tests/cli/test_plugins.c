/* SPDX-License-Identifier: MIT */
/*
 * test_plugins.c - fibers in a library that a program loads with dlopen, unloads and loads again
 *
 * The program, host, does not use fibers. The library exists twice: linked to libfiber.so, and with
 * its own copy of libfiber. Both tools find the note in the library.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define ROUNDS 5
#define WORKED 20 /* fibers per round and plugin */
#define HELD   7

/* The path of a built library. Valid until the next but one call. */
static const char *plugin(const char *name)
{
	static char paths[2][HARNESS_PATH];
	static int turn;
	char *const path = paths[turn++ % 2];

	snprintf(path, HARNESS_PATH, "%s/plugins/%s.so", harness_build(), name);
	return path;
}

/* Start host: it has loaded and unloaded the plugins several times and now holds fibers in all of
 * them. */
static struct harness_process *start(int count, const char *first, const char *second)
{
	struct harness_process *host =
		cli_start(NULL, "worked", "host", cli_number(ROUNDS), cli_number(HELD),
			  plugin(first), second ? plugin(second) : NULL, NULL);
	char worked[32];

	snprintf(worked, sizeof(worked), "worked %d", count * ROUNDS * WORKED);
	assert_string_equal(host->line, worked);
	assert_non_null(harness_wait_line(host, "held", CLI_SECONDS));
	return host;
}

/*
 * Unload all plugins; wait until every thread of the library has ended and the host has exited. The
 * host's stderr is kept.
 */
static void stop(struct harness_process *host)
{
	assert_int_equal(kill(host->pid, SIGUSR1), 0);
	assert_non_null(harness_wait_line(host, "over", CLI_SECONDS));
	assert_true(harness_wait_end(host, CLI_SECONDS));
	assert_int_equal(harness_exit_code(host), 0);
}

/* code: 1 if there is more than is shown. */
static void shows_some(struct harness_process *p, const char *source, int code)
{
	json_t *answer = json_ended(p, code);
	size_t i;

	json_promise_answer(answer, source);
	assert_string_equal(json_text(answer, "name"), "plugin");
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), HELD);
	for (i = 0; i < HELD; i++) {
		const json_t *const fiber = json_array_get(json_object_get(answer, "fibers"), i);

		assert_string_equal(json_text(fiber, "name"), "held");
		assert_string_equal(json_text(json_object_get(fiber, "wait"), "objectName"),
				    "end of the plugin");
	}
	json_decref(answer);
}

static void shows(struct harness_process *p, const char *source)
{
	shows_some(p, source, 0);
}

/* The stacks are walked through the plugin's own function. */
static void shows_frames(const struct harness_process *host)
{
	struct harness_process *p =
		cli_run("fiberctl", "bt", cli_number((uint64_t)host->pid), "--all", NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, "wait_for_the_end");
	harness_free(p);
}

static void lives(const char *name)
{
	struct harness_process *host = start(1, name, NULL);
	const char *const pid = cli_number((uint64_t)host->pid);

	shows(cli_run("fiberctl", "list", pid, "--json", NULL), "control");
	shows(cli_run("fibertrace", pid, "--json", "--each", NULL), "live");
	shows_frames(host);
	stop(host);
	harness_forget_long_runs(host);
	assert_string_equal(host->err.bytes, "");
	harness_free(host);
}

static void test_plugin_over_the_shared_library_comes_and_goes_and_is_seen(void **state)
{
	(void)state;
	lives("shared");
}

static void test_plugin_with_the_library_inside_comes_and_goes_and_is_seen(void **state)
{
	(void)state;
	lives("inside");
}

/* Each is shown by its module; the two have different events. */
static void shows_each(const char *tool, const char *who, const char *source)
{
	const char *const module[] = {"inside.so", "libfiber.so.0"};
	char object[2][32];
	json_t *answer;

	for (size_t i = 0; i < 2; i++) {
		struct harness_process *p =
			cli_run(tool, "list", who, "--json", "--module", module[i], NULL);

		answer = json_answer(p);
		snprintf(object[i], sizeof(object[i]), "%s",
			 json_text(json_object_get(
					   json_array_get(json_object_get(answer, "fibers"), 0),
					   "wait"),
				   "object"));
		json_decref(answer);
		shows(p, source);
	}
	assert_string_not_equal(object[0], object[1]);
	cli_expect_error(cli_run(tool, "list", who, "--module", "shared.so", NULL), 2, tool,
			 "there is one in ");
}

/* From outside both are visible: one is shown, the other is mentioned with the option that shows
 * it. */
static void shows_either(const char *who, const char *source)
{
	json_t *answer, *problems;
	struct harness_process *p = cli_run("fibertrace", "list", who, "--json", NULL);

	answer = json_answer(p);
	problems = json_object_get(answer, "problems");
	assert_int_equal(json_array_size(problems), 1);
	assert_non_null(strstr(json_string_value(json_array_get(problems, 0)), "--module "));
	assert_true(json_is_false(json_object_get(answer, "complete")));
	json_decref(answer);
	shows_some(p, source, 1);
	shows_each("fibertrace", who, source);
}

/*
 * One library has the control socket; the other prints why it has none. Otherwise the two do not
 * interfere.
 */
static void test_plugins_with_a_library_each_get_on_with_each_other(void **state)
{
	struct harness_process *host = start(2, "shared", "inside");
	const char *const pid = cli_number((uint64_t)host->pid);
	char core[HARNESS_PATH];

	(void)state;
	shows(cli_run("fiberctl", "list", pid, "--json", NULL), "control");
	shows_either(pid, "live");
	shows_each("fiberctl", pid, "live");
	if (!*harness_sanitizer()) {
		cli_core(host->pid, "plugins.core", core);
		shows_either(core, "core");
	}
	stop(host);
	cli_contains(host->err.bytes, "another copy of libfiber in this process listens there");
	harness_free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plugin_over_the_shared_library_comes_and_goes_and_is_seen),
		cmocka_unit_test(test_plugin_with_the_library_inside_comes_and_goes_and_is_seen),
		cmocka_unit_test(test_plugins_with_a_library_each_get_on_with_each_other),
	};

	harness_watchdog(300);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_all_frames.c - what is hidden of a backtrace, in every fixture, is libfiber's alone
 *
 * A fixture is stopped, so that two looks see the same. Its sources and those of libfiber are in
 * different folders, and the debug information has the paths.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const struct {
	const char *ready, *program, *first, *second;
} programs[] = {
	{"ready ", "crowd", "40", NULL},	{"ready ", "crowd", "24", "--stuck"},
	{"ready ", "places", "30", NULL},	{"ready ", "family", NULL, NULL},
	{"ready ", "labels", NULL, NULL},	{"ready ", "names", NULL, NULL},
	{"ready ", "nameless", NULL, NULL},	{"ready ", "drift", NULL, NULL},
	{"ready ", "figures", NULL, NULL},	{"ready ", "spin", NULL, NULL},
	{"ready ", "turns", NULL, NULL},	{"ready ", "values", NULL, NULL},
	{"ready ", "deadlock", "--ring", "3"},	{"ready", "runtimes", NULL, NULL},
	{"listening on ", "httpd", NULL, NULL},
};

/* A frame of libfiber; its public headers are compiled into the program. */
static bool is_library(const char *line)
{
	const char *at = strstr(line, " at libfiber/");

	return at && !strstr(at, " at libfiber/include/");
}

static struct harness_process *look(pid_t pid, const char *option)
{
	struct harness_process *p =
		cli_run("fibertrace", cli_number((uint64_t)pid), "--each", option, NULL);

	if (harness_exit_code(p) != 0 && harness_exit_code(p) != 1)
		print_error("# %s", p->err.bytes);
	assert_true(harness_exit_code(p) == 0 || harness_exit_code(p) == 1);
	return p;
}

/* The next line of a frame from *at on, cut out; NULL: none. */
static char *next_frame(char **at)
{
	char *line;

	while ((line = strsep(at, "\n")))
		if (strncmp(line, "  #", 3) == 0)
			return line;
	return NULL;
}

/* Compare the two answers. Returns the number of hidden frames. */
static unsigned compare(const char *program, char *some, char *all)
{
	unsigned hidden = 0;
	char *shown = next_frame(&some), *frame;

	while ((frame = next_frame(&all))) {
		if (shown && strcmp(frame, shown) == 0) {
			shown = next_frame(&some);
			continue;
		}
		if (!is_library(frame))
			print_error("# %s: hidden: %s\n", program, frame);
		assert_true(is_library(frame));
		hidden++;
	}
	if (shown)
		print_error("# %s: not with --all-frames: %s\n", program, shown);
	assert_null(shown);
	return hidden;
}

static void test_frames_of_the_program_are_shown_with_and_without_all_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct harness_process *p = cli_start(NULL, programs[i].ready, programs[i].program,
						      programs[i].first, programs[i].second, NULL);
		struct harness_process *some, *all;

		kill(p->pid, SIGSTOP);
		assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
		some = look(p->pid, NULL);
		all = look(p->pid, "--all-frames");
		assert_true(compare(programs[i].program, some->out.bytes, all->out.bytes) > 0);
		harness_free(some);
		harness_free(all);
		kill(p->pid, SIGCONT);
		harness_free(p);
	}
}

/* Outermost frame first: the program's, one call into libfiber, and no entry. */
static void expect_short(const json_t *fiber)
{
	const json_t *frames = json_object_get(fiber, "frames"), *frame;
	const size_t count = json_array_size(frames);
	unsigned calls = 0;
	size_t i;

	json_array_foreach (frames, i, frame) {
		const bool internal = json_is_true(json_object_get(frame, "internal"));
		const char *const function = json_text(frame, "function");

		if (!internal && strncmp(function, "fib", 3) == 0) {
			assert_int_equal(strncmp(function, "fiber_", 6), 0);
			calls++;
		}
		if (i >= count - 2)
			assert_true(internal);
	}
	assert_int_equal(calls, 1);
}

static void test_json_has_all_frames_and_one_call_in_each_that_is_not_internal(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "40", NULL);
	const char *const pid = cli_number((uint64_t)crowd.process->pid);
	json_t *answer = json_well(cli_run("fiberctl", "bt", pid, "--all", "--json", NULL));
	json_t *whole =
		json_well(cli_run("fiberctl", "bt", pid, "--all", "--all-frames", "--json", NULL));

	(void)state;
	for (size_t i = 0; i < crowd.count; i++) {
		const struct crowd_member *m = &crowd.members[i];
		const json_t *fiber = json_fiber(answer, m->id);

		assert_true(json_equal(json_object_get(fiber, "frames"),
				       json_object_get(json_fiber(whole, m->id), "frames")));
		if (crowd_walkable(m) && strcmp(m->kind, "created") != 0)
			expect_short(fiber);
	}
	json_decref(answer);
	json_decref(whole);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_of_the_program_are_shown_with_and_without_all_frames),
		cmocka_unit_test(
			test_json_has_all_frames_and_one_call_in_each_that_is_not_internal),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

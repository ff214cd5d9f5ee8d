/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_win32.c - fibertrace shows the fibers of Windows, live and from a core; fiberctl
 * shows them when it is asked to
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

/* The fibers of `win32 3` (fixtures/win32.c), in the order in which they were made. */
static const struct {
	const char *state, *entry;
	const char *functions; /* those that must be in the backtrace, innermost first */
	json_int_t parent;
} fibers[] = {
	{"running", "", "main", 0},
	{"suspended", "worker", "SwitchToFiber inner outer worker", 1},
	{"suspended", "worker", "SwitchToFiber inner outer worker", 1},
	{"created", "worker", "worker", 1},
	{"suspended", "", "SwitchToFiber run_guest", 0},
	{"running", "guest", "resting guest", 5},
};
#define FIBERS (sizeof(fibers) / sizeof(fibers[0]))

/* Assert that the functions are in the frames in this order, perhaps with others between them. */
static void expect_functions(const json_t *fiber, const char *functions)
{
	char words[200], *rest = words, *word;
	const json_t *frames = json_object_get(fiber, "frames");
	size_t i = 0;

	snprintf(words, sizeof(words), "%s", functions);
	while ((word = strsep(&rest, " "))) {
		while (i < json_array_size(frames) &&
		       strcmp(json_text(json_array_get(frames, i), "function"), word) != 0)
			i++;
		if (i == json_array_size(frames))
			fprintf(stderr, "no %s in the frames of fiber %lld\n", word,
				(long long)json_int(fiber, "id"));
		assert_true(i < json_array_size(frames));
	}
}

static void expect_fibers(json_t *answer, const char *source)
{
	size_t i;

	json_promise_answer(answer, source);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	assert_int_equal(json_int(answer, "shown"), FIBERS);
	for (i = 0; i < FIBERS; i++) {
		const json_t *fiber = json_fiber(answer, i + 1);

		assert_non_null(fiber);
		assert_string_equal(json_text(fiber, "state"), fibers[i].state);
		assert_string_equal(json_text(fiber, "entry"), fibers[i].entry);
		assert_int_equal(json_int(fiber, "parentId"), fibers[i].parent);
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
		expect_functions(fiber, fibers[i].functions);
	}
	json_decref(answer);
}

static struct harness_process *start(void)
{
	return cli_start(NULL, "ready", "win32", "3", NULL);
}

static void test_fibertrace_win32_fibers_of_a_live_program(void **state)
{
	struct harness_process *p = start(), *list;
	const char *pid = cli_number((uint64_t)p->pid);

	(void)state;
	expect_fibers(json_well(cli_run("fibertrace", pid, "--json", "--each", NULL)), "live");
	list = cli_run("fibertrace", "list", pid, NULL);
	cli_contains(list->out.bytes, "suspended");
	cli_contains(list->out.bytes, "worker()");
	cli_contains(list->out.bytes, "shown 6 of 6 fibers");
	cli_ended(list, 0);
	/* What Windows leaves to the program is no fault: nothing else could wake a fiber. */
	cli_ended(cli_run("fibertrace", "why", pid, NULL), 0);
	cli_ended(cli_run("fibertrace", "leaks", pid, NULL), 0);
	harness_free(p);
}

static void test_fibertrace_win32_fibers_of_a_core(void **state)
{
	struct harness_process *p;
	char core[HARNESS_PATH];

	(void)state;
	if (*harness_sanitizer()) {
		cli_skip("cores would contain the memory of the sanitizer");
		return;
	}
	p = start();
	cli_core(p->pid, "win32.core", core);
	expect_fibers(json_well(cli_run("fibertrace", "--core", core, "--json", "--each", NULL)),
		      "core");
	harness_free(p);
}

/*
 * fiberctl stops no thread: a fiber that runs has frames only while its thread sleeps in a system
 * call, where each of these soon is.
 */
static bool has_settled(void *process)
{
	const struct harness_process *p = process;
	struct harness_process *bt = cli_run("fiberctl", "bt", cli_number((uint64_t)p->pid),
					     "--all", "--module", "win32", NULL);
	const bool settled = harness_exit_code(bt) == 0;

	harness_free(bt);
	return settled;
}

static void test_fiberctl_win32_fibers_when_asked(void **state)
{
	struct harness_process *p = start(), *list;
	const char *pid = cli_number((uint64_t)p->pid);

	(void)state;
	assert_true(harness_until(has_settled, p, CLI_SECONDS));
	expect_fibers(json_well(cli_run("fiberctl", "bt", pid, "--all", "--json", "--module",
					"win32", NULL)),
		      "live");
	list = cli_run("fiberctl", "list", pid, "--module", "win32", NULL);
	cli_contains(list->out.bytes, "suspended");
	cli_contains(list->out.bytes, "worker()");
	cli_contains(list->out.bytes, "shown 6 of 6 fibers");
	cli_ended(list, 0);
	cli_ended(cli_run("fiberctl", "why", pid, "--module", "win32", NULL), 0);
	/* Without the option fiberctl asks a control socket, and there is none. */
	cli_expect_error(cli_run("fiberctl", "list", pid, NULL), 2, "fiberctl",
			 "has fibers but no control socket");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fibertrace_win32_fibers_of_a_live_program),
		cmocka_unit_test(test_fibertrace_win32_fibers_of_a_core),
		cmocka_unit_test(test_fiberctl_win32_fibers_when_asked),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_fibertrace_dead.c - a core has what the live process reported, field by field */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/dead.h"
#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

/*
 * Fields that always differ: durations up to now, which in a core end when any fiber last ran, and
 * facts about the answer itself.
 */
#define OTHER "ageNs runnableNs waitedNs livedNs cpuNs source sampledNs takenNs host leftNs crash"

static void needs_plain(void)
{
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
}

static json_t *ask(const char *what, int code)
{
	return json_ended(cli_run("fibertrace", what, "--json", "--each", NULL), code);
}

/* Return a copy of the answer with only the fields that must be equal. */
static json_t *same_part(const json_t *answer)
{
	json_t *part = json_deep_copy(answer);

	golden_without(part, OTHER);
	return part;
}

/* Dump a crowd with this coredump filter (NULL: the default); assert that the answers are equal. */
static void expect_same(const char *filter, const char *name)
{
	const struct harness_how how = dead_how();
	struct crowd crowd = crowd_start(&how, "crowd", "66", NULL);
	char path[64], core[HARNESS_PATH];
	json_t *live, *dead;
	bool dumped;

	if (filter) {
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/coredump_filter", crowd.process->pid);
		fd = open(path, O_WRONLY);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, filter, strlen(filter)), strlen(filter));
		close(fd);
	}
	live = ask(cli_number((uint64_t)crowd.process->pid), 0);
	dumped = dead_core(crowd.process, SIGABRT, name, core);
	if (dumped) {
		dead = ask(core, 0);
		/*
		 * The main thread took the signal. It runs no fiber, so no fiber has changed
		 * meanwhile.
		 */
		golden_expect_json(same_part(dead), same_part(live));
		json_decref(dead);
	}
	json_decref(live);
	crowd_end(&crowd);
	if (!dumped)
		cli_skip("the system writes no plain core files");
}

static void test_the_core_of_the_kernel_says_what_the_process_said(void **state)
{
	(void)state;
	needs_plain();
	expect_same(NULL, "usual");
}

static void test_a_core_without_pages_of_files_says_the_same(void **state)
{
	(void)state;
	needs_plain();
	expect_same("0x31", "headers"); /* private and shared anonymous memory, ELF headers */
}

static void test_a_core_with_all_pages_says_the_same(void **state)
{
	(void)state;
	needs_plain();
	expect_same("0x7f", "all");
}

/*
 * The times of a core end when any fiber last ran: they are not negative and not greater than those
 * of the live process.
 */
static void test_times_of_a_core_end_when_anything_last_ran(void **state)
{
	const struct harness_how how = dead_how();
	json_t *live, *dead, *fiber, *was;
	struct crowd crowd;
	char core[HARNESS_PATH];
	bool dumped;
	size_t i;

	(void)state;
	needs_plain();
	crowd = crowd_start(&how, "crowd", "66", NULL);
	live = ask(cli_number((uint64_t)crowd.process->pid), 0);
	dumped = dead_core(crowd.process, SIGABRT, "times", core);
	if (!dumped) {
		crowd_end(&crowd);
		cli_skip("the system writes no plain core files");
	}
	dead = ask(core, 0);
	json_array_foreach (json_object_get(dead, "fibers"), i, fiber) {
		was = json_fiber(live, (uint64_t)json_int(fiber, "id"));
		assert_non_null(was);
		assert_true(json_int(fiber, "ageNs") >= 0);
		assert_true(json_int(fiber, "switches") == json_int(was, "switches"));
		if (json_is_integer(json_object_get(was, "waitedNs")))
			assert_true(json_int(fiber, "waitedNs") <=
				    json_int(was, "waitedNs") + json_int(fiber, "ageNs"));
	}
	json_decref(live);
	json_decref(dead);
	crowd_end(&crowd);
}

static void test_a_core_that_a_limit_cut_is_partial_or_refused(void **state)
{
	const struct harness_how how = dead_how();
	unsigned said = 0;
	bool dumped = true;

	(void)state;
	needs_plain();
	for (rlim_t size = 1 << 14; dumped && size <= 1 << 20; size *= 4) {
		const struct rlimit limit = {size, size};
		struct crowd crowd = crowd_start(&how, "crowd", "66", NULL);
		struct harness_process *p;
		char core[HARNESS_PATH];

		assert_int_equal(prlimit(crowd.process->pid, RLIMIT_CORE, &limit, NULL), 0);
		dumped = dead_core(crowd.process, SIGABRT, "limited", core);
		crowd_end(&crowd);
		if (!dumped)
			break;
		p = cli_run("fibertrace", core, NULL);
		if (harness_exit_code(p) == 2)
			cli_contains(p->err.bytes, "truncated");
		else if (harness_exit_code(p) == 1)
			cli_contains(p->out.bytes, "truncated");
		else
			cli_expect(p, 0);
		said += harness_exit_code(p) != 0;
		harness_free(p);
	}
	if (!dumped)
		cli_skip("the system writes no plain core files");
	assert_true(said > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_core_of_the_kernel_says_what_the_process_said),
		cmocka_unit_test(test_a_core_without_pages_of_files_says_the_same),
		cmocka_unit_test(test_a_core_with_all_pages_says_the_same),
		cmocka_unit_test(test_times_of_a_core_end_when_anything_last_ran),
		cmocka_unit_test(test_a_core_that_a_limit_cut_is_partial_or_refused),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

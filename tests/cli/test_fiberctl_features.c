/* SPDX-License-Identifier: MIT */
/* test_fiberctl_features.c - which facilities of the kernel a program uses, and its substitutes */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/forbid.h"
#include "tests/harness/watchdog.h"

static const char *const names[] = {"guard",	  "process_madvise",  "io_uring", "epoll_pwait2",
				    "membarrier", "process_vm_readv", "timerfd"};

/* place: a further system call to refuse; NULL: none. */
static bool enter(const void *place)
{
	const unsigned *call = place;

	return !call || harness_forbid(*call, ENOSYS);
}

/* The answer about a program that was started with a poller, and without these system calls (0: none). */
static json_t *ask_without(const char *setting, unsigned forbidden, unsigned another)
{
	const char *const env[] = {setting, NULL};
	const struct harness_how how = {
		.env = env,
		.forbid = forbidden,
		.enter = enter,
		.place = another ? &another : NULL,
	};
	struct crowd crowd = crowd_start(&how, "crowd", "40", NULL);
	json_t *answer = json_well(cli_run("fiberctl", "carriers", "--once", "--json",
					   cli_number((uint64_t)crowd.process->pid), NULL));

	crowd_end(&crowd);
	return answer;
}

static json_t *ask(const char *setting, unsigned forbidden)
{
	return ask_without(setting, forbidden, 0);
}

/* The value of a facility, "-" for one that was not tried; asserts that it is there. */
static const char *value(const json_t *answer, const char *name)
{
	const json_t *feature;
	size_t i;

	json_array_foreach (json_object_get(answer, "features"), i, feature)
		if (!strcmp(json_text(feature, "name"), name))
			return json_is_null(json_object_get(feature, "value"))
				       ? "-"
				       : json_text(feature, "value");
	fail_msg("no feature %s", name);
	return "";
}

static void test_every_facility_is_there_under_its_name(void **state)
{
	json_t *answer = ask("FIBER_POLLER=epoll", 0);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(answer, "features")),
			 sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		value(answer, names[i]);
	assert_string_equal(value(answer, "timerfd"), "yes");
	/* The fibers of this program have stacks, and its carriers have waited in epoll. */
	assert_string_not_equal(value(answer, "guard"), "-");
	assert_string_not_equal(value(answer, "epoll_pwait2"), "-");
	json_decref(answer);
}

static void test_facility_that_was_not_tried_is_null(void **state)
{
	json_t *answer = ask("FIBER_POLLER=poll", 0);

	(void)state;
	assert_string_equal(value(answer, "epoll_pwait2"), "-");
	json_decref(answer);
}

static void test_facility_that_is_refused_has_a_substitute(void **state)
{
	static const struct {
		const char *setting;
		unsigned call;
		const char *name;
	} cases[] = {
		{"FIBER_POLLER=epoll", SYS_process_madvise, "process_madvise"},
		{"FIBER_POLLER=epoll", SYS_epoll_pwait2, "epoll_pwait2"},
		{"FIBER_POLLER=epoll", SYS_membarrier, "membarrier"},
		{"FIBER_POLLER=epoll", SYS_timerfd_create, "timerfd"},
		{"FIBER_POLLER=uring", SYS_io_uring_setup, "io_uring"},
		{"FIBER_POLLER=uring", SYS_io_uring_enter, "io_uring"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *answer = ask(cases[i].setting, cases[i].call);

		assert_string_equal(value(answer, cases[i].name), "no");
		json_decref(answer);
	}
}

/* A kernel before 6.13. */
static void test_guards_without_advice_are_mappings(void **state)
{
	json_t *answer;

	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("ThreadSanitizer does not start without madvise");
	answer = ask_without("FIBER_POLLER=epoll", SYS_madvise, SYS_process_madvise);
	assert_string_equal(value(answer, "guard"), "mprotect");
	json_decref(answer);
}

static void test_facilities_are_a_line_of_the_text(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "40", NULL);
	struct harness_process *p = cli_run("fiberctl", "carriers", "--once",
					    cli_number((uint64_t)crowd.process->pid), NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\nfeatures: guard=");
	assert_int_equal(strstr(p->out.bytes, "=-") != NULL,
			 strstr(p->out.bytes, " (-: not tried yet)\n") != NULL);
	cli_contains(p->out.bytes, " timerfd=yes");
	harness_free(p);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_facility_is_there_under_its_name),
		cmocka_unit_test(test_facility_that_was_not_tried_is_null),
		cmocka_unit_test(test_facility_that_is_refused_has_a_substitute),
		cmocka_unit_test(test_guards_without_advice_are_mappings),
		cmocka_unit_test(test_facilities_are_a_line_of_the_text),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

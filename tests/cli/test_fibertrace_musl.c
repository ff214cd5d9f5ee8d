/* SPDX-License-Identifier: MIT */
/* test_fibertrace_musl.c - the holders of mutexes of musl, which has no unwind information */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

/* Compile the fixture. how: more options of the compiler. */
static void compile(const char *how, char program[HARNESS_PATH])
{
	char command[3 * HARNESS_PATH];

	if (system("command -v musl-gcc >/dev/null")) /* NOLINT(cert-env33-c) */
		cli_skip("musl-gcc is missing: make deps");
	snprintf(command, sizeof(command), "musl-gcc -O1 %s -o %s fixtures/musl/ring.c -lpthread",
		 how, harness_file(program, "musl-ring"));
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* Assert that each row has the holder that the fixture printed, and that `deadlock` ends so. */
static void expect(const char *how, const char *type, int code)
{
	char program[HARNESS_PATH];
	struct crowd crowd;
	const char *pid;
	json_t *answer;

	compile(how, program);
	crowd = crowd_start(NULL, program, type, NULL);
	pid = cli_number((uint64_t)crowd.process->pid);
	answer = json_well(cli_run("fibertrace", "list", pid, "--json", NULL));
	assert_int_equal(crowd.count, 3);
	for (size_t i = 0; i < crowd.count; i++) {
		const struct crowd_member *m = &crowd.members[i];
		const json_t *wait = json_object_get(json_fiber(answer, m->id), "wait");

		assert_string_equal(json_text(wait, "kind"), code ? "mutex" : "futex");
		if (code)
			assert_int_equal(json_int(wait, "holderId"), strtoull(m->holder, NULL, 10));
		else
			assert_true(json_is_null(json_object_get(wait, "holderId")));
	}
	json_decref(answer);
	/* 1: its stacks cannot be walked. */
	cli_ended(cli_run("fibertrace", "deadlock", pid, NULL), code);
	crowd_end(&crowd);
}

static void test_mutexes_with_an_owner_are_a_deadlock(void **state)
{
	(void)state;
	expect("", "recursive", 3);
	expect("", "errorcheck", 3);
	expect("", "robust", 3);
}

static void test_a_statically_linked_program_is_the_same(void **state)
{
	(void)state;
	expect("-static", "recursive", 3);
}

/* The owner is not recorded. */
static void test_a_normal_mutex_has_no_known_holder(void **state)
{
	(void)state;
	expect("", "normal", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutexes_with_an_owner_are_a_deadlock),
		cmocka_unit_test(test_a_statically_linked_program_is_the_same),
		cmocka_unit_test(test_a_normal_mutex_has_no_known_holder),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

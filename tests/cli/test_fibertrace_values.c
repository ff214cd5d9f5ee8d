/* SPDX-License-Identifier: MIT */
/* test_fibertrace_values.c - arguments, local variables and source lines, from every source */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct harness_process *values;
static const char *pid;
static char core[HARNESS_PATH], snapshot[HARNESS_PATH];

/* The variable of this name in the first frame of this function in the only row. */
static const json_t *variable(const json_t *answer, const char *rows, const char *function,
			      const char *kind, const char *name)
{
	const json_t *row = json_array_get(json_object_get(answer, rows), 0);
	const json_t *frame, *v;
	size_t i, k;

	json_array_foreach (json_object_get(row, "frames"), i, frame) {
		if (strcmp(json_text(frame, "function"), function) != 0)
			continue;
		json_array_foreach (json_object_get(frame, kind), k, v) {
			json_promise(v, "variable", "name:s type:s value:s available:b");
			if (strcmp(json_text(v, "name"), name) == 0)
				return v;
		}
	}
	fail_msg("%s: no %s of %s", name, kind, function);
	return NULL;
}

static void check(struct harness_process *p, const char *rows, bool memory)
{
	json_t *answer = json_well(p);
	const json_t *counted = variable(answer, rows, "leaf", "locals", "counted");
	const json_t *text = variable(answer, rows, "leaf", "args", "text");

	assert_string_equal(json_text(variable(answer, rows, "leaf", "args", "number"), "value"),
			    "-10");
	assert_string_equal(json_text(variable(answer, rows, "middle", "args", "tiny"), "type"),
			    "int8_t");
	assert_string_equal(json_text(variable(answer, rows, "inlined", "locals", "kept"), "value"),
			    "70");
	assert_string_equal(json_text(variable(answer, rows, "middle", "locals", "array"), "value"),
			    "{1, -2, 3, -4, -5}");
	assert_int_equal(json_is_true(json_object_get(counted, "available")), memory);
	if (memory)
		assert_string_equal(json_text(counted, "value"), "12");
	else
		cli_contains(json_text(counted, "value"), "<not on the stack: 0x");
	/* The text is constant: its value is in the program's file. */
	cli_contains(json_text(text, "value"), "\"red\\x1b[31m \\\"quoted\\\"\\x0a\"");
	json_decref(answer);
}

static void test_a_live_process_has_values_on_stacks_and_in_memory(void **state)
{
	(void)state;
	check(cli_run("fibertrace", pid, "--each", "--args", "--locals", "--json", NULL), "fibers",
	      true);
	check(cli_run("fibertrace", pid, "--args", "--locals", "--json", NULL), "groups", true);
	check(cli_run("fibertrace", "bt", pid, "--all", "--args", "--locals", "--json", NULL),
	      "fibers", true);
}

static void test_a_core_has_them_too(void **state)
{
	(void)state;
	if (!*core)
		cli_skip("no cores of sanitizer builds");
	check(cli_run("fibertrace", "--core", core, "--each", "--args", "--locals", "--json", NULL),
	      "fibers", true);
}

static void test_a_socket_and_a_snapshot_have_those_of_stacks_alone(void **state)
{
	(void)state;
	check(cli_run("fiberctl", "bt", pid, "1", "--args", "--locals", "--json", NULL), "fibers",
	      false);
	check(cli_run("fiberctl", "stacks", pid, "--args", "--locals", "--json", NULL), "groups",
	      false);
	check(cli_run("fibertrace", snapshot, "--each", "--args", "--locals", "--json", NULL),
	      "fibers", false);
}

static void test_text_has_them_under_their_frame_and_no_control_character(void **state)
{
	struct harness_process *p =
		cli_run("fibertrace", pid, "--each", "--args", "--locals", NULL);
	const char *leaf, *number, *inlined;

	(void)state;
	cli_expect(p, 0);
	leaf = strstr(p->out.bytes, " leaf+0x");
	assert_non_null(leaf);
	number = strstr(leaf, "\n       arg   number = -10\n");
	inlined = strstr(leaf, " inlined (inlined)");
	assert_true(number && inlined && number < inlined);
	cli_contains(inlined, "\n       local kept = 70\n");
	assert_null(strchr(p->out.bytes, '\033'));
	harness_free(p);
	/* Only the requested kinds of variables are shown. */
	p = cli_run("fibertrace", pid, "--locals", NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, " arg   "));
	cli_contains(p->out.bytes, "local kept = 70");
	harness_free(p);
	p = cli_run("fibertrace", pid, NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "local "));
	harness_free(p);
}

static void test_groups_say_whose_values_are_shown(void **state)
{
	struct harness_process *crowd = cli_start(NULL, "ready ", "crowd", "66", NULL);
	const char *const of = cli_number((uint64_t)crowd->pid);
	struct harness_process *p = cli_run("fibertrace", of, "--args", NULL);
	json_t *answer = json_well(cli_run("fibertrace", of, "--args", "--json", NULL));
	const json_t *group;
	size_t i, with = 0;

	(void)state;
	assert_in_range(harness_exit_code(p), 0, 1);
	cli_contains(p->out.bytes, "\n  values of fiber ");
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		const json_t *ids = json_object_get(group, "fiberIds");

		if (!json_object_get(group, "valuesOf"))
			continue;
		assert_int_equal(json_int(group, "valuesOf"),
				 json_integer_value(json_array_get(ids, 0)));
		with++;
	}
	assert_true(with > 5);
	json_decref(answer);
	harness_free(p);
	harness_free(crowd);
}

static void test_what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fibertrace", pid, "--source", "none", NULL), 64, "fibertrace",
			 "--source");
	cli_expect_error(cli_run("fibertrace", pid, "--source", "3", "--json", NULL), 64,
			 "fibertrace", "--source");
	cli_expect_error(cli_run("fibertrace", "list", pid, "--args", NULL), 64, "fibertrace",
			 "--args");
}

/* -- damaged debug information -- */

static char *slurp(const char *path, size_t *ret_size)
{
	const int fd = open(path, O_RDONLY);
	struct stat st;
	char *bytes;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return bytes;
}

/* The unloaded part, the last two thirds of the file, is debug information; the build id is
 * kept. */
static void test_damaged_debug_information_ends_in_a_message(void **state)
{
	char path[HARNESS_PATH], damaged[HARNESS_PATH];
	unsigned long dice = 12345;
	char *bytes, *copy;
	size_t size;

	(void)state;
	if (!*core)
		cli_skip("no cores of sanitizer builds");
	bytes = slurp(harness_program(path, "values"), &size);
	copy = malloc(size);
	assert_non_null(copy);
	harness_file(damaged, "damaged");
	for (int turn = 0; turn < 24; turn++) {
		struct harness_process *p;
		FILE *out = fopen(damaged, "w");

		memcpy(copy, bytes, size);
		for (int i = 0; i < 1 << turn % 12; i++) {
			dice = dice * 6364136223846793005UL + 1442695040888963407UL;
			/*
			 * Spare the section table at the end: without it there is nothing to read.
			 */
			copy[size / 3 + (dice >> 33) % (size / 2)] = (char)(dice >> 20);
		}
		assert_true(out && fwrite(copy, 1, size, out) == size && fclose(out) == 0);
		p = cli_run("fibertrace", "--core", core, damaged, "--each", "--args", "--locals",
			    "--source", "2", NULL);
		assert_in_range(harness_exit_code(p), 0, 2);
		harness_free(p);
	}
	free(copy);
	free(bytes);
}

static int start(void **state)
{
	struct harness_process *p;
	char program[HARNESS_PATH];

	(void)state;
	values = cli_start(NULL, "ready ", harness_plain(program, "values"), NULL);
	pid = strdup(cli_number((uint64_t)values->pid));
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "values.fiber"),
		    NULL);
	cli_ended(p, 0);
	if (!*harness_sanitizer())
		cli_core(values->pid, "core", core);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free((char *)pid);
	harness_free(values);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_live_process_has_values_on_stacks_and_in_memory),
		cmocka_unit_test(test_a_core_has_them_too),
		cmocka_unit_test(test_a_socket_and_a_snapshot_have_those_of_stacks_alone),
		cmocka_unit_test(test_text_has_them_under_their_frame_and_no_control_character),
		cmocka_unit_test(test_groups_say_whose_values_are_shown),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_damaged_debug_information_ends_in_a_message),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}

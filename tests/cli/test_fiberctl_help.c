/* SPDX-License-Identifier: MIT */
/* test_fiberctl_help.c - every command has help with its options; every wait kind is explained */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "layout/layout.h"
#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"
#include "wire/wire.h"

#define MOST	64
#define COLUMNS 80 /* the default width of a terminal */

static struct {
	char name[MOST][32];
	size_t count;
} commands, topics;

/* Parse "  NAME   [USAGE]   SUMMARY" of fiberctl --help, up to the lines of the options. */
static int read_tables(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "--help", NULL);
	char *at, *save = NULL;
	bool of_topics = false;

	(void)state;
	cli_expect(p, 0);
	for (at = strtok_r(p->out.bytes, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		char name[32];

		if (strncmp(at, "fiberctl help TOPIC:", 20) == 0)
			of_topics = true;
		if (strncmp(at, "  ", 2) != 0 || at[2] == ' ' || at[2] == '-' ||
		    sscanf(at, "%31s", name) != 1)
			continue;
		snprintf(of_topics ? topics.name[topics.count++] : commands.name[commands.count++],
			 32, "%s", name);
	}
	harness_free(p);
	return commands.count > 5 && topics.count > 0 && commands.count < MOST ? 0 : -1;
}

static struct harness_process *help(const char *a, const char *b)
{
	struct harness_process *p = cli_run("fiberctl", a, b, NULL);

	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	return p;
}

static void test_help_of_every_command_has_usage_summary_and_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < commands.count; i++) {
		struct harness_process *p = help(commands.name[i], "--help");
		struct harness_process *same = help("help", commands.name[i]);
		char start[64];
		const char *paragraph;

		snprintf(start, sizeof(start), "usage: fiberctl %s ", commands.name[i]);
		assert_memory_equal(p->out.bytes, start, strlen(start));
		paragraph = strstr(p->out.bytes, "\n\n");
		assert_non_null(paragraph); /* the summary */
		assert_true(paragraph[2] && paragraph[2] != '\n');
		paragraph = strstr(paragraph + 2, "\n\n");
		assert_non_null(paragraph); /* the text */
		assert_true(strlen(paragraph) > 40);
		assert_string_equal(p->out.bytes, same->out.bytes);
		harness_free(p);
		harness_free(same);
	}
}

/* A shell script that prints the options of command $1, as completion offers them. */
static const char options_of[] =
	"printf '%s\\0' \"$1\" - | \"$0\" completion words | grep -oe '^--[a-z-]*'";

static void test_help_names_every_option_that_a_command_takes(void **state)
{
	struct harness_process *p;
	size_t i;

	(void)state;
	for (i = 0; i < commands.count; i++) {
		struct harness_process *all = harness_run(
			(const char *[]){"sh", "-c", options_of,
					 harness_program((char[HARNESS_PATH]){0}, "fiberctl"),
					 commands.name[i], NULL},
			NULL, CLI_SECONDS);
		char *at, *save = NULL;

		cli_expect(all, 0);
		p = help(commands.name[i], "--help");
		for (at = strtok_r(all->out.bytes, "\n", &save); at;
		     at = strtok_r(NULL, "\n", &save))
			if (strcmp(at, "--json") && strcmp(at, "--help") && strcmp(at, "--color"))
				cli_contains(p->out.bytes, at);
		harness_free(p);
		harness_free(all);
	}
	p = help("bt", "--help");
	cli_contains(p->out.bytes, "-a, --all");
	harness_free(p);
}

static void test_help_of_every_topic_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < topics.count; i++) {
		struct harness_process *p = help("help", topics.name[i]);

		assert_true(strlen(p->out.bytes) > 200);
		harness_free(p);
	}
}

static void expect_fits(struct harness_process *p)
{
	char *at, *save = NULL;

	cli_expect(p, 0);
	for (at = strtok_r(p->out.bytes, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		if (strlen(at) > COLUMNS)
			print_error("too wide: %s\n", at);
		assert_true(strlen(at) <= COLUMNS);
	}
	harness_free(p);
}

/* fibertrace has commands of its own. */
static void test_help_of_every_command_has_one_example_of_it(void **state)
{
	static const char *const traces[] = {"list",   "bt",	 "stacks", "why",    "deadlock",
					     "record", "report", "export", "to-core"};
	const size_t all = commands.count + sizeof(traces) / sizeof(traces[0]);

	(void)state;
	for (size_t i = 0; i < all; i++) {
		const bool traced = i >= commands.count;
		const char *const tool = traced ? "fibertrace" : "fiberctl";
		const char *const name = traced ? traces[i - commands.count] : commands.name[i];
		struct harness_process *p = cli_run(tool, "help", name, NULL);
		const char *at = strstr(p->out.bytes, "\n\nExample:\n  $ ");
		char start[64];

		cli_expect(p, 0);
		if (!at)
			fail_msg("%s %s has no example", tool, name);
		snprintf(start, sizeof(start), "\n\nExample:\n  $ %s %s", tool, name);
		assert_memory_equal(at, start, strlen(start));
		assert_null(strstr(at + 4, "Example:"));
		harness_free(p);
	}
}

static void test_help_fits_a_terminal(void **state)
{
	(void)state;
	expect_fits(cli_run("fiberctl", "--help", NULL));
	for (size_t i = 0; i < commands.count; i++)
		expect_fits(cli_run("fiberctl", "help", commands.name[i], NULL));
}

static void test_help_of_nothing_known_is_a_usage_error(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "help", "nonsense", NULL), 64, "fiberctl", "nonsense");
}

static void take(int fd, void *bytes, size_t size)
{
	size_t done = 0;
	ssize_t n;

	for (; done < size; done += (size_t)n) {
		n = recv(fd, (char *)bytes + done, size - done, 0);
		assert_true(n > 0);
	}
}

/* Read the layout that a program describes. */
static void ask_layout(pid_t pid, struct fib_layout *ret)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_LIST, 0};
	const int fd = cli_attach(pid);
	static char payload[FIB_WIRE_FRAME_MAX];

	assert_int_equal(send(fd, &h, sizeof(h), MSG_NOSIGNAL), sizeof(h));
	do {
		take(fd, &h, sizeof(h));
		assert_true(h.length <= sizeof(payload));
		take(fd, payload, h.length);
	} while (h.type != FIB_WIRE_LAYOUT);
	assert_true(h.length >= sizeof(*ret));
	memcpy(ret, payload, sizeof(*ret));
	close(fd);
}

/* Finds a wait kind of the library that the help does not explain. */
static void test_help_explains_every_wait_kind_of_a_program(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "10", NULL);
	struct harness_process *p = help("help", "wait-kinds");
	struct fib_layout layout;
	char line[64];

	(void)state;
	ask_layout(crowd.process->pid, &layout);
	assert_true(layout.wait_count > FIB_WAIT_PINNED);
	for (size_t i = FIB_WAIT_NONE + 1; i < layout.wait_count; i++) {
		snprintf(line, sizeof(line), "\n\n%.16s\n  waits   ", layout.wait_names[i]);
		cli_contains(p->out.bytes, line);
		/* Tools show the object of this wait kind, so the help must explain it. */
		if (layout.objects[i].name.size) {
			const char *at = strstr(p->out.bytes, line) + 2, *end = strstr(at, "\n\n");
			const char *object = strstr(at, "\n  object  ");

			assert_non_null(end);
			assert_true(object && object < end);
			if (layout.objects[i].holder.size)
				assert_true(strstr(object, "holder") &&
					    strstr(object, "holder") < end);
		}
	}
	harness_free(p);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_of_every_command_has_usage_summary_and_text),
		cmocka_unit_test(test_help_names_every_option_that_a_command_takes),
		cmocka_unit_test(test_help_of_every_topic_is_there),
		cmocka_unit_test(test_help_of_every_command_has_one_example_of_it),
		cmocka_unit_test(test_help_fits_a_terminal),
		cmocka_unit_test(test_help_of_nothing_known_is_a_usage_error),
		cmocka_unit_test(test_help_explains_every_wait_kind_of_a_program),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, read_tables, NULL);
}

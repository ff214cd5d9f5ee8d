/* SPDX-License-Identifier: MIT */
/* test_fiberctl_layout.c - lists sorted, cut, counted, in columns, as JSON lines, on a terminal */
#include <fcntl.h>
#include <inttypes.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "300", "--stuck");
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* -- sorted -- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct crowd_member *)a)->name,
		      ((const struct crowd_member *)b)->name);
}

/*
 * Assert that the list sorted by name has the crowd's fibers in that order; backwards: last first.
 */
static void agree_by_name(const char *field, bool backwards, size_t limit)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--sort", field, "--json",
					    limit ? "--limit" : NULL, cli_number(limit), NULL);
	struct crowd_member *sorted = malloc(crowd.count * sizeof(*sorted));
	json_t *answer, *fibers;

	assert_non_null(sorted);
	memcpy(sorted, crowd.members, crowd.count * sizeof(*sorted));
	qsort(sorted, crowd.count, sizeof(*sorted), by_name);
	answer = json_well(p);
	fibers = json_object_get(answer, "fibers");
	assert_int_equal(json_array_size(fibers), limit ? limit : crowd.count);
	for (size_t i = 0; i < json_array_size(fibers); i++)
		assert_int_equal(json_int(json_array_get(fibers, i), "id"),
				 sorted[backwards ? crowd.count - 1 - i : i].id);
	assert_int_equal(json_int(answer, "shown"), json_array_size(fibers));
	if (limit)
		assert_int_equal(json_int(answer, "matched"), crowd.count);
	json_decref(answer);
	free(sorted);
}

static void test_list_is_in_the_order_of_a_field(void **state)
{
	(void)state;
	agree_by_name("name", false, 0);
	agree_by_name("-name", true, 0);
	agree_by_name("name", false, 7);
	agree_by_name("-name", true, 299);
}

static void test_list_in_an_order_has_nothing_last(void **state)
{
	static const char *const orders[] = {"holder", "-holder"};
	size_t held = 0, i;

	(void)state;
	for (i = 0; i < crowd.count; i++)
		held += strcmp(crowd.members[i].holder, "-") != 0;
	for (int k = 0; k < 2; k++) {
		struct harness_process *p =
			cli_run("fiberctl", "list", pid, "--sort", orders[k], "--json", NULL);
		json_int_t last = k ? INT64_MAX : 0;
		json_t *answer, *fiber;

		answer = json_well(p);
		json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
			const json_t *const wait = json_object_get(fiber, "wait");
			const json_int_t id = json_int(wait, "holderId");

			assert_int_equal(i<held, id> 0 || json_int(wait, "holderThread") > 0);
			if (id <= 0)
				continue;
			assert_true(k ? id <= last : id >= last);
			last = id;
		}
		assert_int_equal(i, crowd.count);
		json_decref(answer);
	}
}

/* -- cut -- */

static void test_list_with_a_limit_says_how_many_more_match(void **state)
{
	const size_t mutexes = crowd_count(&crowd, "mutex");
	char wanted[128];
	struct harness_process *p =
		cli_run("fiberctl", "list", pid, "--where", "wait=mutex", "-l", "5", NULL);

	(void)state;
	cli_expect(p, 0);
	assert_int_equal(count_lines(p->out.bytes), 7);
	snprintf(wanted, sizeof(wanted), "\nshown 5 of %zu fibers, sampled over ", crowd.count);
	cli_contains(p->out.bytes, wanted);
	snprintf(wanted, sizeof(wanted), "; %zu more match: --all shows them\n", mutexes - 5);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
	/* --all overrides the limit, and a complete list has no line about more matches. */
	p = cli_run("fiberctl", "list", pid, "--where", "wait=mutex", "-l", "5", "--all", NULL);
	cli_expect(p, 0);
	assert_int_equal(count_lines(p->out.bytes), mutexes + 2);
	assert_null(strstr(p->out.bytes, "more match"));
	harness_free(p);
}

/* -- columns -- */

static void test_list_has_the_columns_asked_for(void **state)
{
	const struct crowd_member *const m = crowd_find(&crowd, "mutex", "mutex-thread-");
	char where[64], wanted[256];
	struct harness_process *p;

	(void)state;
	snprintf(where, sizeof(where), "id=%" PRIu64, m->id);
	p = cli_run("fiberctl", "list", pid, "--where", where, "--columns",
		    "id,holder,object,fn,name", NULL);
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted),
		 "%10s %12s  %-16s %-24s %s\n%10" PRIu64 " %12s  %-16s %-24s %s\n", "ID", "HOLDER",
		 "OBJECT", "FUNCTION", "NAME", m->id, m->holder, m->object, "member_main", m->name);
	assert_int_equal(strncmp(p->out.bytes, wanted, strlen(wanted)), 0);
	harness_free(p);
	p = cli_run("fiberctl", "list", pid, "--where", where, "-c", "all", NULL);
	cli_expect(p, 0);
	for (const char *s =
		     "ID STATE AGE SWITCHES CPU STACK SIZE HIGHEST KIND WAIT OBJECT ADDRESS "
		     "HOLDER FD TARGET LEFT CARRIER PINS PARENT FUNCTION NAME ";
	     *s; s = strchr(s, ' ') + 1) {
		snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(s, " "), s);
		cli_contains(p->out.bytes, wanted);
	}
	harness_free(p);
}

static void test_list_has_columns_of_labels(void **state)
{
	struct crowd labels = crowd_start(NULL, "labels", NULL, NULL);
	struct harness_process *p =
		cli_run("fiberctl", "list", cli_number((uint64_t)labels.process->pid), "--where",
			"label.worker", "--columns", "name,label.worker,label.request", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "NAME             worker           request\n");
	cli_contains(p->out.bytes, "worker-5         5                GET /5?a=b\n");
	assert_int_equal(count_lines(p->out.bytes), labels.count);
	harness_free(p);
	crowd_end(&labels);
}

/* -- counted -- */

static void test_list_counts_by_any_field(void **state)
{
	static const char *const fields[] = {
		"id",	      "state", "age",	  "switches", "cpu",	   "stack",  "size",
		"high-water", "wait",  "waiting", "object",   "address",   "holder", "fd",
		"target",     "left",  "carrier", "pins",     "cancelled", "masked", "parent",
		"fn",	      "spawn", "name",	  "label.k"};

	(void)state;
	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
		struct harness_process *p =
			cli_run("fiberctl", "list", pid, "--group-by", fields[k], "--json", NULL);
		json_int_t sum = 0, last = INT64_MAX;
		json_t *answer, *group;
		size_t i;

		answer = json_well(p);
		json_promise_answer(answer, "control");
		json_array_foreach (json_object_get(answer, "groups"), i, group) {
			json_promise(group, fields[k],
				     "field:s value:s? count:i fiberIds:a ageNs:o cpuNs:i");
			assert_string_equal(json_text(group, "field"), fields[k]);
			assert_true(json_int(group, "count") <= last);
			last = json_int(group, "count");
			sum += last;
		}
		assert_int_equal(sum, crowd.count);
		assert_int_equal(json_int(answer, "total"), crowd.count);
		json_decref(answer);
	}
}

static void test_list_counts_what_the_crowd_is(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "-g", "wait", "-w",
					    "state!=running", "--json", NULL);
	json_t *answer, *group;
	size_t i, without = 0;

	(void)state;
	answer = json_well(p);
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		if (json_is_null(json_object_get(group, "value")))
			without += (size_t)json_int(group, "count");
		else
			assert_int_equal(json_int(group, "count"),
					 crowd_count(&crowd, json_text(group, "value")));
	}
	assert_int_equal(without, crowd_count(&crowd, "dead") + crowd_count(&crowd, "created"));
	json_decref(answer);
	p = cli_run("fiberctl", "list", pid, "-g", "holder", "-l", "1", NULL);
	cli_expect(p, 0);
	assert_int_equal(count_lines(p->out.bytes), 4);
	cli_contains(p->out.bytes, "     COUNT ");
	cli_contains(p->out.bytes, "\nshown 1 of ");
	cli_contains(p->out.bytes, " values of holder\nshown ");
	cli_contains(p->out.bytes, " more match: --all shows them\n");
	harness_free(p);
}

/* -- lines of JSON -- */

static void test_list_as_lines_is_an_object_a_line(void **state)
{
	struct harness_process *p =
		cli_run("fiberctl", "list", pid, "--json=lines", "--where", "wait", NULL);
	size_t number = 0, fibers = 0;
	char *line, *rest = p->out.bytes;

	(void)state;
	cli_expect(p, 0);
	assert_int_equal(rest[p->out.size - 1], '\n');
	rest[p->out.size - 1] = 0;
	for (; (line = strsep(&rest, "\n")); number++) {
		json_t *const o = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		assert_true(json_is_object(o));
		if (!number) {
			json_promise(o, "head", "schemaVersion:i pid:i name:s source:s rows:s");
			assert_string_equal(json_text(o, "rows"), "fibers");
		} else if (rest) {
			json_promise_fiber(o, false);
			fibers++;
		} else {
			json_promise(o, "end",
				     "end:b matched:i sampledNs:i total:i shown:i complete:b "
				     "problems:a");
			assert_int_equal(json_int(o, "shown"), fibers);
			assert_int_equal(json_int(o, "total"), crowd.count);
		}
		json_decref(o);
	}
	assert_int_equal(fibers, crowd.count - crowd_count(&crowd, "dead") -
					 crowd_count(&crowd, "created") -
					 crowd_count(&crowd, "running"));
	harness_free(p);
}

/* -- a terminal, and colours -- */

static unsigned short terminal_columns; /* 0: the terminal has no width */

/* What the tool prints on a terminal, without the carriage returns. */
static char *on_terminal_of(const char *kind, const char *option, const char *argument)
{
	const struct winsize window = {.ws_row = 24, .ws_col = terminal_columns};
	char path[HARNESS_PATH], *text = calloc(1, 1 << 20), *to = text;
	const char *const argv[] = {
		harness_program(path, "fiberctl"), "list", pid, option, argument, NULL};
	size_t size = 0;
	int fd, status;
	pid_t child;
	ssize_t n;

	assert_non_null(text);
	child = forkpty(&fd, NULL, NULL, terminal_columns ? &window : NULL);
	assert_true(child >= 0);
	if (!child) {
		setenv("TERM", kind, 1);
		setenv("NO_COLOR", "", 1); /* an empty value counts as unset */
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	while ((n = read(fd, text + size, (1 << 20) - 1 - size)) > 0)
		size += (size_t)n;
	close(fd);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	for (const char *s = text; *s; s++)
		if (*s != '\r')
			*to++ = *s;
	*to = 0;
	return text;
}

static char *on_terminal(const char *option, const char *argument)
{
	return on_terminal_of("xterm", option, argument);
}

static void test_list_on_a_terminal_is_a_screenful(void **state)
{
	char *text = on_terminal(NULL, NULL), wanted[64];

	(void)state;
	assert_int_equal(count_lines(text), 1 + 200 + 1);
	snprintf(wanted, sizeof(wanted), "shown 200 of %zu fibers, ", crowd.count);
	cli_contains(text, wanted);
	snprintf(wanted, sizeof(wanted), "; %zu more match: --all shows them\n", crowd.count - 200);
	cli_contains(text, wanted);
	free(text);
	text = on_terminal("--all", NULL);
	assert_int_equal(count_lines(text), 1 + crowd.count + 1);
	free(text);
	text = on_terminal("--limit", "250");
	assert_int_equal(count_lines(text), 1 + 250 + 1);
	free(text);
	/* JSON is not cut on a terminal: a program that reads it needs all rows. */
	text = on_terminal("--json", NULL);
	assert_true(count_lines(text) > crowd.count);
	free(text);
	text = on_terminal("--sort", "-id");
	assert_int_equal(count_lines(text), 1 + 200 + 1);
	free(text);
}

static void test_list_cuts_the_last_column_at_the_width_of_the_terminal(void **state)
{
	static const char *const columns = "id,state,name";
	char *text, *line, *rest;

	(void)state;
	terminal_columns = 28;
	rest = text = on_terminal_of("dumb", "--columns", columns);
	cli_contains(text, "\n        15 suspended mutex-1\n");
	while ((line = strsep(&rest, "\n")) && strncmp(line, "shown ", 6) != 0)
		assert_true(strlen(line) <= 28);
	free(text);
	/* Without room for the last column nothing is cut. */
	terminal_columns = 20;
	text = on_terminal_of("dumb", "--columns", columns);
	cli_contains(text, "NAME\n");
	free(text);
	terminal_columns = 0;
}

static void test_list_is_in_the_order_of_ids(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--columns", "id", NULL);
	unsigned long before = 0, lines = 0;
	char *at = strchr(p->out.bytes, '\n');

	(void)state;
	cli_expect(p, 0);
	for (; strncmp(at + 1, "shown ", 6) != 0; at = strchr(at + 1, '\n'), lines++) {
		const unsigned long id = strtoul(at + 1, NULL, 10);

		assert_true(id > before);
		before = id;
	}
	assert_int_equal(lines, crowd.count);
	harness_free(p);
}

static void test_list_has_colours_where_they_are_wanted(void **state)
{
	static const char *const when[] = {"always", "never", "auto"};
	char *text;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct harness_process *p =
			cli_run("fiberctl", "list", pid, "--limit", "1", "--color", when[i], NULL);

		cli_expect(p, 0);
		assert_int_equal(strchr(p->out.bytes, '\033') != NULL, i == 0);
		harness_free(p);
		text = on_terminal("--color", when[i]);
		assert_int_equal(strchr(text, '\033') != NULL, i != 1);
		free(text);
	}
	text = on_terminal_of("dumb", "--limit", "1");
	assert_null(strchr(text, '\033'));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_is_in_the_order_of_a_field),
		cmocka_unit_test(test_list_in_an_order_has_nothing_last),
		cmocka_unit_test(test_list_with_a_limit_says_how_many_more_match),
		cmocka_unit_test(test_list_has_the_columns_asked_for),
		cmocka_unit_test(test_list_has_columns_of_labels),
		cmocka_unit_test(test_list_counts_by_any_field),
		cmocka_unit_test(test_list_counts_what_the_crowd_is),
		cmocka_unit_test(test_list_as_lines_is_an_object_a_line),
		cmocka_unit_test(test_list_on_a_terminal_is_a_screenful),
		cmocka_unit_test(test_list_cuts_the_last_column_at_the_width_of_the_terminal),
		cmocka_unit_test(test_list_is_in_the_order_of_ids),
		cmocka_unit_test(test_list_has_colours_where_they_are_wanted),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}

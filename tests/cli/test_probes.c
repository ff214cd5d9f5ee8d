/* SPDX-License-Identifier: MIT */
/*
 * test_probes.c - every libfiber program has the probes, and gdb sees in them what the program
 * prints
 *
 * gdb stops at each probe, prints its arguments from the notes and continues. The program's own
 * output is searched in that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

static const struct {
	const char *name;
	unsigned arguments;
} probes[] = {
	{"spawn", 3},  {"exit", 1},  {"park", 3},   {"wake", 2},
	{"switch", 2}, {"steal", 3}, {"pinned", 2},
};
#define PROBES (sizeof(probes) / sizeof(probes[0]))

static unsigned blanks(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == ' ';
	return n;
}

/* Count the notes of a file with readelf: how often each probe is there, always with the right
 * number of arguments. */
static void count_notes(const char *file, unsigned count[PROBES])
{
	struct harness_process *p = cli_run("/usr/bin/env", "readelf", "-n", file, NULL);
	char name[32], arguments[256];
	const char *at;

	cli_expect(p, 0);
	memset(count, 0, PROBES * sizeof(*count));
	for (at = p->out.bytes; (at = strstr(at, "Provider: libfiber")); at++) {
		const char *const n = strstr(at, "Name: "), *const a = strstr(at, "Arguments: ");
		size_t i;

		assert_non_null(n);
		assert_non_null(a);
		assert_int_equal(sscanf(n, "Name: %31s", name), 1);
		assert_int_equal(sscanf(a, "Arguments: %255[^\n]", arguments), 1);
		for (i = 0; i < PROBES && strcmp(probes[i].name, name) != 0; i++)
			;
		assert_true(i < PROBES);
		assert_int_equal(blanks(arguments) + 1, probes[i].arguments);
		/* No argument is computed for the probe: each is read from memory. */
		for (const char *c = strtok(arguments, " "); c; c = strtok(NULL, " "))
			assert_non_null(strchr(c, '('));
		count[i]++;
	}
	harness_free(p);
}

static void needs_probes(void)
{
	unsigned count[PROBES];
	char path[HARNESS_PATH];

	if (*harness_sanitizer())
		cli_skip("a sanitizer's shadow is slow to start under gdb");
	count_notes(harness_program(path, "probed"), count);
}

static void test_every_probe_is_in_the_program_and_in_the_shared_library(void **state)
{
	char path[HARNESS_PATH];
	unsigned count[PROBES];

	(void)state;
	count_notes(harness_program(path, "probed"), count);
	for (size_t i = 0; i < PROBES; i++)
		assert_true(count[i] > 0);
	snprintf(path, sizeof(path), "%s/lib/libfiber.so", harness_build());
	count_notes(path, count);
	for (size_t i = 0; i < PROBES; i++)
		assert_true(count[i] > 0);
}

/* Run the program in gdb: it prints a line "stops PROBE A B C" for each probe passed. */
static struct harness_process *watch(const char *argument)
{
	char script[HARNESS_PATH], program[HARNESS_PATH];
	struct harness_process *p;
	FILE *f = fopen(harness_file(script, "watch.gdb"), "w");

	assert_non_null(f);
	fputs("set pagination off\nset breakpoint pending off\nset print thread-events off\n", f);
	for (size_t i = 0; i < PROBES; i++) {
		fprintf(f, "break -probe-stap libfiber:%s\ncommands\nsilent\nprintf \"stops %s",
			probes[i].name, probes[i].name);
		for (unsigned k = 0; k < 3; k++)
			fputs(k < probes[i].arguments ? " %lu" : " 0", f);
		fputs("\\n\"", f);
		for (unsigned k = 0; k < probes[i].arguments; k++)
			fprintf(f, ", (unsigned long)$_probe_arg%u", k);
		fputs("\ncontinue\nend\n", f);
	}
	fprintf(f, "run %s\n", argument);
	fclose(f);
	p = cli_run("/usr/bin/env", "gdb", "-nx", "-q", "-batch", "-x", script,
		    harness_program(program, "probed"), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "exited normally");
	return p;
}

/* The number of lines that begin with this text and end after it. */
static unsigned lines_of(const char *text, const char *line)
{
	size_t n = strlen(line);
	unsigned found = 0;

	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		found += !strncmp(text, line, n) && (text[n] == '\n' || !text[n]);
	return found;
}

/*
 * A turn takes longer than a tick where gdb stops. After it the carrier looks outside, and goes to
 * the next fiber in two steps. Make one of them, in place.
 */
static void join_steps(char *text)
{
	unsigned long from = 0, a, b;
	char *to = text, *end;

	for (char *at = text; *at; at = end) {
		end = strchr(at, '\n');
		end = end ? end + 1 : at + strlen(at);
		if (sscanf(at, "stops switch %lu %lu 0\n", &a, &b) == 2) {
			if (a && !b) {
				from = a;
				continue;
			}
			if (!a && from) {
				to += sprintf(to, "stops switch %lu %lu 0\n", from, b);
				from = 0;
				continue;
			}
		}
		memmove(to, at, (size_t)(end - at));
		to += end - at;
	}
	*to = '\0';
}

static void test_gdb_stops_at_each_with_what_the_program_says(void **state)
{
	struct harness_process *p;
	char line[256], rest[200];
	unsigned said = 0;

	(void)state;
	needs_probes();
	p = watch("");
	join_steps(p->out.bytes);
	for (const char *at = p->out.bytes; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
		unsigned same;

		if (sscanf(at, "passes %199[^\n]", rest) != 1)
			continue;
		said++;
		snprintf(line, sizeof(line), "passes %s", rest);
		same = lines_of(p->out.bytes, line);
		snprintf(line, sizeof(line), "stops %s", rest);
		/* gdb stops as often as the program printed the line; two switches may be equal. */
		if (lines_of(p->out.bytes, line) != same)
			print_error("%u times '%s' in:\n%s", same, line, p->out.bytes);
		assert_int_equal(lines_of(p->out.bytes, line), same);
	}
	assert_int_equal(said, 15);
	harness_free(p);
}

static void test_gdb_stops_where_a_carrier_takes_anothers(void **state)
{
	unsigned long thief, victim, id, low, high;
	struct harness_process *p;
	unsigned stops = 0;

	(void)state;
	needs_probes();
	p = watch("steal");
	assert_non_null(strstr(p->out.bytes, "spawned "));
	assert_int_equal(
		sscanf(strstr(p->out.bytes, "spawned "), "spawned %lu to %lu", &low, &high), 2);
	for (const char *at = p->out.bytes; (at = strstr(at, "stops steal ")); at++) {
		assert_int_equal(sscanf(at, "stops steal %lu %lu %lu", &thief, &victim, &id), 3);
		assert_true(thief < 2 && victim < 2 && thief != victim);
		/* The fiber is one of those spawned, or the one that waits for them. */
		assert_true(id == low - 1 || (id >= low && id <= high));
		stops++;
	}
	assert_true(stops > 0);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_probe_is_in_the_program_and_in_the_shared_library),
		cmocka_unit_test(test_gdb_stops_at_each_with_what_the_program_says),
		cmocka_unit_test(test_gdb_stops_where_a_carrier_takes_anothers),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

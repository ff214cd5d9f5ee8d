/* SPDX-License-Identifier: MIT */
/* test_fiberctl_numbers.c - --where compares numbers as printed; missing ones never match */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/list.h"
#include "tests/harness/watchdog.h"

enum { ID, PARENT, NAME, CPU = 13, SWITCHES = 12, PINS = 14, SIZE, USED, HIGHEST, COLUMNS = 19 };
#define ROWS 32

struct mirror {
	struct harness_process *process;
	char *text, *cell[ROWS][COLUMNS];
	size_t rows;
};

static void mirror_start(struct mirror *m)
{
	char *line, *rest, *next;

	*m = (struct mirror){.process = cli_start(NULL, "ready ", "mirror", NULL)};
	m->text = strdup(m->process->out.bytes);
	assert_non_null(m->text);
	for (rest = m->text; (line = strsep(&rest, "\n"));) {
		int n = 0;

		if (!strchr(line, '\t'))
			continue;
		while ((next = strsep(&line, "\t")))
			m->cell[m->rows][n++] = next;
		assert_int_equal(n, COLUMNS);
		m->rows++;
	}
	assert_true(m->rows > 8);
}

static bool holds(const char *op, int64_t a, int64_t b)
{
	return !strcmp(op, "=") ? a == b : !strcmp(op, "!=") ? a != b : *op == '<' ? a < b : a >= b;
}

static void test_where_compares_numbers_that_mirror_says(void **state)
{
	static const struct {
		const char *field;
		int column;
		const char *unit;
	} fields[] = {{"id", ID, ""},	   {"parent", PARENT, ""},     {"switches", SWITCHES, ""},
		      {"cpu", CPU, "ns"},  {"pins", PINS, ""},	       {"size", SIZE, ""},
		      {"stack", USED, ""}, {"high-water", HIGHEST, ""}};
	static const char *const ops[] = {"=", "!=", "<", ">="};
	struct mirror m;
	char where[64];

	(void)state;
	mirror_start(&m);
	for (size_t k = 0; k < 4 * sizeof(fields) / sizeof(fields[0]); k++) {
		const int column = fields[k / 4].column;
		const char *const op = ops[k % 4];
		const char *const value = m.cell[3][column];
		json_t *answer;

		snprintf(where, sizeof(where), "%s%s%s%s and not state=dead", fields[k / 4].field,
			 op, value, fields[k / 4].unit);
		answer = list_where(cli_number((uint64_t)m.process->pid), where);
		for (size_t i = 0; i < m.rows; i++) {
			const char *const own = m.cell[i][column];
			/* A fiber spawned by a thread has no parent, so it has no number. */
			const bool known = column != PARENT || strcmp(own, "0");
			const bool dead = !strcmp(m.cell[i][NAME], "ended");
			const bool wanted =
				known && !dead &&
				holds(op, strtoll(own, NULL, 10), strtoll(value, NULL, 10));

			if (wanted !=
			    (json_fiber(answer, strtoull(m.cell[i][ID], NULL, 10)) != NULL))
				print_error("%s: %s has %s\n", where, m.cell[i][NAME], own);
			assert_int_equal(json_fiber(answer, strtoull(m.cell[i][ID], NULL, 10)) !=
						 NULL,
					 wanted);
		}
		json_decref(answer);
	}
	free(m.text);
	harness_free(m.process);
}

static void test_where_finds_parents_and_functions(void **state)
{
	struct mirror m;
	json_t *answer;
	const char *number;

	(void)state;
	mirror_start(&m);
	number = cli_number((uint64_t)m.process->pid);
	answer = list_where(number, "parent and spawn=parent and fn=sleeper and name!~.");
	assert_int_equal(json_int(answer, "shown"), 0); /* no name, so no match */
	json_decref(answer);
	answer =
		list_where(number, "parent and spawn=parent and fn=sleeper and name=\"sleeper()\"");
	assert_int_equal(json_int(answer, "shown"), 1);
	json_decref(answer);
	answer = list_where(number, "name=\"waiter \\\"1\\\"\" and object=\"config lock\"");
	assert_int_equal(json_int(answer, "shown"), 1);
	json_decref(answer);
	answer = list_where(number, "fn=locker or fn~\"^(taker|joiner)$\"");
	assert_int_equal(json_int(answer, "shown"), 5);
	json_decref(answer);
	free(m.text);
	harness_free(m.process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_compares_numbers_that_mirror_says),
		cmocka_unit_test(test_where_finds_parents_and_functions),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

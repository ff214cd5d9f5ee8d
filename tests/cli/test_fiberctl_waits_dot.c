/* SPDX-License-Identifier: MIT */
/* test_fiberctl_waits_dot.c - who waits for whom as a graph, which dot(1) draws. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_tangle.h"
#include "tests/harness/watchdog.h"

static struct harness_process *ask(const char *format)
{
	return cli_run("fiberctl", "waits", pid, format, NULL);
}

/* The number of occurrences of `what` in the process' output. */
static size_t occurrences(const struct harness_process *p, const char *what)
{
	size_t n = 0;

	for (const char *at = p->out.bytes; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void test_waits_dot_has_an_edge_for_each_wait(void **state)
{
	struct harness_process *p = ask("--dot");
	char wanted[128];

	(void)state;
	cli_expect(p, 0);
	assert_int_equal(strncmp(p->out.bytes, "digraph waits {\n", 16), 0);
	assert_string_equal(p->out.bytes + p->out.size - 3, "\n}\n");
	assert_int_equal(occurrences(p, " -> "), 20);
	snprintf(wanted, sizeof(wanted),
		 "\tf%" PRIu64 " -> f%" PRIu64 " [label=\"mutex lock-1\", color=red];\n",
		 crowd.members[0].id, crowd.members[1].id);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
}

/* The nodes of the JSON answer: holders, waiters, and objects without a holder. */
static json_t *nodes_of(const json_t *answer)
{
	json_t *nodes = json_object(), *holder, *object, *id;
	char name[64];
	size_t i, k, n;

	json_array_foreach (json_object_get(answer, "holders"), i, holder) {
		const json_int_t fiber = json_int(holder, "holderId");
		const json_int_t thread = json_int(holder, "holderThread");

		snprintf(name, sizeof(name), fiber > 0 ? "f%lld" : "t%lld",
			 (long long)(fiber > 0 ? fiber : thread));
		if (fiber > 0 || thread > 0)
			json_object_set_new(nodes, name, json_null());
		json_array_foreach (json_object_get(holder, "objects"), k, object) {
			if (fiber <= 0 && thread <= 0)
				json_object_set_new(nodes, json_text(object, "object"),
						    json_null());
			json_array_foreach (json_object_get(object, "fiberIds"), n, id) {
				snprintf(name, sizeof(name), "f%lld",
					 (long long)json_integer_value(id));
				json_object_set_new(nodes, name, json_null());
			}
		}
	}
	return nodes;
}

static void test_waits_dot_is_drawn_with_the_nodes_and_edges_of_the_json_answer(void **state)
{
	json_t *answer = json_well(ask("--json")), *nodes = nodes_of(answer);
	char command[HARNESS_PATH * 2], fiberctl[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	snprintf(command, sizeof(command), "'%s' waits %d --dot | dot -Tsvg",
		 harness_program(fiberctl, "fiberctl"), (int)crowd.process->pid);
	p = cli_run("/bin/sh", "-c", command, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	assert_int_equal(occurrences(p, "class=\"edge\""), json_int(answer, "waiting"));
	/* 20 waiters; a thread and an exited fiber, which do not wait; the event and the group. */
	assert_int_equal(json_object_size(nodes), 24);
	assert_int_equal(occurrences(p, "class=\"node\""), json_object_size(nodes));
	json_decref(nodes);
	json_decref(answer);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_dot_has_an_edge_for_each_wait),
		cmocka_unit_test(
			test_waits_dot_is_drawn_with_the_nodes_and_edges_of_the_json_answer),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, one_tangle, one_crowd_end);
}

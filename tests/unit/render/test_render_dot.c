/* SPDX-License-Identifier: MIT */
/*
 * test_render_dot.c - the graph for dot(1)
 *
 * test_fiberctl_waits lets dot read the graph, where dot is installed. This test checks that every
 * string ends where it should.
 */
#include <stdlib.h>
#include <unistd.h>

#include "inspect/render/render_waits.h"
#include "tests/harness/inspect/waiting.h"

static char *text;

static void render(struct waiting *w, size_t limit, pid_t pid)
{
	struct ins_queues *queues;
	struct fib_layout layout;
	struct ins_waits waits = {.layout = &layout, .pid = pid, .limit = limit};
	size_t size;
	FILE *out;

	rows_layout(&layout);
	waiting_graph(w);
	assert_int_equal(ins_queues_new(w->graph, NULL, &queues), 0);
	waits.queues = queues;
	out = open_memstream(&text, &size);
	ins_dot_waits(out, &waits);
	fclose(out);
	ins_queues_free(queues);
	waiting_free(w);
}

static void test_a_graph_has_a_node_for_each_and_an_edge_for_each_wait(void **state)
{
	struct waiting w = waiting_new();
	struct ins_fiber fiber = waiting_for(4, FIB_WAIT_SEM, 9, 0);

	(void)state;
	waiting_lock(&w, 1, 1, 2);
	waiting_lock(&w, 2, 2, 1);
	waiting_lock(&w, 3, 3, FIB_HOLDER_THREAD | 41);
	waiting_put(&w, &fiber);
	waiting_lock(&w, 5, 4, 99);
	render(&w, SIZE_MAX, 0);
	assert_string_equal(text, "digraph waits {\n"
				  "\trankdir=LR;\n"
				  "\tnode [shape=box];\n"
				  "\to9000 [shape=diamond, label=\"sem\\no9\"];\n"
				  "\tf4 [label=\"fiber 4\\nf4\\nsuspended\"];\n"
				  "\tf4 -> o9000 [label=\"sem o9\"];\n"
				  "\tf1 [label=\"fiber 1\\nf1\\nsuspended\", color=red];\n"
				  "\tf2 [label=\"fiber 2\\nf2\\nsuspended\", color=red];\n"
				  "\tf2 -> f1 [label=\"mutex o2\", color=red];\n"
				  "\tf2 [label=\"fiber 2\\nf2\\nsuspended\", color=red];\n"
				  "\tf1 [label=\"fiber 1\\nf1\\nsuspended\", color=red];\n"
				  "\tf1 -> f2 [label=\"mutex o1\", color=red];\n"
				  "\tf99 [style=dashed, label=\"fiber 99\\nended\"];\n"
				  "\tf5 [label=\"fiber 5\\nf5\\nsuspended\"];\n"
				  "\tf5 -> f99 [label=\"mutex o4\"];\n"
				  "\tt41 [shape=ellipse, label=\"thread 41\"];\n"
				  "\tf3 [label=\"fiber 3\\nf3\\nsuspended\"];\n"
				  "\tf3 -> t41 [label=\"mutex o3\"];\n"
				  "}\n");
	free(text);
}

static void test_what_is_left_out_is_in_the_graph(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_lock(&w, 1, 1, 98);
	waiting_lock(&w, 2, 2, 99);
	render(&w, 1, 0);
	assert_non_null(strstr(text, "label=\"1 of 2 holders are shown\""));
	assert_null(strstr(text, "f99"));
	free(text);
}

/* Whether quotes pair up on each line, and only fixed text is outside of quotes. */
static bool sound(const char *at)
{
	bool quoted = false;

	for (; *at; at++) {
		if (quoted && *at == '\\' && at[1])
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (*at == '\n' && quoted)
			return false;
		else if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t')
			return false;
		else if (!quoted && strchr("<>/#", *at) && strncmp(at, "> ", 2))
			return false;
	}
	return !quoted;
}

static void test_names_stay_in_their_quotes(void **state)
{
	static const char *const names[] = {"\"]; x -> y [label=\"",
					    "\\",
					    "\\\"",
					    "a\nb",
					    "\x1b[2J",
					    "\xff\xfe",
					    "\\N",
					    "<b>",
					    "\\\\\""};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct waiting w = waiting_new();
		struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 2);

		snprintf(fiber.row.name, sizeof fiber.row.name, "%s", names[i]);
		snprintf(fiber.row.object_name, sizeof fiber.row.object_name, "%s", names[i]);
		waiting_put(&w, &fiber);
		fiber.row.id = 2;
		fiber.row.holder = 0;
		waiting_put(&w, &fiber);
		render(&w, SIZE_MAX, 0);
		assert_true(sound(text));
		/* A backslash that the escaping adds is doubled, because dot removes one. */
		if (i == 4)
			assert_non_null(strstr(text, "\\\\x1b[2J"));
		if (i == 6)
			assert_non_null(strstr(text, "\\\\N"));
		free(text);
	}
	assert_false(sound("a [label=\"b];\n"));
	assert_false(sound("a [label=\"b\"c\"];\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_graph_has_a_node_for_each_and_an_edge_for_each_wait),
		cmocka_unit_test(test_what_is_left_out_is_in_the_graph),
		cmocka_unit_test(test_names_stay_in_their_quotes),
	};

	return HEAD_RUN(tests, NULL, NULL);
}

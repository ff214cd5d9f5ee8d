/* SPDX-License-Identifier: MIT */
/*
 * test_variables.c - variables have the values in the fixture's source, and those that gdb prints
 *
 * The same program is built with and without optimisation. With it, variables are in registers that
 * callees saved, constants and expressions; without it, on the stack. gdb is given a thread with
 * the fiber's registers.
 */
#include <limits.h>

#include "values.h"

static struct values *quick, *plain, *crowd;

struct expected {
	const char *function, *name, *value;
	bool starts; /* compare the start only: an address follows */
};

static const struct expected expected[] = {
	{"leaf", "number", "-10", false},
	{"leaf", "fraction", "2.5", false},
	{"leaf", "flag", "true", false},
	{"leaf", "sum", "-9", false},
	{"leaf", "counted", "12", false},
	{"inlined", "doubled", "-10", false},
	{"inlined", "kept", "70", false},
	{"middle", "tiny", "-5", false},
	{"middle", "huge", "18446744073709551615", false},
	{"middle", "letter", "122 'z'", false},
	{"middle", "colour", "BLUE", false},
	{"middle", "array", "{1, -2, 3, -4, -5}", false},
	{"middle", "local", "{x = 10, y = -20, low = 5, high = -9, inside = {...}, label = 0x",
	 true},
	{"middle", "either", "{whole = 16909060, part = \"\\x04\\x03\\x02\\x01\"}", false},
	{"middle", "other", "99", false},
	{"middle", "name", "\"buffer\"", false},
	{"enter", "point", "{x = 100, y = 200, low = 0, high = 0, inside = {...}, label = 0x",
	 true},
};

static void check(struct values *v)
{
	struct ins_variables *found = values_of(v, 0);
	size_t i;

	for (i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		const struct expected *e = &expected[i];
		const struct ins_variable *var =
			values_find(found, values_frame(v, 0, e->function), e->name, 0);

		assert_non_null(var);
		assert_true(var->available);
		if (e->starts)
			assert_memory_equal(var->value, e->value, strlen(e->value));
		else
			assert_string_equal(var->value, e->value);
	}
	ins_variables_free(found);
}

static void test_values_of_a_program_without_optimization_are_those_it_has(void **state)
{
	(void)state;
	check(plain);
}

static void test_values_of_an_optimized_program_are_those_it_has(void **state)
{
	(void)state;
	check(quick);
}

static void test_strings_end_and_no_byte_of_them_reaches_a_terminal(void **state)
{
	struct ins_variables *found = values_of(quick, 0);
	const struct ins_variable *text =
		values_find(found, values_frame(quick, 0, "leaf"), "text", 0);
	const struct ins_variable *call =
		values_find(found, values_frame(quick, 0, "leaf"), "call", 0);

	(void)state;
	assert_non_null(text);
	assert_non_null(strstr(text->value, " \"red\\x1b[31m \\\"quoted\\\"\\x0a\""));
	assert_string_equal(text->type, "const char *const");
	assert_non_null(call);
	assert_non_null(strstr(call->value, " <callback>"));
	assert_true(text->argument && call->argument);
	ins_variables_free(found);
}

static void test_memory_beside_the_stack_is_not_made_up_where_the_source_has_none(void **state)
{
	fib_read_fn *memory = quick->source->memory;
	struct ins_variables *found;
	const struct ins_variable *v;
	unsigned leaf = values_frame(quick, 0, "leaf");

	(void)state;
	quick->source->memory = NULL;
	found = values_of(quick, 0);
	quick->source->memory = memory;
	v = values_find(found, leaf, "counted", 0);
	assert_non_null(v);
	assert_false(v->available);
	assert_non_null(strstr(v->value, "<not on the stack: 0x"));
	assert_string_equal(values_find(found, leaf, "number", 0)->value, "-10");
	ins_variables_free(found);
}

static void test_only_what_is_wanted_is_found(void **state)
{
	struct ins_variables *v;
	size_t i;

	(void)state;
	assert_int_equal(ins_variables_find(quick->source, quick->symbols, &quick->at[0].fiber,
					    &quick->at[0].walk, INS_VARIABLES_LOCALS, &v),
			 0);
	assert_true(v->count > 5);
	for (i = 0; i < v->count; i++)
		assert_false(v->at[i].argument);
	ins_variables_free(v);
}

/* If any word of a stack is wrong, values are wrong, and nothing else happens. */
static void test_a_damaged_stack_ends_in_values(void **state)
{
	struct ins_fiber fiber = quick->at[0].fiber;
	unsigned char *stack = quick->at[0].stack;
	size_t i;

	(void)state;
	for (i = 0; i + 8 <= fiber.stack_size; i += 8) {
		uint64_t was, bad = i % 24 == 0 ? UINT64_MAX - 3 : i % 24 == 8 ? fiber.row.sp : 0;

		memcpy(&was, stack + i, sizeof was);
		memcpy(stack + i, &bad, sizeof bad);
		ins_variables_free(values_of(quick, 0));
		memcpy(stack + i, &was, sizeof was);
	}
}

/* -- compare with gdb -- */

static bool comparable(const char *value)
{
	return !strpbrk(value, "<{\"(");
}

/*
 * The index of the nth frame at that pc, or UINT_MAX. gdb also lists functions that ended in a tail
 * call.
 */
static unsigned frame_at(struct values *v, unsigned fiber, uint64_t pc, unsigned nth)
{
	const struct ins_walk *walk = &v->at[fiber].walk;
	unsigned i, number = 0;
	size_t n;

	for (i = 0; i < walk->count; i++, number += (unsigned)n) {
		ins_symbols_at(v->symbols, walk->pc[i], i > 0, &n);
		if (walk->pc[i] == pc)
			return nth < n ? number + nth : UINT_MAX;
	}
	return UINT_MAX;
}

/* Count how often the name was seen before. Nested blocks may have variables of one name. */
static unsigned occurrence(char *seen, size_t size, const char *name)
{
	char word[128];
	unsigned n = 0;
	const char *at;

	snprintf(word, sizeof word, " %.120s ", name);
	for (at = strstr(seen, word); at; at = strstr(at + 1, word))
		n++;
	strncat(seen, word, size - strlen(seen) - 1);
	return n;
}

/*
 * Compare with gdb's output for a fiber: "@PC" and "name = value" lines. Returns how many were
 * equal.
 */
static unsigned compare(struct values *of, unsigned fiber, const char *text,
			const struct ins_variables *mine)
{
	unsigned frame = UINT_MAX, compared = 0, inner = 0;
	uint64_t pc, last_pc = 0;
	char line[4096], seen[4096] = "";

	for (; *text && *text != '%'; text += strcspn(text, "\n") + 1) {
		const struct ins_variable *v;
		unsigned nth;
		bool same;
		char *value;

		snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
		if (*line == '@') {
			pc = strtoull(line + 1, NULL, 16);
			inner = pc == last_pc ? inner + 1 : 0;
			last_pc = pc;
			frame = frame_at(of, fiber, pc, inner);
			*seen = 0;
			continue;
		}
		value = strstr(line, " = ");
		if (!value || strcspn(line, " \t#") != (size_t)(value - line) || frame == UINT_MAX)
			continue;
		*value = 0;
		value += 3;
		/* Keep the number only: gdb prints the letter of a character in another way. */
		if (comparable(value))
			value[strcspn(value, " ")] = 0;
		nth = occurrence(seen, sizeof seen, line);
		v = values_find(mine, frame, line, nth);
		if (!v && strcmp(value, "<optimized out>") == 0)
			continue;
		if (!v)
			print_error("frame %u: %s: gdb has it, %s\n", frame, line, value);
		assert_non_null(v);
		if (strcmp(value, "<optimized out>") == 0 && v->available)
			print_error("frame %u: %s: gdb %s, here %s\n", frame, line, value,
				    v->value);
		if (strcmp(value, "<optimized out>") == 0)
			assert_false(v->available);
		if (!comparable(value) || !v->available)
			continue;
		same = strcspn(v->value, " ") == strlen(value) &&
		       strncmp(v->value, value, strlen(value)) == 0;
		if (!same)
			print_error("frame %u: %s: gdb %s, here %s\n", frame, line, value,
				    v->value);
		assert_true(same);
		compared++;
	}
	return compared;
}

static unsigned frames_of(struct values *v, unsigned fiber)
{
	unsigned i, frames = 0;
	size_t n;

	for (i = 0; i < v->at[fiber].walk.count; i++) {
		ins_symbols_at(v->symbols, v->at[fiber].walk.pc[i], i > 0, &n);
		frames += (unsigned)n;
	}
	return frames;
}

static void write_script(struct values *v, const char *path)
{
	FILE *out = fopen(path, "w");
	unsigned i, k;

	assert_non_null(out);
	fputs("set pagination off\nset confirm off\nset print entry-values no\n"
	      "set print symbol off\nset width 0\n",
	      out);
	for (i = 0; i < v->count; i++) {
		const struct fib_row *row = &v->at[i].fiber.row;
		unsigned frames = frames_of(v, i);

		fprintf(out, "frame 0\nset $sp = 0x%llx\nset $pc = 0x%llx\necho %%%u\\n\n",
			(unsigned long long)row->sp, (unsigned long long)row->pc, i);
		for (k = 1; k + 1 < frames; k++)
			fprintf(out, "frame %u\nprintf \"@%%lx\\n\", $pc\ninfo args\ninfo locals\n",
				k);
	}
	fputs("kill\n", out);
	fclose(out);
}

/* Compare all fibers with gdb. gdb ends the process. */
static void check_by_gdb(struct values *v, unsigned least)
{
	char script[HARNESS_PATH], pid[32];
	const char *const argv[] = {"gdb", "-nx", "-batch", "-p", pid, "-x", script, NULL};
	struct ins_variables *mine[VALUES_FIBERS];
	struct harness_process *gdb;
	unsigned i, compared = 0;

	for (i = 0; i < v->count; i++)
		mine[i] = values_of(v, i);
	write_script(v, harness_file(script, "script.gdb"));
	snprintf(pid, sizeof pid, "%d", (int)v->process->pid);
	gdb = harness_start(argv, NULL);
	assert_true(harness_wait_end(gdb, 100));
	for (i = 0; i < v->count; i++) {
		char mark[16];
		const char *text;

		snprintf(mark, sizeof mark, "%%%u\n", i);
		text = gdb->out.bytes;
		while (text && strncmp(text, mark, strlen(mark)) != 0) {
			text = strchr(text, '\n');
			text = text ? text + 1 : NULL;
		}
		if (!text)
			print_error("%s", gdb->err.bytes);
		assert_non_null(text);
		compared += compare(v, i, text + strlen(mark), mine[i]);
		ins_variables_free(mine[i]);
	}
	print_message("# %u values compared\n", compared);
	assert_true(compared >= least);
	harness_free(gdb);
}

static void test_numbers_are_those_that_gdb_shows_without_optimization(void **state)
{
	(void)state;
	check_by_gdb(plain, 20);
}

static void test_numbers_are_those_that_gdb_shows_of_optimized_code(void **state)
{
	(void)state;
	check_by_gdb(quick, 20);
}

static void test_numbers_are_those_that_gdb_shows_in_every_kind_of_wait(void **state)
{
	(void)state;
	check_by_gdb(crowd, 80);
}

static int start(void **state)
{
	(void)state;
	quick = values_begin("values", NULL);
	plain = values_begin("values-plain", NULL);
	crowd = values_begin("crowd", "22");
	return quick && plain && crowd ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	values_end(quick);
	values_end(plain);
	values_end(crowd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_of_a_program_without_optimization_are_those_it_has),
		cmocka_unit_test(test_values_of_an_optimized_program_are_those_it_has),
		cmocka_unit_test(test_strings_end_and_no_byte_of_them_reaches_a_terminal),
		cmocka_unit_test(
			test_memory_beside_the_stack_is_not_made_up_where_the_source_has_none),
		cmocka_unit_test(test_only_what_is_wanted_is_found),
		cmocka_unit_test(test_a_damaged_stack_ends_in_values),
		cmocka_unit_test(test_numbers_are_those_that_gdb_shows_without_optimization),
		cmocka_unit_test(test_numbers_are_those_that_gdb_shows_of_optimized_code),
		cmocka_unit_test(test_numbers_are_those_that_gdb_shows_in_every_kind_of_wait),
	};

	return HEAD_RUN(tests, start, stop);
}

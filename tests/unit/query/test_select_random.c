/* SPDX-License-Identifier: MIT */
/*
 * test_select_random.c - random expressions have the value that they should
 *
 * The expected value is computed in the simplest way: split at the last `or` outside parentheses,
 * else at the last `and`, else after a `not`, else inside parentheses; the rest is a comparison.
 * The words need no parsing because the test generates them.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/select.h"
#include "tests/harness/inspect/rows.h"

#define WORDS  40
#define FIBERS 24
#define ROUNDS 50000

static struct fib_layout layout;
static struct ins_fiber fibers[FIBERS];
static uint64_t seed = 20260;

enum kind { FIELD, OP, VALUE, AND, OR, NOT, OPEN, CLOSE };

struct word {
	enum kind kind;
	const char *text;
};

static const char *const fields[] = {"id",	"age",	  "switches", "name",	 "holder",
				     "label.k", "object", "parent",   "label.z", "state"};
static const char *const ops[] = {"=", "==", "!=", "<", "<=", ">", ">=", "~", "=~", "!~"};
static const char *const values[] = {"0",     "1",	"3",	  "7",		"a",
				     "\"b\"", "and",	"\"or\"", "\"\"",	"suspended",
				     "dead",  "\"^a\"", "[ab]",	  "\"a\\\"c\"", "thread:3"};

/* -- evaluate a comparison -- */

/* A value without its quotes. */
static const char *plain_of(const char *value)
{
	static char buf[32];
	char *at = buf;

	if (*value != '"')
		return value;
	for (value++; *value && !(*value == '"' && !value[1]); value++) {
		if (*value == '\\')
			value++;
		*at++ = *value;
	}
	*at = 0;
	return buf;
}

/* A field's text, or its number in *ret_number if it has no text. False: no value. */
static bool value_of(const struct ins_fiber *f, const char *field, const char **ret_text,
		     uint64_t *ret_number)
{
	static const char *const states[] = {"created", "runnable", "running", "suspended", "dead"};
	const struct fib_row *row = &f->row;

	*ret_text = NULL;
	*ret_number = 0;
	if (!strcmp(field, "id"))
		*ret_number = row->id;
	else if (!strcmp(field, "age"))
		*ret_number = (uint64_t)row->age;
	else if (!strcmp(field, "switches"))
		*ret_number = row->switches;
	else if (!strcmp(field, "holder"))
		return (*ret_number = row->holder) != 0;
	else if (!strcmp(field, "parent"))
		return (*ret_number = row->parent) != 0;
	else if (!strcmp(field, "state"))
		*ret_text = states[row->state];
	else if (!strcmp(field, "name"))
		return (*ret_text = row->name)[0] != 0;
	else if (!strcmp(field, "object"))
		return (*ret_text = row->object_name)[0] != 0;
	else if (!strcmp(field, "label.k"))
		return (*ret_text = row->label + 2) && row->label[0] == 'k';
	else
		return false;
	return true;
}

static bool matches(const char *text, const char *pattern)
{
	regex_t r;
	bool ret;

	if (regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	ret = regexec(&r, text, 0, NULL, 0) == 0;
	regfree(&r);
	return ret;
}

static bool compared(const char *op, int order)
{
	if (!strcmp(op, "=") || !strcmp(op, "=="))
		return order == 0;
	if (!strcmp(op, "!="))
		return order != 0;
	if (op[0] == '<')
		return order < 0 || (op[1] && order == 0);
	return order > 0 || (op[1] && order == 0);
}

static bool compare(const struct word *w, size_t n, const struct ins_fiber *f)
{
	uint64_t number, other;
	const char *text, *value;

	if (!value_of(f, w[0].text, &text, &number))
		return false;
	if (n == 1)
		return true;
	value = plain_of(w[2].text);
	if (text && strchr(w[1].text, '~'))
		return matches(text, value) == (w[1].text[0] != '!');
	if (text)
		return compared(w[1].text, strcmp(text, value));
	other = strtoull(value[0] == 't' ? value + 7 : value, NULL, 10);
	if (value[0] == 't')
		other |= FIB_HOLDER_THREAD;
	if (!strcmp(w[0].text, "age"))
		other *= 1000000000;
	return compared(w[1].text, number < other ? -1 : number > other);
}

/* The index of the last word of this kind outside parentheses, or n. */
static size_t last(const struct word *w, size_t n, enum kind kind)
{
	size_t at = n, i;
	int depth = 0;

	for (i = 0; i < n; i++) {
		depth += (w[i].kind == OPEN) - (w[i].kind == CLOSE);
		if (!depth && w[i].kind == kind)
			at = i;
	}
	return at;
}

static bool meant(const struct word *w, size_t n, const struct ins_fiber *f)
{
	size_t at = last(w, n, OR);

	if (at < n)
		return meant(w, at, f) | meant(w + at + 1, n - at - 1, f);
	at = last(w, n, AND);
	if (at < n)
		return meant(w, at, f) & meant(w + at + 1, n - at - 1, f);
	if (w[0].kind == NOT)
		return !meant(w + 1, n - 1, f);
	if (w[0].kind == OPEN)
		return meant(w + 1, n - 2, f);
	return compare(w, n, f);
}

/* -- generate expressions -- */

static size_t put(struct word *w, size_t n, enum kind kind)
{
	static const char *const own[] = {
		[AND] = "and", [OR] = "or", [NOT] = "not", [OPEN] = "(", [CLOSE] = ")"};

	if (n == WORDS)
		return n;
	w[n].kind = kind;
	if (kind == FIELD)
		w[n].text = fields[dice(&seed, sizeof fields / sizeof fields[0])];
	else if (kind == OP)
		w[n].text = ops[dice(&seed, sizeof ops / sizeof ops[0])];
	else if (kind == VALUE)
		w[n].text = values[dice(&seed, sizeof values / sizeof values[0])];
	else
		w[n].text = own[kind];
	return n + 1;
}

/* Generate an expression that mostly follows the grammar. */
static size_t make(struct word *w, size_t n, unsigned depth)
{
	switch (depth ? dice(&seed, 8) : 0) {
	case 1:
	case 2:
		n = put(w, make(w, n, depth - 1), AND);
		return make(w, n, depth - 1);
	case 3:
	case 4:
		n = put(w, make(w, n, depth - 1), OR);
		return make(w, n, depth - 1);
	case 5:
		return make(w, put(w, n, NOT), depth - 1);
	case 6:
		return put(w, make(w, put(w, n, OPEN), depth - 1), CLOSE);
	default:
		n = put(w, n, FIELD);
		return dice(&seed, 6) ? put(w, put(w, n, OP), VALUE) : n;
	}
}

static void spell(const struct word *w, size_t n, char *text)
{
	*text = 0;
	for (size_t i = 0; i < n; i++) {
		strcat(text, w[i].text);
		strcat(text, dice(&seed, 4) ? " " : "\t\n ");
	}
}

/* Compare an expression on all fibers. False: the parser refused it. */
static bool agree(struct word *w, size_t n)
{
	char text[WORDS * 20];
	struct ins_select *s;

	/* The kind of a word depends on its position. */
	for (size_t i = 0; i < n; i++) {
		if (i && w[i - 1].kind == OP && w[i].kind != OPEN && w[i].kind != CLOSE)
			w[i].kind = VALUE;
		else if (!strcmp(w[i].text, "and"))
			w[i].kind = AND;
	}
	spell(w, n, text);
	if (ins_select_parse(text, &s, NULL) < 0)
		return false;
	for (size_t i = 0; i < FIBERS; i++) {
		struct ins_sight sight = {.layout = &layout, .fiber = &fibers[i]};
		const bool wanted = meant(w, n, &fibers[i]);

		if (ins_select_test(s, &sight) != wanted)
			print_error("fiber %zu: '%s' should be %d\n", i, text, wanted);
		assert_int_equal(ins_select_test(s, &sight), wanted);
	}
	ins_select_free(s);
	return true;
}

/* Return whether the value is valid for the field. */
static bool fits(const struct word *w)
{
	const bool text = strchr("nols", w[0].text[0]) && strcmp(w[0].text, "switches") != 0;

	if (text)
		return true;
	if (strchr(w[1].text, '~'))
		return false;
	if (!strcmp(w[0].text, "holder") && !strcmp(w[2].text, "thread:3"))
		return true;
	return w[2].text[0] >= '0' && w[2].text[0] <= '9';
}

static void test_select_by_the_grammar_means_what_it_says(void **state)
{
	struct word w[WORDS];
	unsigned read = 0, wrong = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const size_t n = make(w, 0, dice(&seed, 6));
		bool good = n < WORDS;

		for (size_t k = 0; k + 2 < n; k++)
			good = good && (w[k].kind != FIELD || w[k + 1].kind != OP || fits(w + k));
		if (agree(w, n))
			read++;
		else
			wrong += good;
	}
	/* Many values do not fit their field; expressions without such a value must be accepted. */
	assert_in_range(read, ROUNDS / 10, ROUNDS - 1);
	assert_int_equal(wrong, 0);
}

static void test_select_of_words_in_disorder_means_what_it_says(void **state)
{
	struct word w[WORDS];
	unsigned read = 0;
	size_t n;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2) {
			const size_t wanted = 1 + dice(&seed, 12);

			for (n = 0; n < wanted;)
				n = put(w, n, (enum kind)dice(&seed, CLOSE + 1));
		} else {
			n = make(w, 0, 3);
			put(w, dice(&seed, (unsigned)n), (enum kind)dice(&seed, CLOSE + 1));
		}
		read += agree(w, n);
	}
	assert_in_range(read, 100, ROUNDS - 100);
}

static int start(void **state)
{
	static const char *const names[] = {"", "a", "ab", "b", "a\"c", "and", "suspended", "7"};

	(void)state;
	rows_layout(&layout);
	for (size_t i = 0; i < FIBERS; i++) {
		struct fib_row *row = &fibers[i].row;

		fibers[i] = rows_fiber(1 + dice(&seed, 9), names[dice(&seed, 8)]);
		row->age = INT64_C(1000000000) * dice(&seed, 9);
		row->switches = dice(&seed, 9);
		row->holder = dice(&seed, 5) | (dice(&seed, 3) ? 0 : FIB_HOLDER_THREAD);
		row->parent = dice(&seed, 9);
		row->state = (uint8_t)dice(&seed, 5);
		strcpy(row->object_name, names[dice(&seed, 8)]);
		if (dice(&seed, 3)) {
			row->label[0] = 'k';
			strcpy(row->label + 2, names[dice(&seed, 8)]);
		}
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_by_the_grammar_means_what_it_says),
		cmocka_unit_test(test_select_of_words_in_disorder_means_what_it_says),
	};

	return HEAD_RUN(tests, start, NULL);
}

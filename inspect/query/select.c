/* SPDX-License-Identifier: MIT */
/*
 * select.c - parse and evaluate an expression of --where
 *
 * A recursive descent parser, one function per level of the grammar, builds a tree in an array; a
 * node has the indices of its operands. Nesting is limited, so that an expression from a script
 * cannot overflow the stack.
 */
#include "inspect/query/select.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/strbuf.h"
#include "inspect/query/scan.h"

#define NODES 256
#define DEEP  64

enum node_kind { AND, OR, NOT, HAS, COMPARE, MATCH };

struct node {
	enum node_kind kind;
	enum ins_scan_op op;
	unsigned left, right; /* of AND, OR, NOT */
	struct ins_field field;
	uint64_t number;
	char *text;
	regex_t regex;
};

struct ins_select {
	unsigned count, root;
	struct node node[NODES];
};

struct parser {
	struct ins_scan scan;
	struct ins_select *select;
	struct ins_error *error;
	unsigned depth;
};

static int wrong(struct parser *p, const char *why)
{
	const char *at = p->scan.start;

	if (p->scan.token == INS_SCAN_BROKEN)
		why = at[0] == '"'   ? "a quote that is not closed, or a text that is too long"
		      : at[0] == '!' ? "no such operator"
				     : "a word that is too long";
	if (!at[0])
		return ins_error_set(p->error, -EINVAL, "--where: %s at the end", why);
	return ins_error_set(p->error, -EINVAL, "--where: %s at '%s'", why, at);
}

static int add(struct parser *p, struct node **ret)
{
	struct ins_select *s = p->select;

	*ret = NULL;
	if (s->count == NODES)
		return wrong(p, "too long");
	*ret = &s->node[s->count];
	return (int)s->count++;
}

static int add_two(struct parser *p, enum node_kind kind, int left, int right)
{
	struct node *n = NULL;
	int at = add(p, &n);

	if (!n)
		return at;
	n->kind = kind;
	n->left = (unsigned)left;
	n->right = (unsigned)right;
	return at;
}

/* Compile the regular expression and report its errors. */
static int compile(struct parser *p, struct node *n)
{
	char why[128];
	int rc = regcomp(&n->regex, n->text, REG_EXTENDED | REG_NOSUB);

	if (rc == 0) {
		n->kind = MATCH;
		return 0;
	}
	regerror(rc, &n->regex, why, sizeof why);
	return ins_error_set(p->error, -EINVAL, "--where: '%s': %s", n->text, why);
}

/* Parse the value after the operator. */
static int take_value(struct parser *p, struct node *n)
{
	const bool matches = n->op == INS_OP_MATCH || n->op == INS_OP_MATCH_NOT;

	if (p->scan.token != INS_SCAN_WORD && p->scan.token != INS_SCAN_QUOTED)
		return wrong(p, p->scan.token == INS_SCAN_END
					? "a value is missing"
					: "a value is missing: between double quotes it may have "
					  "anything in it,");
	n->text = strdup(p->scan.text);
	if (!n->text)
		return ins_error_set(p->error, -ENOMEM, "out of memory");
	n->kind = COMPARE;
	if (matches && !ins_field_is_text(&n->field))
		return wrong(p, "only texts can be matched, and this field is a number:");
	if (matches && compile(p, n) < 0)
		return -EINVAL;
	if (!ins_field_is_text(&n->field) && !ins_field_parse(&n->field, n->text, &n->number))
		return ins_error_set(p->error, -EINVAL, "--where: %s: '%s' is no %s",
				     n->field.info->name, n->text,
				     ins_field_kind_name(n->field.info->kind));
	ins_scan_next(&p->scan);
	return 0;
}

/* FIELD, or FIELD OP VALUE. */
static int comparison(struct parser *p)
{
	struct node *n = NULL;
	int at, rc;

	if (p->scan.token != INS_SCAN_WORD)
		return wrong(p, "a field is missing");
	at = add(p, &n);
	if (!n)
		return at;
	n->kind = HAS;
	if (!ins_field_find(p->scan.text, strlen(p->scan.text), &n->field))
		return ins_error_set(p->error, -EINVAL, "--where: %s: no such field; there are: %s",
				     p->scan.text, ins_field_names());
	ins_scan_next(&p->scan);
	if (p->scan.token != INS_SCAN_OP)
		return at;
	n->op = p->scan.op;
	ins_scan_next(&p->scan);
	rc = take_value(p, n);
	return rc < 0 ? rc : at;
}

static int parse_or(struct parser *p);

static int parse_not(struct parser *p)
{
	int at;

	if (p->depth++ == DEEP)
		return wrong(p, "nested too deeply");
	if (ins_scan_is(&p->scan, "not")) {
		ins_scan_next(&p->scan);
		at = parse_not(p);
		if (at >= 0)
			at = add_two(p, NOT, at, at);
	} else if (p->scan.token == INS_SCAN_OPEN) {
		ins_scan_next(&p->scan);
		at = parse_or(p);
		if (at >= 0 && p->scan.token != INS_SCAN_CLOSE)
			return wrong(p, "')' is missing");
		if (at >= 0)
			ins_scan_next(&p->scan);
	} else {
		at = comparison(p);
	}
	p->depth--;
	return at;
}

/* Operands joined by the same word. */
static int parse_row(struct parser *p, const char *word, enum node_kind kind,
		     int (*operand)(struct parser *))
{
	int left = operand(p), right;

	while (left >= 0 && ins_scan_is(&p->scan, word)) {
		ins_scan_next(&p->scan);
		right = operand(p);
		left = right < 0 ? right : add_two(p, kind, left, right);
	}
	return left;
}

static int parse_and(struct parser *p)
{
	return parse_row(p, "and", AND, parse_not);
}

static int parse_or(struct parser *p)
{
	return parse_row(p, "or", OR, parse_and);
}

int ins_select_parse(const char *text, struct ins_select **ret, struct ins_error *error)
{
	struct parser p = {.error = error};
	int at;

	*ret = p.select = calloc(1, sizeof *p.select);
	if (!p.select)
		return ins_error_set(error, -ENOMEM, "out of memory");
	ins_scan_begin(&p.scan, text);
	at = parse_or(&p);
	if (at >= 0 && p.scan.token != INS_SCAN_END)
		at = wrong(&p, "'and' or 'or' is missing");
	if (at < 0) {
		ins_select_free(p.select);
		*ret = NULL;
		return at;
	}
	p.select->root = (unsigned)at;
	return 0;
}

void ins_select_free(struct ins_select *select)
{
	unsigned i;

	for (i = 0; select && i < select->count; i++) {
		if (select->node[i].kind == MATCH)
			regfree(&select->node[i].regex);
		free(select->node[i].text);
	}
	free(select);
}

void ins_select_wants(const struct ins_select *select, struct ins_request *request)
{
	unsigned i;

	for (i = 0; i < select->count; i++)
		if (select->node[i].field.info)
			ins_field_wants(&select->node[i].field, request);
}

/* Whether text is a word of field. words: the valid words, separated by commas. */
static bool is_word(const struct ins_field *field, const struct fib_layout *layout,
		    const char *text, struct ins_strbuf *words)
{
	const char *word;
	unsigned i;

	for (i = 0; (word = ins_field_word(field, layout, i)); i++) {
		if (strcmp(word, text) == 0)
			return true;
		ins_strbuf_text(words, i ? ", " : "");
		ins_strbuf_text(words, word);
	}
	return i == 0;
}

void ins_select_check(const struct ins_select *select, const struct fib_layout *layout,
		      struct ins_problems *problems)
{
	const struct node *n;

	for (n = select->node; n < select->node + select->count; n++) {
		char text[512];
		struct ins_strbuf words = ins_strbuf(text, sizeof text);

		if (n->kind == COMPARE && (n->op == INS_OP_EQUAL || n->op == INS_OP_NOT_EQUAL) &&
		    !is_word(&n->field, layout, n->text, &words))
			ins_problems_add(problems, "--where: %s: no fiber has '%s'; there are: %s",
					 n->field.info->name, n->text, text);
	}
}

static bool compare(const struct node *n, struct ins_value value)
{
	struct ins_value other = {.known = true, .number = n->number, .text = n->text};
	int order;

	if (!value.known)
		return false;
	order = ins_field_compare(&n->field, value, other);
	switch (n->op) {
	case INS_OP_EQUAL:
		return order == 0;
	case INS_OP_NOT_EQUAL:
		return order != 0;
	case INS_OP_LESS:
		return order < 0;
	case INS_OP_AT_MOST:
		return order <= 0;
	case INS_OP_MORE:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool test(const struct ins_select *select, unsigned at, struct ins_sight *sight)
{
	const struct node *n = &select->node[at];
	struct ins_value value;

	switch (n->kind) {
	case AND:
		return test(select, n->left, sight) && test(select, n->right, sight);
	case OR:
		return test(select, n->left, sight) || test(select, n->right, sight);
	case NOT:
		return !test(select, n->left, sight);
	default:
		break;
	}
	value = ins_field_get(sight, &n->field);
	if (n->kind == HAS)
		return value.known;
	if (n->kind == COMPARE)
		return compare(n, value);
	return value.known &&
	       (regexec(&n->regex, value.text, 0, NULL, 0) == 0) == (n->op == INS_OP_MATCH);
}

bool ins_select_test(const struct ins_select *select, struct ins_sight *sight)
{
	return test(select, select->root, sight);
}

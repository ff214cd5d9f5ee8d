/* SPDX-License-Identifier: MIT */
/*
 * render_top.c - the functions of a profile by the time they took, as a table or JSON
 *
 * The columns are those of `go tool pprof -top`: the time of the function itself, the time of stacks
 * that it is in, and their parts of the whole. A function that calls itself is counted once in a
 * stack.
 */
#include "inspect/render/render_top.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/duration.h"

static int by_time(const void *a, const void *b)
{
	const struct ins_top_row *x = a, *y = b;

	if (x->self.time != y->self.time)
		return x->self.time > y->self.time ? -1 : 1;
	if (x->total.time != y->total.time)
		return x->total.time > y->total.time ? -1 : 1;
	if (x->total.number != y->total.number)
		return x->total.number > y->total.number ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static void add(struct ins_top_value *to, const struct ins_flame *f)
{
	to->number += f->number;
	to->time += f->time;
}

/* stack: for each function the last stack that counted it, + 1. */
static void add_stack(struct ins_top_row *rows, size_t *stack, size_t number,
		      const struct ins_flame *f)
{
	size_t k;

	for (k = 0; k < f->depth; k++) {
		const size_t function = f->calls[k].function;

		if (stack[function] != number + 1)
			add(&rows[function].total, f);
		stack[function] = number + 1;
	}
	add(&rows[f->calls[f->depth - 1].function].self, f);
}

int ins_top_rows(const struct ins_flames *flames, struct ins_top_row **ret)
{
	const size_t count = ins_flames_functions(flames);
	struct ins_top_row *rows = calloc(count + 1, sizeof *rows);
	size_t *stack = calloc(count + 1, sizeof *stack);
	size_t i;

	if (!rows || !stack) {
		free(rows);
		free(stack);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		rows[i].function = i;
	for (i = 0; i < ins_flames_count(flames); i++)
		add_stack(rows, stack, i, ins_flames_at(flames, i));
	free(stack);
	qsort(rows, count, sizeof *rows, by_time);
	*ret = rows;
	return 0;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? (double)part * 100 / (double)whole : 0;
}

void ins_text_top(FILE *out, const struct ins_flames *flames, const struct ins_top_row *rows,
		  size_t count)
{
	const uint64_t whole = ins_flames_time(flames);
	char number[32], self[32], total[32];
	size_t i;

	for (i = 0; i < sizeof number - 1 && ins_flames_kind(flames)->number.name[i]; i++)
		number[i] = (char)toupper((unsigned char)ins_flames_kind(flames)->number.name[i]);
	number[i] = 0;
	fprintf(out, "%11s %6s %11s %6s %9s  FUNCTION\n", "SELF", "%", "TOTAL", "%", number);
	for (i = 0; i < count; i++) {
		const struct ins_top_row *r = &rows[i];
		const struct ins_flame_function *f = ins_flames_function(flames, r->function);

		fprintf(out, "%11s %5.1f%% %11s %5.1f%% %9" PRIu64 "  %s%s%s\n",
			ins_duration_seconds((int64_t)r->self.time, self, sizeof self),
			percent(r->self.time, whole),
			ins_duration_seconds((int64_t)r->total.time, total, sizeof total),
			percent(r->total.time, whole), r->total.number, f->name,
			f->file ? " at " : "", f->file ? f->file : "");
	}
}

json_t *ins_json_top(const struct ins_flames *flames, const struct ins_top_row *row)
{
	const struct ins_flame_function *f = ins_flames_function(flames, row->function);

	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "function", ins_json_text(f->name),
			 "file", ins_json_text(f->file), "selfNs", (json_int_t)row->self.time,
			 "selfNumber", (json_int_t)row->self.number, "totalNs",
			 (json_int_t)row->total.time, "totalNumber", (json_int_t)row->total.number);
}

/* SPDX-License-Identifier: MIT */
/*
 * flames.c - stacks as lists of names
 *
 * A function is identified by name and file: two static functions of one name are two. Each is
 * stored once and a stack holds indices, so that a format writes each name once.
 */
#include "inspect/render/flames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/symbols/shown.h"

const struct ins_flame_kind ins_flame_fibers = {
	.number = {"fibers", "count", "fibers"},
	.time = {"age", "nanoseconds", "ages of fibers"},
	.one = "fiber",
};

struct ins_flames {
	const struct ins_flame_kind *kind;
	struct ins_flame_span span;
	struct ins_texts *names; /* "name\nfile": neither has a newline */
	struct ins_flame_function *functions;
	size_t functions_count, functions_room;
	struct ins_flame *at;
	size_t count, room;
	uint64_t number, time;
	struct ins_flame_call *calls; /* of the stack that is being added, innermost first */
	size_t depth, calls_room;
};

int ins_flames_new(const struct ins_flame_kind *kind, struct ins_flames **ret)
{
	struct ins_flames *f = calloc(1, sizeof *f);

	*ret = f;
	if (!f)
		return -ENOMEM;
	f->kind = kind;
	if (ins_texts_new(&f->names) == 0)
		return 0;
	free(f);
	*ret = NULL;
	return -ENOMEM;
}

void ins_flames_free(struct ins_flames *flames)
{
	size_t i;

	if (!flames)
		return;
	for (i = 0; i < flames->functions_count; i++)
		free((char *)flames->functions[i].name);
	for (i = 0; i < flames->count; i++)
		free((struct ins_flame_call *)flames->at[i].calls);
	ins_texts_free(flames->names);
	free(flames->functions);
	free(flames->at);
	free(flames->calls);
	free(flames);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > INT64_MAX || b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* Make room for one more element. */
static void *grown(void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 16;
	void *ret;

	if (count < *room)
		return array;
	ret = realloc(array, more * size);
	if (ret)
		*room = more;
	return ret;
}

/* Store a new function; takes over the text "name\nfile". Returns its index. */
static int keep(struct ins_flames *f, char *text)
{
	struct ins_flame_function *at =
		grown(f->functions, f->functions_count, &f->functions_room, sizeof *at);
	char *file = strchr(text, '\n');

	if (!at)
		return -ENOMEM;
	f->functions = at;
	*file++ = 0;
	at[f->functions_count++] = (struct ins_flame_function){text, *file ? file : NULL};
	return 0;
}

static int number_of(struct ins_flames *f, const char *name, const char *file, size_t *ret)
{
	/* An escaped byte takes four characters (\xNN). */
	const size_t names = strlen(name) * 4 + 1, files = file ? strlen(file) * 4 + 1 : 1;
	const struct ins_text_kept *kept;
	char *text = malloc(names + files + 1), *at;
	int rc = 0;

	if (!text)
		return -ENOMEM;
	at = ins_escape_append(*name ? name : "?", text, names + 1);
	*at++ = '\n';
	ins_escape(file ? file : "", at, files);
	kept = ins_texts_add(f->names, text, 1);
	if (!kept)
		rc = -ENOMEM;
	else if (kept->number == f->functions_count)
		rc = keep(f, text);
	else
		free(text);
	if (rc < 0)
		free(text);
	else
		*ret = kept->number;
	return rc;
}

static int put(struct ins_flames *f, const char *name, const char *file, int line)
{
	struct ins_flame_call *calls = grown(f->calls, f->depth, &f->calls_room, sizeof *calls);
	int rc;

	if (!calls)
		return -ENOMEM;
	f->calls = calls;
	calls[f->depth].line = line;
	rc = number_of(f, name, file, &calls[f->depth].function);
	if (rc == 0)
		f->depth++;
	return rc;
}

static int put_frame(struct ins_flames *f, const struct ins_frame *frame)
{
	const char *module = ins_frame_module(frame);
	char text[1024];

	if (frame->function)
		return put(f, frame->function, frame->file, frame->line);
	if (module && frame->has_offset)
		snprintf(text, sizeof text, "%.900s+0x%" PRIx64, module, frame->offset);
	else
		snprintf(text, sizeof text, "0x%" PRIx64, frame->pc);
	return put(f, text, NULL, 0);
}

static int put_frames(struct ins_flames *f, const struct ins_walk *walk,
		      struct ins_symbols *symbols)
{
	size_t k;
	unsigned i;
	int rc = 0;

	for (i = 0; i < walk->count; i++) {
		const struct ins_shown at = ins_shown_at(symbols, walk, i);

		for (k = at.first; rc == 0 && k < at.end; k++)
			if (!walk->limit || f->depth < walk->limit)
				rc = put_frame(f, &at.frames[k]);
	}
	return rc;
}

/* What stands for the outermost frames that are not there. */
static int put_rest(struct ins_flames *f, const struct ins_walk *walk)
{
	int rc = walk->left ? put(f, "[left out]", NULL, 0) : 0;

	return rc == 0 && walk->truncated ? put(f, "[truncated]", NULL, 0) : rc;
}

static int put_group(struct ins_flames *f, const struct fib_layout *layout,
		     const struct ins_group *group, bool keyed, struct ins_symbols *symbols)
{
	const struct ins_walk *walk = group->walk;
	char state[128];
	int rc = put_frames(f, walk, symbols);

	if (rc == 0 && !walk->count && !walk->truncated) {
		snprintf(state, sizeof state, "[%s]",
			 ins_words_state(layout, group->fiber.row.state));
		rc = put(f, state, NULL, 0);
	}
	if (rc == 0)
		rc = put_rest(f, walk);
	if (rc == 0 && keyed)
		rc = put(f, group->key ? group->key->text : "[none]", NULL, 0);
	return rc;
}

/* The added calls in reverse order. */
static struct ins_flame_call *turned(const struct ins_flames *f)
{
	struct ins_flame_call *ret = calloc(f->depth, sizeof *ret);
	size_t i;

	for (i = 0; ret && i < f->depth; i++)
		ret[i] = f->calls[f->depth - 1 - i];
	return ret;
}

static uint64_t age_of(const struct ins_group *group)
{
	uint64_t age = 0;
	size_t i;

	for (i = 0; i < group->ages.count; i++)
		if (group->ages.numbers[i] > 0)
			age = sum(age, (uint64_t)group->ages.numbers[i]);
	return age;
}

int ins_flames_add(struct ins_flames *flames, const struct fib_layout *layout,
		   const struct ins_group *group, bool keyed, struct ins_symbols *symbols)
{
	int rc;

	ins_flames_begin(flames);
	rc = put_group(flames, layout, group, keyed, symbols);
	return rc < 0 ? rc : ins_flames_end(flames, group->count, age_of(group));
}

void ins_flames_begin(struct ins_flames *flames)
{
	flames->depth = 0;
}

int ins_flames_put_walk(struct ins_flames *flames, const struct ins_walk *walk,
			struct ins_symbols *symbols)
{
	const int rc = put_frames(flames, walk, symbols);

	return rc < 0 ? rc : put_rest(flames, walk);
}

int ins_flames_put_name(struct ins_flames *flames, const char *name)
{
	return put(flames, name, NULL, 0);
}

int ins_flames_end(struct ins_flames *flames, uint64_t number, uint64_t time)
{
	struct ins_flame *at = grown(flames->at, flames->count, &flames->room, sizeof *at);
	struct ins_flame flame = {.number = number, .time = sum(time, 0)};

	if (!at)
		return -ENOMEM;
	flames->at = at;
	flame.depth = flames->depth;
	flame.calls = turned(flames);
	if (!flame.calls)
		return -ENOMEM;
	at[flames->count++] = flame;
	flames->number += flame.number;
	flames->time = sum(flames->time, flame.time);
	return 0;
}

void ins_flames_set_span(struct ins_flames *flames, struct ins_flame_span span)
{
	flames->span = span;
}

size_t ins_flames_count(const struct ins_flames *flames)
{
	return flames->count;
}

const struct ins_flame *ins_flames_at(const struct ins_flames *flames, size_t i)
{
	return &flames->at[i];
}

size_t ins_flames_functions(const struct ins_flames *flames)
{
	return flames->functions_count;
}

const struct ins_flame_function *ins_flames_function(const struct ins_flames *flames, size_t i)
{
	return &flames->functions[i];
}

uint64_t ins_flames_number(const struct ins_flames *flames)
{
	return flames->number;
}

uint64_t ins_flames_time(const struct ins_flames *flames)
{
	return flames->time;
}

const struct ins_flame_kind *ins_flames_kind(const struct ins_flames *flames)
{
	return flames->kind;
}

struct ins_flame_span ins_flames_span(const struct ins_flames *flames)
{
	return flames->span;
}

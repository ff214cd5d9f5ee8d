/* SPDX-License-Identifier: MIT */
/*
 * 17_generator.c - get values out of a recursion, to compare the words of two trees in order
 *
 * The context layer needs no runtime. Each tree is walked on its own stack, one word at a time, so
 * the comparison stops at the first difference, and no tree is copied.
 */
#include <fiber.h>
#include <stdio.h>
#include <string.h>

struct tree {
	const char *word;
	const struct tree *left, *right;
};

struct walk {
	struct fiber_context inside, outside;
	struct fiber_stack stack;
	const struct tree *root;
	const char *word; /* NULL: the walk is over */
};

static void visit(struct walk *w, const struct tree *t)
{
	if (!t)
		return;
	visit(w, t->left);
	w->word = t->word;
	/* Return one word; resume when the next one is requested. */
	fiber_context_switch(&w->inside, &w->outside);
	visit(w, t->right);
}

static void walk_all(void *arg)
{
	struct walk *w = arg;

	visit(w, w->root);
	w->word = NULL;
	fiber_context_end(&w->inside, &w->outside);
}

static int walk_begin(struct walk *w, const struct tree *root)
{
	int rc = fiber_stack_alloc(64 << 10, &w->stack);

	if (rc < 0)
		return rc;
	w->root = root;
	fiber_thread_to_context(&w->outside);
	return fiber_context_init(&w->inside, w->stack.base, w->stack.size, walk_all, w);
}

static const char *walk_next(struct walk *w)
{
	fiber_context_switch(&w->outside, &w->inside);
	return w->word;
}

/* Also for an unfinished walk: the contents of its stack are dropped. */
static void walk_end(struct walk *w)
{
	fiber_context_release(&w->inside);
	fiber_context_release(&w->outside);
	fiber_stack_free(&w->stack);
}

static void compare(const char *what, const struct tree *a, const struct tree *b)
{
	const char *one, *other;
	struct walk wa, wb;

	if (walk_begin(&wa, a) < 0 || walk_begin(&wb, b) < 0)
		return;
	do {
		one = walk_next(&wa);
		other = walk_next(&wb);
	} while (one && other && !strcmp(one, other));
	if (!one && !other)
		printf("%s: the same words\n", what);
	else
		printf("%s: \"%s\" against \"%s\"\n", what, one ? one : "", other ? other : "");
	walk_end(&wa);
	walk_end(&wb);
}

int main(void)
{
	static const struct tree ash = {"ash", NULL, NULL}, fir = {"fir", NULL, NULL},
				 yew = {"yew", NULL, NULL};
	static const struct tree low = {"elm", &ash, &fir}, left = {"yew", &low, NULL};
	static const struct tree high = {"fir", NULL, &yew}, right = {"elm", &ash, &high};
	static const struct tree small = {"elm", &ash, &yew};

	compare("another shape", &left, &right);
	compare("other words", &left, &small);
	return 0;
}

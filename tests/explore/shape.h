/* SPDX-License-Identifier: MIT */
/*
 * shape.h - list the interleavings of fibers that do not wait for each other
 *
 * Knows nothing of libfiber-test. A fiber has a step for its start, one for each action, and one for
 * its exit. An action that is a letter spawns the fiber with that letter.
 */
#ifndef TESTS_EXPLORE_SHAPE_H
#define TESTS_EXPLORE_SHAPE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE_FIBERS 6
#define SHAPE_STEPS  64	  /* of all fibers, at most */
#define SHAPE_MOST   8192 /* interleavings */

struct shape {
	unsigned fibers; /* "a", which runs first, "b", ... */
	const char *actions[SHAPE_FIBERS];
};

struct interleavings {
	unsigned n;
	char text[SHAPE_MOST][SHAPE_STEPS / 2]; /* a letter for each step; sorted */
	double probability[SHAPE_MOST];		/* if each choice is uniform */
};

struct shape_state {
	const struct shape *shape;
	struct interleavings *ret;
	unsigned done[SHAPE_FIBERS]; /* steps */
	bool born[SHAPE_FIBERS];
	char text[SHAPE_STEPS / 2];
};

static inline unsigned shape_steps(const struct shape *shape)
{
	unsigned i, steps = 0;

	for (i = 0; i < shape->fibers; i++)
		steps += (unsigned)strlen(shape->actions[i]) + 2;
	return steps;
}

static inline bool shape_can_go(const struct shape_state *s, unsigned fiber)
{
	return s->born[fiber] && s->done[fiber] < strlen(s->shape->actions[fiber]) + 2;
}

static inline void shape_go(struct shape_state *s, unsigned fiber)
{
	const char *actions = s->shape->actions[fiber];
	const unsigned step = s->done[fiber]++;
	const char action = step && step <= strlen(actions) ? actions[step - 1] : '.';
	const char letter[] = {(char)('a' + fiber), 0};

	if (action >= 'a' && action < 'a' + SHAPE_FIBERS)
		s->born[action - 'a'] = true;
	strcat(s->text, letter);
}

static inline void shape_list_from(const struct shape_state *s, double probability)
{
	struct interleavings *ret = s->ret;
	unsigned i, alternatives = 0;

	for (i = 0; i < s->shape->fibers; i++)
		alternatives += shape_can_go(s, i);
	if (!alternatives) {
		if (ret->n == SHAPE_MOST)
			abort();
		strcpy(ret->text[ret->n], s->text);
		ret->probability[ret->n++] = probability;
	}
	for (i = 0; i < s->shape->fibers; i++) {
		struct shape_state next = *s;

		if (!shape_can_go(s, i))
			continue;
		shape_go(&next, i);
		shape_list_from(&next, probability / alternatives);
	}
}

static inline void shape_list(const struct shape *shape, struct interleavings *ret)
{
	const struct shape_state start = {.shape = shape, .ret = ret, .born = {true}};

	ret->n = 0;
	shape_list_from(&start, 1);
}

/* The index of an interleaving; -1: it is none. */
static inline int interleaving_find(const struct interleavings *all, const char *text)
{
	unsigned low = 0, high = all->n, middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = strcmp(text, all->text[middle]);
		if (order == 0)
			return (int)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}

#endif

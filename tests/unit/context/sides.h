/* SPDX-License-Identifier: MIT */
/* sides.h - switch between the test's thread and a second context */
#ifndef UNIT_CONTEXT_SIDES_H
#define UNIT_CONTEXT_SIDES_H

#include <string.h>

#include "context/context.h"
#include "stack/pool.h"

struct side {
	struct fib_context context;
	struct fib_announce announce;
	struct fib_stack stack;
	struct side *other;
	_Atomic uint64_t left;
	uint64_t seed;
	unsigned wrong;
};

static struct side home, away;

static inline void go(struct side *from, struct side *to)
{
	fib_context_switch(&from->context, &from->announce, &to->context, &to->announce,
			   &from->left);
}

static inline void end(struct side *from, struct side *to)
{
	fib_context_leave(&from->announce, &to->context, &to->announce);
}

static inline void open_side(struct side *s, void (*fn)(void *))
{
	memset(s, 0, sizeof *s);
	assert_int_equal(fib_stack_take(NULL, 64 << 10, &s->stack), 0);
	assert_int_equal(fib_context_init(&s->context, &s->announce, s->stack.low,
					  fib_stack_usable(&s->stack), fn, s),
			 0);
	s->other = &home;
}

static inline void close_side(struct side *s)
{
	fib_context_done(&s->announce);
	fib_stack_give(NULL, &s->stack);
}

static inline int open_home(void **state)
{
	(void)state;
	memset(&home, 0, sizeof home);
	fib_context_adopt(&home.context, &home.announce);
	return 0;
}

static inline int close_home(void **state)
{
	(void)state;
	fib_context_done(&home.announce);
	return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * public.c - contexts for programs with a scheduler of their own
 *
 * The storage that callers see is larger than its contents, so that a port or a sanitizer can need
 * more without recompiling programs. The runtime's own switch is used.
 */
#include <fiber/context.h>

#include <errno.h>

#include "fault.h"
#include "base/check.h"
#include "base/compiler.h"
#include "base/lent.h"
#include "context/context.h"
#include "layout/layout.h"

/* The contents of a struct fiber_context. */
struct execution {
	struct fib_context context;
	struct fib_announce announce;
	_Atomic uint64_t left; /* required by the switch, never read */
	void (*fn)(void *arg);
	void *arg;
};

_Static_assert(sizeof(struct execution) <= sizeof(struct fiber_context), "fiber/context.h");
_Static_assert(_Alignof(struct execution) <= _Alignof(struct fiber_context), "fiber/context.h");

static struct execution *inside(struct fiber_context *context)
{
	return (struct execution *)(void *)context;
}

/* The first function of a context. */
static void begin(void *arg)
{
	struct execution *e = arg;

	fib_context_begun(&e->announce);
	e->fn(e->arg);
	fib_die("fiber_context_init: the function of context %p returned: leave it with "
		"fiber_context_end",
		arg);
}

int fiber_context_init(struct fiber_context *context, void *stack, size_t size, void (*fn)(void *),
		       void *arg)
{
	struct execution *e = inside(context);
	int rc;

	fib_must_have(context, "the context");
	if (!stack || !fn)
		return -EINVAL;
	rc = fib_fault(MEMORY);
	if (rc < 0)
		return rc;
	/* A context that used this stack before may have been dropped in the middle of its
	 * frames. */
	fib_announce_clean(stack, size);
	fib_lent(stack, size);
	e->fn = fn;
	e->arg = arg;
	rc = fib_context_init(&e->context, &e->announce, stack, size, begin, e);
	if (rc < 0)
		fib_context_done(&e->announce);
	return rc;
}

static void nothing(void *arg)
{
	(void)arg;
}

int fiber_thread_to_context(struct fiber_context *context)
{
	struct execution *e = inside(context);

	fib_must_have(context, "the context");
	fib_context_adopt(&e->context, &e->announce);
	/* A switch does not store the pc, which is always the same: fiber_context_frame() needs it. */
	fib_arch_capture(&e->context, nothing, NULL);
	return 0;
}

int fiber_context_share_fpu(struct fiber_context *context)
{
	fib_must_have(context, "the context");
	fib_context_share(&inside(context)->context);
	return 0;
}

void fiber_context_switch(struct fiber_context *from, struct fiber_context *to)
{
	struct execution *f = inside(from), *t = inside(to);

	if (fib_unlikely(f == t))
		return;
	fib_context_switch(&f->context, &f->announce, &t->context, &t->announce, &f->left);
}

_Noreturn void fiber_context_end(struct fiber_context *from, struct fiber_context *to)
{
	struct execution *f = inside(from), *t = inside(to);

	fib_must_have(from, "the context");
	if (f == t)
		fib_die("fiber_context_end: context %p cannot end in itself", (void *)from);
	/* Save the context, so that a later switch to it is detected here. */
	fib_announce_leave(&f->announce, &t->announce, true);
	fib_arch_switch(&f->context, &t->context, &f->left);
	fib_die("fiber_context_end: context %p had ended and was switched to", (void *)from);
}

void fiber_context_release(struct fiber_context *context)
{
	fib_must_have(context, "the context");
	fib_context_done(&inside(context)->announce);
}

int fiber_context_frame(const struct fiber_context *context, struct fiber_saved_frame *ret)
{
	const struct fib_context *c;

	fib_must_have(context, "the context");
	fib_must_have(ret, "the result");
	c = &((const struct execution *)(const void *)context)->context;
	*ret = (struct fiber_saved_frame){.sp = c->sp};
	/* As fib_registry_publish_code() does: the section may lack this function. */
	if ((const char *)(uintptr_t)fiber_context_frame >= __start_fiber_text &&
	    (const char *)(uintptr_t)fiber_context_frame < __stop_fiber_text) {
		ret->code_low = (uint64_t)(uintptr_t)__start_fiber_text;
		ret->code_high = (uint64_t)(uintptr_t)__stop_fiber_text;
	}
	if (fib_arch_recipe != FIB_RECIPE_CFI)
		return -ENOTSUP;
	ret->pc = c->pc;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * context.c - how a context starts and ends
 *
 * Sanitizers are notified of operations on contexts here, in context.h and in public.c, and nowhere
 * else. In a build without a sanitizer the notifications compile to nothing.
 */
#include "context/context.h"

#include "base/atomic.h"
#include "checker.h" /* of the folder that the Makefile chose */

int fib_context_begin(struct fib_context *context, struct fib_announce *announce, void *low,
		      size_t size, void (*fn)(void *), void *arg)
{
	fib_announce_create(announce, low, size);
	return fib_arch_init(context, low, size, fn, arg);
}

int fib_context_init(struct fib_context *context, struct fib_announce *announce, void *low,
		     size_t size, void (*fn)(void *), void *arg)
{
	fib_context_inherit(context);
	return fib_context_begin(context, announce, low, size, fn, arg);
}

void fib_context_adopt(struct fib_context *context, struct fib_announce *announce)
{
	fib_context_inherit(context);
	fib_announce_create(announce, NULL, 0);
}

void fib_context_done(struct fib_announce *announce)
{
	fib_announce_destroy(announce);
}

_Noreturn void fib_context_leave(struct fib_announce *from, struct fib_context *to,
				 struct fib_announce *to_announce)
{
	fib_announce_bury(from, to_announce);
	fib_announce_leave(from, to_announce, true);
	fib_arch_jump(to);
}

void fib_context_escaped(struct fib_announce *from, struct fib_announce *to)
{
	fib_announce_leave(from, to, false);
	fib_announce_enter(to);
}

void fib_context_begun(struct fib_announce *announce)
{
	fib_announce_enter(announce);
}

const char *fib_context_announced(void)
{
	return fib_announce_name();
}

/* A frame contains, among other values, the address of memory apart from the stack that belongs to
 * it. */
fib_noinline __attribute__((no_sanitize("address", "thread"))) unsigned fib_context_asides(
	const struct fib_announce *announce, uint64_t sp, uint64_t top,
	void (*add)(const void *low, size_t size))
{
	void *const volatile *word = (void *const volatile *)(uintptr_t)sp;
	const void *low, *last = NULL;
	unsigned told = 0;
	size_t size = 0;

	for (; (uint64_t)(uintptr_t)word < top; word++) {
		low = fib_announce_aside(announce, *word, &size);
		if (!low || low == last)
			continue;
		add(low, size);
		last = low;
		told++;
	}
	return told;
}

fib_noinline void fib_context_spill(void (*fn)(void *arg), void *arg)
{
	__builtin_unwind_init();
	fn(arg);
	fib_fence_compiler(); /* not a jump: this frame has the registers */
}

/* Frames have gaps that AddressSanitizer does not allow to be read. Also, a waker may change the
 * fiber's nodes in queues during the copy; the copy then has either value. volatile prevents the
 * compiler from making this a memcpy(), which AddressSanitizer checks. */
fib_noinline __attribute__((no_sanitize("address", "thread"))) void fib_context_copy_frames(
	unsigned char *to, uint64_t sp, size_t size)
{
	const volatile unsigned char *from = (const volatile unsigned char *)(uintptr_t)sp;
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = from[i];
	fib_checker_defined(to, size);
}

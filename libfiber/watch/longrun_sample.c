/* SPDX-License-Identifier: MIT */
/*
 * longrun_sample.c - interrupt a fiber that computes, and copy its stack
 *
 * Each carrier has memory for two samples: one is for long runs (longrun.c), one for a profile
 * (profile.c). The service thread writes into a sample which fiber it means, sets ASKED and sends
 * the signal. The side that changes ASKED owns the memory: the handler to fill it in, or the service
 * thread to withdraw the request. The handler serves every sample of its carrier that is ASKED. A
 * handler that finds no request, for example because it is late, does nothing.
 *
 * When the signal arrives the carrier may run another fiber, or be between two stacks. A long run is
 * of one fiber, so the handler compares the fiber and its sequence number. A profile wants the fiber
 * that runs, whichever it is. If the stack pointer is then outside that fiber's stack and the code
 * is the library's, the carrier is between two fibers, and there is no stack to copy.
 *
 * The handler copies directly only if the stack pointer is in the fiber's stack. Otherwise the
 * program has switched to a stack of its own, and the handler has the kernel copy what is mapped
 * there.
 *
 * The handler runs on the carrier's stack for signals. ThreadSanitizer keeps a signal until the
 * program calls the C library or uses an atomic, and calls the handler from there, on the fiber's
 * stack. The registers of the signal are old then: the sample starts at the handler itself.
 */
#include "watch/longrun_sample.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "core/registry.h"
#include "layout/layout.h"
#include "os/os.h"
#include "os/sample.h"
#include "sched/sched.h"

enum { IDLE, ASKED, TAKING, TAKEN };

#define PAGE 4096u

uint32_t fib_longrun_copy(struct fib_os_pipe *pipe, uint64_t sp, uint64_t size, unsigned char *to)
{
	uint64_t most = size && size < FIB_LONGRUN_STACK ? size : FIB_LONGRUN_STACK;

	if (fib_os_peek_through(pipe, sp, to, most) == 0)
		return (uint32_t)most;
	/* Not all of it is mapped: try the rest of sp's page. */
	if (PAGE - sp % PAGE < most)
		most = PAGE - sp % PAGE;
	return fib_os_peek_through(pipe, sp, to, most) == 0 ? (uint32_t)most : 0;
}

/* How much of the fiber's stack is from sp upwards; more than all of it: sp is elsewhere. */
static uint64_t size_from(const struct fib_longrun_sample *sample, uint64_t sp)
{
	return sample->stack_low + sample->stack_room - sp;
}

/* Copy the stack from sample->context.sp upwards. */
static void take(void *arg)
{
	struct fib_longrun_sample *sample = arg;
	uint64_t size = size_from(sample, sample->context.sp);

	if (size <= sample->stack_room) {
		if (size > FIB_LONGRUN_STACK)
			size = FIB_LONGRUN_STACK;
		fib_context_copy_frames(sample->stack, sample->context.sp, size);
		sample->stack_size = (uint32_t)size;
	} else {
		struct fib_os_pipe none =
			FIB_OS_NO_PIPE; /* the service thread may be using its own */

		sample->stack_size = fib_longrun_copy(&none, sample->context.sp, 0, sample->stack);
	}
	if (!sample->stack_size)
		sample->lack = FIB_LONGRUN_MEMORY;
}

/*
 * Describe the fiber that the carrier runs. False: none. Between its exit and the switch away from
 * it, a fiber's record may already belong to another fiber, on another carrier: the id tells.
 */
fib_unwatched static bool describe(const struct fiber *fiber, struct fib_longrun_sample *sample)
{
	sample->ran = fiber ? fib_observe(&fiber->id) : 0;
	if (!sample->ran)
		return false;
	sample->stack_low = (uint64_t)(uintptr_t) * (void *const volatile *)&fiber->stack.low;
	sample->stack_room = *(const volatile size_t *)&fiber->stack.size;
	sample->entry = (uint64_t)(uintptr_t) * (fiber_fn *const volatile *)&fiber->fn;
	memcpy(sample->name, fiber->name, sizeof sample->name);
	/* A record that is given away loses its id before anything else of it changes. */
	fib_fence_acquire();
	if (fib_observe(&fiber->id) == sample->ran)
		return true;
	sample->ran = 0;
	return false;
}

/* Whether the carrier is between two fibers, although it has set its current one. */
static bool between(const struct fib_longrun_sample *sample)
{
	return size_from(sample, sample->context.sp) > sample->stack_room &&
	       fib_layout_is_internal(&fiber_registry, sample->context.pc);
}

static void take_from(struct fib_longrun_sample *sample)
{
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	sample->lack = FIB_LONGRUN_NOTHING;
	if (size_from(sample, here) <= sample->stack_room)
		fib_arch_capture(&sample->context, take, sample);
	else
		take(sample);
}

/* Answer one request, if there is one. known: context is where the signal has interrupted c. */
static void serve(const struct fib_carrier *c, struct fib_longrun_sample *sample,
		  const struct fib_context *context, bool known)
{
	uint32_t asked = ASKED;
	bool runs;

	/* pairs: longrun.sample -- the request's fiber and seq. */
	if (!fib_cas(&sample->state, &asked, TAKING))
		return;
	sample->stack_size = 0;
	sample->context = *context;
	sample->lack = !known	       ? FIB_LONGRUN_PORT
		       : sample->fiber ? FIB_LONGRUN_MISSED
				       : FIB_LONGRUN_NOTHING;
	runs = describe(c->current, sample);
	if (runs && !sample->fiber && between(sample)) {
		sample->ran = 0;
		runs = false;
	}
	if (known && runs &&
	    (!sample->fiber ||
	     (sample->ran == sample->fiber && fib_load(&c->current->seq) == sample->seq)))
		take_from(sample);
	/* label: longrun.taken */
	fib_store_release(&sample->state, TAKEN);
}

/* The signal handler, on the carrier. */
static void interrupted(void *ucontext)
{
	struct fib_context context = {0};
	const bool known = fib_arch_interrupted(ucontext, &context);
	struct fib_carrier *c = fib_carrier_self();

	if (!c || !c->sample)
		return;
	serve(c, c->sample, &context, known);
	serve(c, c->profile.sample, &context, known);
}

int fib_longrun_sample_ask(struct fib_carrier *c, struct fib_longrun_sample *sample, uint64_t fiber,
			   uint64_t seq)
{
	int rc;

	/*
	 * An answer to a withdrawn request. pairs: longrun.taken -- the handler has read the old
	 * request before the new one is written below.
	 */
	if (fib_load_acquire(&sample->state) == TAKEN)
		fib_longrun_sample_done(sample);
	if (fib_load(&sample->state) != IDLE)
		return -EAGAIN;
	sample->fiber = fiber;
	sample->seq = seq;
	/* label: longrun.sample */
	fib_store_release(&sample->state, ASKED);
	rc = fib_os_interrupt(fib_load(&c->tid), interrupted);
	if (rc < 0)
		fib_longrun_sample_cancel(sample);
	return rc;
}

bool fib_longrun_sample_taken(struct fib_longrun_sample *sample)
{
	/* pairs: longrun.taken -- what the handler has copied. */
	return fib_load_acquire(&sample->state) == TAKEN;
}

const struct fib_longrun_sample *fib_longrun_sample_get(struct fib_carrier *c)
{
	if (!fib_longrun_sample_taken(c->sample))
		return NULL;
	/*
	 * A sample of another fiber answers the previous request, which was withdrawn while the
	 * handler ran.
	 */
	return c->sample->fiber == c->hold.fiber && c->sample->seq == c->hold.seq ? c->sample
										  : NULL;
}

void fib_longrun_sample_done(struct fib_longrun_sample *sample)
{
	fib_store(&sample->state, IDLE);
}

bool fib_longrun_sample_cancel(struct fib_longrun_sample *sample)
{
	uint32_t asked = ASKED;

	/*
	 * pairs: longrun.sample -- either the handler finds no request, or it is filling the sample
	 * in.
	 */
	return fib_cas(&sample->state, &asked, IDLE);
}

bool fib_longrun_sample_idle(struct fib_longrun_sample *sample)
{
	/* pairs: longrun.taken -- the handler has written its last byte. */
	return fib_load_acquire(&sample->state) == IDLE;
}

void fib_longrun_enter(struct fib_carrier *c)
{
	if (c->altstack && c->sched->interruptible) {
		fib_os_take_interrupts();
		fib_store(&c->interruptible, 1);
	}
	fib_os_thread_place_keep(&c->place);
	/* label: longrun.enter */
	fib_store_release(&c->tid, fib_os_tid());
	fib_os_futex_wake(&c->tid, 1);
}

void fib_longrun_await(struct fib_carrier *c)
{
	/* pairs: longrun.enter */
	while (!fib_load_acquire(&c->tid))
		fib_os_futex_wait(&c->tid, 0, INT64_MAX);
}

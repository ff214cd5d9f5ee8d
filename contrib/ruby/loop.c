/* SPDX-License-Identifier: MIT */
/*
 * loop.c - the loop that runs Ruby's fibers, and timers
 *
 * The loop is the fiber that called Fiber.schedule first, which is the thread's own. It gives each
 * fiber whose wait has ended the thread, then hands the new waits over and sleeps without Ruby's
 * lock. It ends when no fiber waits.
 */
#include <ruby.h>
#include <ruby/thread.h>

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler.h"

/* -- timers -- */

/* timer(duration, callable): calls it in the loop's fiber. Returns an object for #stop_timer. */
static VALUE start_timer(VALUE self, VALUE duration, VALUE callable)
{
	struct scheduler *s = scheduler_get(self);
	struct wait *w = scheduler_new_wait(s);

	snprintf(w->name, sizeof w->name, "timer");
	w->kind = WAIT_SLEEP;
	w->deadline = scheduler_deadline(duration);
	w->user = (void *)callable;
	w->orphan = true; /* no fiber-local variable frees it */
	scheduler_describe(w, "timeout");
	scheduler_enter(s, w);
	wait_begin(w);
	return ULL2NUM((unsigned long long)(uintptr_t)w);
}

/* The number is that of a timer, or of one that has expired and was freed. */
static VALUE stop_timer(VALUE self, VALUE number)
{
	struct scheduler *s = scheduler_get(self);
	struct wait *w = s->pending;

	while (w && (uintptr_t)w != (uintptr_t)NUM2ULL(number))
		w = w->after;
	if (w && w->kind == WAIT_SLEEP && w->pending) {
		w->user = (void *)Qnil;
		wait_abort(w);
	}
	return Qnil;
}

/* -- fibers -- */

/* fiber(name: nil) { ... }: start a fiber. name: shown by fiberctl. */
static VALUE hook_fiber(int argc, VALUE *argv, VALUE self)
{
	struct scheduler *s = scheduler_get(self);
	const VALUE current = rb_fiber_current();
	const bool named = argc == 1 && RB_TYPE_P(argv[0], T_HASH);
	VALUE fiber, name = Qnil, keywords = rb_hash_new();

	rb_check_arity(argc, 0, named);
	rb_need_block();
	rb_hash_aset(keywords, ID2SYM(rb_intern("blocking")), Qfalse);
	fiber = rb_funcall_with_block_kw(rb_path2class("Fiber"), rb_intern("new"), 1, &keywords,
					 rb_block_proc(), RB_PASS_KEYWORDS);
	if (named)
		name = rb_hash_aref(argv[0], ID2SYM(rb_intern("name")));
	if (!NIL_P(name))
		rb_ivar_set(fiber, scheduler_id_name, rb_obj_as_string(name));
	if (s->thread != rb_thread_current()) {
		s->thread = rb_thread_current();
		s->loop = current;
	}
	/* The new fiber transfers to the loop; this one goes on in a later round. */
	if (current != s->loop)
		rb_ary_push(s->ready, current);
	rb_fiber_transfer(fiber, 0, NULL);
	return fiber;
}

static void *sleep_without_lock(void *arg)
{
	waits_sleep(arg);
	return NULL;
}

static void interrupt(void *arg)
{
	waits_interrupt(arg);
}

static void handle(struct scheduler *s, struct wait *w)
{
	const VALUE user = (VALUE)w->user;

	scheduler_leave(s, w);
	if (!w->orphan) {
		rb_fiber_transfer(user, 0, NULL);
		return;
	}
	/* A timer's callable; a fiber does not need its orphans. */
	if (w->kind == WAIT_RESOLVE && w->result == 0)
		freeaddrinfo(w->found);
	free(w->fds);
	free(w->host);
	wait_free(w);
	if (!NIL_P(user) && rb_respond_to(user, rb_intern("call")))
		rb_funcall(user, rb_intern("call"), 0);
}

static void handle_all(struct scheduler *s)
{
	struct wait *w;
	VALUE fiber;
	long n;

	/* An exception leaves this function; what is left is handled by the next call. */
	while ((w = s->ended)) {
		s->ended = w->next_ended;
		handle(s, w);
	}
	for (n = RARRAY_LEN(s->ready); n > 0; n--) {
		fiber = rb_ary_shift(s->ready);
		if (!NIL_P(fiber) && RTEST(rb_fiber_alive_p(fiber)))
			rb_fiber_transfer(fiber, 0, NULL);
	}
}

/* Run until no fiber waits. */
static VALUE run(VALUE self)
{
	struct scheduler *s = scheduler_get(self);

	s->thread = rb_thread_current();
	s->loop = rb_fiber_current();
	while (s->pending || RARRAY_LEN(s->ready)) {
		handle_all(s);
		if (!s->pending)
			continue;
		waits_flush(s->waits);
		s->ended = waits_next(s->waits);
		if (s->ended || RARRAY_LEN(s->ready))
			continue;
		rb_thread_call_without_gvl(sleep_without_lock, s->waits, interrupt, s->waits);
		rb_thread_check_ints();
		s->ended = waits_next(s->waits);
	}
	return Qnil;
}

void scheduler_define_loop(VALUE class)
{
	rb_define_method(class, "fiber", hook_fiber, -1);
	rb_define_method(class, "run", run, 0);
	rb_define_private_method(class, "start_timer", start_timer, 2);
	rb_define_private_method(class, "stop_timer", stop_timer, 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * suspend.c - a Ruby fiber waits
 *
 * The fiber begins its wait and transfers to the loop's fiber, which transfers back when the wait
 * has ended. A fiber that is left in another way (Fiber#raise) aborts its wait. The wait is an orphan
 * then until its end has arrived, and the fiber gets another one.
 *
 * A fiber keeps its wait in a fiber-local variable, so that a wait costs no allocation.
 */
#include <ruby.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scheduler.h"

void scheduler_enter(struct scheduler *s, struct wait *w)
{
	w->before = NULL;
	w->after = s->pending;
	if (w->after)
		w->after->before = w;
	s->pending = w;
	w->pending = true;
}

void scheduler_leave(struct scheduler *s, struct wait *w)
{
	if (w->before)
		w->before->after = w->after;
	else
		s->pending = w->after;
	if (w->after)
		w->after->before = w->before;
	w->pending = false;
}

struct wait *scheduler_new_wait(struct scheduler *s)
{
	struct wait *w = wait_new(s->waits);

	if (!w)
		rb_memerror();
	return w;
}

struct wait *scheduler_wait(struct scheduler *s, VALUE *ret)
{
	const VALUE thread = rb_thread_current();
	VALUE object = rb_thread_local_aref(thread, scheduler_id_wait);
	VALUE name;
	struct wait *w;

	if (!NIL_P(object)) {
		w = rb_check_typeddata(object, &scheduler_wait_type);
		if (w && w->of == s->waits && !w->pending) {
			*ret = object;
			return w;
		}
	}
	w = scheduler_new_wait(s);
	object = TypedData_Wrap_Struct(rb_cObject, &scheduler_wait_type, w);
	name = rb_ivar_get(rb_fiber_current(), scheduler_id_name);
	if (NIL_P(name))
		snprintf(w->name, sizeof w->name, "ruby-%llu", (unsigned long long)++s->named);
	else
		snprintf(w->name, sizeof w->name, "%s", StringValueCStr(name));
	rb_thread_local_aset(thread, scheduler_id_wait, object);
	*ret = object;
	return w;
}

void scheduler_describe(struct wait *w, const char *why)
{
	const char *file = rb_sourcefile();
	const char *last = file ? strrchr(file, '/') : NULL;
	char at[sizeof w->at];

	snprintf(at, sizeof at, "%s:%d", file ? (last ? last + 1 : file) : "?", rb_sourceline());
	if (strcmp(at, w->at) != 0 || strncmp(why, w->why, sizeof w->why - 1) != 0) {
		memcpy(w->at, at, sizeof at);
		snprintf(w->why, sizeof w->why, "%s", why);
		w->described = false;
	}
}

int64_t scheduler_deadline(VALUE duration)
{
	double seconds;

	if (NIL_P(duration))
		return FIBER_FOREVER;
	seconds = NUM2DBL(duration);
	if (seconds >= 9e9)
		return FIBER_FOREVER;
	return fiber_after(seconds > 0 ? (int64_t)(seconds * 1e9) : 0);
}

struct suspension {
	struct scheduler *s;
	struct wait *w;
	VALUE object;
};

static VALUE suspend(VALUE arg)
{
	const struct suspension *x = (const struct suspension *)arg;

	/* Code that knows this fiber may transfer to it at any time. */
	while (x->w->pending)
		rb_fiber_transfer(x->s->loop, 0, NULL);
	RB_GC_GUARD(x->s->self);
	return Qnil;
}

static VALUE resumed(VALUE arg)
{
	const struct suspension *x = (const struct suspension *)arg;

	if (!x->w->pending)
		return Qnil;
	x->w->orphan = true;
	RTYPEDDATA_DATA(x->object) = NULL;
	rb_thread_local_aset(rb_thread_current(), scheduler_id_wait, Qnil);
	if (x->s->process == getpid())
		wait_abort(x->w);
	return Qnil;
}

int scheduler_wait_for(struct scheduler *s, struct wait *w, VALUE object, const char *why)
{
	struct suspension x = {s, w, object};

	scheduler_describe(w, why);
	w->user = (void *)rb_fiber_current();
	scheduler_enter(s, w);
	wait_begin(w);
	rb_ensure(suspend, (VALUE)&x, resumed, (VALUE)&x);
	RB_GC_GUARD(object);
	return w->result;
}

int scheduler_wait_fd(VALUE self, int fd, short events, int64_t deadline, const char *why)
{
	struct scheduler *s = scheduler_get(self);
	VALUE object;
	struct wait *w = scheduler_wait(s, &object);

	w->kind = WAIT_FD;
	w->fd = fd;
	w->events = events;
	w->deadline = deadline;
	return scheduler_wait_for(s, w, object, why);
}

/* SPDX-License-Identifier: MIT */
/*
 * scheduler.c - a Fiber::Scheduler for Ruby whose waits are performed by libfiber
 *
 *	waits.c      the waits, in fibers of libfiber; knows no Ruby
 *	suspend.c    a Ruby fiber waits
 *	hooks.c, io.c, lib/libfiber/scheduler.rb    the hooks that Ruby calls
 *	loop.c       runs the fibers whose waits have ended
 *
 * This file has the scheduler's object. It marks the fibers of all pending waits.
 */
#include <ruby.h>
#include <ruby/thread.h>

#include <unistd.h>

#include "scheduler.h"

ID scheduler_id_wait, scheduler_id_name;

static void mark(void *data)
{
	const struct scheduler *s = data;
	const struct wait *w;

	rb_gc_mark(s->loop);
	rb_gc_mark(s->thread);
	rb_gc_mark(s->ready);
	rb_gc_mark(s->blocked);
	for (w = s->pending; w; w = w->after)
		rb_gc_mark((VALUE)w->user);
}

static void *stop(void *waits)
{
	waits_stop(waits);
	return NULL;
}

static void free_scheduler(void *data)
{
	struct scheduler *s = data;

	if (s->waits)
		waits_stop(s->waits);
	xfree(s);
}

const rb_data_type_t scheduler_type = {
	.wrap_struct_name = "LibFiber::Scheduler",
	.function = {.dmark = mark, .dfree = free_scheduler},
};

static void free_wait(void *data)
{
	if (data)
		wait_free(data);
}

const rb_data_type_t scheduler_wait_type = {
	.wrap_struct_name = "LibFiber::Wait",
	.function = {.dfree = free_wait},
};

static VALUE allocate(VALUE class)
{
	struct scheduler *s;
	VALUE self = TypedData_Make_Struct(class, struct scheduler, &scheduler_type, s);

	s->self = self;
	s->loop = s->thread = s->ready = s->blocked = Qnil;
	return self;
}

struct scheduler *scheduler_get(VALUE self)
{
	struct scheduler *s = rb_check_typeddata(self, &scheduler_type);

	if (!s->waits || s->process != getpid())
		rb_raise(rb_eRuntimeError, "the scheduler is closed");
	return s;
}

/* Scheduler.new(name = "ruby"): the name of its runtime in fiberctl. */
static VALUE initialize(int argc, VALUE *argv, VALUE self)
{
	struct scheduler *s = rb_check_typeddata(self, &scheduler_type);
	VALUE name = argc > 0 ? argv[0] : Qnil;
	int rc;

	rb_check_arity(argc, 0, 1);
	if (s->waits)
		rb_raise(rb_eRuntimeError, "already initialized");
	rc = waits_start(NIL_P(name) ? "ruby" : StringValueCStr(name), &s->waits);
	if (rc < 0)
		rb_syserr_fail(-rc, "libfiber");
	s->process = getpid();
	s->thread = rb_thread_current();
	s->loop = rb_fiber_current();
	s->ready = rb_ary_new();
	s->blocked = rb_funcall(rb_hash_new(), rb_intern("compare_by_identity"), 0);
	return self;
}

/* End what still waits, and the runtime. */
static VALUE finish(VALUE self)
{
	struct scheduler *s = rb_check_typeddata(self, &scheduler_type);
	struct waits *const waits = s->waits;

	s->waits = NULL;
	if (waits && s->process == getpid())
		rb_thread_call_without_gvl(stop, waits, NULL, NULL);
	return Qnil;
}

static VALUE is_closed(VALUE self)
{
	const struct scheduler *s = rb_check_typeddata(self, &scheduler_type);

	return s->waits && s->process == getpid() ? Qfalse : Qtrue;
}

void Init_libfiber_waits(void)
{
	const VALUE module = rb_define_module("LibFiber");
	const VALUE class = rb_define_class_under(module, "Scheduler", rb_cObject);

	scheduler_id_wait = rb_intern("__libfiber_wait__");
	scheduler_id_name = rb_intern("@__libfiber_name__");
	rb_define_alloc_func(class, allocate);
	rb_define_method(class, "initialize", initialize, -1);
	rb_define_method(class, "closed?", is_closed, 0);
	rb_define_private_method(class, "finish", finish, 0);
	scheduler_define_loop(class);
	scheduler_define_hooks(class);
	scheduler_define_io(class);
}

/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the hooks that are one wait each
 *
 * Ruby calls a hook in the fiber that would block (#unblock: in any fiber or thread).
 */
#include <ruby.h>
#include <ruby/io.h>

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scheduler.h"

/* block(blocker, timeout = nil): whether #unblock ended it. */
static VALUE unregister(VALUE self)
{
	struct scheduler *s = rb_check_typeddata(self, &scheduler_type);

	rb_hash_delete(s->blocked, rb_fiber_current());
	return Qnil;
}

struct blocking {
	struct scheduler *s;
	struct wait *w;
	VALUE object;
	const char *why;
};

static VALUE block_body(VALUE arg)
{
	const struct blocking *b = (const struct blocking *)arg;

	return scheduler_wait_for(b->s, b->w, b->object, b->why) == 0 ? Qtrue : Qfalse;
}

static VALUE hook_block(int argc, VALUE *argv, VALUE self)
{
	struct scheduler *s = scheduler_get(self);
	struct blocking b = {.s = s};
	VALUE blocker;

	rb_check_arity(argc, 1, 2);
	blocker = argv[0];
	b.w = scheduler_wait(s, &b.object);
	b.w->kind = WAIT_BLOCK;
	b.w->deadline = scheduler_deadline(argc > 1 ? argv[1] : Qnil);
	b.why = SYMBOL_P(blocker) ? rb_id2name(SYM2ID(blocker)) : rb_obj_classname(blocker);
	rb_hash_aset(s->blocked, rb_fiber_current(), b.object);
	return rb_ensure(block_body, (VALUE)&b, unregister, self);
}

/* kernel_sleep(duration = nil): for ever without one, and until #unblock in any case. */
static VALUE hook_kernel_sleep(int argc, VALUE *argv, VALUE self)
{
	VALUE arguments[2] = {ID2SYM(rb_intern("sleep")), argc > 0 ? argv[0] : Qnil};

	rb_check_arity(argc, 0, 1);
	hook_block(2, arguments, self);
	return Qtrue;
}

/* unblock(blocker, fiber), from any thread of Ruby. */
static VALUE hook_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
	struct scheduler *s = rb_check_typeddata(self, &scheduler_type);
	VALUE object;
	struct wait *w;

	(void)blocker;
	if (!s->waits || s->process != getpid())
		return Qnil;
	object = rb_hash_lookup(s->blocked, fiber);
	w = NIL_P(object) ? NULL : rb_check_typeddata(object, &scheduler_wait_type);
	if (w && w->pending)
		wait_unblock(w, rb_thread_current() != s->thread);
	return Qnil;
}

/* io_wait(io, events, timeout): the ready events, or false past the timeout. IO's events have the
 * values of poll(2). */
static VALUE hook_io_wait(VALUE self, VALUE io, VALUE events, VALUE timeout)
{
	const int wanted = NUM2INT(events);
	const int rc = scheduler_wait_fd(self, rb_io_descriptor(io), (short)wanted,
					 scheduler_deadline(timeout), "");

	if (rc == -ETIMEDOUT)
		return Qfalse;
	if (rc < 0)
		rb_syserr_fail(-rc, "io_wait");
	/* After a hang-up or an error both directions go on, and learn it. */
	return INT2NUM(rc & wanted ? rc & wanted : wanted);
}

/* poll([[fd, events], ...], timeout): the ready events of each, in order. */
static VALUE hook_poll(VALUE self, VALUE list, VALUE timeout)
{
	struct scheduler *s = scheduler_get(self);
	const long n = RARRAY_LEN(list);
	VALUE memory, object, found = rb_ary_new_capa(n);
	struct wait *w = scheduler_wait(s, &object);
	struct pollfd *fds = RB_ALLOCV_N(struct pollfd, memory, n ? n : 1);
	long i;
	int rc;

	for (i = 0; i < n; i++) {
		const VALUE pair = rb_ary_entry(list, i);

		fds[i] = (struct pollfd){.fd = NUM2INT(rb_ary_entry(pair, 0)),
					 .events = (short)NUM2INT(rb_ary_entry(pair, 1))};
	}
	/* A wait that is aborted may still write to them. */
	w->fds = malloc((size_t)(n ? n : 1) * sizeof *fds);
	if (!w->fds)
		rb_memerror();
	memcpy(w->fds, fds, (size_t)n * sizeof *fds);
	RB_ALLOCV_END(memory);
	w->kind = WAIT_POLL;
	w->nfds = (nfds_t)n;
	w->deadline = scheduler_deadline(timeout);
	rc = scheduler_wait_for(s, w, object, "");
	for (i = 0; i < n; i++)
		rb_ary_push(found, INT2NUM(rc > 0 ? w->fds[i].revents : 0));
	free(w->fds);
	w->fds = NULL;
	if (rc < 0 && rc != -ETIMEDOUT)
		rb_syserr_fail(-rc, "poll");
	return found;
}

/* address_resolve(hostname): its addresses as text; none if it is unknown. */
static VALUE hook_address_resolve(VALUE self, VALUE hostname)
{
	struct scheduler *s = scheduler_get(self);
	VALUE object, found = rb_ary_new();
	struct wait *w = scheduler_wait(s, &object);
	char text[NI_MAXHOST];
	struct addrinfo *a;
	int rc;

	w->kind = WAIT_RESOLVE;
	w->host = strdup(StringValueCStr(hostname));
	if (!w->host)
		rb_memerror();
	w->deadline = FIBER_FOREVER;
	rc = scheduler_wait_for(s, w, object, w->host);
	for (a = rc == 0 ? w->found : NULL; a; a = a->ai_next)
		if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0,
				NI_NUMERICHOST) == 0)
			rb_ary_push(found, rb_str_new_cstr(text));
	if (rc == 0)
		freeaddrinfo(w->found);
	free(w->host);
	w->host = NULL;
	w->found = NULL;
	return rb_funcall(found, rb_intern("uniq"), 0);
}

/* pidfd(pid): a descriptor that is readable once the process has exited, for IO.for_fd. */
static VALUE open_pidfd(VALUE self, VALUE pid)
{
	const long fd = syscall(SYS_pidfd_open, (pid_t)NUM2INT(pid), 0);

	(void)self;
	if (fd < 0)
		rb_sys_fail("pidfd_open");
	return LONG2NUM(fd);
}

void scheduler_define_hooks(VALUE class)
{
	rb_define_method(class, "block", hook_block, -1);
	rb_define_method(class, "kernel_sleep", hook_kernel_sleep, -1);
	rb_define_method(class, "unblock", hook_unblock, 2);
	rb_define_method(class, "io_wait", hook_io_wait, 3);
	rb_define_method(class, "address_resolve", hook_address_resolve, 1);
	rb_define_private_method(class, "poll", hook_poll, 2);
	rb_define_private_method(class, "pidfd", open_pidfd, 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * scheduler.h - between the files of the extension
 *
 * Everything here runs with Ruby's global lock.
 */
#ifndef RUBY_SCHEDULER_H
#define RUBY_SCHEDULER_H

#include <ruby.h>
#include <stdint.h>

#include "waits.h"

struct scheduler {
	struct waits *waits;	  /* NULL before #initialize and after the end */
	VALUE self, loop, thread; /* the loop's fiber, and its thread */
	VALUE ready;		  /* fibers that go on without a wait */
	VALUE blocked;		  /* fiber => its wait, in #block */
	struct wait *pending;	  /* linked by before and after */
	struct wait *ended;	  /* returned by waits_next() and not handled yet */
	pid_t process;
	uint64_t named; /* how many fibers have got a name */
};

extern const rb_data_type_t scheduler_type, scheduler_wait_type;

/* Set before the class is defined. scheduler_id_wait: the fiber-local variable; scheduler_id_name: a
 * variable of the fiber's object. */
extern ID scheduler_id_wait, scheduler_id_name;

/* -- scheduler.c -- */

/* Called by Ruby when it loads the extension. */
__attribute__((visibility("default"))) void Init_libfiber_waits(void);

/* Raises a RuntimeError when the scheduler is closed. */
struct scheduler *scheduler_get(VALUE self);

/* -- suspend.c -- */

/* The deadline of a duration in seconds; nil: FIBER_FOREVER. */
int64_t scheduler_deadline(VALUE duration);

/* A wait that no fiber has. Raises NoMemoryError. */
struct wait *scheduler_new_wait(struct scheduler *s);

/* The wait of the current fiber, and the object that frees it. */
struct wait *scheduler_wait(struct scheduler *s, VALUE *ret);

/* Set the labels: the line of Ruby that waits, and what it waits for, or "". */
void scheduler_describe(struct wait *w, const char *why);

/* Put w into the list of pending waits, and take it out when its end is handled. A fiber that is left
 * between the end and that has an orphan, too. */
void scheduler_enter(struct scheduler *s, struct wait *w);
void scheduler_leave(struct scheduler *s, struct wait *w);

/* Begin the current fiber's wait w and return its result when it has ended. Raises what is raised in
 * the fiber. */
int scheduler_wait_for(struct scheduler *s, struct wait *w, VALUE object, const char *why);

/* Wait for events of fd. Returns the ready ones or a negative errno. */
int scheduler_wait_fd(VALUE self, int fd, short events, int64_t deadline, const char *why);

/* -- loop.c: fiber, run and timers · hooks.c · io.c: io_read and io_write -- */

void scheduler_define_loop(VALUE class);
void scheduler_define_hooks(VALUE class);
void scheduler_define_io(VALUE class);

#endif

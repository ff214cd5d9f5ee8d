/* SPDX-License-Identifier: MIT */
/*
 * idle.c - carriers never sleep; in place of libfiber/sched/idle.c
 *
 * The loop collects work before it looks for a fiber, so no notification is needed. The idle hook of
 * a program is not called: it would wait in real time.
 */
#include "sched/idle.h"

#include "sched/sched.h"

int fib_idle_lend(struct fib_sched *s)
{
	(void)s;
	return 0;
}

void fib_idle_serve(struct fib_sched *s, fib_idle_hook *hook, void *arg)
{
	(void)s;
	(void)hook;
	(void)arg;
}

void fib_idle_notify(struct fib_sched *s)
{
	(void)s;
}

void fib_idle_notify_beyond(struct fib_sched *s)
{
	(void)s;
}

bool fib_idle_full(struct fib_sched *s)
{
	(void)s;
	return false;
}

void fib_idle_wake(struct fib_carrier *c)
{
	(void)c;
}

bool fib_idle_is_asleep(struct fib_carrier *c, bool *ret_polls)
{
	(void)c;
	return *ret_polls = false;
}

bool fib_idle_all_asleep(struct fib_sched *s)
{
	(void)s;
	return false;
}

bool fib_work_visible(struct fib_sched *s, struct fib_carrier *c)
{
	(void)s;
	(void)c;
	return false;
}

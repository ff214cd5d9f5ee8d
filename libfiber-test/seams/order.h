/* SPDX-License-Identifier: MIT */
/*
 * order.h - which calls happen before which: the library under test
 *
 * Each means the same as in libfiber/base/order/none/order.h. The functions are in memory/order.c
 * of libfiber-test-memory; in libfiber-test they are empty.
 */
#ifndef FIB_BASE_ORDER_H
#define FIB_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>

struct fiber;
struct fib_waiter;

void fib_order_release(const void *object);
void fib_order_acquire(const void *object);
void fib_order_wake(const struct fib_waiter *w);
void fib_order_lock(const void *lock, const void *at, bool writes);
void fib_order_unlock(const void *lock, bool writes);
void fib_order_spawn(const struct fiber *fiber);
void fib_order_begin(const struct fiber *fiber);
void fib_order_end(const struct fiber *fiber, const void *runtime);
void fib_order_send(const void *chan, size_t capacity, const struct fib_waiter *w);
void fib_order_receive(const void *chan, size_t capacity, const struct fib_waiter *w);
void fib_order_bytes_out(int fd);
void fib_order_bytes_in(int fd, long result);

static inline bool fib_order_acquire_if(bool condition, const void *object)
{
	if (condition)
		fib_order_acquire(object);
	return condition;
}

static inline bool fib_order_wake_if(bool condition, const struct fib_waiter *w)
{
	if (condition)
		fib_order_wake(w);
	return condition;
}

#endif

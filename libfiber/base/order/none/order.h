/* SPDX-License-Identifier: MIT */
/*
 * order.h - nothing is announced: the library of production
 *
 * A primitive names here which of its calls happen before which. libfiber-test compiles the same
 * sources with an order.h of its own, from which libfiber-test-memory finds data races. Here
 * nothing is left in the machine code.
 */
#ifndef FIB_BASE_ORDER_H
#define FIB_BASE_ORDER_H

/* What the running fiber has done happens before what follows each later acquire of the object. */
#define fib_order_release(object) ((void)sizeof(object))
#define fib_order_acquire(object) ((void)sizeof(object))

/* What the running fiber has done happens before the return from the wait of w, a fib_waiter. */
#define fib_order_wake(w) ((void)sizeof(w))

/* The value of a condition. The announcement is made if it is true. */
#define fib_order_acquire_if(condition, object) (condition)
#define fib_order_wake_if(condition, w)		(condition)

/* The running fiber took a lock by a call from `at`, for reading or writing; it releases it. */
#define fib_order_lock(lock, at, writes) \
	((void)sizeof(lock), (void)sizeof(at), (void)sizeof(writes))
#define fib_order_unlock(lock, writes) ((void)sizeof(lock), (void)sizeof(writes))

/* The running fiber starts another one; a fiber runs for the first time; it exits, in a runtime. */
#define fib_order_spawn(fiber)	      ((void)sizeof(fiber))
#define fib_order_begin(fiber)	      ((void)sizeof(fiber))
#define fib_order_end(fiber, runtime) ((void)sizeof(fiber), (void)sizeof(runtime))

/*
 * An element goes into a channel of this capacity or leaves it, in the order of the elements. w:
 * the fib_waiter of the fiber that sends or receives; NULL: the running one.
 */
#define fib_order_send(chan, capacity, w) \
	((void)sizeof(chan), (void)sizeof(capacity), (void)sizeof(w))
#define fib_order_receive(chan, capacity, w) \
	((void)sizeof(chan), (void)sizeof(capacity), (void)sizeof(w))

/*
 * The running fiber is about to send bytes through a descriptor; a receive returned `result`, an
 * error or not. fd -1: any descriptor.
 */
#define fib_order_bytes_out(fd)	       ((void)sizeof(fd))
#define fib_order_bytes_in(fd, result) ((void)sizeof(fd), (void)sizeof(result))

#endif

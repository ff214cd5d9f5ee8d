/* SPDX-License-Identifier: MIT */
/* waker.h - wake the service thread */
#ifndef FIB_SERVICE_WAKER_H
#define FIB_SERVICE_WAKER_H

/* 0, or a negative errno. */
int fib_waker_open(void);

/* When this returns, no thread writes to the descriptor any more. */
void fib_waker_close(void);

/* The same in a forked child, where no other thread exists. */
void fib_waker_forget(void);

/*
 * Make the descriptor readable, even if the thread does not wait yet. Any thread;
 * async-signal-safe.
 */
void fib_waker_wake(void);

/* The descriptor to poll, or -1: there is none. The service thread. */
int fib_waker_fd(void);

/* Clear the event after poll(2) reported it. The service thread. */
void fib_waker_clear(void);

/* The program has closed the descriptor; its number may be reused. The service thread. */
void fib_waker_lose(void);

#endif

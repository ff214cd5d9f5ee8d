/* SPDX-License-Identifier: MIT */
/* waker.h - how others end the rest of the service thread. */
#ifndef FIB_SERVICE_WAKER_H
#define FIB_SERVICE_WAKER_H

/* 0, or a negative errno. */
int fib_waker_open(void);

/* Nobody writes to it any more when this returns. */
void fib_waker_close(void);

/* The same in a forked child, where nobody does. */
void fib_waker_forget(void);

/* Make the descriptor readable, also if nobody waits for it yet. Any thread; async-signal-safe. */
void fib_waker_wake(void);

/* -1: there is none. The service thread. */
int fib_waker_fd(void);

/* poll(2) says that it is readable: it is no more. The service thread. */
void fib_waker_clear(void);

/* The program has closed it: its number is somebody else's. The service thread. */
void fib_waker_lose(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * watch.h - reaching the poller of another scheduler
 *
 * A poller may keep the file of what it watches open. So whoever closes a descriptor has it forgotten first,
 * also elsewhere than on a carrier of the scheduler that watches it, which may have ended by then.
 */
#ifndef FIB_WATCH_WATCH_H
#define FIB_WATCH_WATCH_H

#include <stdint.h>

struct fib_sched;

/* A scheduler comes and goes. Its poller is used by others from the one until the other has returned. */
void fib_watch_add(struct fib_sched *s);
void fib_watch_remove(struct fib_sched *s);

/* Instead of a serial number: more schedulers than one. */
#define FIB_WATCH_SEVERAL UINT64_MAX

/* Have the poller of the scheduler with that serial number, or those of all, forget fd. Nothing when it has gone. Any
 * thread. */
void fib_watch_forget(uint64_t serial, int fd);

/* Keep others out while the process forks; in the child, with the lock: there is no scheduler any more. */
void fib_watch_lock(void);
void fib_watch_unlock(void);
void fib_watch_clear(void);

#endif

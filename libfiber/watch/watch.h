/* SPDX-License-Identifier: MIT */
/*
 * watch.h - reach the poller of another scheduler
 *
 * A poller may keep the file of a watched descriptor open. So before a descriptor is closed the
 * poller must forget it. The closing thread need not be a carrier of that scheduler, and the
 * scheduler may have ended by then.
 */
#ifndef FIB_WATCH_WATCH_H
#define FIB_WATCH_WATCH_H

#include <stdint.h>

struct fib_sched;

/*
 * Add and remove a scheduler. Its poller is used by other threads from the first call until the
 * second has returned.
 */
void fib_watch_add(struct fib_sched *s);
void fib_watch_remove(struct fib_sched *s);

/* Instead of a serial number: several schedulers. */
#define FIB_WATCH_SEVERAL UINT64_MAX

/*
 * Make the poller of the scheduler with that serial number (FIB_WATCH_SEVERAL: of all) forget fd.
 * No effect if the scheduler has ended. Any thread. 0; or a negative errno: one of the pollers did
 * not watch the file that fd means.
 */
int fib_watch_forget(uint64_t serial, int fd);

/*
 * Block other threads while the process forks; in the child, with the lock: forget all schedulers.
 */
void fib_watch_lock(void);
void fib_watch_unlock(void);
void fib_watch_clear(void);

#endif

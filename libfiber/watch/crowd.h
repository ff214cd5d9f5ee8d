/* SPDX-License-Identifier: MIT */
/* crowd.h - how many carriers may be awake; see crowd.c */
#ifndef FIB_WATCH_CROWD_H
#define FIB_WATCH_CROWD_H

#include <stdbool.h>
#include <stdint.h>

struct fib_sched;

/* Before the carriers of s start. */
void fib_crowd_init(struct fib_sched *s);

/* At every tick, in the service thread. behind: work waits that no carrier runs. */
void fib_crowd_look(struct fib_sched *s, int64_t now, bool behind);

#endif

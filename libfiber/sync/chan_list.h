/* SPDX-License-Identifier: MIT */
/* chan_list.h - the channels of the process that have a buffer, for garbage collectors */
#ifndef FIB_SYNC_CHAN_LIST_H
#define FIB_SYNC_CHAN_LIST_H

#include "sync/chan.h"

/* Add a new channel; remove it before it is freed. Any thread. */
void fib_chan_list_add(struct fiber_chan *chan);
void fib_chan_list_remove(struct fiber_chan *chan);

/* Block other threads that make and free channels. _try: false, and nothing is locked, if one does that
 * now. */
void fib_chan_list_lock(void);
bool fib_chan_list_try(void);
void fib_chan_list_unlock(void);

/*
 * Call fn for each channel, until it returns something else than 0, and return that; under the lock. The
 * contents of the channels may change meanwhile.
 */
int fib_chan_list_each(int (*fn)(const struct fiber_chan *chan, void *arg), void *arg);

#endif

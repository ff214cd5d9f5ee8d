/* SPDX-License-Identifier: MIT */
/* registration.h - give a descriptor to the poller, and know of which file it reports */
#ifndef FIB_IO_REGISTRATION_H
#define FIB_IO_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "io/descriptor.h"
#include "io/table.h"
#include "sched/sched.h"

/*
 * Make the poller of s, the caller's scheduler, watch fd for events, and report again what is ready.
 * *ret_file: the identity (fib_os_identity()) of the file that is watched, or 0: not known. Returns
 * 0; 1: the number means another file than at the last wait, look again; -EBADF: it is another
 * descriptor than the one that was looked at; other errors of the poller.
 */
int fib_registration_make(struct fib_sched *s, int fd, struct fib_descriptor *d, short events,
			  const struct fib_look *look, uint64_t *ret_file);

/* Whether fib_registration_make() will probably know the file. */
static inline bool fib_registration_knows(struct fib_sched *s, struct fib_descriptor *d)
{
	return fib_load(&d->file) && fib_load(&d->watched_by) == s->serial;
}

/* Whether fd means the file with that identity. s: the caller's scheduler. */
bool fib_registration_same(struct fib_sched *s, int fd, struct fib_descriptor *d, uint64_t file);

/* Make the pollers drop fd, which is about to be closed or has been. Under the gate. */
void fib_registration_drop(int fd, struct fib_descriptor *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * kept.h - what the service thread opens at start and keeps
 *
 * See kept.c. The service thread's, but for _open and _close, which are called while it does not run.
 */
#ifndef FIB_SERVICE_KEPT_H
#define FIB_SERVICE_KEPT_H

#include <stdbool.h>

#include "os/os.h"

enum fib_kept_file {
	FIB_KEPT_MAPS,	  /* /proc/self/maps */
	FIB_KEPT_STATM,	  /* /proc/self/statm */
	FIB_KEPT_PAGEMAP, /* /proc/self/pagemap */
	FIB_KEPT_FILES,
};

/* Open the pipe and, where there is a control socket to answer on, the files; what cannot be opened is done without. */
void fib_kept_open(bool answers);

/* Close everything that is still ours. Also in a forked child, whose files they are not. */
void fib_kept_close(void);

/* A request begins: each of them is looked at again before it is next used. */
void fib_kept_renew(void);

/* The file, to be read with fib_os_read_at(), or a negative errno. One that was lost, or never opened, is opened now, but for the
 * page map. */
int fib_kept_file(enum fib_kept_file which);

/* The pipe for fib_os_peek_through(); it is not open where none can be had. Valid for ever. */
struct fib_os_pipe *fib_kept_pipe(void);

/* The same, looked at again in any case: for who uses it beside requests. */
struct fib_os_pipe *fib_kept_pipe_now(void);

#endif

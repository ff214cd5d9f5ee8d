/* SPDX-License-Identifier: MIT */
/*
 * kept.h - files and a pipe that the service thread keeps open from its start
 *
 * See kept.c. Only for the service thread, except _open and _close, which are called while it does
 * not run.
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

/*
 * Open the pipe and, if there is a control socket to answer on, the files. Failures are tolerated.
 */
void fib_kept_open(bool answers);

/*
 * Close all that still belong to this file. Also for a forked child, which must not close the
 * parent's.
 */
void fib_kept_close(void);

/* A request begins: check each file again before its next use. */
void fib_kept_renew(void);

/*
 * Returns the file, to be read with fib_os_read_at(), or a negative errno. A file that was lost, or
 * never opened, is opened now, except the page map.
 */
int fib_kept_file(enum fib_kept_file which);

/*
 * The pipe for fib_os_peek_through(). It is not open if none can be made. The pointer stays valid.
 */
struct fib_os_pipe *fib_kept_pipe(void);

/* The same, always checked again: for uses outside requests. */
struct fib_os_pipe *fib_kept_pipe_now(void);

#endif

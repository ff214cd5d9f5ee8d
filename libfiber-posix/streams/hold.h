/* SPDX-License-Identifier: MIT */
/* hold.h - which fiber has the lock of a stream */
#ifndef FPX_STREAMS_HOLD_H
#define FPX_STREAMS_HOLD_H

#include <stdbool.h>
#include <stdio.h>

/* In fibers only. How a call has the stream, and what it may do. */
struct fpx_use {
	bool held;   /* the fiber has it: other fibers wait for it */
	bool locked; /* the C library's lock alone: the call must not park */
	bool waits;  /* the descriptor may wait: the call moves the bytes itself */
};

/* The descriptor of a stream; -1: it has none. Keeps errno. */
int fpx_stream_fd(FILE *stream);

/*
 * Lock the stream for one call and say what the call may do. Parks while another fiber or a thread has
 * it; not cancellable. fpx_unlocked() is the same for a call that does not lock.
 */
struct fpx_use fpx_enter(FILE *stream);
struct fpx_use fpx_unlocked(FILE *stream);
void fpx_leave(FILE *stream, struct fpx_use use);

/* flockfile(3), ftrylockfile(3), funlockfile(3). */
void fpx_hold(FILE *stream);
bool fpx_try_hold(FILE *stream);
void fpx_release(FILE *stream);

/* Whether the fiber has any stream. */
bool fpx_holds_any(void);

/*
 * For a call that frees the stream, after fpx_enter(): unlock it for the C library, and still keep other
 * fibers out. Then let them in; the second one uses the address only.
 */
void fpx_unlock_to_free(FILE *stream);
void fpx_drop(FILE *stream);

#endif

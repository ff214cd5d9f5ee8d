/* SPDX-License-Identifier: MIT */
/* descriptor.h - inform libfiber that descriptors are closed or replaced */
#ifndef FPX_CALL_DESCRIPTOR_H
#define FPX_CALL_DESCRIPTOR_H

#include <stdbool.h>

/* Whether libfiber is to be informed of descriptors that the caller closes. */
bool fpx_informs(void);

/* Whether the calling plain thread is in fiber_posix_close(). */
bool fpx_closing(void);

/* Report a new descriptor, if its end will be seen. Any thread. */
void fpx_meet(int fd);

/*
 * libfiber takes a descriptor that it has accepted or connected for one whose end it sees. Correct
 * that where it may not.
 */
void fpx_doubt(int fd);

/* Drop what is known of fd, which is about to be closed or has been replaced. Any thread. */
void fpx_forget(int fd);

/* The same for first to last, both included. */
void fpx_forget_range(unsigned first, unsigned last);

#endif

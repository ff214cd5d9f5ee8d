/* SPDX-License-Identifier: MIT */
/* signal.h - a signal from a fiber that is no thread */
#ifndef FPX_CALL_SIGNAL_H
#define FPX_CALL_SIGNAL_H

/* Send a signal to the calling thread, or to the process if the thread blocks it. Returns 0 or an errno
 * value. */
int fpx_signal_caller(int number);

#endif

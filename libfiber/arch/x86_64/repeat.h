/* SPDX-License-Identifier: MIT */
/* repeat.h - make a thread repeat the system call that a signal has interrupted */
#ifndef FIB_ARCH_X86_64_REPEAT_H
#define FIB_ARCH_X86_64_REPEAT_H

#include <stdbool.h>
#include <ucontext.h>

/*
 * context: a signal handler's. If the thread's system call has failed with EINTR, change the
 * registers so that the thread makes the call again when the handler returns. Returns whether it will.
 * false: there was no such call, or its number is not known. Async-signal-safe.
 */
bool fib_x86_repeat(ucontext_t *context);

#endif

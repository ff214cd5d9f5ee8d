/* SPDX-License-Identifier: MIT */
/*
 * child.h - what a test can only see happen to somebody else: an abort, a fault, a limit
 */
#ifndef HARNESS_CHILD_H
#define HARNESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct harness_child {
	int code;	 /* its exit code, -1 when a signal ended it */
	int signal;	 /* that signal, 0 */
	char text[4096]; /* the beginning of what it wrote to stderr, NUL-terminated */
};

/*
 * Fork a copy of the test that calls fn(arg) and exits with what that returns (0 .. 255). Its signals have
 * their default actions, whatever the test library installed; it dumps no core and makes no threads
 * (ThreadSanitizer forbids them there). After `seconds` it is killed, which is SIGKILL in *ret.
 */
void harness_child(int (*fn)(void *arg), void *arg, int seconds, struct harness_child *ret);

/* In a child: allow the address space (RLIMIT_AS) or the writable memory (RLIMIT_DATA) that is used now and
 * `more` bytes; SIZE_MAX takes the limit away. Aborts where that fails. */
void harness_limit_space(size_t more);
void harness_limit_data(size_t more);

#endif

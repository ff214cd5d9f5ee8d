/* SPDX-License-Identifier: MIT */
/* child.h - run code that aborts, faults or exceeds a limit in a child process */
#ifndef HARNESS_CHILD_H
#define HARNESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct harness_child {
	int code;	 /* exit code; -1: ended by a signal */
	int signal;	 /* that signal, or 0 */
	char text[4096]; /* the start of its stderr, NUL-terminated */
};

/*
 * Fork a copy of the test that calls fn(arg) and exits with its return value (0 .. 255). The child
 * has the default signal actions, dumps no core and starts no threads (ThreadSanitizer forbids them
 * there). After `seconds` it is killed, and *ret shows SIGKILL.
 */
void harness_child(int (*fn)(void *arg), void *arg, int seconds, struct harness_child *ret);

/* In a child: limit the address space (RLIMIT_AS) or the writable memory (RLIMIT_DATA) to the
 * current use plus `more` bytes; SIZE_MAX removes the limit. Aborts on failure. */
void harness_limit_space(size_t more);
void harness_limit_data(size_t more);

#endif

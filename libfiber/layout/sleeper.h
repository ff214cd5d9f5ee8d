/* SPDX-License-Identifier: MIT */
/*
 * sleeper.h - where a thread sleeps in the system, parsed from /proc/PID/task/TID/syscall
 *
 * The library reads that file of its own threads, the tools of the threads of a process. The caller
 * reads the file.
 */
#ifndef FIB_LAYOUT_SLEEPER_H
#define FIB_LAYOUT_SLEEPER_H

#include <stdint.h>

#define FIB_SLEEPER_ARGUMENTS 6

struct fib_sleeper_place {
	int64_t call; /* system call number; -1: none, it waits for a page or is stopped */
	uint64_t sp, pc;
	uint64_t argument[FIB_SLEEPER_ARGUMENTS]; /* of the call; 0 without one */
};

/* Parse the file's text. Returns 1 and *ret if the thread sleeps there; 0 if it runs, or waits for
 * a CPU; -EPROTO for anything else, such as a thread that has no address in the program: one of the
 * kernel, or one that is exiting. *ret is written only with 1. */
int fib_sleeper_parse(const char *text, struct fib_sleeper_place *ret);

#endif

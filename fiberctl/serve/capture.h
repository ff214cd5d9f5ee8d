/* SPDX-License-Identifier: MIT */
/*
 * capture.h - run a command of the tools in a child process and keep its output
 *
 * The child has no descriptor of the server. Its output goes to a file in memory, so it never waits
 * for a reader, and its size is bounded. It ends with its parent.
 */
#ifndef SERVE_CAPTURE_H
#define SERVE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVE_OUTPUT_MOST (16u << 20) /* bytes of an answer */

struct serve_capture {
	pid_t pid;    /* 0: none runs */
	int out, err; /* files in memory; -1: none */
	int end;      /* readable when the child has ended; -1 */
};

#define SERVE_NO_CAPTURE ((struct serve_capture){.out = -1, .err = -1, .end = -1})

/*
 * Start `fiberctl ARGUMENTS`, or `fibertrace ARGUMENTS` if that is argv[0]. argv ends with NULL.
 * most: bytes that a file may have. 0 or a negative errno; then there is nothing to drop.
 */
int serve_capture_start(struct serve_capture *ret, char *const argv[], size_t most);

/* The same for a function, which prints; its result is the exit code. */
typedef int serve_capture_fn(void *context);
int serve_capture_call(struct serve_capture *ret, serve_capture_fn *run, void *context,
		       size_t most);

/*
 * Wait until the child has ended, for at most timeout ns, and then kill it. Returns its exit code;
 * -ETIMEDOUT; -EFBIG: its output is too long; -ECHILD: it crashed.
 */
int serve_capture_wait(struct serve_capture *capture, int64_t timeout);

/* Read all of a file in memory, with a NUL behind it. NULL: no memory. The caller frees it. */
char *serve_capture_read(int fd, size_t *ret_size);

/* The first line of what a command has printed on stderr, escaped. Returns buf. */
const char *serve_capture_line(const char *printed, char *buf, size_t size);

/* Kill the child if it runs and close the files. */
void serve_capture_drop(struct serve_capture *capture);

/* An empty file in memory; or a negative errno. */
int serve_capture_file(const char *name);

/* In a child: close all descriptors from `first` on, except `keep` (-1: none). */
void serve_capture_close_from(int first, int keep);

/* In a child: handle signals as a new process does, and end with the parent. */
void serve_capture_settle(void);

#endif

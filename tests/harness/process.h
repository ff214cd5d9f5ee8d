/* SPDX-License-Identifier: MIT */
/*
 * process.h - the programs a test starts, and their end
 *
 * A started program's stdout and stderr are collected through pipes. Whatever is still alive when the
 * test exits is ended, and when the test dies the kernel ends it (PR_SET_PDEATHSIG: also when the
 * thread that started it ends). One thread uses a process at a time.
 */
#ifndef HARNESS_PROCESS_H
#define HARNESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct harness_text {
	char *bytes; /* NUL-terminated, never NULL after the start */
	size_t size;
	int fd; /* the reading end, -1 after its end */
};

struct harness_process {
	pid_t pid;
	bool ended;
	int status;	/* as waitpid(2) gives it, once ended */
	bool timed_out; /* harness_run: it was ended because its time was over */
	int pidfd;
	struct harness_text out, err;
	char line[1024]; /* of harness_wait_line() */
	struct harness_process *next;
};

/* How a program is started; zeros are the plain way. */
struct harness_how {
	const char *const *env; /* "NAME=value", NULL-terminated, over the test's own environment */
	const char *folder;	/* to start in */
	uid_t user;		/* to run as, when not 0; needs root */
	bool forbid_peeking;	/* a seccomp filter makes process_vm_readv fail with EPERM */
	unsigned forbid;	/* a system call that fails with EPERM; 0: none */
	bool core;		/* let it dump core */
	bool (*enter)(
		const void *place); /* what its process does first: nothing but system calls */
	const void *place;
};

/*
 * Start argv[0] (a path, or a name found in PATH) with argv up to NULL. how may be NULL. XDG_RUNTIME_DIR
 * is the test's folder unless how says otherwise. Aborts the test where that fails.
 */
struct harness_process *harness_start(const char *const argv[], const struct harness_how *how);

/* Wait until a line of its stdout starts with prefix. The line without its end, valid until the next
 * call; NULL when it ended or `seconds` passed without one. */
const char *harness_wait_line(struct harness_process *p, const char *prefix, int seconds);

/* Collect what it prints until it has ended; false when `seconds` passed first. */
bool harness_wait_end(struct harness_process *p, int seconds);

/* End it by its pid: SIGTERM, and SIGKILL when it is still there after some seconds. Collects what it
 * prints. */
void harness_end(struct harness_process *p);

/* harness_end() and free. NULL is fine. */
void harness_free(struct harness_process *p);

/* Start a command, wait for its end; after `seconds` it is ended and timed_out is set. */
struct harness_process *harness_run(const char *const argv[], const struct harness_how *how,
				    int seconds);

/* Its exit code, or -1 when a signal ended it or it has not ended. */
int harness_exit_code(const struct harness_process *p);

/* Drop from its stderr the lines in which libfiber tells of long runs: a machine that stands still for a moment makes one
 * of anything. */
void harness_forget_long_runs(struct harness_process *p);

/* Wait for a condition: call ready(arg) until it is true. False after `seconds`. */
bool harness_until(bool (*ready)(void *arg), void *arg, int seconds);

#endif

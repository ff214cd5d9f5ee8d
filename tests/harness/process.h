/* SPDX-License-Identifier: MIT */
/*
 * process.h - start and end the programs of a test
 *
 * The stdout and stderr of a started program are collected through pipes. Programs that are alive
 * when the test exits are ended. If the test dies, the kernel ends them (PR_SET_PDEATHSIG, which
 * also fires when the thread that started the program ends). Only one thread uses a process at a
 * time.
 */
#ifndef HARNESS_PROCESS_H
#define HARNESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct harness_text {
	char *bytes; /* NUL-terminated; never NULL after the start */
	size_t size;
	int fd; /* the read end; -1 after the end of file */
};

struct harness_process {
	pid_t pid;
	bool ended;
	int status;	/* as from waitpid(2), once ended */
	bool timed_out; /* harness_run: it was ended after its time limit */
	int pidfd;
	struct harness_text out, err;
	char line[1024]; /* the line of harness_wait_line() */
	struct harness_process *next;
};

/* How to start a program; zeros are the defaults. */
struct harness_how {
	const char *const
		*env;	     /* "NAME=value" strings up to NULL; override the test's environment */
	const char *folder;  /* its working directory */
	uid_t user;	     /* the user to run as, when not 0; needs root */
	bool forbid_peeking; /* a seccomp filter makes process_vm_readv fail with EPERM */
	unsigned forbid;     /* a system call that fails with EPERM; 0: none */
	bool core;	     /* allow a core dump */
	bool (*enter)(
		const void *place); /* what the process does first; must only make system calls */
	const void *place;
};

/* Limits are given in seconds; FIBER_TEST_PATIENCE multiplies them (clock.h). */

/*
 * Start argv[0] (a path, or a name found in PATH) with argv up to NULL. how may be NULL.
 * XDG_RUNTIME_DIR is the test's folder unless how sets it. Aborts the test on failure.
 */
struct harness_process *harness_start(const char *const argv[], const struct harness_how *how);

/* Wait until a line of its stdout starts with prefix. Returns the line without the newline, valid
 * until the next call; NULL if the process ended or `seconds` passed first. */
const char *harness_wait_line(struct harness_process *p, const char *prefix, int seconds);

/* Collect its output until it has ended; false if `seconds` passed first. */
bool harness_wait_end(struct harness_process *p, int seconds);

/* End it by its pid: SIGTERM, then SIGKILL if it is still alive some seconds later. Collects its
 * output. */
void harness_end(struct harness_process *p);

/* harness_end() and free. NULL is allowed. */
void harness_free(struct harness_process *p);

/* Start a command and wait for its end; after `seconds` it is ended and timed_out is set. */
struct harness_process *harness_run(const char *const argv[], const struct harness_how *how,
				    int seconds);

/* Its exit code; -1 if a signal ended it or it has not ended. */
int harness_exit_code(const struct harness_process *p);

/* Remove libfiber's reports of long runs from its stderr: any run is long if the machine stands
 * still for a moment. */
void harness_forget_long_runs(struct harness_process *p);

/* Call ready(arg) until it returns true. False after `seconds`. */
bool harness_until(bool (*ready)(void *arg), void *arg, int seconds);

#endif

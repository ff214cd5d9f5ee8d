/* SPDX-License-Identifier: MIT */
/*
 * place.h - run programs and tools with few rights and on restricted systems
 *
 * The test starts as root and drops rights; place_begin() skips the test without root.
 */
#ifndef HARNESS_CLI_PLACE_H
#define HARNESS_CLI_PLACE_H

#include "tests/harness/cli/cli.h"

#define PLACE_USER  65534
#define PLACE_OTHER 65533

/* Zeros: the test's own rights. */
struct place {
	uid_t user;
	gid_t group;	 /* 0: the same number as the user */
	bool less;	 /* CAP_SYS_PTRACE is removed from the bounding set, as in a container */
	bool never_more; /* no_new_privs */
	unsigned capability; /* a capability that the user keeps, when not 0 */
	bool container;	     /* a user namespace made by root, whose root is `user` */
	pid_t inside;	     /* run in the user namespace of this process, as its root */
	bool hides;	     /* /proc hides the processes of other users */
	int yama;	     /* value of ptrace_scope, when not 0 */
	pid_t yama_of; /* the process to which access is refused, except with CAP_SYS_PTRACE */
	const char *setting; /* "NAME=value", added to its environment */
};

/* A setup: skips all tests with a reason if rights cannot be given up. */
int place_begin(void **state);

/* Skip the running test if such a place cannot be made. */
void place_need(const struct place *place);

/* The path of a copy of a built program that every user can run. */
const char *place_program(const char *name);
/* A path in a folder that every user can enter and only PLACE_USER can write to. */
const char *place_file(const char *name);
/* A copy of crowd, "crowd-closed", that every user can run and only root can read. */
const char *place_closed(void);

/* As cli_start() and cli_run(), in a place. */
struct harness_process *place_start(const struct place *place, const char *ready,
				    const char *program, const char *argument);
struct harness_process *place_run(const struct place *place, const char *program, ...)
	__attribute__((sentinel));

/* Assert that the tool exited with 2 and printed exactly the line "TOOL: text", printf style; then
 * free. */
void place_refused(struct harness_process *p, const char *tool, const char *text, ...)
	__attribute__((format(printf, 3, 4)));

#endif

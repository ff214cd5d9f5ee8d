/* SPDX-License-Identifier: MIT */
/*
 * place.h - programs and tools as users with few rights, and where the system allows little
 *
 * All of it needs root, who gives up rights: place_begin() skips a test that does not have that.
 */
#ifndef HARNESS_CLI_PLACE_H
#define HARNESS_CLI_PLACE_H

#include "tests/harness/cli/cli.h"

#define PLACE_USER  65534
#define PLACE_OTHER 65533

/* Zeros are the test's own rights. */
struct place {
	uid_t user;
	gid_t group;	     /* 0: of the user's number */
	bool less;	     /* CAP_SYS_PTRACE is not to be had, as in a container */
	bool never_more;     /* no_new_privs */
	unsigned capability; /* that the user has, when not 0 */
	bool container;	     /* a user namespace, made by root, whose root is `user` */
	pid_t inside;	     /* in the user namespace of that process, as its root */
	bool hides;	     /* /proc shows nobody the processes of others */
	int yama;	     /* value of ptrace_scope, when not 0 */
	pid_t yama_of;	     /* the process that is then refused, to all but who may trace all */
	const char *setting; /* "NAME=value" for its environment */
};

/* A setup: skips all of it, saying why, where rights cannot be given up. */
int place_begin(void **state);

/* Skip the running test where such a place cannot be made. */
void place_need(const struct place *place);

/* The copy of a built program that every user can run. */
const char *place_program(const char *name);
/* A path in a folder that every user can enter and only PLACE_USER write to. */
const char *place_file(const char *name);
/* A copy of crowd, "crowd-closed", that every user can run and only root can read. */
const char *place_closed(void);

/* As cli_start() and cli_run() do. */
struct harness_process *place_start(const struct place *place, const char *ready,
				    const char *program, const char *argument);
struct harness_process *place_run(const struct place *place, const char *program, ...)
	__attribute__((sentinel));

/* Assert that the tool ended with 2, said one line, and that it is this: "TOOL: text", printf style; then free. */
void place_refused(struct harness_process *p, const char *tool, const char *text, ...)
	__attribute__((format(printf, 3, 4)));

#endif

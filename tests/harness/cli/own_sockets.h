/* SPDX-License-Identifier: MIT */
/* own_sockets.h - control sockets in a /tmp of the test's own, for what needs folders of other users there. */
#ifndef HARNESS_CLI_OWN_SOCKETS_H
#define HARNESS_CLI_OWN_SOCKETS_H

#include "tests/harness/cli/crowd.h"

#define OWN_USER   1234
#define OWN_FOLDER "/tmp/fiber-1234"

/* How programs are started that have their sockets in /tmp/fiber-UID. */
extern const struct harness_how own_how;

/* Before anything else of the test, which then has its own /tmp and /run/user, in a mount namespace of its own. */
void own_tmp(void);

/* Skips the test, saying why, where own_tmp() was forbidden. */
void own_need(void);

/* A folder, mode 0700, of a user; it may be there. */
void own_folder(const char *path, uid_t user);

/* FOLDER/PID.sock; valid for the next 4 calls. */
const char *own_path(const char *folder, pid_t pid);

/* Run fiberctl with up to three arguments. */
struct harness_process *own_tool(const char *a, const char *b, const char *c);

/* Assert the exit code, and what is in stdout and in stderr; then free. */
void own_expect(struct harness_process *p, int code, const char *out, const char *err);

/* How many lines of fiberctl's table start with a pid; how many lines a text has. */
unsigned own_lines_of(const struct harness_process *p, pid_t pid);
unsigned own_lines(const char *text);

/* Start the fixture crowd as another user with 5 fibers. name: the path of a copy that this user can execute. path: of its socket;
 * NULL: where it is by default. */
struct crowd own_start_as(uid_t user, const char *name, const char *path);

#endif

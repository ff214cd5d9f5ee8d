/* SPDX-License-Identifier: MIT */
/* own_sockets.h - control sockets in a private /tmp, with folders of other users */
#ifndef HARNESS_CLI_OWN_SOCKETS_H
#define HARNESS_CLI_OWN_SOCKETS_H

#include "tests/harness/cli/crowd.h"

#define OWN_USER   1234
#define OWN_FOLDER "/tmp/fiber-1234"

/* How to start programs whose sockets are to be in /tmp/fiber-UID. */
extern const struct harness_how own_how;

/* Give the test its own /tmp and /run/user in a new mount namespace. Call it before anything
 * else. */
void own_tmp(void);

/* Skip the test with a reason if own_tmp() was not permitted. */
void own_need(void);

/* Create a folder of a user, mode 0700; it may exist. */
void own_folder(const char *path, uid_t user);

/* FOLDER/PID.sock; valid for the next 4 calls. */
const char *own_path(const char *folder, pid_t pid);

/* Run fiberctl with up to three arguments. */
struct harness_process *own_tool(const char *a, const char *b, const char *c);

/* Assert the exit code and what stdout and stderr contain; then free. */
void own_expect(struct harness_process *p, int code, const char *out, const char *err);

/* The number of lines of fiberctl's table that start with a pid; the number of lines of a text. */
unsigned own_lines_of(const struct harness_process *p, pid_t pid);
unsigned own_lines(const char *text);

/* Start the fixture crowd as another user, with 5 fibers. name: the path of a copy that this user
 * can execute. path: of its socket; NULL: the default. */
struct crowd own_start_as(uid_t user, const char *name, const char *path);

#endif

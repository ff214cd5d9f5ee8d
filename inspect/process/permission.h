/* SPDX-License-Identifier: MIT */
/* permission.h - which right is missing when another process may not be looked at. */
#ifndef INS_PERMISSION_H
#define INS_PERMISSION_H

#include <sys/types.h>

#include "inspect/text/error.h"

/*
 * The system refused (rc: -EPERM or -EACCES) to let us read process pid. Sets error to the reason
 * and the remedy, looking at namespaces, owners, dumpability, capabilities and Yama. Returns -EPERM.
 */
int ins_permission_explain(pid_t pid, int rc, struct ins_error *error);

/* The same without the process, for who has said more about it before. Returns buf. */
const char *ins_permission_reason(pid_t pid, int rc, char *buf, size_t size);

/* -ESRCH and the reason where there is no process pid, -EACCES where /proc hides it; else 0. */
int ins_permission_seen(pid_t pid, struct ins_error *error);

/*
 * The same, and -EACCES where the process is another user's and we are not root: its control socket serves its user and root.
 */
int ins_permission_owner(pid_t pid, struct ins_error *error);

/* A line "key:\tvalue" of /proc/PID/status, without the key and white space. 0, or a negative errno. */
int ins_permission_status(pid_t pid, const char *key, char *buf, size_t size);

#endif

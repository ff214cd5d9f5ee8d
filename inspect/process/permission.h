/* SPDX-License-Identifier: MIT */
/* permission.h - explain which right is missing to read another process */
#ifndef INS_PERMISSION_H
#define INS_PERMISSION_H

#include <sys/types.h>

#include "inspect/text/error.h"

/*
 * The kernel refused (rc: -EPERM or -EACCES) to let us read process pid. Sets error to the reason
 * and the remedy, found from namespaces, owners, dumpability, capabilities and Yama. Returns
 * -EPERM.
 */
int ins_permission_explain(pid_t pid, int rc, struct ins_error *error);

/*
 * Write the reason without naming the process, for a message that has named it before. Returns buf.
 */
const char *ins_permission_reason(pid_t pid, int rc, char *buf, size_t size);

/* -ESRCH and the reason if there is no process pid, -EACCES if /proc hides it; else 0. */
int ins_permission_seen(pid_t pid, struct ins_error *error);

/*
 * Like ins_permission_seen(), and -EACCES if the process is another user's and we are not root: a
 * control socket serves only its user and root.
 */
int ins_permission_owner(pid_t pid, struct ins_error *error);

/*
 * Read the line "key:\tvalue" of /proc/PID/status, without the key and white space. Returns 0 or a
 * negative errno.
 */
int ins_permission_status(pid_t pid, const char *key, char *buf, size_t size);

#endif

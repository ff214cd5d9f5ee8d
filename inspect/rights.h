/* SPDX-License-Identifier: MIT */
/* rights.h - which right is missing when another process may not be looked at. */
#ifndef INS_RIGHTS_H
#define INS_RIGHTS_H

#include <sys/types.h>

#include "inspect/error.h"

/*
 * The system refused (rc: -EPERM or -EACCES) to let us read process pid. Sets error to the reason
 * and the remedy, looking at owners, dumpability, Yama and our capabilities. Returns -EPERM.
 */
int ins_rights_explain(pid_t pid, int rc, struct ins_error *error);

/* A line "key:\tvalue" of /proc/PID/status, without the key and white space. 0, or a negative errno. */
int ins_rights_status(pid_t pid, const char *key, char *buf, size_t size);

#endif

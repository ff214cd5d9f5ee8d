/* SPDX-License-Identifier: MIT */
/* as_user.h - the command line that runs this tool as another user */
#ifndef INS_AS_USER_H
#define INS_AS_USER_H

#include <stddef.h>
#include <sys/types.h>

#define INS_AS_USER_SIZE 96

/* "sudo -u www-data fiberctl ..."; "sudo fiberctl ..." for root. Returns buf. */
const char *ins_as_user(uid_t uid, char buf[INS_AS_USER_SIZE]);

#endif

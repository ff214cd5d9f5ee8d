/* SPDX-License-Identifier: MIT */
/* call_names.h - the names of the system calls that programs sleep in */
#ifndef INS_CALL_NAMES_H
#define INS_CALL_NAMES_H

#include <stdint.h>

/* The name of a system call of this machine. NULL: not one that programs sleep in. */
const char *ins_call_name(int64_t number);

#endif

/* SPDX-License-Identifier: MIT */
/* calls.h - instructions that are calls and that are none, of each form, in a port's folder */
#ifndef ARCH_CALLS_H
#define ARCH_CALLS_H

#include <stddef.h>

#include "arch/arch.h"

struct arch_call {
	const char *text;			   /* as assembly; NULL ends a list */
	const unsigned char before[FIB_ARCH_CALL]; /* the bytes before the next instruction */
};

extern const struct arch_call arch_calls[], arch_no_calls[];

#endif

/* SPDX-License-Identifier: MIT */
/* core_handler.h - find where a thread of a core was before a handler on an alternate stack */
#ifndef INS_CORE_HANDLER_H
#define INS_CORE_HANDLER_H

#include <stdint.h>

struct ins_core;

/*
 * Find the stack pointer that the kernel saved for a handler on another stack, the one that has sp
 * now. *ret_end is the end of that other stack. Returns sp, and 0 in *ret_end, if there is no such
 * handler. *left: how many bytes may still be searched; it is reduced.
 */
uint64_t ins_core_handler_from(const struct ins_core *core, uint64_t sp, uint64_t *left,
			       uint64_t *ret_end);

#endif

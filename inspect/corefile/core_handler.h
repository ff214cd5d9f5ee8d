/* SPDX-License-Identifier: MIT */
/* core_handler.h - where a thread of a core was before it handled a signal on a stack of its own. */
#ifndef INS_CORE_HANDLER_H
#define INS_CORE_HANDLER_H

#include <stdint.h>

struct ins_core;

/*
 * The stack pointer that the kernel put away for a handler that runs on another stack, on which sp is now, and in *ret_end
 * where that other stack ends; sp itself, and 0, where there is no such handler. *left are the bytes that may still be looked
 * through, and becomes less.
 */
uint64_t ins_core_handler_from(const struct ins_core *core, uint64_t sp, uint64_t *left,
			       uint64_t *ret_end);

#endif

/* SPDX-License-Identifier: MIT */
/* call_target.h - find the function that a call instruction calls */
#ifndef INS_CALL_TARGET_H
#define INS_CALL_TARGET_H

#include <stdint.h>

#include "inspect/model/source.h"

/*
 * The target of the direct call that returns to `back`, which may be a stub (elf/plt.h); 0: no such
 * call, or another machine than x86-64.
 */
uint64_t ins_call_target(struct ins_source *source, uint64_t back);

/*
 * The function that was entered by the call that returns to `back`: through a stub or a word of the
 * global offset table too, once the loader has filled it in. 0: unknown.
 */
uint64_t ins_call_target_function(struct ins_source *source, uint64_t back);

#endif

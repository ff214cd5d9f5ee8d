/* SPDX-License-Identifier: MIT */
/* core_running.h - what a running fiber in a core did */
#ifndef INS_CORE_RUNNING_H
#define INS_CORE_RUNNING_H

#include "inspect/corefile/core_memory.h"
#include "inspect/model/running.h"

/* The function of struct ins_source_ops, for the source of this core. */
int ins_core_running(struct ins_source *source, const struct ins_core *core,
		     struct ins_running *ret);

#endif

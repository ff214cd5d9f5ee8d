/* SPDX-License-Identifier: MIT */
/* core_regions.h - the memory areas in a core */
#ifndef INS_CORE_REGIONS_H
#define INS_CORE_REGIONS_H

#include "inspect/corefile/core_memory.h"
#include "inspect/model/region.h"

/* files: the files of the core. 0 or -ENOMEM. */
int ins_core_regions(const struct ins_core *core, const struct ins_modules *files,
		     struct ins_regions *ret);

#endif

/* SPDX-License-Identifier: MIT */
/* fiber_names.h - show fibers without a name by their function, and where a fiber is */
#ifndef INS_FIBER_NAMES_H
#define INS_FIBER_NAMES_H

#include "inspect/model/source.h"

/*
 * From now on a fiber of the source that has no name gets that of its function, such as "greet()",
 * cut to the room of a name; if the function is not known, "httpd+0x12a0". The place of a fiber is the program's innermost call
 * (program_frame.h). 0 or -ENOMEM.
 */
int ins_fiber_names_begin(struct ins_source *source);

/* "greet()" for the function greet or greet(int), in size bytes. Returns buf. */
const char *ins_fiber_name_of(const char *function, char *buf, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * registry.h - find the fiber registry of a process without symbols
 *
 * Searches each module's note segments for the note that layout.h describes; the note leads to
 * struct fib_layout. Works on stripped binaries, static or not, and on cores.
 */
#ifndef INS_REGISTRY_H
#define INS_REGISTRY_H

#include "inspect/text/error.h"
#include "inspect/elf/modules.h"
#include "layout/layout.h"

/*
 * Find and check the registry through modules and their memory (modules->read must not be NULL).
 * Returns 0; -ENOENT if no module carries the note; -ENODATA if the registry it points to cannot be
 * used or read. error says which. Each other registry with running carriers is added to the
 * problems of the modules.
 */
int ins_registry_find(struct ins_modules *modules, struct fib_layout *ret, struct ins_error *error);

/*
 * Choose the registry of this module if there are several; module is a path or a file name,
 * borrowed. Applies to all sources opened later. NULL: any.
 */
void ins_registry_choose(const char *module);

#endif

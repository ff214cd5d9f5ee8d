/* SPDX-License-Identifier: MIT */
/*
 * registry.h - finding the fiber registry of a process without symbols
 *
 * Each module's note segments are searched for the note that layout.h describes; it leads to
 * struct fib_layout. Works on stripped binaries, static or not, and on cores.
 */
#ifndef INS_REGISTRY_H
#define INS_REGISTRY_H

#include "inspect/text/error.h"
#include "inspect/elf/modules.h"
#include "layout/layout.h"

/*
 * Find and check the registry through modules and their memory (modules->read must not be NULL).
 * 0; -ENOENT when no module carries the note; -ENODATA when the registry it points to cannot be
 * used or read; error says which. Where others run, too, each is a problem of the modules.
 */
int ins_registry_find(struct ins_modules *modules, struct fib_layout *ret, struct ins_error *error);

/* Of several: that of this module, by its path or the name of its file. Said once, and for all sources; borrowed. NULL: any. */
void ins_registry_choose(const char *module);

#endif

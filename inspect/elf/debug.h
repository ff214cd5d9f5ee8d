/* SPDX-License-Identifier: MIT */
/*
 * debug.h - libdw's view of the modules
 *
 * Modules are reported to libdw when first needed: a process has hundreds, and its suspended fibers
 * are in a dozen. libdw finds separate debug files itself (build-id, .gnu_debuglink,
 * /usr/lib/debug).
 */
#ifndef INS_DEBUG_H
#define INS_DEBUG_H

#include <elfutils/libdwfl.h>

#include "inspect/elf/modules.h"

/* The Dwfl of these modules, created at the first call. NULL: out of memory. */
Dwfl *ins_debug_session(struct ins_modules *modules);

/* Report a module that has been examined. NULL if it has no file or libdw rejects it. */
Dwfl_Module *ins_debug_module(struct ins_modules *modules, struct ins_module *module);

/* Report every module that contains code, before libdw walks on its own. */
void ins_debug_all(struct ins_modules *modules);

void ins_debug_free(struct ins_modules *modules);

#endif

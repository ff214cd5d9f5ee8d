/* SPDX-License-Identifier: MIT */
/*
 * debug_search.h - where else the files of modules are: a sysroot, folders of debug files, servers
 *
 * Said once on the command line, and for all sources. A file that is found elsewhere is believed as any other: when its
 * build-id is that of what ran.
 */
#ifndef INS_DEBUG_SEARCH_H
#define INS_DEBUG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdwfl.h>

#include "inspect/text/error.h"
#include "inspect/elf/modules.h"

/* Look below this folder first for the files of a process that does not run here. -errno with error set: it is none. */
int ins_debug_search_sysroot(const char *folder, struct ins_error *error);

/* Look in these folders, with colons between them, for debug files and executables by build-id, and for debug files by
 * name. -errno with error set: one is none. */
int ins_debug_search_debug(const char *folders, struct ins_error *error);

/* The file that path is below the sysroot, where links are followed as if it were the root; false: no sysroot, no such
 * file. */
bool ins_debug_search_in_sysroot(const char *path, char *ret, size_t size);

/* A file by the build-id of a module that has been looked at and whose file is not here: from the folders, or from
 * debuginfod servers, which the environment names. */
bool ins_debug_search_by_build_id(struct ins_modules *modules, const struct ins_module *module,
				  char *ret, size_t size);

/* For libdw: its list of folders, and the search for a module's debug file. userdata of the module points to its
 * struct ins_modules, whose problems say what was refused. */
extern char *ins_debug_search_path;
int ins_debug_search_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			       Dwarf_Addr base, const char *file_name, const char *link,
			       GElf_Word crc, char **ret);

#endif

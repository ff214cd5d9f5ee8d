/* SPDX-License-Identifier: MIT */
/*
 * debug_search.h - other places of modules' files: a sysroot, folders of debug files, servers
 *
 * These are set once on the command line, for all sources. A file that is found there is accepted
 * like any other: if its build-id is that of the module that ran.
 */
#ifndef INS_DEBUG_SEARCH_H
#define INS_DEBUG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdwfl.h>

#include "inspect/text/error.h"
#include "inspect/elf/modules.h"

/*
 * Search below this folder first for the files of a process that does not run here. -errno with
 * error set if it is no folder.
 */
int ins_debug_search_sysroot(const char *folder, struct ins_error *error);

/*
 * Search these folders, separated by colons, for debug files and executables by build-id, and for
 * debug files by name. -errno with error set if one is no folder.
 */
int ins_debug_search_debug(const char *folders, struct ins_error *error);

/*
 * The file below the sysroot for path, with links resolved inside the sysroot. False: no sysroot,
 * or no such file.
 */
bool ins_debug_search_in_sysroot(const char *path, char *ret, size_t size);

/*
 * Find a file by the build-id of an examined module whose file is not here: in the folders, or on
 * the debuginfod servers that the environment names.
 */
bool ins_debug_search_by_build_id(struct ins_modules *modules, const struct ins_module *module,
				  char *ret, size_t size);

/*
 * For libdw: its list of folders, and the search for a module's debug file. The module's userdata
 * points to its struct ins_modules, whose problems name rejected files.
 */
extern char *ins_debug_search_path;
int ins_debug_search_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			       Dwarf_Addr base, const char *file_name, const char *link,
			       GElf_Word crc, char **ret);

#endif

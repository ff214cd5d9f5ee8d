/* SPDX-License-Identifier: MIT */
/* debug.c - report modules to libdw */
#include "inspect/elf/debug.h"

#include <fcntl.h>
#include <unistd.h>

#include "inspect/elf/debug_search.h"

Dwfl *ins_debug_session(struct ins_modules *modules)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = ins_debug_search_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &ins_debug_search_path,
	};

	if (!modules->debug)
		modules->debug = dwfl_begin(&callbacks);
	return modules->debug;
}

Dwfl_Module *ins_debug_module(struct ins_modules *modules, struct ins_module *module)
{
	Dwfl *dwfl = ins_debug_session(modules);
	void **userdata;
	int fd;

	if (!dwfl || module->reported || !module->bytes)
		return module->debug;
	module->reported = true;
	fd = open(module->file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	dwfl_report_begin_add(dwfl);
	/*
	 * libdw looks for the debug file next to the path it is given, so it gets the program's
	 * path.
	 */
	module->debug = dwfl_report_elf(dwfl, module->path[0] ? module->path : module->file,
					module->path[0] ? module->path : module->file, fd,
					module->bias, true);
	if (!module->debug)
		close(fd);
	else if (dwfl_module_info(module->debug, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = modules;
	dwfl_report_end(dwfl, NULL, NULL);
	return module->debug;
}

void ins_debug_all(struct ins_modules *modules)
{
	size_t i;

	for (i = 0; i < modules->count; i++) {
		if (ins_modules_look(modules, &modules->at[i]))
			ins_debug_module(modules, &modules->at[i]);
	}
}

void ins_debug_free(struct ins_modules *modules)
{
	if (modules->debug)
		dwfl_end(modules->debug);
	modules->debug = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * core_regions.c - the memory areas in a core
 *
 * A core does not say which area is shared. Shared memory without a file has a name in the list of
 * files, "/dev/zero" or "/memfd:...", so it counts as mapped from a file. An area whose bytes are not
 * in the core is listed too.
 */
#include "inspect/corefile/core_regions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

static bool is_file(const struct ins_modules *files, uint64_t address)
{
	const size_t below = ins_modules_below(files, files->count, address);

	return below && address < files->at[below - 1].end;
}

int ins_core_regions(const struct ins_core *core, const struct ins_modules *files,
		     struct ins_regions *ret)
{
	size_t i;

	*ret = (struct ins_regions){calloc(core->loads + 1, sizeof *ret->at), 0};
	if (!ret->at)
		return -ENOMEM;
	for (i = 0; i < core->loads; i++) {
		const struct ins_core_load *load = &core->load[i];

		if (!(load->flags & PF_R) || !load->memory ||
		    load->address + load->memory < load->address)
			continue;
		ret->at[ret->count++] = (struct ins_region){
			.start = load->address,
			.end = load->address + load->memory,
			.writable = load->flags & PF_W,
			.file = is_file(files, load->address),
		};
	}
	return 0;
}

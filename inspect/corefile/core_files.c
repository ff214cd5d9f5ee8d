/* SPDX-License-Identifier: MIT */
/*
 * core_files.c - the files that a core's process had mapped
 *
 * The NT_FILE note names the files with their addresses. Images that it does not name are found by
 * their ELF header in memory: the vdso, and in cores without the note every image whose header was
 * dumped.
 */
#include "inspect/corefile/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX_BYTES (64u << 20)

struct entry {
	uint64_t start, end, offset;
};

static int add_named(struct ins_modules *modules, const char *note, size_t size, bool swapped)
{
	uint64_t count, page, i;
	const char *name, *end = note + size;
	int rc;

	if (size < 16)
		return 0;
	memcpy(&count, note, 8);
	memcpy(&page, note + 8, 8);
	if (swapped) {
		ins_swap(&count, sizeof count);
		ins_swap(&page, sizeof page);
	}
	if (count > (size - 16) / sizeof(struct entry))
		return 0;
	name = note + 16 + count * sizeof(struct entry);
	for (i = 0; i < count && name < end; i++) {
		const char *stop = memchr(name, 0, (size_t)(end - name));
		struct entry e;

		if (!stop)
			return 0;
		memcpy(&e, note + 16 + i * sizeof e, sizeof e);
		if (swapped)
			ins_swap_members(&e, "888");
		rc = ins_modules_add(modules, e.start, e.end, e.offset * page, 0, name);
		if (rc < 0)
			return rc;
		name = stop + 1;
	}
	return 0;
}

static bool covered(const struct ins_modules *modules, size_t count, uint64_t address)
{
	const size_t below = ins_modules_below(modules, count, address);

	return below && address < modules->at[below - 1].end;
}

static int read_core(void *core, uint64_t address, void *buf, size_t size)
{
	return ins_core_read(core, address, buf, size);
}

static int add_unnamed(const struct ins_core *core, struct ins_modules *modules)
{
	size_t i, named = modules->count;
	uint64_t until = 0;
	int rc;

	for (i = 0; i < core->loads; i++) {
		const struct ins_core_load *load = &core->load[i];
		struct ins_image image;
		uint64_t end = 0;
		unsigned k;

		if (load->address < until || covered(modules, named, load->address) ||
		    ins_image_read(&image, read_core, (void *)core, load->address, true))
			continue;
		for (k = 0; k < image.segments; k++) {
			const Elf64_Phdr *ph = &image.segment[k];

			if (ph->p_type == PT_LOAD && image.bias + ph->p_vaddr + ph->p_memsz > end)
				end = image.bias + ph->p_vaddr + ph->p_memsz;
		}
		if (end <= load->address)
			continue;
		until = end;
		rc = ins_modules_add(modules, load->address, end, 0, 0,
				     load->address == core->vdso ? "[vdso]" : "");
		if (rc < 0)
			return rc;
	}
	return 0;
}

int ins_core_modules(const struct ins_core *core, struct ins_modules *modules)
{
	uint32_t size = core->files_size < FILES_MAX_BYTES ? core->files_size : FILES_MAX_BYTES;
	char *note;
	int rc = 0;

	if (core->files_at && size) {
		ssize_t n;

		note = malloc(size);
		if (!note)
			return -ENOMEM;
		n = pread(core->fd, note, size, (off_t)core->files_at);
		if (n > 0)
			rc = add_named(modules, note, (size_t)n, core->machine.swapped);
		free(note);
		if (rc < 0)
			return rc;
		ins_modules_sort(modules);
	}
	rc = add_unnamed(core, modules);
	ins_modules_sort(modules);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * copies.c - more than one libfiber in a process
 *
 * A program may contain libfiber from the archive, and libfiber-posix.so brings libfiber.so. Then
 * the fibers of the one are unknown to the other. If the program was linked with both, the linker
 * has mixed them: some functions are those of the one and some those of the other.
 *
 * Each copy has an ELF note that leads to its registry. A note that leads elsewhere than to the
 * registry that this library uses is that of another copy.
 */
#include "system/copies.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "layout/layout.h"

extern struct fib_layout fiber_registry;

/* Whether a segment of notes has libfiber's. *ret: the registry that the note leads to. */
static bool find_note(const char *at, size_t size, uint64_t *ret)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
		const char *name = at + sizeof *note;
		const size_t name_size = (note->n_namesz + 3u) & ~3u;
		const size_t whole = sizeof *note + name_size + ((note->n_descsz + 3u) & ~3u);
		int64_t distance;

		if (whole > size)
			return false;
		if (note->n_type == FIB_LAYOUT_NOTE_TYPE &&
		    note->n_namesz == sizeof FIB_LAYOUT_NOTE_NAME &&
		    memcmp(name, FIB_LAYOUT_NOTE_NAME, sizeof FIB_LAYOUT_NOTE_NAME) == 0 &&
		    note->n_descsz == sizeof distance) {
			memcpy(&distance, name + name_size, sizeof distance);
			*ret = (uint64_t)(uintptr_t)(name + name_size) + (uint64_t)distance;
			return true;
		}
		at += whole;
		size -= whole;
	}
	return false;
}

/* Returns whether the object has another copy. */
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t registry;
	int i;

	(void)size;
	(void)arg;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(uintptr_t)(info->dlpi_addr + ph->p_vaddr);

		if (ph->p_type == PT_NOTE && find_note(at, ph->p_memsz, &registry) &&
		    registry != (uint64_t)(uintptr_t)&fiber_registry)
			return 1;
	}
	return 0;
}

bool fpx_other_libfiber(void)
{
	return dl_iterate_phdr(look, NULL);
}

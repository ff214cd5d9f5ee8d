/* SPDX-License-Identifier: MIT */
/*
 * elf_bytes.h - build small ELF images and cores byte by byte
 *
 * An image grows in a buffer: its header, its program headers, then the appended data. Any field
 * can be corrupted afterwards.
 */
#ifndef TEST_INSPECT_ELF_BYTES_H
#define TEST_INSPECT_ELF_BYTES_H

#include <assert.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/image.h"

#define ELF_ROOM     (1 << 16)
#define ELF_SEGMENTS 8

struct elf_bytes {
	_Alignas(8) unsigned char at[ELF_ROOM];
	size_t size;
};

static inline Elf64_Ehdr *elf_header(struct elf_bytes *elf)
{
	return (Elf64_Ehdr *)elf->at;
}

static inline Elf64_Phdr *elf_segment(struct elf_bytes *elf, unsigned i)
{
	return (Elf64_Phdr *)(elf->at + sizeof(Elf64_Ehdr)) + i;
}

/* Start an image of this machine without segments, with room for ELF_SEGMENTS headers. */
static inline void elf_start(struct elf_bytes *elf, uint16_t type)
{
	Elf64_Ehdr *eh = elf_header(elf);

	memset(elf, 0, sizeof *elf);
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	eh->e_type = type;
	eh->e_machine = (uint16_t)ins_machine_self();
	eh->e_version = EV_CURRENT;
	eh->e_phoff = sizeof *eh;
	eh->e_ehsize = sizeof *eh;
	eh->e_phentsize = sizeof(Elf64_Phdr);
	elf->size = sizeof *eh + ELF_SEGMENTS * sizeof(Elf64_Phdr);
}

/* Append bytes (NULL: zeros), aligned to 8; returns their offset. */
static inline uint64_t elf_append(struct elf_bytes *elf, const void *bytes, size_t size)
{
	const size_t at = (elf->size + 7) & ~(size_t)7;

	assert(at + size <= sizeof elf->at);
	if (bytes)
		memcpy(elf->at + at, bytes, size);
	elf->size = at + size;
	return at;
}

/* Add a segment header for [offset, offset + size) of the file at address. */
static inline Elf64_Phdr *elf_add(struct elf_bytes *elf, uint32_t type, uint64_t offset,
				  uint64_t address, uint64_t size)
{
	Elf64_Phdr *ph = elf_segment(elf, elf_header(elf)->e_phnum++);

	assert(elf_header(elf)->e_phnum <= ELF_SEGMENTS);
	*ph = (Elf64_Phdr){.p_type = type,
			   .p_flags = PF_R,
			   .p_offset = offset,
			   .p_vaddr = address,
			   .p_filesz = size,
			   .p_memsz = size,
			   .p_align = 4};
	return ph;
}

/* Append one note; returns the offset of its contents. */
static inline uint64_t elf_note(struct elf_bytes *elf, const char *name, uint32_t type,
				const void *contents, uint32_t size)
{
	const Elf64_Nhdr nh = {(uint32_t)strlen(name) + 1, size, type};
	char padded[32] = "";
	uint64_t at;

	memcpy(padded, name, nh.n_namesz);
	memcpy(elf->at + elf->size, &nh, sizeof nh);
	elf->size += sizeof nh;
	memcpy(elf->at + elf->size, padded, (nh.n_namesz + 3) & ~3u);
	elf->size += (nh.n_namesz + 3) & ~3u;
	at = elf->size;
	memcpy(elf->at + elf->size, contents, size);
	elf->size += (size + 3) & ~3u;
	return at;
}

static inline void elf_write(const struct elf_bytes *elf, const char *path, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(elf->at, 1, size, file) != size || fclose(file))
		abort();
}

#endif

/* SPDX-License-Identifier: MIT */
/* elf_head.c - what the headers of an ELF file say about how it is started */
#include "fiberize/elf_head.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Read all of a piece. Returns 0 or a negative errno. */
static int read_at(int fd, void *ret, size_t size, uint64_t at)
{
	const ssize_t n = pread(fd, ret, size, (off_t)at);

	return n == (ssize_t)size ? 0 : n < 0 ? -errno : -ENOEXEC;
}

/* The class and the byte order of this program. */
static bool own_kind(const unsigned char ident[EI_NIDENT])
{
	const union {
		unsigned number;
		char first;
	} order = {.number = 1};

	return ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       ident[EI_DATA] == (order.first ? ELFDATA2LSB : ELFDATA2MSB);
}

static int read_loader(int fd, const ElfW(Ehdr) * head, struct fiberize_elf *ret)
{
	ElfW(Phdr) segment;
	int rc;

	if (head->e_phnum && head->e_phentsize != sizeof segment)
		return -ENOEXEC;
	for (unsigned i = 0; i < head->e_phnum; i++) {
		rc = read_at(fd, &segment, sizeof segment, head->e_phoff + i * sizeof segment);
		if (rc < 0)
			return rc;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz < 2 || segment.p_filesz > sizeof ret->loader)
			return -ENOEXEC;
		rc = read_at(fd, ret->loader, segment.p_filesz, segment.p_offset);
		ret->loader[segment.p_filesz - 1] = 0;
		return rc;
	}
	return 0;
}

int fiberize_elf_read(int fd, struct fiberize_elf *ret)
{
	ElfW(Ehdr) head;
	int rc;

	*ret = (struct fiberize_elf){.elf = false};
	rc = read_at(fd, head.e_ident, EI_NIDENT, 0);
	if (rc < 0 || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return rc == -ENOEXEC ? 0 : rc;
	ret->elf = true;
	if (!own_kind(head.e_ident))
		return 0;
	rc = read_at(fd, &head, sizeof head, 0);
	if (rc < 0)
		return rc;
	ret->readable = true;
	ret->machine = head.e_machine;
	return read_loader(fd, &head, ret);
}

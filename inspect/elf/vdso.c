/* SPDX-License-Identifier: MIT */
/*
 * vdso.c - the vdso, which has no file
 *
 * A program that reads the clock is often in the vdso. If a process' memory cannot be read, the
 * walk would end there. But the kernel maps the same pages into every process, so this tool's own
 * vdso is used. It is copied into a memory file, which libdw can open like any other file.
 *
 * A snapshot may be of another machine with another kernel. So a snapshot stores the pages, and the
 * memory file is made from them.
 */
#include "inspect/elf/vdso.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST ((size_t)256 << 10) /* bytes; no vdso has as many */

/* Its length according to its own headers; other mappings follow it. 0: invalid headers. */
static size_t length_of(const Elf64_Ehdr *eh)
{
	const Elf64_Phdr *ph = (const void *)((const char *)eh + eh->e_phoff);
	size_t length = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	unsigned i;

	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 || eh->e_phentsize != sizeof *ph)
		return 0;
	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset + ph[i].p_filesz > length)
			length = ph[i].p_offset + ph[i].p_filesz;
	return length <= MOST ? length : 0;
}

int ins_vdso_keep(const void *bytes, size_t length)
{
	int fd, rc;

	if (!length || length > MOST)
		return -EINVAL;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, bytes, length) != (ssize_t)length) {
		rc = errno ? -errno : -EIO;
		close(fd);
		return rc;
	}
	return fd;
}

int ins_vdso_path(char *buf, size_t size)
{
	static int fd = -1;
	const Elf64_Ehdr *mapped = (const void *)getauxval(AT_SYSINFO_EHDR); // NOLINT

	if (!mapped)
		return -ENOENT;
	if (fd < 0)
		fd = ins_vdso_keep(mapped, length_of(mapped));
	if (fd < 0)
		return fd;
	snprintf(buf, size, "/proc/self/fd/%d", fd);
	return 0;
}

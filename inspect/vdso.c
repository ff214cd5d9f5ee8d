/* SPDX-License-Identifier: MIT */
/*
 * vdso.c - the kernel's own library, which has no file
 *
 * A program that looks at the clock is often in it. Of a process whose memory cannot be read it could not be walked out of;
 * but the kernel maps the same pages into every process, so ours will do. They are put into a file in memory, which
 * libdw can open like any other.
 */
#include "inspect/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  4096
#define PAGES 64

/* Copy what is mapped there; how far that goes, only the kernel knows. */
static int fill(int to, off_t address)
{
	char page[PAGE];
	int from = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), i;

	if (from < 0)
		return -errno;
	for (i = 0; i < PAGES; i++)
		if (pread(from, page, PAGE, address + (off_t)i * PAGE) != PAGE ||
		    write(to, page, PAGE) != PAGE)
			break;
	close(from);
	return i ? 0 : -EFAULT;
}

int ins_vdso_path(char *buf, size_t size)
{
	static int fd = -1;
	const unsigned long at = getauxval(AT_SYSINFO_EHDR);
	int rc;

	if (!at)
		return -ENOENT;
	if (fd < 0) {
		fd = memfd_create("vdso", MFD_CLOEXEC);
		rc = fd < 0 ? -errno : fill(fd, (off_t)at);
		if (rc < 0) {
			if (fd >= 0)
				close(fd);
			fd = -1;
			return rc;
		}
	}
	snprintf(buf, size, "/proc/self/fd/%d", fd);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * memory.c - two ways to read another process
 *
 * process_vm_readv reads all pieces in one call, in order, and needs no open file. Sandboxes that
 * filter system calls often forbid only this call. /proc/PID/mem needs the same rights and one
 * system call per piece.
 */
#include "inspect/process/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inspect/process/present.h"
#include "inspect/text/member.h"

int ins_memory_open(struct ins_memory *ret, pid_t pid, uint64_t address)
{
	char path[64], byte;
	struct ins_memory_piece piece = {address, &byte, 1};
	int rc, file;

	ret->pid = ins_member(pid);
	ret->file = -1;
	ret->present = NULL;
	rc = ins_memory_read(ret, &piece, 1);
	if (rc != -EPERM && rc != -ENOSYS && rc != -EACCES)
		return rc;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)ret->pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno == EACCES || errno == EPERM ? -EPERM : -errno;
	ret->file = file;
	rc = ins_memory_read(ret, &piece, 1);
	if (rc < 0)
		ins_memory_close(ret);
	return rc;
}

int ins_memory_find(struct ins_memory *ret, pid_t pid, const struct ins_modules *modules)
{
	int rc = -EFAULT;
	size_t i;

	for (i = 0; i < modules->count && rc == -EFAULT; i++)
		rc = ins_memory_open(ret, pid, modules->at[i].start);
	return rc;
}

void ins_memory_close(struct ins_memory *memory)
{
	if (memory->file >= 0)
		close(memory->file);
	memory->file = -1;
}

static int read_file(const struct ins_memory *memory, const struct ins_memory_piece *piece)
{
	size_t done = 0;

	while (done < piece->size) {
		ssize_t n = pread(memory->file, (char *)piece->buf + done, piece->size - done,
				  (off_t)(piece->address + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EIO ? -EFAULT : -errno;
		if (n == 0)
			return -ESRCH; /* the address space is gone */
		done += (size_t)n;
	}
	return 0;
}

int ins_memory_read(const struct ins_memory *memory, const struct ins_memory_piece *piece,
		    unsigned n)
{
	struct iovec local[INS_MEMORY_PIECES], remote[INS_MEMORY_PIECES];
	size_t whole = 0;
	ssize_t got;
	unsigned i;
	int rc;

	if (n > INS_MEMORY_PIECES)
		return -EINVAL;
	for (i = 0; memory->present && i < n; i++) {
		rc = ins_present_spend(memory->present, piece[i].address, piece[i].size);
		if (rc < 0)
			return rc;
	}
	for (i = 0; i < n; i++) {
		if (memory->file >= 0) {
			rc = read_file(memory, &piece[i]);
			if (rc < 0)
				return rc;
		}
		local[i] = (struct iovec){piece[i].buf, piece[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)piece[i].address, piece[i].size};
		whole += piece[i].size;
	}
	if (memory->file >= 0)
		return 0;
	got = process_vm_readv(memory->pid, local, n, remote, n, 0);
	if (got < 0)
		return -errno;
	return (size_t)got == whole ? 0 : -EFAULT;
}

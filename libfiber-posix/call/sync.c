/* SPDX-License-Identifier: MIT */
/*
 * sync.c - wait until a file is on the disk
 *
 * The system has no such call that does not wait. So another thread makes it.
 */
#include <errno.h>
#include <stddef.h>

#include <fiber/posix.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "system/system.h"

struct syncing {
	int (*call)(int fd);
	int fd, rc;
	off64_t offset, size;
	unsigned flags;
};

static void *sync_there(void *arg)
{
	struct syncing *s = arg;

	s->rc = s->call ? s->call(s->fd)
			: fpx_system.sync_file_range(s->fd, s->offset, s->size, s->flags);
	if (s->rc < 0)
		s->rc = -errno;
	return NULL;
}

static int sync_file(struct syncing *s)
{
	const int rc = fpx_for_disk(sync_there, s);

	return (int)fpx_result(rc < 0 ? rc : s->rc);
}

int fiber_posix_fsync(int fd)
{
	struct syncing s = {.call = fpx_system.fsync, .fd = fd};

	return fpx_parks() ? sync_file(&s) : fpx_system.fsync(fd);
}

int fiber_posix_fdatasync(int fd)
{
	struct syncing s = {.call = fpx_system.fdatasync, .fd = fd};

	return fpx_parks() ? sync_file(&s) : fpx_system.fdatasync(fd);
}

int fiber_posix_sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags)
{
	struct syncing s = {NULL, fd, 0, offset, size, flags};

	return fpx_parks() ? sync_file(&s) : fpx_system.sync_file_range(fd, offset, size, flags);
}

/* SPDX-License-Identifier: MIT */
/*
 * lock.c - wait for file locks
 *
 * The three kinds are those of fcntl(2) (F_SETLKW, and lockf(3), which is the same), of open file
 * descriptions (F_OFD_SETLKW), and of flock(2). The system does not report when a lock is free. A
 * thread that blocks for one might do so for ever, and there are few threads. So the fiber tries the
 * lock, and again after 1 to 8 ms.
 *
 * Such a waiter is in no queue of the system: others that block for the lock get it first. A call
 * that does not wait by its own command is the system's.
 */
#include "call/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <unistd.h>

#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/park.h"
#include "system/system.h"

#define REST_MIN INT64_C(1000000) /* ns */
#define REST_MAX INT64_C(8000000)

int fpx_rest(int64_t *rest)
{
	*rest = *rest == 0 ? REST_MIN : *rest < REST_MAX ? 2 * *rest : REST_MAX;
	return fiber_sleep(*rest);
}

static int lock_region(int fd, int attempt, void *arg)
{
	int64_t rest = 0;
	int rc = 0;

	while (rc == 0 && fpx_system.fcntl(fd, attempt, arg) < 0)
		rc = errno == EAGAIN || errno == EACCES ? fpx_rest(&rest) : -errno;
	return rc;
}

int fiber_posix_fcntl(int fd, int command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if ((command != F_SETLKW && command != F_OFD_SETLKW) || !fpx_parks())
		return fpx_system.fcntl(fd, command, arg);
	return (int)fpx_result(lock_region(fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, arg));
}

int fiber_posix_lockf(int fd, int command, off_t size)
{
	struct flock region = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size};

	if (command != F_LOCK || !fpx_parks())
		return fpx_system.lockf(fd, command, size);
	return (int)fpx_result(lock_region(fd, F_SETLK, &region));
}

/* A try to change a shared lock into an exclusive one may lose it, and so may the call that waits. */
static int lock_file(int fd, int operation)
{
	int64_t rest = 0;
	int rc = 0;

	while (rc == 0 && fpx_system.flock(fd, operation | LOCK_NB) < 0)
		rc = errno == EWOULDBLOCK ? fpx_rest(&rest) : -errno;
	return rc;
}

int fiber_posix_flock(int fd, int operation)
{
	if (operation & (LOCK_NB | LOCK_UN) || !fpx_parks())
		return fpx_system.flock(fd, operation);
	return (int)fpx_result(lock_file(fd, operation));
}

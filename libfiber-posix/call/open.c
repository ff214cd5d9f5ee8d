/* SPDX-License-Identifier: MIT */
/*
 * open.c - open files, some of which open late or never
 *
 * A FIFO opens when the other side is opened, a file on a network when a server answers. First the
 * fiber looks at what the path names, if that is in memory (RESOLVE_CACHED, Linux 5.12). O_PATH opens
 * nothing, so no other process notices. Then there are four ways:
 *
 *	a file or a folder of a local disk   opened at once, if that does not wait either
 *	another file, or one to be made      opened on a thread of fiber_block(), as by other calls
 *	                                     for a disk
 *	a FIFO for writing                   tried with O_NONBLOCK every 1 to 8 ms, until a reader is there
 *	all else, also what is not known     opened on such a thread, perhaps never
 *
 * There are few threads, and opens that may never end must not occupy all. So at most 16 of FIFOs and
 * 16 others of the last kind are on threads at a time. Further ones wait for a place. If the fiber is cancelled, it
 * leaves the open behind. One state decides: the thread changes it to OPEN, the caller to GONE; the
 * one that finds it already changed cleans up.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "call/descriptor.h"
#include "call/lock.h"
#include "call/off_carrier.h"
#include "call/open.h"
#include "call/park.h"
#include "system/system.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

#define PLACES	   16
#define ABOVE_SIZE 256 /* on the stack of a fiber; a longer path goes to a thread */

/* FIFOs that nobody opens for writing must not keep a program from opening /dev/null. */
static struct fiber_sem fifo_places, other_places;

/* In the child of a fork nothing is being opened. */
static void free_places(void)
{
	fifo_places = (struct fiber_sem){.name = "opens of FIFOs", .count = PLACES};
	other_places = (struct fiber_sem){.name = "opens that may not end", .count = PLACES};
}

__attribute__((constructor)) static void start(void)
{
	free_places();
	pthread_atfork(NULL, NULL, free_places);
}

/* Open what is in memory. The kernel refuses that for flags that create or cut a file. */
static int open_cached(int dir, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_CACHED};
	const int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

/* Returns 0 with *ret_status of what the path names, or a negative errno. -EAGAIN: not in memory. */
static int look(int dir, const char *path, int flags, struct stat *ret_status)
{
	const int fd = open_cached(dir, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
	int rc;

	if (fd < 0)
		return fd;
	rc = fstat(fd, ret_status) < 0 ? -errno : 0;
	fpx_system.close(fd);
	return rc;
}

/*
 * Whether a path that is not in memory goes through something that is no folder. The kernel does not say
 * so from memory, and a web server asks for FILE/.htaccess with each request.
 */
static bool goes_through_a_file(int dir, const char *path)
{
	const char *const last = strrchr(path, '/');
	const size_t size = last ? (size_t)(last - path) : 0;
	char above[ABOVE_SIZE];
	struct stat status;

	if (size == 0 || size >= sizeof above)
		return false;
	memcpy(above, path, size);
	above[size] = 0;
	return look(dir, above, 0, &status) == 0 && !S_ISDIR(status.st_mode);
}

static void set_blocking(int fd)
{
	fpx_system.fcntl(fd, F_SETFL, fpx_system.fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

/*
 * Open a file at once, if nothing of that waits; else -EAGAIN. A file system without a device may be
 * on a network. With O_NONBLOCK the open of a file that is leased does not wait for its owner.
 */
static int open_at_once(int dir, const char *path, int flags, const struct stat *status)
{
	int fd;

	if (flags & (O_CREAT | O_TRUNC) || major(status->st_dev) == 0)
		return -EAGAIN;
	fd = open_cached(dir, path, flags | O_NONBLOCK);
	if (fd >= 0)
		set_blocking(fd);
	return fd;
}

/* O_NONBLOCK gives ENXIO until a reader has opened the FIFO, or waits in its own open. */
static int open_fifo_to_write(int dir, const char *path, int flags, mode_t mode)
{
	int64_t rest = 0;
	int fd, rc;

	while ((fd = fpx_system.openat(dir, path, flags | O_NONBLOCK, mode)) < 0) {
		if (errno != ENXIO)
			return -errno;
		rc = fpx_rest(&rest);
		if (rc < 0)
			return rc;
	}
	set_blocking(fd);
	return fd;
}

enum { OPENING, OPEN, GONE };

/* I set before the thread gets it · A atomic */
struct opening {
	const char *path;	  /* I */
	int dir, flags;		  /* I */
	mode_t mode;		  /* I */
	struct fiber_sem *places; /* I: the thread gives one back */
	uint32_t state;		  /* A */
	int fd;			  /* written by the thread before OPEN, read by the caller after */
};

static void *open_there(void *arg)
{
	struct opening *o = arg;

	o->fd = fpx_system.openat(o->dir, o->path, o->flags, o->mode);
	if (o->fd < 0)
		o->fd = -errno;
	return NULL;
}

/* As other calls for a disk: the fiber waits for the end, also if it is cancelled. */
static int open_on_disk(struct opening *o)
{
	const int rc = fpx_for_disk(open_there, o);

	return rc < 0 ? rc : o->fd;
}

/* True: the other side has not changed the state yet, and will clean up. */
static bool change_state(struct opening *o, uint32_t to)
{
	uint32_t state = OPENING;

	/* The second side sees what the first has written. */
	return __atomic_compare_exchange_n(&o->state, &state, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* A caller that has left may have closed the folder: then its path is not opened. */
static void *open_late(void *arg)
{
	struct opening *o = arg;

	o->fd = -ECANCELED;
	if (__atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == OPENING)
		open_there(o);
	fiber_sem_post(o->places);
	if (!change_state(o, OPEN)) {
		if (o->fd >= 0)
			fpx_system.close(o->fd);
		free(o);
	}
	return NULL;
}

/* Wait for a place. In a fiber that is cancelled nothing is attempted, although a place is free. */
static int take_place(struct fiber_sem *places)
{
	int rc = fiber_cancelled() ? fiber_sleep(0) : 0;

	return rc < 0 ? rc : fiber_sem_wait(places, FIBER_FOREVER);
}

static struct opening *copy(const struct opening *from)
{
	const size_t size = strlen(from->path) + 1;
	struct opening *o = malloc(sizeof *o + size);

	if (!o)
		return NULL;
	*o = *from;
	o->path = memcpy(o + 1, from->path, size);
	return o;
}

static int open_perhaps_never(const struct opening *from)
{
	struct opening *o;
	int rc = take_place(from->places);

	if (rc < 0)
		return rc;
	o = copy(from);
	rc = o ? fiber_block(open_late, o, NULL, FIBER_FOREVER) : -ENOMEM;
	if (rc == -ECANCELED && change_state(o, GONE))
		return rc;
	if (rc == 0 || rc == -ECANCELED)
		rc = o->fd;
	else
		fiber_sem_post(from->places);
	free(o);
	return rc;
}

static int open_in_fiber(int dir, const char *path, int flags, mode_t mode)
{
	struct opening o = {.path = path, .dir = dir, .flags = flags, .mode = mode};
	struct stat status = {0};
	const int rc = look(dir, path, flags, &status);
	int fd;

	if (rc == -EFAULT || ((rc == -ENOENT || rc == -ENOTDIR) && !(flags & O_CREAT)))
		return rc;
	if (rc == -EAGAIN && !(flags & O_CREAT) && goes_through_a_file(dir, path))
		return -ENOTDIR;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
		fd = open_at_once(dir, path, flags, &status);
		return fd >= 0 ? fd : open_on_disk(&o);
	}
	if (S_ISFIFO(status.st_mode) && (flags & O_ACCMODE) == O_WRONLY)
		return open_fifo_to_write(dir, path, flags, mode);
	o.places = S_ISFIFO(status.st_mode) ? &fifo_places : &other_places;
	return rc == -ENOENT ? open_on_disk(&o) : open_perhaps_never(&o);
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	return (int)fpx_result(open_in_fiber(dir, path, flags, mode));
}

/*
 * Whether an open waits, here. With O_PATH nothing is opened. The child of vfork(2) runs on the
 * fiber's stack, and often opens files.
 */
static bool waits(const char *path, int flags)
{
	return path && !(flags & (O_NONBLOCK | O_PATH)) && fiber_self() && fpx_informs() &&
	       fpx_parks();
}

static int opened(int fd)
{
	if (fd >= 0 && fpx_informs())
		fpx_meet(fd);
	return fd;
}

int fiber_posix_open(const char *path, int flags, ...)
{
	const mode_t mode = FPX_MODE_AFTER(flags);

	return opened(waits(path, flags) ? open_at(AT_FDCWD, path, flags, mode)
					 : fpx_system.open(path, flags, mode));
}

int fiber_posix_openat(int dir, const char *path, int flags, ...)
{
	const mode_t mode = FPX_MODE_AFTER(flags);

	return opened(waits(path, flags) ? open_at(dir, path, flags, mode)
					 : fpx_system.openat(dir, path, flags, mode));
}

int fiber_posix_creat(const char *path, mode_t mode)
{
	const int flags = O_CREAT | O_WRONLY | O_TRUNC;

	return opened(waits(path, flags) ? open_at(AT_FDCWD, path, flags, mode)
					 : fpx_system.creat(path, mode));
}

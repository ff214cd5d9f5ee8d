/* SPDX-License-Identifier: MIT */
/*
 * file.c - files on disks, and others that block when they are asked
 *
 * Data on a disk that is not in memory makes whoever asks for it wait, and no poller tells when it has come. So a
 * thread that may block asks (offload.c), and the fiber parks. Where the poller is a ring the kernel does it (disk.c), and a
 * thread only what that does not do.
 *
 * That thread reads into the caller's memory and moves the file's offset, and a disk answers. So the wait
 * ends with the call and not before: no thread writes into memory that the caller has long used for something
 * else, and no bytes are read that nobody gets. A deadline or a cancellation counts until the thread is asked.
 *
 * To open a file is another matter. A pipe with a name opens when somebody comes to the other end, a file of a
 * network when a server answers, perhaps never. So what it takes belongs to the call, and a caller who does not wait any
 * longer leaves it behind; the descriptor that comes then is closed. Who was first is one word: the
 * thread moves it to OPEN, the caller to GONE, and the one who finds it moved by the other cleans up.
 *
 * When there is no thread to be had, a call for a disk is made where we are: slow is better than failed.
 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/time.h>

#include "base/atomic.h"
#include "io/disk.h"
#include "io/table.h"
#include "life/offload.h"
#include "os/os.h"
#include "wait/wait.h"

typedef ssize_t piecewise(int fd, const struct iovec *v, int count);

struct transfer {
	int fd, count;
	const struct iovec *v;
	struct fib_look look;
	piecewise *slow;
	bool writing;
	ssize_t result;
};

/* On another thread. It may have come to that late: the number may be another descriptor's by now. */
static void *transfer_on_thread(void *arg)
{
	struct transfer *m = arg;

	m->result = fib_descriptor_same(m->fd, &m->look) ? m->slow(m->fd, m->v, m->count) : -EBADF;
	return m;
}

static int transfer_offloaded(struct transfer *m, int64_t deadline)
{
	int rc = fib_wait_check(deadline);

	if (rc < 0)
		return rc;
	m->result = fib_disk_transfer(m->fd, m->v, m->count, m->writing, &m->look);
	return m->result == -EAGAIN ? fib_offload_uncancellable(transfer_on_thread, m, deadline)
				    : 0;
}

static ssize_t transfer_slow(struct transfer *m, int64_t deadline)
{
	int rc;

	if (!fiber_self()) {
		if (deadline != FIBER_FOREVER && deadline <= fiber_now())
			return -ETIMEDOUT;
		return m->slow(m->fd, m->v, m->count);
	}
	rc = fib_descriptor_notice(m->fd);
	if (rc == 0)
		rc = transfer_offloaded(m, deadline);
	if (rc == -EAGAIN || rc == -ENOMEM)
		return m->slow(m->fd, m->v, m->count);
	return rc < 0 ? rc : m->result;
}

/* why: what the system said of a try that does not wait (os.h). */
static ssize_t transfer(struct transfer *m, piecewise *unsure, ssize_t why, int64_t deadline)
{
	ssize_t n;

	if (why == FIB_OS_SLOW)
		return transfer_slow(m, deadline);
	/* Nobody comes between the look and the call. */
	fib_descriptor_lock(m->fd);
	n = unsure(m->fd, m->v, m->count);
	fib_descriptor_unlock(m->fd);
	return n;
}

ssize_t fib_file_read(int fd, const struct iovec *v, int count, ssize_t why,
		      const struct fib_look *look, int64_t deadline)
{
	struct transfer m = {fd, count, v, *look, fib_os_read_slow, false, 0};

	return transfer(&m, fib_os_read_unsure, why, deadline);
}

ssize_t fib_file_write(int fd, const struct iovec *v, int count, ssize_t why,
		       const struct fib_look *look, int64_t deadline)
{
	struct transfer m = {fd, count, v, *look, fib_os_write_slow, true, 0};

	return transfer(&m, fib_os_write_unsure, why, deadline);
}

/* -- opening -- */

enum { OPENING, OPEN, GONE };

/* I set before it is handed over · A atomic */
struct opening {
	_Atomic uint32_t state; /* A */
	int flags;		/* I */
	mode_t mode;		/* I */
	int fd;			/* the thread's, before OPEN; the caller's after that */
	char path[];		/* I */
};

/* True: the other has not come to its end yet, and cleans up. */
static bool change_state(struct opening *o, uint32_t to)
{
	uint32_t state = OPENING;

	/* label: opening.state -- whoever is second sees what the first has written. */
	return fib_cas(&o->state, &state, to);
}

static void *open_on_thread(void *arg)
{
	struct opening *o = arg;

	o->fd = fib_os_open_file(o->path, o->flags, o->mode);
	if (!change_state(o, OPEN)) {
		if (o->fd >= 0)
			fib_os_close(o->fd);
		free(o);
	}
	return NULL;
}

static int open_offloaded(const char *path, int flags, mode_t mode, int64_t deadline)
{
	const size_t size = strlen(path) + 1;
	struct opening *o = calloc(1, sizeof *o + size);
	int rc;

	if (!o)
		return -ENOMEM;
	o->flags = flags;
	o->mode = mode;
	memcpy(o->path, path, size);
	rc = fiber_block(open_on_thread, o, NULL, deadline);
	/* It will be done, by a thread that finds nobody there. */
	if ((rc == -ETIMEDOUT || rc == -ECANCELED) && change_state(o, GONE))
		return rc;
	/* Done at the last moment, or at once, or never. */
	if (rc == 0 || rc == -ETIMEDOUT || rc == -ECANCELED)
		rc = o->fd;
	free(o);
	return rc;
}

int fiber_open(const char *path, int flags, mode_t mode, int64_t deadline)
{
	/* Nothing is handed over that would be done although it was too late. */
	int fd = fib_wait_check(deadline);

	if (fd < 0)
		return fd;
	fd = fib_disk_open(path, flags, mode, deadline);
	if (fd == -EAGAIN) {
		fd = fib_wait_check(deadline);
		if (fd == 0)
			fd = open_offloaded(path, flags, mode, deadline);
	}
	if (fd >= 0)
		fib_descriptor_opened(fd);
	return fd;
}

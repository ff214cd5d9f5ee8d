/* SPDX-License-Identifier: MIT */
/*
 * file.c - regular files, and others that block although they are asked not to
 *
 * A read of data that is not in memory blocks, and no poller reports when the data has come. So an
 * offload thread makes the call (offload.c), and the fiber parks. If the poller is a ring, the
 * kernel does it (disk.c), and a thread only does what the ring does not.
 *
 * The thread reads into the caller's memory and moves the file's offset, and a disk does answer. So
 * the fiber waits for the end of the call. Otherwise a thread could write into memory that is in
 * use for something else, and bytes could be read and lost. A deadline or a cancellation counts
 * only until the thread has the call.
 *
 * Opening is different. A FIFO opens when the other end is opened, a file on a network when a
 * server answers: perhaps never. So the data of an open belongs to the call. A caller that stops
 * waiting leaves it behind, and the descriptor is then closed. One state decides: the thread
 * changes it to OPEN, the caller to GONE; the one that finds it already changed cleans up.
 *
 * If no thread is available, a call for a disk is made on the carrier: slow is better than failed.
 */
#include "choice.h"
#include "fault.h"
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

/* Runs on another thread, perhaps late: the number may mean another descriptor by now. */
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

/* why: the result of the system's try that does not wait (os.h). */
static ssize_t transfer(struct transfer *m, piecewise *unsure, ssize_t why, int64_t deadline)
{
	ssize_t n;

	if (why == FIB_OS_SLOW)
		return transfer_slow(m, deadline);
	/* The lock keeps other calls of this process out between the check and the call. */
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

/* I set before the thread gets it · A atomic */
struct opening {
	_Atomic uint32_t state; /* A */
	int flags;		/* I */
	mode_t mode;		/* I */
	int fd;			/* written by the thread before OPEN, read by the caller after */
	char path[];		/* I */
};

/* True: the other side has not changed the state yet, and will clean up. */
static bool change_state(struct opening *o, uint32_t to)
{
	uint32_t state = OPENING;

	/* label: opening.state -- the second side sees what the first has written. */
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
	/* The thread still opens the file, finds GONE and cleans up. */
	if ((rc == -ETIMEDOUT || rc == -ECANCELED) && change_state(o, GONE))
		return rc;
	/*
	 * It was opened at the last moment, or in time; on another error the thread never gets it.
	 */
	if (rc == 0 || rc == -ETIMEDOUT || rc == -ECANCELED)
		rc = o->fd;
	free(o);
	return rc;
}

int fiber_open(const char *path, int flags, mode_t mode, int64_t deadline)
{
	fib_choice_within();
	fib_choice(NULL);
	/* Checked first, so that no thread gets an open that is too late already. */
	int fd = fib_wait_check(deadline);

	if (fd == 0)
		fd = fib_fault_open(flags);
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

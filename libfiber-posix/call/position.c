/* SPDX-License-Identifier: MIT */
/*
 * position.c - read and write at a position, and copy a file to a socket
 *
 * What is in memory is read at once. The rest may wait for a disk, on another thread.
 *
 * sendfile(2) cannot be told not to wait for the socket. So the file is read in parts and written,
 * which parks. The bytes are copied, as the kernel's call does not.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "system/system.h"

#define PART 16384u

struct moving {
	int fd;
	char *buf;
	size_t size;
	off_t offset;
	ssize_t n;
};

static void *read_there(void *arg)
{
	struct moving *m = arg;

	m->n = fpx_system.pread(m->fd, m->buf, m->size, m->offset);
	if (m->n < 0)
		m->n = -errno;
	return NULL;
}

static void *write_there(void *arg)
{
	struct moving *m = arg;

	m->n = fpx_system.pwrite(m->fd, m->buf, m->size, m->offset);
	if (m->n < 0)
		m->n = -errno;
	return NULL;
}

/*
 * Make the call on another thread. Without one it is made here: a disk's time is short, and the
 * program does not expect such an error.
 */
static ssize_t move_there(void *(*fn)(void *), struct moving *m)
{
	int rc = fpx_off_carrier(fn, m);

	if (rc == -EAGAIN || rc == -ENOMEM) {
		fn(m);
		rc = 0;
	}
	return rc < 0 ? rc : m->n;
}

/* Move what follows the first n bytes; n may be an error of the try. Returns all that was moved. */
static ssize_t move_rest(void *(*fn)(void *), struct moving *m, ssize_t n)
{
	ssize_t more;

	if (n > 0) {
		m->buf += n;
		m->size -= (size_t)n;
		m->offset += n;
	}
	more = move_there(fn, m);
	if (n <= 0)
		return more;
	return more < 0 ? n : n + more;
}

/* Whether the file ends at or before a position. */
static bool ends_at(int fd, off_t position)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= position;
}

static ssize_t read_at(int fd, void *buf, size_t size, off_t offset)
{
	const struct iovec v = {buf, size};
	struct moving m = {fd, buf, size, offset, 0};
	ssize_t n = offset < 0 ? -1 : preadv2(fd, &v, 1, offset, RWF_NOWAIT);

	if (n == 0 || (n > 0 && ((size_t)n == size || ends_at(fd, offset + n))))
		return n;
	return move_rest(read_there, &m, n);
}

ssize_t fiber_posix_pread(int fd, void *buf, size_t size, off_t offset)
{
	if (!fpx_parks())
		return fpx_system.pread(fd, buf, size, offset);
	return fpx_result(read_at(fd, buf, size, offset));
}

ssize_t fiber_posix_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	const struct iovec v = {(void *)(uintptr_t)buf, size};
	struct moving m = {fd, (char *)(uintptr_t)buf, size, offset, 0};
	ssize_t n;

	if (!fpx_parks())
		return fpx_system.pwrite(fd, buf, size, offset);
	n = offset < 0 ? -1 : pwritev2(fd, &v, 1, offset, RWF_NOWAIT);
	if (n >= 0 && (size_t)n == size)
		return n;
	/* Not all again: with O_APPEND the first bytes would be in the file twice. */
	return fpx_result(move_rest(write_there, &m, n));
}

/* Send one part. Returns how many bytes were sent, 0 at the end, or a negative errno. */
static ssize_t send_part(int out, int in, off_t offset, size_t size)
{
	char part[PART];
	ssize_t n = read_at(in, part, size < sizeof part ? size : sizeof part, offset);

	if (n <= 0)
		return n;
	n = fiber_posix_write(out, part, (size_t)n);
	return n < 0 ? -errno : n;
}

static ssize_t send_parts(int out, int in, off_t offset, size_t size)
{
	size_t done = 0;
	ssize_t n = 0;

	while (done < size) {
		n = send_part(out, in, offset + (off_t)done, size - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done ? (ssize_t)done : n;
}

ssize_t fiber_posix_sendfile(int out, int in, off_t *offset, size_t size)
{
	struct stat st;
	off_t start;
	ssize_t n;

	if (!fpx_parks() || fpx_nonblocking(out) != 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
		return fpx_system.sendfile(out, in, offset, size);
	start = offset ? *offset : lseek(in, 0, SEEK_CUR);
	if (start < 0)
		return fpx_system.sendfile(out, in, offset, size);
	n = send_parts(out, in, start, size);
	if (n > 0 && offset)
		*offset = start + n;
	else if (n > 0)
		lseek(in, start + n, SEEK_SET);
	return fpx_result(n);
}

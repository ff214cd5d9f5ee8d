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
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "call/stream.h"
#include "system/system.h"

#define PART 16384u

/* What is left of a call: the first piece is cut short. */
struct moving {
	int fd, count, flags;
	const struct iovec *v;
	size_t cut; /* bytes of the first piece that are done */
	off_t offset;
	bool writing;
	ssize_t n;
};

static ssize_t move(const struct moving *m, const struct iovec *v, int count, off_t offset)
{
	ssize_t n;

	if (!m->flags)
		n = m->writing ? fpx_system.pwritev(m->fd, v, count, offset)
			       : fpx_system.preadv(m->fd, v, count, offset);
	else
		n = m->writing ? fpx_system.pwritev2(m->fd, v, count, offset, m->flags)
			       : fpx_system.preadv2(m->fd, v, count, offset, m->flags);
	return n < 0 ? -errno : n;
}

static void *move_there(void *arg)
{
	struct moving *m = arg;
	struct iovec rest;
	ssize_t more;

	if (!m->cut) {
		m->n = move(m, m->v, m->count, m->offset);
		return NULL;
	}
	rest = (struct iovec){(char *)m->v->iov_base + m->cut, m->v->iov_len - m->cut};
	m->n = move(m, &rest, 1, m->offset);
	if (m->count == 1 || m->n < 0 || (size_t)m->n < rest.iov_len)
		return NULL;
	more = move(m, m->v + 1, m->count - 1, m->offset + m->n);
	if (more > 0)
		m->n += more;
	return NULL;
}

/* Move what follows the first n bytes; n may be an error of the try. Returns all that was moved. */
static ssize_t move_rest(struct moving *m, ssize_t n)
{
	int rc;

	if (n > 0) {
		m->offset += n;
		m->cut = (size_t)n;
		while (m->cut >= m->v->iov_len) {
			m->cut -= m->v->iov_len;
			m->v++;
			m->count--;
		}
	}
	rc = fpx_for_disk(move_there, m);
	if (rc == 0)
		rc = m->n < 0 ? (int)m->n : 0;
	if (n <= 0)
		return rc < 0 ? rc : m->n;
	return rc < 0 ? n : n + m->n;
}

/* Whether the file ends at or before a position. */
static bool ends_at(int fd, off_t position)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= position;
}

/* What a call with these flags does at once does not wait either: the bytes go to the disk. */
static bool syncs(int flags)
{
	return flags & (RWF_DSYNC | RWF_SYNC);
}

static ssize_t read_at(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	struct moving m = {.fd = fd, .count = count, .flags = flags, .v = v, .offset = offset};
	ssize_t n = fpx_system.preadv2(fd, v, count, offset, flags | RWF_NOWAIT);

	if (n == 0 ||
	    (n > 0 && ((size_t)n == fpx_pieces_size(v, (size_t)count) || ends_at(fd, offset + n))))
		return n;
	return move_rest(&m, n);
}

static ssize_t write_at(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	struct moving m = {fd, count, flags, v, 0, offset, true, 0};
	ssize_t n = -1;

	if (!syncs(flags))
		n = fpx_system.pwritev2(fd, v, count, offset, flags | RWF_NOWAIT);
	if (n >= 0 && (size_t)n == fpx_pieces_size(v, (size_t)count))
		return n;
	/* Not all again: with O_APPEND the first bytes would be in the file twice. */
	return move_rest(&m, n);
}

ssize_t fiber_posix_pread(int fd, void *buf, size_t size, off_t offset)
{
	const struct iovec v = {buf, size};

	if (offset < 0 || !fpx_parks())
		return fpx_system.pread(fd, buf, size, offset);
	return fpx_result(read_at(fd, &v, 1, offset, 0));
}

ssize_t fiber_posix_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	const struct iovec v = {(void *)(uintptr_t)buf, size};

	if (offset < 0 || !fpx_parks())
		return fpx_system.pwrite(fd, buf, size, offset);
	return fpx_result(write_at(fd, &v, 1, offset, 0));
}

/* Calls that the system refuses, or that have nothing to move, do not wait. */
static bool moves(const struct iovec *pieces, int count)
{
	return count > 0 && count <= IOV_MAX && fpx_pieces_size(pieces, (size_t)count);
}

ssize_t fiber_posix_preadv(int fd, const struct iovec *pieces, int count, off_t offset)
{
	if (offset < 0 || !moves(pieces, count) || !fpx_parks())
		return fpx_system.preadv(fd, pieces, count, offset);
	return fpx_result(read_at(fd, pieces, count, offset, 0));
}

ssize_t fiber_posix_pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
	if (offset < 0 || !moves(pieces, count) || !fpx_parks())
		return fpx_system.pwritev(fd, pieces, count, offset);
	return fpx_result(write_at(fd, pieces, count, offset, 0));
}

/* -- with flags; an offset of -1 means the file's own -- */

/* Flags that have no effect on pipes and sockets. */
#define DISK_FLAGS (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND)

static bool on_disk(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

/* The file's offset moves with the call, so the whole call is made on another thread. */
static ssize_t move_here(int fd, const struct iovec *pieces, int count, int flags, bool writing)
{
	struct moving m = {fd, count, flags, pieces, 0, -1, writing, 0};
	const int rc = fpx_for_disk(move_there, &m);

	return rc < 0 ? rc : m.n;
}

ssize_t fiber_posix_preadv2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	if (offset < -1 || flags & RWF_NOWAIT || !moves(pieces, count) || !fpx_parks())
		return fpx_system.preadv2(fd, pieces, count, offset, flags);
	if (offset >= 0)
		return fpx_result(read_at(fd, pieces, count, offset, flags));
	if (!flags || (!(flags & ~DISK_FLAGS) && !on_disk(fd)))
		return fiber_posix_readv(fd, pieces, count);
	return fpx_result(move_here(fd, pieces, count, flags, false));
}

ssize_t fiber_posix_pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	if (offset < -1 || flags & RWF_NOWAIT || !moves(pieces, count) || !fpx_parks())
		return fpx_system.pwritev2(fd, pieces, count, offset, flags);
	if (offset >= 0)
		return fpx_result(write_at(fd, pieces, count, offset, flags));
	if (!flags || (!(flags & ~DISK_FLAGS) && !on_disk(fd)))
		return fiber_posix_writev(fd, pieces, count);
	return fpx_result(move_here(fd, pieces, count, flags, true));
}

/* Send one part. Returns how many bytes were sent, 0 at the end, or a negative errno. */
static ssize_t send_part(int out, int in, off_t offset, size_t size)
{
	char part[PART];
	const struct iovec v = {part, size < sizeof part ? size : sizeof part};
	ssize_t n = read_at(in, &v, 1, offset, 0);

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

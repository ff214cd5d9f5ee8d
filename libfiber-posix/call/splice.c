/* SPDX-License-Identifier: MIT */
/*
 * splice.c - move bytes between a pipe and another descriptor
 *
 * With SPLICE_F_NONBLOCK the system does not wait for a pipe. So the fiber parks until both sides are
 * ready, and then the call is made with that flag. For a file another thread makes it: it may wait
 * for the disk, but not for the pipe.
 *
 * The flag does not say that the system must not wait for a socket. Input that poll(2) has reported
 * does not wait. For output poll(2) reports that a part of the socket's buffer is free: at least a
 * third of a TCP socket's, three quarters of a UNIX socket's. So an eighth of the buffer is moved at a time.
 * If another thread fills the same socket between, the call may wait on the carrier.
 *
 * A call that writes to a pipe or a socket without a reader raises SIGPIPE in the thread that makes it,
 * where the signal is blocked. It is taken back, and sent as for other calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "call/stream.h"
#include "system/system.h"

#define PART_MIN 4096u
#define FLAGS	 (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

/* One of the two descriptors. */
struct side {
	int fd;
	short events; /* when it is ready */
	mode_t kind;  /* S_IFMT */
	dev_t device;
	ino_t inode;
	int flags;	  /* O_NONBLOCK and others */
	bool waits;	  /* the call waits for it */
	int64_t deadline; /* until when */
};

struct splicing {
	struct side in, out;
	off64_t *in_offset, *out_offset;
	size_t size;
	unsigned flags;
	ssize_t n;
	bool broken; /* SIGPIPE was raised and taken back */
};

static bool is_pipe(const struct side *s)
{
	return S_ISFIFO(s->kind);
}

/* A file, for which poll(2) has no meaning. */
static bool is_file(const struct side *s)
{
	return S_ISREG(s->kind) || S_ISBLK(s->kind);
}

static bool is_ready(const struct side *s)
{
	struct pollfd p = {s->fd, s->events, 0};

	return fpx_system.poll(&p, 1, 0) != 0;
}

/* Returns 0, or -EAGAIN, or a negative errno. */
static int await_side(const struct side *s)
{
	int rc;

	/* The system finds out itself that a socket with O_NONBLOCK is not ready. */
	if (is_file(s) || (!s->waits && !is_pipe(s)) || is_ready(s))
		return 0;
	if (!s->waits)
		return -EAGAIN;
	rc = fiber_wait_fd(s->fd, s->events, s->deadline);
	if (rc < 0)
		return fpx_late(rc, s->deadline) ? -EAGAIN : rc;
	return 0;
}

/* The kernel looks at the pipe first. */
static int await_both(const struct splicing *s)
{
	const struct side *const first = is_pipe(&s->in) ? &s->in : &s->out;
	const int rc = await_side(first);

	return rc < 0 ? rc : await_side(first == &s->in ? &s->out : &s->in);
}

/* Take back the SIGPIPE that is pending in this thread. Returns whether there was one. */
static bool take_signal(void)
{
	const struct timespec now = {0, 0};
	sigset_t set;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	do {
		rc = sigtimedwait(&set, NULL, &now);
	} while (rc < 0 && errno == EINTR);
	return rc == SIGPIPE;
}

static bool blocks_sigpipe(void)
{
	sigset_t blocked;

	return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
	       sigismember(&blocked, SIGPIPE) == 1;
}

static void *splice_there(void *arg)
{
	struct splicing *s = arg;

	s->n = fpx_system.splice(s->in.fd, s->in_offset, s->out.fd, s->out_offset, s->size,
				 s->flags | SPLICE_F_NONBLOCK);
	if (s->n < 0)
		s->n = -errno;
	if (s->n == -EPIPE && blocks_sigpipe())
		s->broken = take_signal();
	return NULL;
}

/* Both sides have been ready. Returns the number of bytes, or a negative errno. */
static ssize_t splice_ready(struct splicing *s)
{
	int rc = 0;

	if (is_file(&s->in) || is_file(&s->out))
		rc = fpx_for_disk(splice_there, s);
	else
		splice_there(s);
	return rc < 0 ? rc : s->n;
}

/* How many bytes are moved at a time, so that the output does not wait; 0: all. */
static size_t part_of(const struct side *out)
{
	int size = 0;
	socklen_t length = sizeof size;

	if (!out->waits || is_pipe(out))
		return 0;
	if (getsockopt(out->fd, SOL_SOCKET, SO_SNDBUF, &size, &length) < 0)
		return PART_MIN;
	return (size_t)size / 8 > PART_MIN ? (size_t)size / 8 : PART_MIN;
}

/* Whether -EAGAIN is for a side that is waited for. It may be for the other one. */
static bool lacks(const struct side *s)
{
	return s->waits && !is_ready(s);
}

/* As the kernel does: wait for input until some has come, and for output until all of that is out. */
static ssize_t splice_parts(struct splicing *s)
{
	const size_t part = part_of(&s->out), size = s->size;
	size_t done = 0;
	ssize_t n;

	do {
		n = await_both(s);
		if (n < 0)
			break;
		s->size = part && part < size - done ? part : size - done;
		n = splice_ready(s);
		if (n > 0) {
			done += (size_t)n;
			s->in.waits = false;
		}
	} while (n > 0 ? part && done < size : n == -EAGAIN && (lacks(&s->in) || lacks(&s->out)));
	return done ? (ssize_t)done : n;
}

/* Returns false if the system refuses the descriptor. */
static bool look(struct side *s, int fd, bool writes, const off64_t *offset)
{
	const int wrong = writes ? O_RDONLY : O_WRONLY;
	struct stat st;

	*s = (struct side){.fd = fd, .events = writes ? POLLOUT : POLLIN};
	s->deadline = FIBER_FOREVER;
	s->flags = fpx_system.fcntl(fd, F_GETFL);
	if (s->flags < 0 || fstat(fd, &st) < 0)
		return false;
	s->kind = st.st_mode & S_IFMT;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	if ((s->flags & O_ACCMODE) == wrong || (writes && s->flags & O_APPEND))
		return false;
	if (is_file(s))
		return true;
	if (!is_pipe(s))
		s->waits = fpx_may_wait(fd, writes ? SO_SNDTIMEO : SO_RCVTIMEO, &s->deadline) == 1;
	return !offset;
}

/* Returns false if the system refuses the call, which then does not wait. */
static bool look_at_both(struct splicing *s, int in, int out)
{
	return s->size && !(s->flags & ~FLAGS) && look(&s->in, in, false, s->in_offset) &&
	       look(&s->out, out, true, s->out_offset) && (is_pipe(&s->in) || is_pipe(&s->out)) &&
	       (s->in.inode != s->out.inode || s->in.device != s->out.device);
}

/* O_NONBLOCK of one pipe counts for both. */
static bool waits_for_pipe(const struct splicing *s)
{
	return !(s->flags & SPLICE_F_NONBLOCK) && !(is_pipe(&s->in) && s->in.flags & O_NONBLOCK) &&
	       !(is_pipe(&s->out) && s->out.flags & O_NONBLOCK);
}

ssize_t fiber_posix_splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
			   unsigned flags)
{
	struct splicing s = {
		.in_offset = in_offset, .out_offset = out_offset, .size = size, .flags = flags};
	ssize_t n;
	bool waits;

	if (!fpx_parks() || !look_at_both(&s, in, out))
		return fpx_system.splice(in, in_offset, out, out_offset, size, flags);
	waits = waits_for_pipe(&s);
	s.in.waits |= is_pipe(&s.in) && waits;
	s.out.waits |= is_pipe(&s.out) && waits;
	n = splice_parts(&s);
	if (s.broken)
		fpx_broken(-EPIPE);
	return fpx_result(n);
}

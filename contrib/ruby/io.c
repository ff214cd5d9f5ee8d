/* SPDX-License-Identifier: MIT */
/*
 * io.c - the hooks io_read and io_write
 *
 * Each moves at least `length` bytes, or returns early at the end of a file; 0 asks for one attempt
 * that does not wait. A socket is tried with MSG_DONTWAIT. Any other descriptor may be in blocking
 * mode, such as a terminal or a pipe from another program: it is tried only if poll(2) finds it
 * ready, and without Ruby's lock, because the disk may be slow.
 *
 * The results are counts and negative errno's, as Ruby expects of these hooks.
 */
#include <ruby.h>
#include <ruby/io.h>
#include <ruby/io/buffer.h>
#include <ruby/thread.h>

#include <errno.h>
#include <fiber.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scheduler.h"

struct move {
	int fd;
	char *at;
	size_t size;
	bool writing;
	ssize_t result; /* a negative errno */
};

static void *move_file(void *arg)
{
	struct move *m = arg;

	m->result = m->writing ? write(m->fd, m->at, m->size) : read(m->fd, m->at, m->size);
	if (m->result < 0)
		m->result = -errno;
	return NULL;
}

/* One attempt that does not wait. */
static ssize_t try(struct move *m)
{
	struct pollfd p = {.fd = m->fd, .events = m->writing ? POLLOUT : POLLIN};

	m->result = m->writing ? send(m->fd, m->at, m->size, MSG_DONTWAIT | MSG_NOSIGNAL)
			       : recv(m->fd, m->at, m->size, MSG_DONTWAIT);
	if (m->result >= 0)
		return m->result;
	if (errno != ENOTSOCK)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (poll(&p, 1, 0) == 0)
		return -EAGAIN;
	rb_thread_call_without_gvl(move_file, m, RUBY_UBF_IO, NULL);
	return m->result == -EINTR ? -EAGAIN : m->result;
}

static void bytes_of(VALUE buffer, bool writing, char **ret, size_t *ret_size)
{
	const void *source;
	void *target;

	if (writing) {
		rb_io_buffer_get_bytes_for_reading(buffer, &source, ret_size);
		*ret = (char *)source;
	} else {
		rb_io_buffer_get_bytes_for_writing(buffer, &target, ret_size);
		*ret = target;
	}
}

static VALUE move(VALUE self, int argc, VALUE *argv, bool writing)
{
	struct move m = {.writing = writing};
	size_t wanted, at, done = 0, size;

	rb_check_arity(argc, 3, 4);
	wanted = NUM2SIZET(argv[2]);
	at = argc > 3 ? NUM2SIZET(argv[3]) : 0;
	for (;;) {
		char *start;
		ssize_t n;

		/* The memory may have moved while the fiber waited. */
		bytes_of(argv[1], writing, &start, &size);
		if (at >= size)
			break;
		m.fd = rb_io_descriptor(argv[0]);
		m.at = start + at;
		m.size = size - at;
		n = try(&m);
		if (n > 0) {
			done += (size_t)n;
			at += (size_t)n;
			if (done >= wanted)
				break;
		} else if (n == 0) {
			break;
		} else if (n != -EAGAIN || wanted == 0) {
			return done ? SIZET2NUM(done) : LL2NUM(n);
		} else {
			const int rc = scheduler_wait_fd(self, m.fd, writing ? POLLOUT : POLLIN,
							 FIBER_FOREVER, "");

			if (rc < 0)
				return done ? SIZET2NUM(done) : INT2NUM(rc);
		}
	}
	return SIZET2NUM(done);
}

/* io_read(io, buffer, length, offset = 0) */
static VALUE hook_io_read(int argc, VALUE *argv, VALUE self)
{
	return move(self, argc, argv, false);
}

/* io_write(io, buffer, length, offset = 0) */
static VALUE hook_io_write(int argc, VALUE *argv, VALUE self)
{
	return move(self, argc, argv, true);
}

void scheduler_define_io(VALUE class)
{
	rb_define_method(class, "io_read", hook_io_read, -1);
	rb_define_method(class, "io_write", hook_io_write, -1);
}

/* SPDX-License-Identifier: MIT */
/* stream.c - read and write bytes: try, wait, try again */
#include "choice.h"
#include "fault.h"
#include "order.h"
#include <errno.h>
#include <poll.h>

#include <fiber/io.h>

#include "base/compiler.h"
#include "io/descriptor.h"
#include "io/empty.h"
#include "io/file.h"
#include "os/os.h"

/* Read, and record whether the descriptor is now drained. */
static ssize_t read_after(int fd, void *buf, size_t size, const struct fib_look *look)
{
	bool plain = look->plain;
	ssize_t n = fib_os_read_as(fd, buf, size, &plain);

	if (fib_unlikely(plain != look->plain))
		fib_descriptor_set_plain(fd, plain);
	if (n == -EAGAIN || (n > 0 && (size_t)n < size))
		fib_descriptor_gave_less(fd, look);
	if (n == -EAGAIN)
		fib_empty_found(fd, look);
	return n;
}

/*
 * The wait before the first try has ended with rc < 0. A cancelled fiber still gets what is there,
 * but it is told once: in another wait it might have to exit.
 */
static fib_noinline ssize_t read_at_last(int fd, void *buf, size_t size, int rc)
{
	struct fib_look look;
	ssize_t n = -EAGAIN;

	if (rc == -ECANCELED) {
		fib_descriptor_look_to_read(fd, &look);
		n = read_after(fd, buf, size, &look);
		fib_order_bytes_in(fd, n);
	}
	return n == -EAGAIN || n <= FIB_OS_UNSURE ? rc : n;
}

ssize_t fiber_read(int fd, void *buf, size_t size, int64_t deadline)
{
	struct fib_look look;
	struct iovec v;
	bool first = true;
	ssize_t fault;

	fib_choice_fd(fd);
	fault = fib_fault_transfer(fd, &size, false);
	if (fault < 0)
		return fault;
	v = (struct iovec){buf, size};
	for (;; first = false) {
		ssize_t n = -EAGAIN;
		int rc;

		fib_descriptor_look_to_read(fd, &look);
		if (fib_unlikely(look.empty && first && size)) {
			rc = fib_empty_await(fd, &look, deadline);
			if (rc < 0)
				return read_at_last(fd, buf, size, rc);
			if (rc > 0)
				continue;
		}
		if (!look.drained || !size)
			n = read_after(fd, buf, size, &look);
		if (fib_unlikely(n <= FIB_OS_UNSURE))
			n = fib_file_read(fd, &v, 1, n, &look, deadline);
		if (fib_unlikely(look.empty && first && n != -EAGAIN))
			fib_empty_not(fd, &look);
		fib_order_bytes_in(fd, n);
		if (n != -EAGAIN)
			return n;
		rc = fib_descriptor_receive(fd, buf, size, &look, deadline, &n);
		/* Data that has arrived but was not announced yet counts as in time. */
		if (rc == -ETIMEDOUT && look.drained && n == -EAGAIN)
			n = read_after(fd, buf, size, &look);
		fib_order_bytes_in(fd, n);
		if (n != -EAGAIN || rc < 0)
			return n != -EAGAIN ? n : rc;
	}
}

static ssize_t write_as(int fd, const void *buf, size_t size)
{
	const bool before = fib_descriptor_plain(fd);
	bool plain = before;
	ssize_t n = fib_os_write_as(fd, buf, size, &plain);

	if (fib_unlikely(plain != before))
		fib_descriptor_set_plain(fd, plain);
	return n;
}

ssize_t fiber_write(int fd, const void *buf, size_t size, int64_t deadline)
{
	struct iovec v;
	struct fib_look look;
	ssize_t n;
	int rc;

	fib_choice_fd(fd);
	n = fib_fault_transfer(fd, &size, true);
	if (n < 0)
		return n;
	v = (struct iovec){(void *)(uintptr_t)buf, size};
	fib_order_bytes_out(fd);
	n = write_as(fd, buf, size);
	/* Most writes succeed at once: the first try needs no look. */
	while (fib_unlikely(n == -EAGAIN || n <= FIB_OS_UNSURE)) {
		fib_descriptor_look(fd, &look);
		n = write_as(fd, buf, size);
		if (n <= FIB_OS_UNSURE)
			n = fib_file_write(fd, &v, 1, n, &look, deadline);
		if (n != -EAGAIN)
			break;
		rc = fib_descriptor_wait(fd, POLLOUT, &look, deadline);
		if (rc < 0)
			return rc;
	}
	return n;
}

ssize_t fiber_read_full(int fd, void *buf, size_t size, int64_t deadline)
{
	fib_choice_within();
	size_t done = 0;
	ssize_t n;

	do {
		n = fiber_read(fd, (char *)buf + done, size - done, deadline);
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && done < size);
	return done ? (ssize_t)done : n;
}

ssize_t fiber_write_full(int fd, const void *buf, size_t size, int64_t deadline)
{
	fib_choice_within();
	size_t done = 0;
	ssize_t n;

	do {
		n = fiber_write(fd, (const char *)buf + done, size - done, deadline);
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && done < size);
	return done ? (ssize_t)done : n;
}

int fiber_wait_fd(int fd, short events, int64_t deadline)
{
	struct fib_look look;

	fib_choice_fd(fd);
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		int rc;

		fib_descriptor_look(fd, &look);
		rc = fib_os_poll(&p, 1, 0);
		if (rc < 0)
			return rc;
		if (p.revents & POLLNVAL)
			return -EBADF;
		fib_order_bytes_in(fd, p.revents);
		if (p.revents)
			return p.revents;
		rc = fib_descriptor_wait(fd, events, &look, deadline);
		if (rc < 0)
			return rc;
	}
}

int fiber_close(int fd)
{
	int rc;

	fib_choice_fd(fd);
	fib_order_bytes_out(fd);
	fib_descriptor_forget(fd);
	rc = fib_os_close(fd);
	fib_descriptor_closed(fd);
	return rc;
}

int fiber_forget_fd(int fd)
{
	fib_choice_fd(fd);
	if (fd < 0)
		return -EBADF;
	fib_descriptor_forget(fd);
	fib_descriptor_closed(fd);
	return 0;
}

int fiber_new_fd(int fd)
{
	fib_choice_fd(fd);
	if (fd < 0)
		return -EBADF;
	fib_descriptor_opened(fd);
	return 0;
}

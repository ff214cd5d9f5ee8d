/* SPDX-License-Identifier: MIT */
/* vector.c - scatter/gather reads and writes: as stream.c, with several buffers */
#include "choice.h"
#include "fault.h"
#include "order.h"
#include <errno.h>
#include <poll.h>

#include <fiber/io.h>

#include "base/compiler.h"
#include "io/descriptor.h"
#include "io/file.h"
#include "os/os.h"

ssize_t fiber_readv(int fd, const struct iovec *pieces, int count, int64_t deadline)
{
	struct fib_look look;
	struct iovec part;
	ssize_t fault;

	fib_choice_fd(fd);
	fault = fib_fault_vector(fd, &pieces, &count, &part, false);
	if (fault < 0)
		return fault;
	for (;;) {
		ssize_t n;
		int rc;

		fib_descriptor_look(fd, &look);
		n = fib_os_readv(fd, pieces, count);
		if (fib_unlikely(n <= FIB_OS_UNSURE))
			n = fib_file_read(fd, pieces, count, n, &look, deadline);
		fib_order_bytes_in(fd, n);
		if (n != -EAGAIN)
			return n;
		rc = fib_descriptor_wait(fd, POLLIN, &look, deadline);
		if (rc < 0)
			return rc;
	}
}

ssize_t fiber_writev(int fd, const struct iovec *pieces, int count, int64_t deadline)
{
	struct fib_look look;
	struct iovec part;
	ssize_t fault;

	fib_choice_fd(fd);
	fault = fib_fault_vector(fd, &pieces, &count, &part, true);
	if (fault < 0)
		return fault;
	fib_order_bytes_out(fd);
	for (;;) {
		ssize_t n;
		int rc;

		fib_descriptor_look(fd, &look);
		n = fib_os_writev(fd, pieces, count);
		if (fib_unlikely(n <= FIB_OS_UNSURE))
			n = fib_file_write(fd, pieces, count, n, &look, deadline);
		if (n != -EAGAIN)
			return n;
		rc = fib_descriptor_wait(fd, POLLOUT, &look, deadline);
		if (rc < 0)
			return rc;
	}
}

/* SPDX-License-Identifier: MIT */
/* 21_op.c - your own io_uring operations: open, read and close a file while the fiber is parked. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>

#include <fiber.h>

/* The entry is filled by hand here; liburing's io_uring_prep_openat() etc. do the same. */
static int open_file(const char *path)
{
	struct fiber_op *op;
	struct io_uring_sqe *sqe;
	int rc = fiber_op_prepare(&op, &sqe);

	if (rc < 0)
		return rc;
	sqe->opcode = IORING_OP_OPENAT;
	sqe->fd = AT_FDCWD;
	sqe->addr = (uint64_t)(uintptr_t)path;
	sqe->open_flags = O_RDONLY | O_CLOEXEC;
	return fiber_op_await(op, FIBER_FOREVER);
}

/* After the return, in any case, the kernel does not access buf any more. */
static int read_some(int fd, void *buf, unsigned size, int64_t deadline)
{
	struct fiber_op *op;
	struct io_uring_sqe *sqe;
	int rc = fiber_op_prepare(&op, &sqe);

	if (rc < 0)
		return rc;
	sqe->opcode = IORING_OP_READ;
	sqe->fd = fd;
	sqe->addr = (uint64_t)(uintptr_t)buf;
	sqe->len = size;
	return fiber_op_await(op, deadline);
}

static void closed(void *arg, int result)
{
	printf("%s: %d\n", (const char *)arg, result);
}

/* No fiber waits for this operation, so its memory and closed()'s argument are not on our stack. */
static int let_close(int fd)
{
	static char word[] = "closed";
	struct fiber_op *op;
	struct io_uring_sqe *sqe;
	int rc = fiber_op_prepare(&op, &sqe);

	if (rc < 0)
		return rc;
	sqe->opcode = IORING_OP_CLOSE;
	sqe->fd = fd;
	return fiber_op_detach(op, closed, word);
}

static void *start(void *arg)
{
	char text[6] = "";
	int fd = open_file("/proc/self/comm");

	if (fd == -ENOSYS || fd == -EPERM) {
		puts("no io_uring here");
		return arg;
	}
	printf("read: %d\n", read_some(fd, text, 5, fiber_after(INT64_C(1000000000))));
	printf("who: %s\n", text);
	let_close(fd);
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}

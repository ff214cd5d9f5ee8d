/* SPDX-License-Identifier: MIT */
/*
 * memory.c - read memory of this process that may be unmapped
 *
 * Wait objects and stacks of fibers may be unmapped while they are read. The kernel copies them and
 * returns EFAULT instead of raising a signal: with process_vm_readv on this process, or, if a
 * sandbox forbids that, with a write into a pipe and a read back.
 *
 * One pipe is kept for the caller that has taken it. Any other caller makes a pipe of its own:
 * another thread, a signal handler that interrupted the caller with the pipe, or a forked child,
 * which shares the pipe with its parent. No caller waits for another.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/features.h"

#define PIPE_PIECE 4096u /* always fits an empty pipe */

static int peek_by_call(uint64_t address, void *buf, size_t size)
{
	struct iovec to = {buf, size};
	struct iovec from = {(void *)(uintptr_t)address, size};
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

static void drain(int fd)
{
	char rest[256]; /* small: a dump promises to need little stack */

	while (read(fd, rest, sizeof rest) > 0)
		;
}

static int peek_by_pipe(const int fds[2], uint64_t address, void *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t n = size - done < PIPE_PIECE ? size - done : PIPE_PIECE;
		ssize_t in, out;

		/* A piece never crosses a page, so it is mapped as a whole or not at all. */
		n = n < PIPE_PIECE - (address + done) % PIPE_PIECE
			    ? n
			    : PIPE_PIECE - (size_t)((address + done) % PIPE_PIECE);
		/*
		 * Not libc's write(): a sanitizer would first check the bytes of a foreign stack
		 * and abort.
		 */
		in = syscall(SYS_write, fds[1], (const void *)(uintptr_t)(address + done), n);
		if (in < 0 && errno == EINTR)
			continue;
		if (in < 0)
			return -errno;
		out = read(fds[0], (char *)buf + done, (size_t)in);
		if (out != in) {
			drain(fds[0]);
			return -EIO;
		}
		done += (size_t)in;
	}
	return 0;
}

static struct {
	_Atomic uint32_t taken; /* A: memory.pipe */
	pid_t owner;		/* L taken: the process that made it; 0: none yet */
	int fds[2];		/* L taken */
} kept;

static int peek_by_own_pipe(uint64_t address, void *buf, size_t size)
{
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	rc = peek_by_pipe(fds, address, buf, size);
	close(fds[0]);
	close(fds[1]);
	return rc;
}

static int peek_by_kept_pipe(uint64_t address, void *buf, size_t size)
{
	pid_t self = getpid();

	if (kept.owner != self) {
		/* The parent's ends stay open: their numbers may mean other files by now. */
		if (pipe2(kept.fds, O_CLOEXEC | O_NONBLOCK) < 0)
			return -errno;
		kept.owner = self;
	}
	return peek_by_pipe(kept.fds, address, buf, size);
}

fib_noinline int fib_os_peek(uint64_t address, void *buf, size_t size)
{
	static _Atomic bool forbidden;
	int rc;

	if (!fib_load(&forbidden)) {
		rc = peek_by_call(address, buf, size);
		if (!fib_os_is_refusal(rc)) {
			fib_os_feature_works(FIB_OS_PROCESS_VM_READV);
			return rc;
		}
		fib_os_feature_lacks(FIB_OS_PROCESS_VM_READV);
		fib_store(&forbidden, true);
	}
	/* pairs: memory.pipe -- sees the pipe that the last user made, and left empty. */
	if (fib_swap(&kept.taken, 1))
		return peek_by_own_pipe(address, buf, size);
	rc = peek_by_kept_pipe(address, buf, size);
	/* label: memory.pipe */
	fib_store_release(&kept.taken, 0);
	return rc;
}

fib_noinline int64_t fib_os_high_water(uint64_t low, size_t size)
{
	unsigned char resident[256];
	size_t page = fib_os_page_size();
	uint64_t at = (low + page - 1) & ~(uint64_t)(page - 1);
	uint64_t end = low + size;

	while (at < end) {
		size_t n = (size_t)((end - at + page - 1) / page);
		size_t i;

		n = n < sizeof resident ? n : sizeof resident;
		if (mincore((void *)(uintptr_t)at, n * page, resident) < 0)
			return -errno;
		for (i = 0; i < n; i++)
			if (resident[i] & 1)
				return (int64_t)(end - (at + i * page));
		at += n * page;
	}
	return 0;
}

/* An entry of the page map has 64 bits; the highest: the page is in memory. */
#define PAGE_IS_THERE (UINT64_C(1) << 63)

fib_noinline int64_t fib_os_high_water_by(int pagemap, uint64_t low, size_t size)
{
	uint64_t entries[256];
	const size_t page = fib_os_page_size();
	uint64_t at = (low + page - 1) / page;
	const uint64_t end = low + size;

	while (at * page < end) {
		size_t n = (size_t)((end - at * page + page - 1) / page), i;
		ssize_t got;

		n = n < sizeof entries / sizeof *entries ? n : sizeof entries / sizeof *entries;
		got = fib_os_read_at(pagemap, entries, n * sizeof *entries, at * sizeof *entries);
		if (got < (ssize_t)sizeof *entries)
			return got < 0 ? got : -EIO;
		n = (size_t)got / sizeof *entries;
		for (i = 0; i < n; i++)
			if (entries[i] & PAGE_IS_THERE)
				return (int64_t)(end - (at + i) * page);
		at += n;
	}
	return 0;
}

fib_noinline int64_t fib_os_resident(int statm)
{
	char text[128], *second, *third;
	ssize_t n = fib_os_read_at(statm, text, sizeof text - 1, 0);
	uint64_t pages;

	if (n <= 0)
		return n < 0 ? n : -EIO;
	text[n] = 0;
	/* The fields, in pages: size, resident, ... */
	strtoull(text, &second, 10);
	pages = strtoull(second, &third, 10);
	return third == second ? -EIO : (int64_t)(pages * fib_os_page_size());
}

/* SPDX-License-Identifier: MIT */
/*
 * needs.c - try the system calls that have no substitute
 *
 * Most calls that a kernel lacks, or that a sandbox refuses, have a substitute or are only missed
 * in an answer. A few have none. Without futex or write no sleeping thread can be woken, and the
 * program would hang where it first waits. The C library aborts the program if futex is refused.
 * So these calls are tried before the runtime starts any thread.
 *
 * A thread cannot be tried: its start also calls what the C library needs.
 */
#include "os/needs.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"

/* Each returns 0, or a negative errno and the name of the call. */

static int try_futex(const char **call)
{
	uint32_t word = 0;

	*call = "futex";
	return syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0) < 0
		       ? -errno
		       : 0;
}

static int try_pages(const char **call)
{
	const size_t size = fib_os_page_size();
	int rc;
	void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*call = "mmap";
	if (at == MAP_FAILED)
		return -errno;
	*call = "mprotect";
	rc = mprotect(at, size, PROT_READ | PROT_WRITE) < 0 ? -errno : 0;
	munmap(at, size);
	return rc;
}

static int try_event(const char **call)
{
	const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t number = 1;
	int rc = 0;

	*call = "eventfd2";
	if (fd < 0)
		return -errno;
	*call = "write";
	if (write(fd, &number, sizeof number) < 0)
		rc = -errno;
	if (rc == 0) {
		*call = "read";
		rc = read(fd, &number, sizeof number) < 0 ? -errno : 0;
	}
	close(fd);
	return rc;
}

static int try_signals(const char **call)
{
	struct sigaction now;

	*call = "rt_sigaction";
	return sigaction(SIGSEGV, NULL, &now) < 0 ? -errno : 0;
}

static int (*const tries[])(const char **call) = {try_futex, try_pages, try_event, try_signals};

fib_noinline int fib_os_needs(const char **ret_call)
{
	static _Atomic int allowed;
	int rc, all = 1;
	size_t i;

	for (i = 0; i < fib_countof(tries) && !fib_load(&allowed); i++) {
		rc = tries[i](ret_call);
		if (fib_os_is_refusal(rc))
			return rc;
		all &= rc == 0;
	}
	fib_store(&allowed, all);
	return 0;
}

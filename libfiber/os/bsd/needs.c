/* SPDX-License-Identifier: MIT */
/*
 * needs.c - try the system calls that have no substitute, as os/linux/needs.c does
 *
 * The call behind a futex is not tried: the C library's own threads need it before this library runs.
 */
#include "os/needs.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/local.h"
#include "os/os.h"

/* Each returns 0, or a negative errno and the name of the call. */

static int try_pages(const char **call)
{
	const size_t size = fib_os_page_size();
	int rc;
	void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);

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
	const int fd = fib_os_event();

	*call = "kqueue";
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_signals(const char **call)
{
	struct sigaction now;

	*call = "sigaction";
	return sigaction(SIGSEGV, NULL, &now) < 0 ? -errno : 0;
}

static int (*const tries[])(const char **call) = {try_pages, try_event, try_signals};

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

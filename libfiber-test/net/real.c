/* SPDX-License-Identifier: MIT */
/* real.c - find the functions of the C library that net/ takes the place of */
#include "net/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "base/check.h"
#include "base/compiler.h"

#define ENTRY(name)                                    \
	{                                              \
#name, offsetof(struct fib_real, name) \
	}

static const struct {
	const char *name;
	size_t at;
} entries[] = {
	ENTRY(socket),	    ENTRY(socketpair),	   ENTRY(pipe),	       ENTRY(pipe2),
	ENTRY(eventfd),	    ENTRY(close),	   ENTRY(dup),	       ENTRY(dup2),
	ENTRY(dup3),	    ENTRY(fcntl),	   ENTRY(ioctl),       ENTRY(bind),
	ENTRY(listen),	    ENTRY(connect),	   ENTRY(accept4),     ENTRY(shutdown),
	ENTRY(getsockname), ENTRY(getpeername),	   ENTRY(getsockopt),  ENTRY(setsockopt),
	ENTRY(read),	    ENTRY(write),	   ENTRY(readv),       ENTRY(writev),
	ENTRY(recv),	    ENTRY(send),	   ENTRY(recvfrom),    ENTRY(sendto),
	ENTRY(recvmsg),	    ENTRY(sendmsg),	   ENTRY(recvmmsg),    ENTRY(sendmmsg),
	ENTRY(poll),	    ENTRY(ppoll),	   ENTRY(select),      ENTRY(pselect),
	ENTRY(epoll_ctl),   ENTRY(epoll_wait),	   ENTRY(epoll_pwait), ENTRY(getaddrinfo),
	ENTRY(getnameinfo), ENTRY(open),	   ENTRY(open64),      ENTRY(openat),
	ENTRY(openat64),    ENTRY(timerfd_create), ENTRY(__open_2),    ENTRY(__open64_2),
	ENTRY(__openat_2),  ENTRY(__openat64_2),
};

const struct fib_real *fib_real(void)
{
	static struct fib_real real;
	static _Atomic int found;
	unsigned i;
	void *fn;

	if (fib_likely(fib_load_acquire(&found))) /* pairs: real.found */
		return &real;
	/* Threads that come here at the same time store the same values. */
	for (i = 0; i < fib_countof(entries); i++) {
		fn = dlsym(RTLD_NEXT, entries[i].name);
		fib_check(fn);
		memcpy((char *)&real + entries[i].at, &fn, sizeof fn);
	}
	/* label: real.found -- a thread that sees it sees the functions. */
	fib_store_release(&found, 1);
	return &real;
}

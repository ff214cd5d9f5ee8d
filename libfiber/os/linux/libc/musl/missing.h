/* SPDX-License-Identifier: MIT */
/*
 * missing.h - names of glibc that musl 1.2.3 does not have
 *
 * `make LIBC=musl` includes this file before each source file. The system calls are made directly,
 * and a kernel that lacks one fails with ENOSYS, as glibc's functions do.
 */
#ifndef FIB_OS_LINUX_LIBC_MISSING_H
#define FIB_OS_LINUX_LIBC_MISSING_H

/* Assembly includes this file too. */
#ifndef __ASSEMBLER__

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* Declared here, because <unistd.h> has names that files of libfiber use for functions of their own. */
long syscall(long number, ...);

struct iovec;
struct timespec;
struct epoll_event;

#define RWF_NOWAIT 8

/* sysconf() fails, so the alternate signal stack has its least size. */
#define _SC_SIGSTKSZ (-1)

#define strerrordesc_np strerror

/* A weak reference (loaded.c) that nothing defines: musl never unloads a library. */
#define RTLD_DL_LINKMAP 2
int dladdr1(const void *address, Dl_info *info, void **extra, int flags);

static inline ssize_t preadv2(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	return syscall(SYS_preadv2, fd, v, (long)count, (long)offset, 0l, (long)flags);
}

static inline ssize_t pwritev2(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	return syscall(SYS_pwritev2, fd, v, (long)count, (long)offset, 0l, (long)flags);
}

static inline int epoll_pwait2(int fd, struct epoll_event *events, int max,
			       const struct timespec *timeout, const void *mask)
{
	return (int)syscall(SYS_epoll_pwait2, fd, events, (long)max, timeout, mask, 8l);
}

#endif
#endif

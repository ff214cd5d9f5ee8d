/* SPDX-License-Identifier: MIT */
/*
 * raw.c - fpx_system: system calls, until the loader has been asked
 *
 * A static program has no second definition of read(2) that could be called. So the system calls
 * are made here. Some calls have no system call of their own on every architecture; they use a
 * wider one. None is a cancellation point.
 *
 * Some functions of the C library are no system calls. In a static program this library does not
 * take their names, and the name is the C library's. In the shared library the name is the
 * library's own: a constructor that runs before that of the library would call it without end. So
 * the loader is asked at the first call.
 *
 * The definition of a name that comes after this library in the order of the loader is the system's,
 * or that of another library that takes the same names.
 */
#include "system/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel's signal sets have 64 signals; the C library's type is larger. */
#define KERNEL_SIGSET 8

static ssize_t raw_read(int fd, void *buf, size_t size)
{
	return syscall(SYS_read, fd, buf, size);
}

static ssize_t raw_write(int fd, const void *buf, size_t size)
{
	return syscall(SYS_write, fd, buf, size);
}

static ssize_t raw_readv(int fd, const struct iovec *pieces, int count)
{
	return syscall(SYS_readv, fd, pieces, count);
}

static ssize_t raw_writev(int fd, const struct iovec *pieces, int count)
{
	return syscall(SYS_writev, fd, pieces, count);
}

static ssize_t raw_pread(int fd, void *buf, size_t size, off_t offset)
{
	return syscall(SYS_pread64, fd, buf, size, offset);
}

static ssize_t raw_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	return syscall(SYS_pwrite64, fd, buf, size, offset);
}

/* The kernel takes an offset in two registers of 32 bits; one of 64 bits has all of it in the first. */
static ssize_t raw_preadv2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	return syscall(SYS_preadv2, fd, pieces, count, offset, 0, flags);
}

static ssize_t raw_pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	return syscall(SYS_pwritev2, fd, pieces, count, offset, 0, flags);
}

static ssize_t raw_preadv(int fd, const struct iovec *pieces, int count, off_t offset)
{
	return syscall(SYS_preadv, fd, pieces, count, offset, 0);
}

static ssize_t raw_pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
	return syscall(SYS_pwritev, fd, pieces, count, offset, 0);
}

static ssize_t raw_splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
			  unsigned flags)
{
	return syscall(SYS_splice, in, in_offset, out, out_offset, size, flags);
}

static ssize_t raw_sendfile(int out, int in, off_t *offset, size_t size)
{
	return syscall(SYS_sendfile, out, in, offset, size);
}

static ssize_t raw_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
			    socklen_t *addrlen)
{
	return syscall(SYS_recvfrom, fd, buf, size, flags, addr, addrlen);
}

static ssize_t raw_recv(int fd, void *buf, size_t size, int flags)
{
	return raw_recvfrom(fd, buf, size, flags, NULL, NULL);
}

static ssize_t raw_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return syscall(SYS_recvmsg, fd, msg, flags);
}

static ssize_t raw_sendto(int fd, const void *buf, size_t size, int flags,
			  const struct sockaddr *addr, socklen_t addrlen)
{
	return syscall(SYS_sendto, fd, buf, size, flags, addr, addrlen);
}

static ssize_t raw_send(int fd, const void *buf, size_t size, int flags)
{
	return raw_sendto(fd, buf, size, flags, NULL, 0);
}

static ssize_t raw_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return syscall(SYS_sendmsg, fd, msg, flags);
}

static int raw_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
			struct timespec *timeout)
{
	return (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}

static int raw_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	return (int)syscall(SYS_sendmmsg, fd, messages, count, flags);
}

static int raw_socket(int domain, int type, int protocol)
{
	return (int)syscall(SYS_socket, domain, type, protocol);
}

static int raw_accept4(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	return (int)syscall(SYS_accept4, fd, addr, addrlen, flags);
}

static int raw_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	return raw_accept4(fd, addr, addrlen, 0);
}

static int raw_connect(int fd, const struct sockaddr *addr, socklen_t addrlen)
{
	return (int)syscall(SYS_connect, fd, addr, addrlen);
}

static int raw_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static int raw_dup3(int fd, int newfd, int flags)
{
	return (int)syscall(SYS_dup3, fd, newfd, flags);
}

static int raw_fcntl(int fd, int command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	return (int)syscall(SYS_fcntl, fd, command, arg);
}

/* The caller passes a mode, whatever the flags are. */
static int raw_openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static int raw_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return raw_openat(AT_FDCWD, path, flags, mode);
}

static int raw_creat(const char *path, mode_t mode)
{
	return raw_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

static int raw_fsync(int fd)
{
	return (int)syscall(SYS_fsync, fd);
}

static int raw_fdatasync(int fd)
{
	return (int)syscall(SYS_fdatasync, fd);
}

static int raw_sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags)
{
#ifdef SYS_sync_file_range
	return (int)syscall(SYS_sync_file_range, fd, offset, size, flags);
#else /* 64-bit PowerPC */
	return (int)syscall(SYS_sync_file_range2, fd, flags, offset, size);
#endif
}

static int raw_flock(int fd, int operation)
{
	return (int)syscall(SYS_flock, fd, operation);
}

/* F_TEST: a lock of this process is no obstacle. */
static int test_lock(int fd, struct flock *lock)
{
	lock->l_type = F_RDLCK;
	if (raw_fcntl(fd, F_GETLK, lock) < 0)
		return -1;
	if (lock->l_type == F_UNLCK || lock->l_pid == getpid())
		return 0;
	errno = EACCES;
	return -1;
}

static int raw_lockf(int fd, int command, off_t size)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size};

	switch (command) {
	case F_TEST:
		return test_lock(fd, &lock);
	case F_ULOCK:
		lock.l_type = F_UNLCK;
		return raw_fcntl(fd, F_SETLK, &lock);
	case F_LOCK:
		return raw_fcntl(fd, F_SETLKW, &lock);
	case F_TLOCK:
		return raw_fcntl(fd, F_SETLK, &lock);
	default:
		errno = EINVAL;
		return -1;
	}
}

static int raw_dup2(int fd, int newfd)
{
	if (fd != newfd)
		return raw_dup3(fd, newfd, 0);
	return raw_fcntl(fd, F_GETFD) < 0 ? -1 : newfd;
}

/* The system writes the time that is left. */
static int raw_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		     const sigset_t *mask)
{
	struct timespec t, *limit = NULL;

	if (timeout) {
		t = *timeout;
		limit = &t;
	}
	return (int)syscall(SYS_ppoll, fds, n, limit, mask, KERNEL_SIGSET);
}

static int raw_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	const struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};

	return raw_ppoll(fds, n, timeout < 0 ? NULL : &t, NULL);
}

static int select_until(int n, fd_set *in, fd_set *out, fd_set *rare, struct timespec *limit,
			const sigset_t *mask)
{
	struct {
		const sigset_t *mask;
		size_t size;
	} signals = {mask, KERNEL_SIGSET};

	return (int)syscall(SYS_pselect6, n, in, out, rare, limit, mask ? &signals : NULL);
}

static int raw_pselect(int n, fd_set *in, fd_set *out, fd_set *rare, const struct timespec *timeout,
		       const sigset_t *mask)
{
	struct timespec t, *limit = NULL;

	if (timeout) {
		t = *timeout;
		limit = &t;
	}
	return select_until(n, in, out, rare, limit, mask);
}

static int raw_select(int n, fd_set *in, fd_set *out, fd_set *rare, struct timeval *timeout)
{
	struct timespec t, *limit = NULL;
	int rc;

	if (timeout) {
		t = (struct timespec){timeout->tv_sec + timeout->tv_usec / 1000000,
				      timeout->tv_usec % 1000000 * 1000};
		limit = &t;
	}
	rc = select_until(n, in, out, rare, limit, NULL);
	if (timeout)
		*timeout = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
	return rc;
}

static int raw_epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
			   const sigset_t *mask)
{
	return (int)syscall(SYS_epoll_pwait, fd, events, max, timeout, mask, KERNEL_SIGSET);
}

static int raw_epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	return raw_epoll_pwait(fd, events, max, timeout, NULL);
}

/* Returns a positive error, as POSIX says. */
static int raw_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			       struct timespec *left)
{
	const int before = errno;
	int rc = (int)syscall(SYS_clock_nanosleep, clock, flags, time, left);

	if (rc < 0) {
		rc = errno;
		errno = before;
	}
	return rc;
}

static int raw_nanosleep(const struct timespec *time, struct timespec *left)
{
	return (int)syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, time, left);
}

static int raw_usleep(useconds_t us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000L};

	return raw_nanosleep(&t, NULL);
}

static unsigned raw_sleep(unsigned seconds)
{
	struct timespec t = {seconds, 0};

	return raw_nanosleep(&t, &t) < 0 ? (unsigned)t.tv_sec : 0;
}

static int raw_sched_yield(void)
{
	return (int)syscall(SYS_sched_yield);
}

static pid_t raw_waitpid(pid_t pid, int *ret_status, int options)
{
	return (pid_t)syscall(SYS_wait4, pid, ret_status, options, NULL);
}

static pid_t raw_wait(int *ret_status)
{
	return raw_waitpid(-1, ret_status, 0);
}

static int raw_close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

/* A kernel before Linux 5.9 has no close_range(2). */
static void raw_closefrom(int low)
{
	struct rlimit limit;
	rlim_t fd;

	if (low < 0)
		low = 0;
	if (raw_close_range((unsigned)low, ~0U, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	for (fd = (rlim_t)low; fd < limit.rlim_cur && fd < INT_MAX; fd++)
		raw_close((int)fd);
}

/* -- functions of the C library -- */

static int early_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
			     struct addrinfo **ret)
{
	fpx_find_calls();
	return fpx_system.getaddrinfo == early_getaddrinfo
		       ? getaddrinfo(node, service, hints, ret)
		       : fpx_system.getaddrinfo(node, service, hints, ret);
}

static int early_getnameinfo(const struct sockaddr *addr, socklen_t addrlen, char *host,
			     socklen_t hostlen, char *service, socklen_t servicelen, int flags)
{
	fpx_find_calls();
	return fpx_system.getnameinfo == early_getnameinfo
		       ? getnameinfo(addr, addrlen, host, hostlen, service, servicelen, flags)
		       : fpx_system.getnameinfo(addr, addrlen, host, hostlen, service, servicelen,
						flags);
}

static int early_gethostbyname_r(const char *name, struct hostent *buffer, char *text, size_t size,
				 struct hostent **ret, int *ret_error)
{
	fpx_find_calls();
	return fpx_system.gethostbyname_r == early_gethostbyname_r
		       ? gethostbyname_r(name, buffer, text, size, ret, ret_error)
		       : fpx_system.gethostbyname_r(name, buffer, text, size, ret, ret_error);
}

static int early_fclose(FILE *stream)
{
	fpx_find_calls();
	if (fpx_system.fclose == early_fclose)
		return fclose(stream);
	return fpx_system.fclose(stream);
}

static FILE *early_freopen(const char *path, const char *mode, FILE *stream)
{
	fpx_find_calls();
	return fpx_system.freopen == early_freopen ? freopen(path, mode, stream)
						   : fpx_system.freopen(path, mode, stream);
}

/* fpx_find_calls() replaces them where there is a loader. */
struct fpx_system fpx_system = {
	.read = raw_read,
	.write = raw_write,
	.readv = raw_readv,
	.writev = raw_writev,
	.pread = raw_pread,
	.pwrite = raw_pwrite,
	.preadv = raw_preadv,
	.pwritev = raw_pwritev,
	.preadv2 = raw_preadv2,
	.pwritev2 = raw_pwritev2,
	.sendfile = raw_sendfile,
	.splice = raw_splice,
	.recv = raw_recv,
	.recvfrom = raw_recvfrom,
	.recvmsg = raw_recvmsg,
	.send = raw_send,
	.sendto = raw_sendto,
	.sendmsg = raw_sendmsg,
	.recvmmsg = raw_recvmmsg,
	.sendmmsg = raw_sendmmsg,
	.socket = raw_socket,
	.accept = raw_accept,
	.accept4 = raw_accept4,
	.connect = raw_connect,
	.open = raw_open,
	.openat = raw_openat,
	.creat = raw_creat,
	.fsync = raw_fsync,
	.fdatasync = raw_fdatasync,
	.sync_file_range = raw_sync_file_range,
	.flock = raw_flock,
	.lockf = raw_lockf,
	.close = raw_close,
	.dup2 = raw_dup2,
	.dup3 = raw_dup3,
	.fcntl = raw_fcntl,
	.poll = raw_poll,
	.ppoll = raw_ppoll,
	.select = raw_select,
	.pselect = raw_pselect,
	.epoll_wait = raw_epoll_wait,
	.epoll_pwait = raw_epoll_pwait,
	.nanosleep = raw_nanosleep,
	.clock_nanosleep = raw_clock_nanosleep,
	.usleep = raw_usleep,
	.sleep = raw_sleep,
	.sched_yield = raw_sched_yield,
	.waitpid = raw_waitpid,
	.wait = raw_wait,
	.getaddrinfo = early_getaddrinfo,
	.getnameinfo = early_getnameinfo,
	.gethostbyname_r = early_gethostbyname_r,
	.fclose = early_fclose,
	.freopen = early_freopen,
	.close_range = raw_close_range,
	.closefrom = raw_closefrom,
};

#define CALL(name)                                       \
	{                                                \
		offsetof(struct fpx_system, name), #name \
	}

static const struct {
	size_t at;
	const char *name;
} calls[] = {
	CALL(read),	   CALL(write),
	CALL(readv),	   CALL(writev),
	CALL(pread),	   CALL(pwrite),
	CALL(preadv),	   CALL(pwritev),
	CALL(preadv2),	   CALL(pwritev2),
	CALL(sendfile),	   CALL(splice),
	CALL(recv),	   CALL(socket),
	CALL(recvfrom),	   CALL(recvmsg),
	CALL(send),	   CALL(sendto),
	CALL(sendmsg),	   CALL(recvmmsg),
	CALL(sendmmsg),	   CALL(accept),
	CALL(accept4),	   CALL(connect),
	CALL(open),	   CALL(openat),
	CALL(creat),	   CALL(fsync),
	CALL(fdatasync),   CALL(sync_file_range),
	CALL(flock),	   CALL(lockf),
	CALL(close),	   CALL(dup2),
	CALL(dup3),	   CALL(fcntl),
	CALL(poll),	   CALL(ppoll),
	CALL(select),	   CALL(pselect),
	CALL(epoll_wait),  CALL(epoll_pwait),
	CALL(nanosleep),   CALL(clock_nanosleep),
	CALL(usleep),	   CALL(sleep),
	CALL(sched_yield), CALL(waitpid),
	CALL(wait),	   CALL(getaddrinfo),
	CALL(getnameinfo), CALL(gethostbyname_r),
	CALL(fclose),	   CALL(freopen),
	CALL(close_range), CALL(closefrom),
};

static int asks_for_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	int i;

	(void)size;
	(void)arg;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			return 1;
	return 0;
}

/*
 * Every dynamic program has a PT_INTERP, in its own file or in the
 * C library's. AT_BASE does not tell: it is 0 where the loader was called with the program's name.
 */
bool fpx_is_dynamic(void)
{
	return dl_iterate_phdr(asks_for_loader, NULL);
}

bool fpx_find_calls(void)
{
	size_t i;

	if (!fpx_is_dynamic())
		return false;
	for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		void *call = dlsym(RTLD_NEXT, calls[i].name);

		if (call)
			memcpy((char *)&fpx_system + calls[i].at, &call, sizeof call);
	}
	return true;
}

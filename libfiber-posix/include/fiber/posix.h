/* SPDX-License-Identifier: MIT */
/*
 * posix.h - library libfiber-posix: blocking calls of POSIX park the fiber
 *
 * A program that links the library needs no header: read(2), poll(2), nanosleep(2) and others park
 * when a fiber calls them, also inside other libraries. The functions below do the same by another
 * name. They are for static programs and for code that wants to say what it does.
 *
 * Each function has the arguments, the result and the errno of the call that it is named after. In
 * a plain thread it is that call. In a fiber it parks where the call would block the thread. A
 * descriptor with O_NONBLOCK gives EAGAIN and nothing parks. ECANCELED: the fiber is cancelled.
 * EINTR is not returned in a fiber. See libfiber-posix(7). <fiber.h> does not include this header.
 */
#ifndef FIBER_POSIX_H
#define FIBER_POSIX_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct timespec;
struct addrinfo; /* from <netdb.h> */
struct hostent;
struct epoll_event; /* from <sys/epoll.h> */
struct mmsghdr;	    /* from <sys/socket.h>, with _GNU_SOURCE */

/*
 * Let the calls of the calling fiber block its carrier (true) or park (false, the default). For a
 * stretch that must not be left: a lock of another library is held, or a signal mask is changed.
 * Acts on the calls of this library only. Returns the earlier setting. No effect outside a fiber.
 */
FIBER_API bool fiber_posix_blocking(bool blocks);

/* Return whether calls of the program reach the library: it is linked before the C library. */
FIBER_API bool fiber_posix_linked(void);

/* -- bytes and messages -- */
FIBER_API ssize_t fiber_posix_read(int fd, void *buf, size_t size);
FIBER_API ssize_t fiber_posix_write(int fd, const void *buf, size_t size);
FIBER_API ssize_t fiber_posix_readv(int fd, const struct iovec *pieces, int count);
FIBER_API ssize_t fiber_posix_writev(int fd, const struct iovec *pieces, int count);
FIBER_API ssize_t fiber_posix_pread(int fd, void *buf, size_t size, off_t offset);
FIBER_API ssize_t fiber_posix_pwrite(int fd, const void *buf, size_t size, off_t offset);
FIBER_API ssize_t fiber_posix_preadv(int fd, const struct iovec *pieces, int count, off_t offset);
FIBER_API ssize_t fiber_posix_pwritev(int fd, const struct iovec *pieces, int count, off_t offset);
FIBER_API ssize_t fiber_posix_preadv2(int fd, const struct iovec *pieces, int count, off_t offset,
				      int flags);
FIBER_API ssize_t fiber_posix_pwritev2(int fd, const struct iovec *pieces, int count, off_t offset,
				       int flags);
FIBER_API ssize_t fiber_posix_sendfile(int out, int in, off_t *offset, size_t size);
FIBER_API ssize_t fiber_posix_splice(int in, int64_t *in_offset, int out, int64_t *out_offset,
				     size_t size, unsigned flags);
FIBER_API ssize_t fiber_posix_recv(int fd, void *buf, size_t size, int flags);
FIBER_API ssize_t fiber_posix_recvfrom(int fd, void *buf, size_t size, int flags,
				       struct sockaddr *addr, socklen_t *addrlen);
FIBER_API ssize_t fiber_posix_recvmsg(int fd, struct msghdr *msg, int flags);
FIBER_API ssize_t fiber_posix_send(int fd, const void *buf, size_t size, int flags);
FIBER_API ssize_t fiber_posix_sendto(int fd, const void *buf, size_t size, int flags,
				     const struct sockaddr *addr, socklen_t addrlen);
FIBER_API ssize_t fiber_posix_sendmsg(int fd, const struct msghdr *msg, int flags);
FIBER_API int fiber_posix_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
				   struct timespec *timeout);
FIBER_API int fiber_posix_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);

/* -- connections and descriptors -- */
FIBER_API int fiber_posix_accept(int fd, struct sockaddr *addr, socklen_t *addrlen);
FIBER_API int fiber_posix_accept4(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags);
FIBER_API int fiber_posix_connect(int fd, const struct sockaddr *addr, socklen_t addrlen);
FIBER_API int fiber_posix_close(int fd);
FIBER_API int fiber_posix_dup2(int fd, int newfd);
FIBER_API int fiber_posix_dup3(int fd, int newfd, int flags);
/* F_SETLKW and F_OFD_SETLKW park. */
FIBER_API int fiber_posix_fcntl(int fd, int command, ...);

/* -- files -- */
FIBER_API int fiber_posix_open(const char *path, int flags, ...);
FIBER_API int fiber_posix_openat(int dir, const char *path, int flags, ...);
FIBER_API int fiber_posix_creat(const char *path, mode_t mode);
FIBER_API int fiber_posix_fsync(int fd);
FIBER_API int fiber_posix_fdatasync(int fd);
FIBER_API int fiber_posix_sync_file_range(int fd, int64_t offset, int64_t size, unsigned flags);
FIBER_API int fiber_posix_flock(int fd, int operation);
FIBER_API int fiber_posix_lockf(int fd, int command, off_t size);

/* -- stdio: in a fiber a stream's lock is the fiber's -- */
FIBER_API size_t fiber_posix_fread(void *to, size_t size, size_t n, FILE *stream);
FIBER_API size_t fiber_posix_fwrite(const void *from, size_t size, size_t n, FILE *stream);
FIBER_API char *fiber_posix_fgets(char *to, int size, FILE *stream);
FIBER_API int fiber_posix_fputs(const char *text, FILE *stream);
FIBER_API int fiber_posix_puts(const char *text);
FIBER_API int fiber_posix_fgetc(FILE *stream);
FIBER_API int fiber_posix_fputc(int c, FILE *stream);
FIBER_API int fiber_posix_ungetc(int c, FILE *stream);
FIBER_API ssize_t fiber_posix_getline(char **line, size_t *size, FILE *stream);
FIBER_API ssize_t fiber_posix_getdelim(char **line, size_t *size, int delim, FILE *stream);
/* NULL: all streams, on another thread. */
FIBER_API int fiber_posix_fflush(FILE *stream);
FIBER_API int fiber_posix_fclose(FILE *stream);
FIBER_API FILE *fiber_posix_freopen(const char *path, const char *mode, FILE *stream);
FIBER_API int fiber_posix_pclose(FILE *stream);
FIBER_API int fiber_posix_fseeko(FILE *stream, off_t at, int whence);
FIBER_API off_t fiber_posix_ftello(FILE *stream);
FIBER_API void fiber_posix_rewind(FILE *stream);
FIBER_API int fiber_posix_setvbuf(FILE *stream, char *buffer, int mode, size_t size);
FIBER_API int fiber_posix_feof(FILE *stream);
FIBER_API int fiber_posix_ferror(FILE *stream);
FIBER_API void fiber_posix_clearerr(FILE *stream);
FIBER_API void fiber_posix_flockfile(FILE *stream);
FIBER_API int fiber_posix_ftrylockfile(FILE *stream);
FIBER_API void fiber_posix_funlockfile(FILE *stream);
FIBER_API int fiber_posix_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
FIBER_API int fiber_posix_fprintf(FILE *stream, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
FIBER_API int fiber_posix_dprintf(int fd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
FIBER_API int fiber_posix_vprintf(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));
FIBER_API int fiber_posix_vfprintf(FILE *stream, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
FIBER_API int fiber_posix_vdprintf(int fd, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
FIBER_API int fiber_posix_scanf(const char *format, ...) __attribute__((format(scanf, 1, 2)));
FIBER_API int fiber_posix_fscanf(FILE *stream, const char *format, ...)
	__attribute__((format(scanf, 2, 3)));
FIBER_API int fiber_posix_vscanf(const char *format, va_list args)
	__attribute__((format(scanf, 1, 0)));
FIBER_API int fiber_posix_vfscanf(FILE *stream, const char *format, va_list args)
	__attribute__((format(scanf, 2, 0)));

/* -- readiness -- */
FIBER_API int fiber_posix_poll(struct pollfd *fds, nfds_t n, int timeout);
FIBER_API int fiber_posix_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
				const sigset_t *mask);
FIBER_API int fiber_posix_select(int n, fd_set *in, fd_set *out, fd_set *rare,
				 struct timeval *timeout);
FIBER_API int fiber_posix_pselect(int n, fd_set *in, fd_set *out, fd_set *rare,
				  const struct timespec *timeout, const sigset_t *mask);
FIBER_API int fiber_posix_epoll_wait(int fd, struct epoll_event *events, int max, int timeout);
FIBER_API int fiber_posix_epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
				      const sigset_t *mask);

/* -- time -- */
FIBER_API int fiber_posix_nanosleep(const struct timespec *time, struct timespec *left);
FIBER_API int fiber_posix_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
					  struct timespec *left);
FIBER_API int fiber_posix_usleep(unsigned us);
FIBER_API unsigned fiber_posix_sleep(unsigned seconds);
FIBER_API int fiber_posix_sched_yield(void);

/* -- names and processes -- */
FIBER_API int fiber_posix_getaddrinfo(const char *node, const char *service,
				      const struct addrinfo *hints, struct addrinfo **ret);
FIBER_API int fiber_posix_getnameinfo(const struct sockaddr *addr, socklen_t addrlen, char *host,
				      socklen_t hostlen, char *service, socklen_t servicelen,
				      int flags);
FIBER_API int fiber_posix_gethostbyname_r(const char *name, struct hostent *buffer, char *text,
					  size_t size, struct hostent **ret, int *ret_error);
FIBER_API pid_t fiber_posix_waitpid(pid_t pid, int *ret_status, int options);
FIBER_API pid_t fiber_posix_wait(int *ret_status);

/* -- locks and other objects of threads; fibers and plain threads may use the same object -- */
FIBER_API int fiber_posix_pthread_mutex_lock(pthread_mutex_t *mutex);
FIBER_API int fiber_posix_pthread_mutex_trylock(pthread_mutex_t *mutex);
FIBER_API int fiber_posix_pthread_mutex_timedlock(pthread_mutex_t *mutex,
						  const struct timespec *at);
FIBER_API int fiber_posix_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
						  const struct timespec *at);
FIBER_API int fiber_posix_pthread_mutex_unlock(pthread_mutex_t *mutex);
FIBER_API int fiber_posix_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
FIBER_API int fiber_posix_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
						 const struct timespec *at);
FIBER_API int fiber_posix_pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
						 clockid_t clock, const struct timespec *at);
FIBER_API int fiber_posix_pthread_cond_signal(pthread_cond_t *cond);
FIBER_API int fiber_posix_pthread_cond_broadcast(pthread_cond_t *cond);
FIBER_API int fiber_posix_sem_wait(sem_t *sem);
FIBER_API int fiber_posix_sem_timedwait(sem_t *sem, const struct timespec *at);
FIBER_API int fiber_posix_sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *at);
/* Also in a signal handler. */
FIBER_API int fiber_posix_sem_post(sem_t *sem);
FIBER_API int fiber_posix_pthread_once(pthread_once_t *once, void (*call)(void));
FIBER_API int fiber_posix_pthread_join(pthread_t thread, void **ret);

/* These types are in <pthread.h> unless strict C is asked for. */
#ifdef PTHREAD_RWLOCK_INITIALIZER
FIBER_API int fiber_posix_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
FIBER_API int fiber_posix_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
FIBER_API int fiber_posix_pthread_rwlock_timedrdlock(pthread_rwlock_t *lock,
						     const struct timespec *at);
FIBER_API int fiber_posix_pthread_rwlock_timedwrlock(pthread_rwlock_t *lock,
						     const struct timespec *at);
FIBER_API int fiber_posix_pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
						     const struct timespec *at);
FIBER_API int fiber_posix_pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
						     const struct timespec *at);
FIBER_API int fiber_posix_pthread_rwlock_unlock(pthread_rwlock_t *lock);
#endif
#ifdef PTHREAD_BARRIER_SERIAL_THREAD
FIBER_API int fiber_posix_pthread_barrier_init(pthread_barrier_t *barrier,
					       const pthread_barrierattr_t *attr, unsigned count);
FIBER_API int fiber_posix_pthread_barrier_wait(pthread_barrier_t *barrier);
FIBER_API int fiber_posix_pthread_barrier_destroy(pthread_barrier_t *barrier);
FIBER_API int fiber_posix_pthread_spin_lock(pthread_spinlock_t *lock);
#endif

FIBER_END_DECLS

#endif

/* SPDX-License-Identifier: MIT */
/*
 * native.h - the C library's locks and other objects of threads, behind the names that this library
 * takes
 *
 * X(result, name, parameters, arguments): a call of the C library.
 */
#ifndef FPX_SYSTEM_NATIVE_H
#define FPX_SYSTEM_NATIVE_H

#include <grp.h>
#include <locale.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <syslog.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define FPX_NATIVE_FAST(X)                                                                        \
	X(int, pthread_mutex_lock, (pthread_mutex_t *a), (a))                                      \
	X(int, pthread_mutex_unlock, (pthread_mutex_t *a), (a))
#define FPX_NATIVE_OTHERS(X)                                                                      \
	X(int, pthread_mutex_trylock, (pthread_mutex_t *a), (a))                                   \
	X(int, pthread_mutex_timedlock, (pthread_mutex_t *a, const struct timespec *b), (a, b))    \
	X(int, pthread_mutex_clocklock, (pthread_mutex_t *a, clockid_t b,                          \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_cond_wait, (pthread_cond_t *a, pthread_mutex_t *b), (a, b))                 \
	X(int, pthread_cond_timedwait, (pthread_cond_t *a, pthread_mutex_t *b,                     \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_cond_clockwait, (pthread_cond_t *a, pthread_mutex_t *b, clockid_t c,        \
		const struct timespec *d), (a, b, c, d))                                           \
	X(int, pthread_cond_signal, (pthread_cond_t *a), (a))                                      \
	X(int, pthread_cond_broadcast, (pthread_cond_t *a), (a))                                   \
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *a), (a))                                  \
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *a), (a))                                  \
	X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *a, const struct timespec *b), (a, b))\
	X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *a, const struct timespec *b), (a, b))\
	X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *a, clockid_t b,                      \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *a, clockid_t b,                      \
		const struct timespec *c), (a, b, c))                                              \
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t *a), (a))                                  \
	X(int, sem_wait, (sem_t *a), (a))                                                          \
	X(int, sem_timedwait, (sem_t *a, const struct timespec *b), (a, b))                        \
	X(int, sem_clockwait, (sem_t *a, clockid_t b, const struct timespec *c), (a, b, c))        \
	X(int, sem_post, (sem_t *a), (a))                                                          \
	X(int, pthread_once, (pthread_once_t *a, void (*b)(void)), (a, b))                         \
	X(int, pthread_barrier_init, (pthread_barrier_t *a, const pthread_barrierattr_t *b,        \
		unsigned c), (a, b, c))                                                            \
	X(int, pthread_barrier_wait, (pthread_barrier_t *a), (a))                                  \
	X(int, pthread_barrier_destroy, (pthread_barrier_t *a), (a))                               \
	X(int, pthread_spin_lock, (pthread_spinlock_t *a), (a))                                    \
	X(int, pthread_join, (pthread_t a, void **b), (a, b))
/* Those that concern a thread that may be a fiber. */
#define FPX_NATIVE_THREADS(X)                                                                     \
	X(int, pthread_create, (pthread_t *a, const pthread_attr_t *b, void *(*c)(void *),         \
		void *d), (a, b, c, d))                                                            \
	X(int, pthread_tryjoin_np, (pthread_t a, void **b), (a, b))                                \
	X(int, pthread_timedjoin_np, (pthread_t a, void **b, const struct timespec *c), (a, b, c)) \
	X(int, pthread_clockjoin_np, (pthread_t a, void **b, clockid_t c,                          \
		const struct timespec *d), (a, b, c, d))                                           \
	X(int, pthread_detach, (pthread_t a), (a))                                                 \
	X(int, pthread_cancel, (pthread_t a), (a))                                                 \
	X(int, pthread_setcancelstate, (int a, int *b), (a, b))                                    \
	X(int, pthread_key_create, (pthread_key_t *a, void (*b)(void *)), (a, b))                  \
	X(int, pthread_key_delete, (pthread_key_t a), (a))                                         \
	X(void *, pthread_getspecific, (pthread_key_t a), (a))                                     \
	X(int, pthread_setspecific, (pthread_key_t a, const void *b), (a, b))                      \
	X(int, pthread_setname_np, (pthread_t a, const char *b), (a, b))                           \
	X(int, pthread_getname_np, (pthread_t a, char *b, size_t c), (a, b, c))                    \
	X(int, pthread_getattr_np, (pthread_t a, pthread_attr_t *b), (a, b))                       \
	X(int, pthread_kill, (pthread_t a, int b), (a, b))                                         \
	X(int, pthread_sigqueue, (pthread_t a, int b, const union sigval c), (a, b, c))            \
	X(pthread_t, pthread_self, (void), ())                                                     \
	X(locale_t, uselocale, (locale_t a), (a))                                                  \
	X(int, pthread_getcpuclockid, (pthread_t a, clockid_t *b), (a, b))                         \
	X(int, pthread_setaffinity_np, (pthread_t a, size_t b, const cpu_set_t *c), (a, b, c))     \
	X(int, pthread_getaffinity_np, (pthread_t a, size_t b, cpu_set_t *c), (a, b, c))           \
	X(int, pthread_setschedparam, (pthread_t a, int b, const struct sched_param *c), (a, b, c))\
	X(int, pthread_getschedparam, (pthread_t a, int *b, struct sched_param *c), (a, b, c))     \
	X(int, pthread_setschedprio, (pthread_t a, int b), (a, b))                                 \
	X(int, thrd_create, (thrd_t *a, thrd_start_t b, void *c), (a, b, c))                       \
	X(int, pthread_sigmask, (int a, const sigset_t *b, sigset_t *c), (a, b, c))                \
	X(int, sigprocmask, (int a, const sigset_t *b, sigset_t *c), (a, b, c))                    \
	X(int, sigaction, (int a, const struct sigaction *b, struct sigaction *c), (a, b, c))       \
	X(__sighandler_t, signal, (int a, __sighandler_t b), (a, b))                               \
	X(__sighandler_t, __sysv_signal, (int a, __sighandler_t b), (a, b))                        \
	X(int, raise, (int a), (a))                                                                \
	X(int, sigsuspend, (const sigset_t *a), (a))                                               \
	X(int, pause, (void), ())                                                                  \
	X(int, sigpending, (sigset_t *a), (a))                                                     \
	X(int, sigtimedwait, (const sigset_t *a, siginfo_t *b, const struct timespec *c), (a, b, c))\
	X(int, sigwaitinfo, (const sigset_t *a, siginfo_t *b), (a, b))                             \
	X(int, sigwait, (const sigset_t *a, int *b), (a, b))                                       \
	X(long, syscall, (long a, long b, long c, long d, long e, long f, long g), (a, b, c, d, e, f, g))
/* Those that can only block. */
#define FPX_NATIVE_SLOW(X)                                                                        \
	X(int, system, (const char *a), (a))                                                       \
	X(FILE *, popen, (const char *a, const char *b), (a, b))                                   \
	X(pid_t, wait3, (int *a, int b, struct rusage *c), (a, b, c))                              \
	X(pid_t, wait4, (pid_t a, int *b, int c, struct rusage *d), (a, b, c, d))                  \
	X(int, waitid, (idtype_t a, id_t b, siginfo_t *c, int d), (a, b, c, d))                    \
	X(int, getpwnam_r, (const char *a, struct passwd *b, char *c, size_t d,                    \
		struct passwd **e), (a, b, c, d, e))                                               \
	X(int, getpwuid_r, (uid_t a, struct passwd *b, char *c, size_t d, struct passwd **e),      \
		(a, b, c, d, e))                                                                   \
	X(int, getgrnam_r, (const char *a, struct group *b, char *c, size_t d, struct group **e),  \
		(a, b, c, d, e))                                                                   \
	X(int, getgrgid_r, (gid_t a, struct group *b, char *c, size_t d, struct group **e),        \
		(a, b, c, d, e))                                                                   \
	X(int, posix_spawn, (pid_t *a, const char *b, const posix_spawn_file_actions_t *c,         \
		const posix_spawnattr_t *d, char *const *e, char *const *f), (a, b, c, d, e, f))   \
	X(int, posix_spawnp, (pid_t *a, const char *b, const posix_spawn_file_actions_t *c,        \
		const posix_spawnattr_t *d, char *const *e, char *const *f), (a, b, c, d, e, f))
/* Those that execute a program. */
#define FPX_NATIVE_EXEC(X)                                                                        \
	X(int, execve, (const char *a, char *const *b, char *const *c), (a, b, c))                 \
	X(int, execvpe, (const char *a, char *const *b, char *const *c), (a, b, c))                \
	X(int, fexecve, (int a, char *const *b, char *const *c), (a, b, c))
#define FPX_NATIVE_VOIDS(X)                                                                       \
	X(void, pthread_exit, (void *a), (a))                                                      \
	X(void, pthread_testcancel, (void), ())                                                    \
	X(void, vsyslog, (int a, const char *b, va_list c), (a, b, c))                             \
	X(void, __vsyslog_chk, (int a, int b, const char *c, va_list d), (a, b, c, d))
#define FPX_NATIVE_CALLS(X) \
	FPX_NATIVE_FAST(X) FPX_NATIVE_OTHERS(X) FPX_NATIVE_THREADS(X) FPX_NATIVE_SLOW(X) \
	FPX_NATIVE_EXEC(X)
/* clang-format on */

/* Not declared by <syslog.h> without optimization. */
void __vsyslog_chk(int priority, int flag, const char *format, va_list args);

#define FPX_NATIVE_MEMBER(result, name, parameters, arguments) result(*name) parameters;

/* I: set when the library is loaded, or at the first call. Never NULL. */
struct fpx_native {
	FPX_NATIVE_CALLS(FPX_NATIVE_MEMBER)
	FPX_NATIVE_VOIDS(FPX_NATIVE_MEMBER)
};

extern struct fpx_native fpx_native;

/* Set all of it. While the process has one thread. */
void fpx_find_native(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * park.c - whether a call parks, and until when
 *
 * What the program has set for a descriptor (O_NONBLOCK, SO_RCVTIMEO, SO_SNDTIMEO) is asked of the
 * kernel, and only after a try has found that the call would wait. Nothing is recorded here. So it
 * does not matter who has set it, when, and through which descriptor or process.
 */
#include "call/park.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <fiber/fiber.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "system/system.h"

#define NS_PER_S INT64_C(1000000000)

/* The key of fiber_posix_blocking(); 0: it was never called. */
static fiber_key_t blocking;
static pthread_once_t blocking_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
	fiber_key_t key;

	if (fiber_key_create(&key, NULL) == 0)
		__atomic_store_n(&blocking, key, __ATOMIC_RELAXED);
}

bool fiber_posix_blocking(bool blocks)
{
	fiber_key_t key;
	bool before;

	if (!fiber_self())
		return false;
	pthread_once(&blocking_once, make_key);
	key = __atomic_load_n(&blocking, __ATOMIC_RELAXED);
	before = key && fiber_getspecific(key);
	if (key && before != blocks)
		fiber_setspecific(key, blocks ? &blocking : NULL);
	return before;
}

/* A. A thread that closes what a fiber waits for has got the number from it, and sees this. */
static bool used;

bool fpx_used(void)
{
	return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

bool fpx_parks(void)
{
	const fiber_key_t key = __atomic_load_n(&blocking, __ATOMIC_RELAXED);

	if (!fiber_self() || (key && fiber_getspecific(key)))
		return false;
	if (!fpx_used())
		__atomic_store_n(&used, true, __ATOMIC_RELAXED);
	return true;
}

/*
 * A carrier's, and then not read, in a fiber without thread-locals of its own. Initial-exec: the
 * library is never loaded later than the program.
 */
static _Thread_local bool unrestarted __attribute__((tls_model("initial-exec")));

static void set_unrestarted(bool is)
{
	__atomic_store_n(&unrestarted, is, __ATOMIC_RELAXED);
}

void fpx_unrestarted(void)
{
	set_unrestarted(true);
}

const bool *fpx_unrestarted_flag(void)
{
	return &unrestarted;
}

int fpx_nonblocking(int fd)
{
	const int flags = fpx_system.fcntl(fd, F_GETFL);

	return flags < 0 ? -errno : !!(flags & O_NONBLOCK);
}

/* O_NONBLOCK has no effect on these. */
static bool on_disk(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

int fpx_may_wait(int fd, int option, int64_t *ret_deadline)
{
	struct timeval limit = {0, 0};
	socklen_t size = sizeof limit;
	int rc = fpx_nonblocking(fd);

	*ret_deadline = FIBER_FOREVER;
	if (rc < 0)
		return rc;
	if (rc > 0)
		return on_disk(fd);
	if (getsockopt(fd, SOL_SOCKET, option, &limit, &size) == 0 &&
	    (limit.tv_sec || limit.tv_usec)) {
		*ret_deadline = fiber_after(limit.tv_sec * NS_PER_S + limit.tv_usec * 1000);
		fpx_unrestarted();
	}
	return 1;
}

bool fpx_late(ssize_t n, int64_t deadline)
{
	return n == -ETIMEDOUT && deadline != FIBER_FOREVER && fiber_now() >= deadline;
}

static void go_on(void)
{
}

void (*fpx_on_cancelled)(void) = go_on;

ssize_t fpx_interrupted(ssize_t rc)
{
	set_unrestarted(false);
	if (rc != -ECANCELED)
		return rc;
	if (!fiber_cancelled())
		return -EINTR;
	fpx_on_cancelled();
	return rc;
}

/* Not inlined: errno may have another address than before the wait. */
__attribute__((noinline)) ssize_t fpx_result(ssize_t n)
{
	if (n >= 0) {
		set_unrestarted(false);
		return n;
	}
	errno = (int)-fpx_interrupted(n);
	return -1;
}

int64_t fpx_deadline_after(const struct timespec *time)
{
	if (!time || time->tv_sec >= INT64_MAX / NS_PER_S)
		return FIBER_FOREVER;
	return fiber_after(time->tv_sec * NS_PER_S + time->tv_nsec);
}

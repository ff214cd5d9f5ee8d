/* SPDX-License-Identifier: MIT */
/*
 * ptrace_stop.c - stop a thread with ptrace(2) for microseconds
 *
 * The kernel detaches a traced thread when its tracer ends. So each stop is made by a helper thread
 * of its own. If the other thread does not stop in time, because it waits for a device or gets no
 * CPU, the helper is cancelled and the kernel withdraws the stop. The same happens if the tool is
 * killed.
 *
 * PTRACE_SEIZE sends no signal, and PTRACE_INTERRUPT stops without one, so the parent of the
 * process is not notified. The kernel restarts an interrupted system call with the rest of its
 * time. But epoll_wait(2), sigtimedwait(2), semop(2) and a few more fail with EINTR after any stop,
 * as after SIGSTOP and SIGCONT (signal(7)). To avoid that, the caller does not stop a thread in one
 * of them (threads.h).
 */
#include "inspect/process/ptrace_stop.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "inspect/text/duration.h"
#include "inspect/process/permission.h"

#define PATIENCE_NS INT64_C(1000000000)

struct stop {
	pid_t tid;
	ins_ptrace_stop_fn *fn;
	void *context;
	int rc;
	struct ins_ptrace_times took;
};

/* The thread has stopped: for us, or to take a signal. That signal is then delivered. */
static void use(struct stop *s, int status, int64_t since)
{
	const int64_t seen = ins_duration_now();
	const int number = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	s->rc = s->fn(s->context, s->tid);
	ptrace(PTRACE_DETACH, s->tid, NULL, (void *)(uintptr_t)number);
	s->took.seen_ns = ins_duration_now() - seen;
	s->took.held_ns = seen + s->took.seen_ns - since;
	pthread_setcancelstate(old, NULL);
}

/*
 * The reason for a refusal: the kernel returns the same error for a thread that has ended and is
 * still listed as for one that may not be traced.
 */
static int refused(pid_t tid, int rc)
{
	char state[64];

	if (rc == -EPERM && ins_permission_status(tid, "State", state, sizeof state) == 0 &&
	    (state[0] == 'Z' || state[0] == 'X'))
		return -ESRCH;
	return rc;
}

static void *stop_main(void *arg)
{
	struct stop *s = arg;
	const struct sched_param first = {.sched_priority = 1};
	int64_t since;
	int status;
	pid_t got;

	/*
	 * If allowed, run with real-time priority, so that the thread is stopped for as short as
	 * possible.
	 */
	sched_setscheduler(0, SCHED_FIFO, &first);
	if (ptrace(PTRACE_SEIZE, s->tid, NULL, NULL) < 0) {
		s->rc = refused(s->tid, -errno);
		return NULL;
	}
	since = ins_duration_now();
	if (ptrace(PTRACE_INTERRUPT, s->tid, NULL, NULL) < 0) {
		s->rc = -ESRCH;
		return NULL;
	}
	do
		got = waitpid(s->tid, &status, __WALL);
	while (got < 0 && errno == EINTR);
	if (got == s->tid && WIFSTOPPED(status))
		use(s, status, since);
	else
		s->rc = -ESRCH;
	return NULL;
}

static struct timespec in_time(void)
{
	struct timespec t;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &t);
	ns = t.tv_nsec + PATIENCE_NS;
	return (struct timespec){t.tv_sec + ns / 1000000000, ns % 1000000000};
}

int ins_ptrace_stop(pid_t tid, ins_ptrace_stop_fn *fn, void *context, struct ins_ptrace_times *ret)
{
	struct stop s = {.tid = tid, .fn = fn, .context = context, .rc = -ETIMEDOUT};
	const struct timespec end = in_time();
	pthread_t thread;

	*ret = s.took;
	if (pthread_create(&thread, NULL, stop_main, &s) != 0)
		return -EAGAIN;
	if (pthread_timedjoin_np(thread, NULL, &end) != 0) {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	*ret = s.took;
	return s.rc;
}

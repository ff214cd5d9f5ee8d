/* SPDX-License-Identifier: MIT */
/*
 * ptrace_stop.c - ptrace(2), for microseconds
 *
 * The kernel lets a thread go when the thread that traces it ends. So each stop is made by a thread of our own, which
 * lives for it alone: when the other one does not stop in time, because it waits for a device or gets no CPU, ours is cancelled and the
 * kernel takes back the wish to stop it. The same happens when we are killed.
 *
 * PTRACE_SEIZE sends no signal, and PTRACE_INTERRUPT stops without one, so nobody who waits for the process notices. A system
 * call in which the thread waits is begun again by the kernel, with the rest of its time; but epoll_wait(2), sigtimedwait(2),
 * semop(2) and a few more answer EINTR after any stop, as they do after SIGSTOP and SIGCONT (signal(7)): who minds that does
 * not stop a thread that stands in one of them (threads.h).
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

/* It has stopped: for us, or about to take a signal, which it then takes. */
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

/* Why the kernel refuses it: of a thread that has ended and is still listed it says the same as of one that may not be stopped. */
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

	/* Where we may, nobody gets the CPU while somebody is kept from it by us. */
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

/* SPDX-License-Identifier: MIT */
/*
 * st.c - State Threads: one thread, and no locks, where libfiber takes one
 *
 * State Threads has no yield: a sleep of length 0 goes through its timers and the poller. So that
 * row is missing. Its stacks have no guard.
 */
#include <st.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/work.h"

#define STACK	65536
#define MESSAGE 64

static st_thread_t start(void *(*fn)(void *), void *arg)
{
	st_thread_t thread = st_thread_create(fn, arg, 1, STACK);

	if (!thread)
		work_die("st_thread_create");
	return thread;
}

static st_cond_t turned;

#define THREAD	       st_thread_t
#define START(fn, arg) start(fn, arg)
#define JOIN(thread)   st_thread_join(thread, NULL)
#define RUNS_AT_ONCE   false
#define LOCK()
#define UNLOCK()
#define WAIT()	 st_cond_wait(turned)
#define SIGNAL() st_cond_signal(turned)

#include "bench/threads.h"

static void run_cond(long count, long arg)
{
	turned = st_cond_new();
	threads_cond(count, arg);
}

static void run_mutex(long count, long arg)
{
	st_mutex_t mutex = st_mutex_new();
	double cpu = work_cpu();

	(void)arg;
	for (long i = 0; i < count; i++) {
		st_mutex_lock(mutex);
		st_mutex_unlock(mutex);
	}
	work_report_each(cpu, count);
}

static st_cond_t gate;
static int opened;
static long naps;
static float *late;

static void *sleeper(void *arg)
{
	long i = (long)(intptr_t)arg;
	uint32_t state = (uint32_t)i * 2654435761u + 1u;

	while (!opened)
		st_cond_wait(gate);
	for (long n = 0; n < naps; n++) {
		int64_t nap = work_nap(&state);
		double until = work_now() + (double)nap;

		st_usleep((st_utime_t)nap / 1000);
		late[i * naps + n] = (float)((work_now() - until) / 1e3);
	}
	return NULL;
}

static void run_naps(long n, long times)
{
	st_thread_t *threads = threads_room(n);
	double cpu;

	naps = times;
	gate = st_cond_new();
	late = calloc((size_t)(n * naps), sizeof(*late));
	if (!late)
		work_die("calloc");
	memset(late, 1, (size_t)(n * naps) * sizeof(*late));
	for (long i = 0; i < n; i++)
		threads[i] = start(sleeper, (void *)(intptr_t)i);
	st_usleep(1000);
	cpu = work_cpu();
	opened = 1;
	st_cond_broadcast(gate);
	for (long i = 0; i < n; i++)
		st_thread_join(threads[i], NULL);
	work_report_naps(late, (size_t)(n * naps), work_cpu() - cpu);
	free(late);
	free(threads);
}

/* -- ping-pong of 64 bytes over a pair of UNIX sockets, or two pipes; an operation is a message -- */

struct line {
	st_netfd_t in, out;
};

static struct line far_end;

static void *line_echo(void *arg)
{
	char message[MESSAGE];

	while (st_read_fully(far_end.in, message, MESSAGE, ST_UTIME_NO_TIMEOUT) == MESSAGE)
		st_write(far_end.out, message, MESSAGE, ST_UTIME_NO_TIMEOUT);
	return arg;
}

static void echo(struct line near_end, long rounds)
{
	char message[MESSAGE] = "ping";
	st_thread_t other = start(line_echo, NULL);
	double cpu = work_cpu();

	for (long i = 0; i < rounds; i++)
		if (st_write(near_end.out, message, MESSAGE, ST_UTIME_NO_TIMEOUT) != MESSAGE ||
		    st_read_fully(near_end.in, message, MESSAGE, ST_UTIME_NO_TIMEOUT) != MESSAGE)
			work_die("the echo");
	work_report_each(cpu, rounds * 2);
	st_netfd_close(near_end.out);
	st_thread_join(other, NULL);
}

static st_netfd_t descriptor(int fd)
{
	st_netfd_t netfd = st_netfd_open(fd);

	if (!netfd)
		work_die("st_netfd_open");
	return netfd;
}

static void run_echo_unix(long count, long arg)
{
	st_netfd_t near_end;
	int fds[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		work_die("socketpair");
	near_end = descriptor(fds[0]);
	far_end.in = far_end.out = descriptor(fds[1]);
	echo((struct line){near_end, near_end}, count / 2);
}

static void run_echo_pipe(long count, long arg)
{
	int forth[2], home[2];

	(void)arg;
	if (pipe(forth) < 0 || pipe(home) < 0)
		work_die("pipe");
	far_end = (struct line){descriptor(forth[0]), descriptor(home[1])};
	echo((struct line){descriptor(home[0]), descriptor(forth[1])}, count / 2);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"spawn", threads_spawn},     {"cond", run_cond},
		{"mutex", run_mutex},	      {"naps", run_naps},
		{"echo-unix", run_echo_unix}, {"echo-pipe", run_echo_pipe},
	};

	st_set_eventsys(ST_EVENTSYS_ALT);
	if (st_init())
		work_die("st_init");
	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

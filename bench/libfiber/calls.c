/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the calls that fibers.c leaves out, on one carrier: semaphores, select, cancellation,
 * timers, locals, streams, files
 */
#include <fcntl.h>
#include <fiber/chan.h>
#include <fiber/io.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/libfiber/bench.h"

#define CHANNELS_MOST 8
#define MESSAGE	      64
#define FILE_SIZE     65536

static long rounds;

static struct fiber *start(fiber_fn *fn, void *arg)
{
	struct fiber *fiber;

	if (fiber_spawn(fn, arg, &fiber))
		work_die("fiber_spawn");
	return fiber;
}

static void finish(struct fiber *fiber)
{
	fiber_join(fiber, NULL, FIBER_FOREVER);
}

/*
 * -- ping-pong over two semaphores; an operation is a message. Both fibers run the same function, as
 * in `cond`: else a switch costs four times as much, because the CPU predicts returns (`codes`) --
 */

static struct fiber_sem there, back;

static __attribute__((noinline)) void sem_turns(struct fiber_sem *mine, struct fiber_sem *others)
{
	for (long i = 0; i < rounds; i++) {
		fiber_sem_wait(mine, FIBER_FOREVER);
		fiber_sem_post(others);
	}
}

static void *sem_echo(void *arg)
{
	sem_turns(&there, &back);
	return arg;
}

static void *sem_main(void *arg)
{
	struct fiber *other;
	double cpu;

	rounds = *(long *)arg / 2;
	other = start(sem_echo, NULL);
	cpu = work_cpu();
	fiber_sem_post(&back);
	sem_turns(&back, &there);
	work_report_each(cpu, rounds * 2);
	finish(other);
	return NULL;
}

void bench_sem(long count, long arg)
{
	(void)arg;
	bench_run(sem_main, &count, 1);
}

/* -- select over channels without room, each of which gets an element in turn -- */

static struct fiber_chan *chans[CHANNELS_MOST];
static long channels;

static void *selects(void *arg)
{
	long elem;
	struct fiber_select_case cases[CHANNELS_MOST];

	for (long i = 0; i < rounds; i++) {
		for (long k = 0; k < channels; k++)
			cases[k] = (struct fiber_select_case){
				.op = FIBER_SELECT_RECV, .chan = chans[k], .elem = &elem};
		if (fiber_select(cases, (size_t)channels, FIBER_FOREVER) < 0)
			work_die("fiber_select");
	}
	return arg;
}

static void *select_main(void *arg)
{
	struct fiber *other;
	double cpu;

	rounds = *(long *)arg;
	for (long k = 0; k < channels; k++)
		if (fiber_chan_new(sizeof(long), 0, &chans[k]))
			work_die("fiber_chan_new");
	other = start(selects, NULL);
	cpu = work_cpu();
	for (long i = 0; i < rounds; i++)
		fiber_chan_send(chans[i % channels], &i, FIBER_FOREVER);
	finish(other);
	work_report_each(cpu, rounds);
	for (long k = 0; k < channels; k++)
		fiber_chan_unref(chans[k]);
	return NULL;
}

void bench_select(long count, long n)
{
	channels = n;
	bench_run(select_main, &count, 1);
}

/* -- spawn a fiber that waits, cancel it, join it -- */

static void *parks(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *cancel_main(void *arg)
{
	double cpu = work_cpu();

	rounds = *(long *)arg;
	for (long i = 0; i < rounds; i++) {
		struct fiber *fiber = start(parks, NULL);

		fiber_yield();
		fiber_cancel(fiber);
		finish(fiber);
	}
	work_report_each(cpu, rounds);
	return NULL;
}

void bench_cancel(long count, long arg)
{
	(void)arg;
	bench_run(cancel_main, &count, 1);
}

/* -- arm a timer and disarm it, beside as many that are armed -- */

static void *timer_main(void *arg)
{
	struct fiber_timer *timer, *others[100];
	double cpu;

	rounds = *(long *)arg;
	for (int i = 0; i < 100; i++)
		if (fiber_timer_new(&others[i]) ||
		    fiber_timer_arm(others[i], fiber_after(INT64_C(3600000000000) + i), 0))
			work_die("fiber_timer_arm");
	if (fiber_timer_new(&timer))
		work_die("fiber_timer_new");
	cpu = work_cpu();
	for (long i = 0; i < rounds; i++) {
		fiber_timer_arm(timer, INT64_MAX - 1 - i, 0);
		fiber_timer_arm(timer, FIBER_FOREVER, 0);
	}
	work_report_each(cpu, rounds);
	fiber_timer_free(timer);
	for (int i = 0; i < 100; i++)
		fiber_timer_free(others[i]);
	return NULL;
}

void bench_timer(long count, long arg)
{
	(void)arg;
	bench_run(timer_main, &count, 1);
}

/* -- read a fiber's own variable -- */

static void *local_main(void *arg)
{
	fiber_key_t key;
	double cpu;
	long sum = 0;

	rounds = *(long *)arg;
	if (fiber_key_create(&key, NULL) < 0 || fiber_setspecific(key, &sum) < 0)
		work_die("fiber_key_create");
	cpu = work_cpu();
	for (long i = 0; i < rounds; i++)
		++*(long *)fiber_getspecific(key);
	work_report_each(cpu, rounds);
	if (sum != rounds)
		work_die("fiber_getspecific");
	return NULL;
}

void bench_local(long count, long arg)
{
	(void)arg;
	bench_run(local_main, &count, 1);
}

/* -- ping-pong of 64 bytes over a pair of UNIX sockets, or two pipes; an operation is a message -- */

struct line {
	int in, out;
};

static struct line far_end;

static void *line_echo(void *arg)
{
	char message[MESSAGE];

	while (fiber_read(far_end.in, message, MESSAGE, FIBER_FOREVER) == MESSAGE)
		fiber_write(far_end.out, message, MESSAGE, FIBER_FOREVER);
	return arg;
}

static void echo(struct line near_end)
{
	char message[MESSAGE] = "ping";
	struct fiber *other = start(line_echo, NULL);
	double cpu = work_cpu();

	for (long i = 0; i < rounds; i++)
		if (fiber_write(near_end.out, message, MESSAGE, FIBER_FOREVER) != MESSAGE ||
		    fiber_read(near_end.in, message, MESSAGE, FIBER_FOREVER) != MESSAGE)
			work_die("the echo");
	work_report_each(cpu, rounds * 2);
	fiber_close(near_end.out);
	finish(other);
}

static void *unix_main(void *arg)
{
	int fds[2];

	rounds = *(long *)arg / 2;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		work_die("socketpair");
	far_end = (struct line){fds[1], fds[1]};
	echo((struct line){fds[0], fds[0]});
	return NULL;
}

static void *pipe_main(void *arg)
{
	int forth[2], home[2];

	rounds = *(long *)arg / 2;
	if (pipe(forth) < 0 || pipe(home) < 0)
		work_die("pipe");
	far_end = (struct line){forth[0], home[1]};
	echo((struct line){home[0], forth[1]});
	return NULL;
}

void bench_echo_unix(long count, long arg)
{
	(void)arg;
	bench_run(unix_main, &count, 1);
}

void bench_echo_pipe(long count, long arg)
{
	(void)arg;
	bench_run(pipe_main, &count, 1);
}

/* -- read 4 KiB of a file that is cached; with io_uring, or without it on a thread -- */

static void *file_main(void *arg)
{
	static char page[4096];
	char name[] = "/tmp/fiber-bench-XXXXXX";
	const int fd = mkstemp(name);
	double cpu;

	rounds = *(long *)arg;
	if (fd < 0 || unlink(name) < 0 || ftruncate(fd, FILE_SIZE) < 0)
		work_die("mkstemp");
	cpu = work_cpu();
	for (long i = 0; i < rounds; i++) {
		if (i % (FILE_SIZE / (long)sizeof page) == 0)
			lseek(fd, 0, SEEK_SET);
		if (fiber_read(fd, page, sizeof page, FIBER_FOREVER) != sizeof page)
			work_die("fiber_read");
	}
	work_report_each(cpu, rounds);
	fiber_close(fd);
	return NULL;
}

void bench_file(long count, long arg)
{
	(void)arg;
	bench_run(file_main, &count, 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * uv.c - libuv: one event loop and callbacks
 *
 * A message is written with uv_try_write(), which costs less than a write with a callback. libuv
 * reads files on its own threads, whose CPU time is included. Its timers have a resolution of a
 * millisecond: a deadline is rounded up, so no sleeper wakes before it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "bench/work.h"

#define MESSAGE	  64
#define FILE_SIZE 65536

static long left; /* operations still to be done */

/* -- ping-pong of 64 bytes over a pair of UNIX sockets, or two pipes; an operation is a message -- */

struct end {
	uv_pipe_t in, out;
	uv_stream_t *to;
	bool answers;
	char message[MESSAGE];
};

static void send_message(struct end *end)
{
	uv_buf_t buffer = uv_buf_init(end->message, MESSAGE);

	if (uv_try_write(end->to, &buffer, 1) != MESSAGE)
		work_die("uv_try_write");
}

static void room(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
	struct end *end = handle->data;

	(void)size;
	*buffer = uv_buf_init(end->message, MESSAGE);
}

static void received(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
	struct end *end = stream->data;

	(void)buffer;
	if (!n)
		return;
	if (n != MESSAGE)
		work_die("the echo");
	if (!end->answers && !--left)
		uv_stop(stream->loop);
	else
		send_message(end);
}

static void open_end(struct end *end, int in, int out, bool answers)
{
	uv_loop_t *loop = uv_default_loop();

	if (uv_pipe_init(loop, &end->in, 0) || uv_pipe_open(&end->in, in))
		work_die("uv_pipe_open");
	end->to = (uv_stream_t *)&end->in;
	if (out != in) {
		if (uv_pipe_init(loop, &end->out, 0) || uv_pipe_open(&end->out, out))
			work_die("uv_pipe_open");
		end->to = (uv_stream_t *)&end->out;
	}
	end->in.data = end;
	end->answers = answers;
	if (uv_read_start((uv_stream_t *)&end->in, room, received))
		work_die("uv_read_start");
}

static struct end near_end, far_end;

static void echo(long count)
{
	double cpu = work_cpu();

	left = count / 2;
	send_message(&near_end);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	work_report_each(cpu, count / 2 * 2);
}

static void run_echo_unix(long count, long arg)
{
	int fds[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		work_die("socketpair");
	open_end(&near_end, fds[0], fds[0], false);
	open_end(&far_end, fds[1], fds[1], true);
	echo(count);
}

static void run_echo_pipe(long count, long arg)
{
	int forth[2], home[2];

	(void)arg;
	if (pipe(forth) < 0 || pipe(home) < 0)
		work_die("pipe");
	open_end(&near_end, home[0], forth[1], false);
	open_end(&far_end, forth[0], home[1], true);
	echo(count);
}

/* -- read 4 KiB of a file that is cached -- */

static char page[4096];
static uv_file file;

static void read_page(uv_fs_t *request);

static void page_read(uv_fs_t *request)
{
	if (request->result != sizeof(page))
		work_die("uv_fs_read");
	uv_fs_req_cleanup(request);
	if (--left)
		read_page(request);
}

static void read_page(uv_fs_t *request)
{
	uv_buf_t buffer = uv_buf_init(page, sizeof(page));

	if (left % (FILE_SIZE / (long)sizeof(page)) == 0)
		lseek(file, 0, SEEK_SET);
	if (uv_fs_read(uv_default_loop(), request, file, &buffer, 1, -1, page_read))
		work_die("uv_fs_read");
}

static void run_file(long count, long arg)
{
	char name[] = "/tmp/fiber-bench-XXXXXX";
	uv_fs_t request;
	double cpu;

	(void)arg;
	file = mkstemp(name);
	if (file < 0 || unlink(name) < 0 || ftruncate(file, FILE_SIZE) < 0)
		work_die("mkstemp");
	/* A multiple of the pages of the file, so that the first read is at its start. */
	left = count -= count % (FILE_SIZE / (long)sizeof(page));
	cpu = work_cpu();
	read_page(&request);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	work_report_each(cpu, count);
}

/* -- arm a timer and disarm it, beside a hundred that are armed -- */

#define TIMERS 100

static void expired(uv_timer_t *timer)
{
	(void)timer;
	work_die("a timer that was disarmed");
}

static void run_timer(long count, long arg)
{
	static uv_timer_t timers[TIMERS], timer;
	const uint64_t hour = 3600000, far = UINT64_C(1) << 60;
	uv_loop_t *loop = uv_default_loop();
	double cpu;

	(void)arg;
	for (int i = 0; i < TIMERS; i++)
		if (uv_timer_init(loop, &timers[i]) ||
		    uv_timer_start(&timers[i], expired, hour + (uint64_t)i, 0))
			work_die("uv_timer_start");
	uv_timer_init(loop, &timer);
	cpu = work_cpu();
	for (long i = 0; i < count; i++) {
		uv_timer_start(&timer, expired, far - (uint64_t)i, 0);
		uv_timer_stop(&timer);
	}
	work_report_each(cpu, count);
}

/* -- many sleepers: a timer each, several sleeps -- */

struct sleeper {
	uv_timer_t timer;
	uint32_t state;
	long slept;
	double until; /* ns */
	float *late;  /* us, one for each sleep */
};

static long naps;

static void woken(uv_timer_t *timer);

static void sleep_again(struct sleeper *s)
{
	uint64_t due, now = uv_now(s->timer.loop);

	s->until = work_now() + (double)work_nap(&s->state);
	due = (uint64_t)(s->until / 1e6) + 1;
	uv_timer_start(&s->timer, woken, due > now ? due - now : 0, 0);
}

static void woken(uv_timer_t *timer)
{
	struct sleeper *s = timer->data;

	s->late[s->slept] = (float)((work_now() - s->until) / 1e3);
	if (++s->slept < naps)
		sleep_again(s);
}

static void run_naps(long n, long times)
{
	uv_loop_t *loop = uv_default_loop();
	struct sleeper *sleepers = calloc((size_t)n, sizeof(*sleepers));
	float *late = calloc((size_t)(n * times), sizeof(*late));
	double cpu;

	naps = times;
	if (!sleepers || !late)
		work_die("calloc");
	memset(late, 1, (size_t)(n * times) * sizeof(*late)); /* not the sleepers' cost */
	for (long i = 0; i < n; i++) {
		uv_timer_init(loop, &sleepers[i].timer);
		sleepers[i].timer.data = &sleepers[i];
		sleepers[i].state = (uint32_t)i * 2654435761u + 1u;
		sleepers[i].late = late + i * times;
	}
	cpu = work_cpu();
	uv_update_time(loop);
	for (long i = 0; i < n; i++)
		sleep_again(&sleepers[i]);
	uv_run(loop, UV_RUN_DEFAULT);
	work_report_naps(late, (size_t)(n * times), work_cpu() - cpu);
	free(late);
	free(sleepers);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"echo-unix", run_echo_unix}, {"echo-pipe", run_echo_pipe}, {"file", run_file},
		{"timer", run_timer},	      {"naps", run_naps},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

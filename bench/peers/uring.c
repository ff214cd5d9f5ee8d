/* SPDX-License-Identifier: MIT */
/*
 * uring.c - io_uring by hand: one thread, callbacks' state in structs, no fibers
 *
 * One ring serves both ends of a line. A turn of the loop submits everything that is ready and waits
 * for one completion, in one system call. The ring uses the flags that are the fastest for one
 * thread, if the kernel has them.
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/work.h"

#define MESSAGE	  64
#define FILE_SIZE 65536
#define ENTRIES	  256

static struct io_uring ring;

static void ring_open(void)
{
	if (io_uring_queue_init(ENTRIES, &ring,
				IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) < 0 &&
	    io_uring_queue_init(ENTRIES, &ring, 0) < 0)
		work_die("io_uring_queue_init");
}

static struct io_uring_sqe *next_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		work_die("io_uring_get_sqe");
	return sqe;
}

/* -- ping-pong of 64 bytes over a pair of UNIX sockets, or two pipes; an operation is a message -- */

struct end {
	int in, out;
	long left; /* messages to receive */
	char message[MESSAGE];
};

static void queue_write(struct end *end)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_write(sqe, end->out, end->message, MESSAGE, (uint64_t)-1);
	io_uring_sqe_set_data(sqe, NULL);
}

static void queue_read(struct end *end)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_read(sqe, end->in, end->message, MESSAGE, (uint64_t)-1);
	io_uring_sqe_set_data(sqe, end);
}

/* A message has arrived: answer it, and wait for the next. The last one is not answered. */
static void received(struct end *end, bool answers)
{
	end->left--;
	if (end->left || answers)
		queue_write(end);
	if (end->left)
		queue_read(end);
}

static void echo(long count, struct end *near_end, struct end *far_end)
{
	struct io_uring_cqe *cqe;
	double cpu;

	ring_open();
	near_end->left = far_end->left = count / 2;
	queue_read(far_end);
	cpu = work_cpu();
	queue_write(near_end);
	queue_read(near_end);
	while (near_end->left) {
		unsigned head, seen = 0;

		if (io_uring_submit_and_wait(&ring, 1) < 0)
			work_die("io_uring_submit_and_wait");
		io_uring_for_each_cqe(&ring, head, cqe)
		{
			struct end *end = io_uring_cqe_get_data(cqe);

			if (cqe->res != MESSAGE)
				work_die("the echo");
			if (end)
				received(end, end == far_end);
			seen++;
		}
		io_uring_cq_advance(&ring, seen);
	}
	work_report_each(cpu, count / 2 * 2);
	io_uring_queue_exit(&ring);
}

static void run_echo_unix(long count, long arg)
{
	struct end near_end = {.message = "ping"}, far_end = {0};
	int fds[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		work_die("socketpair");
	near_end.in = near_end.out = fds[0];
	far_end.in = far_end.out = fds[1];
	echo(count, &near_end, &far_end);
}

static void run_echo_pipe(long count, long arg)
{
	struct end near_end = {.message = "ping"}, far_end = {0};
	int forth[2], home[2];

	(void)arg;
	if (pipe(forth) < 0 || pipe(home) < 0)
		work_die("pipe");
	near_end.in = home[0];
	near_end.out = forth[1];
	far_end.in = forth[0];
	far_end.out = home[1];
	echo(count, &near_end, &far_end);
}

/* Submit what is queued, and take n completions, each of which must have this result. */
static void complete(unsigned n, int result, int other)
{
	struct io_uring_cqe *cqe;

	if (io_uring_submit_and_wait(&ring, n) < 0)
		work_die("io_uring_submit_and_wait");
	for (unsigned i = 0; i < n; i++) {
		if (io_uring_wait_cqe(&ring, &cqe) < 0 || (cqe->res != result && cqe->res != other))
			work_die("an operation of the ring");
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* -- read 4 KiB of a file that is cached -- */

static void run_file(long count, long arg)
{
	static char page[4096];
	char name[] = "/tmp/fiber-bench-XXXXXX";
	const int fd = mkstemp(name);
	double cpu;

	(void)arg;
	if (fd < 0 || unlink(name) < 0 || ftruncate(fd, FILE_SIZE) < 0)
		work_die("mkstemp");
	ring_open();
	cpu = work_cpu();
	for (long i = 0; i < count; i++) {
		if (i % (FILE_SIZE / (long)sizeof(page)) == 0)
			lseek(fd, 0, SEEK_SET);
		io_uring_prep_read(next_sqe(), fd, page, sizeof(page), (uint64_t)-1);
		complete(1, sizeof(page), sizeof(page));
	}
	work_report_each(cpu, count);
}

/*
 * -- arm a timer and disarm it, beside a hundred that are armed --
 *
 * Both are operations of the ring, submitted together.
 */

#define TIMERS 100

static void run_timer(long count, long arg)
{
	struct __kernel_timespec far = {.tv_sec = 3600};
	double cpu;

	(void)arg;
	ring_open();
	for (int i = 0; i < TIMERS; i++)
		io_uring_prep_timeout(next_sqe(), &far, 0, 0);
	if (io_uring_submit(&ring) != TIMERS)
		work_die("io_uring_submit");
	cpu = work_cpu();
	for (long i = 0; i < count; i++) {
		struct io_uring_sqe *sqe = next_sqe();

		far.tv_sec = 7200 + i;
		io_uring_prep_timeout(sqe, &far, 0, 0);
		io_uring_sqe_set_data64(sqe, 1);
		io_uring_prep_timeout_remove(next_sqe(), 1, 0);
		complete(2, 0, -ECANCELED);
	}
	work_report_each(cpu, count);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"echo-unix", run_echo_unix},
		{"echo-pipe", run_echo_pipe},
		{"file", run_file},
		{"timer", run_timer},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

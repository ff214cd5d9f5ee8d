/* SPDX-License-Identifier: MIT */
/* test_io.c - bytes through pipes and sockets; no edge is missed, deadlines are kept */
#include "carriers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* -- megabytes through small buffers -- */

#define BYTES (4u << 20)

struct flow {
	int in, out;
	size_t sent, got, wrong;
	ssize_t end;
};

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 31 + i / 4096);
}

static void *send_all(void *arg)
{
	struct flow *f = arg;
	static unsigned char bytes[BYTES];
	ssize_t n = 1;

	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = byte_at(i);
	while (f->sent < BYTES && n > 0) {
		n = fiber_write(f->in, bytes + f->sent, BYTES - f->sent, FIBER_FOREVER);
		f->sent += n > 0 ? (size_t)n : 0;
	}
	fiber_close(f->in);
	return NULL;
}

static void *receive_all(void *arg)
{
	struct flow *f = arg;
	unsigned char piece[10000];

	while ((f->end = fiber_read(f->out, piece, sizeof piece, FIBER_FOREVER)) > 0) {
		for (ssize_t i = 0; i < f->end; i++)
			f->wrong += piece[i] != byte_at(f->got + (size_t)i);
		f->got += (size_t)f->end;
	}
	fiber_close(f->out);
	return NULL;
}

static void flow(int in, int out)
{
	struct flow f = {.in = in, .out = out, .end = 1};
	fiber_fn *const fns[] = {send_all, receive_all};
	void *const args[] = {&f, &f};
	const struct fiber_runtime_options options = carriers_options();

	assert_int_equal(fiber_run_many(fns, args, 2, &options, NULL), 0);
	assert_int_equal(f.sent, BYTES);
	assert_int_equal(f.got, BYTES);
	assert_int_equal(f.wrong, 0);
	assert_int_equal(f.end, 0);
}

static void test_io_megabytes_through_a_pipe(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	flow(fds[1], fds[0]);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	flow(fds[1], fds[0]);
}

static void test_io_megabytes_through_a_socket(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	flow(fds[0], fds[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	flow(fds[0], fds[1]);
}

/* -- ping-pong over many descriptors -- */

struct ball {
	int fd;
	int throws, wrong;
	bool serves;
};

static void *throw_and_catch(void *arg)
{
	struct ball *b = arg;
	int n = 0;

	if (b->serves && fiber_write(b->fd, &n, sizeof n, FIBER_FOREVER) != sizeof n)
		b->wrong++;
	for (int i = 0; i < b->throws; i++) {
		if (fiber_read(b->fd, &n, sizeof n, FIBER_FOREVER) != sizeof n)
			b->wrong++;
		b->wrong += n != 2 * i + (b->serves ? 1 : 0);
		n++;
		if ((i + 1 < b->throws || !b->serves) &&
		    fiber_write(b->fd, &n, sizeof n, FIBER_FOREVER) != sizeof n)
			b->wrong++;
	}
	fiber_close(b->fd);
	return NULL;
}

static void test_io_200_pairs_throw_a_number_to_and_fro(void **state)
{
	enum { PAIRS = 200 };
	static struct ball balls[2 * PAIRS];
	static fiber_fn *fns[2 * PAIRS];
	static void *args[2 * PAIRS];
	const struct fiber_runtime_options options = carriers_options();

	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		balls[2 * i] = (struct ball){fds[0], 50, 0, true};
		balls[2 * i + 1] = (struct ball){fds[1], 50, 0, false};
	}
	for (int i = 0; i < 2 * PAIRS; i++) {
		fns[i] = throw_and_catch;
		args[i] = &balls[i];
	}
	assert_int_equal(fiber_run_many(fns, args, 2 * PAIRS, &options, NULL), 0);
	for (int i = 0; i < 2 * PAIRS; i++)
		assert_int_equal(balls[i].wrong, 0);
}

/* -- several readers on one descriptor -- */

struct shared {
	int fd;
	_Atomic int got, wrong;
};

static void *read_bytes(void *arg)
{
	struct shared *s = arg;
	char byte;
	ssize_t n;

	while ((n = fiber_read(s->fd, &byte, 1, FIBER_FOREVER)) == 1)
		s->got++;
	s->wrong += n != 0;
	return NULL;
}

static void test_io_several_readers_share_one_descriptor(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct shared s = {0};
	struct fiber *f[8];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	s.fd = fds[0];
	for (int i = 0; i < 8; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, read_bytes, &s, &f[i]), 0);
	for (int sent = 0; sent < 2000;) {
		const int n = sent % 5 + 1;

		assert_int_equal(write(fds[1], "abcde", (size_t)n), n);
		sent += n;
		if (sent % 7 == 0)
			while (s.got != sent)
				sched_yield();
		if (sent >= 2000)
			while (s.got != sent)
				sched_yield();
	}
	/* The end of file is an edge that wakes every reader. */
	close(fds[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
	assert_int_equal(s.wrong, 0);
	fiber_close(fds[0]);
	carriers_finish(rt);
}

/* -- a reader and a writer on one descriptor -- */

static void *wait_for_room(void *arg)
{
	return (void *)(intptr_t)fiber_wait_fd(*(int *)arg, POLLOUT, FIBER_FOREVER);
}

static void *wait_for_bytes(void *arg)
{
	return (void *)(intptr_t)fiber_wait_fd(*(int *)arg, POLLIN, FIBER_FOREVER);
}

static void test_io_reader_and_writer_wait_on_one_descriptor_apart(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_result r = {NULL, 1};
	static char much[65536];
	struct fiber *reader, *writer;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	while (send(fds[0], much, sizeof much, MSG_DONTWAIT) > 0)
		;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_for_bytes, &fds[0], &reader), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_for_room, &fds[0], &writer), 0);
	carriers_await_suspended(reader);
	carriers_await_suspended(writer);
	assert_int_equal(send(fds[1], "x", 1, 0), 1);
	assert_int_equal(fiber_join(reader, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, POLLIN);
	assert_int_equal(fiber_join(writer, NULL, fiber_after(2 * MS)), -ETIMEDOUT);
	while (recv(fds[1], much, sizeof much, MSG_DONTWAIT) > 0)
		;
	assert_int_equal(fiber_join(writer, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, POLLOUT);
	carriers_finish(rt);
	close(fds[0]);
	close(fds[1]);
}

/* -- deadlines -- */

struct late {
	int fds[2];
	ssize_t past, soon, full, there;
	int early;
};

static void *run_out_of_time(void *arg)
{
	struct late *l = arg;
	static char much[1 << 20];
	char byte;
	int64_t deadline = fiber_after(2 * MS);

	l->past = fiber_read(l->fds[0], &byte, 1, 0);
	l->soon = fiber_read(l->fds[0], &byte, 1, deadline);
	l->early = fiber_now() < deadline;
	do
		l->full = fiber_write(l->fds[1], much, sizeof much, fiber_after(MS));
	while (l->full > 0);
	l->there = fiber_read(l->fds[0], &byte, 1, 0);
	return NULL;
}

static void test_io_deadlines_end_reads_and_writes(void **state)
{
	struct late l = {.early = 1};

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		const int flags = kind % 2 ? O_NONBLOCK : 0;

		if (kind < 2)
			assert_int_equal(pipe2(l.fds, flags), 0);
		else
			assert_int_equal(socketpair(AF_UNIX,
						    SOCK_STREAM | (kind % 2 ? SOCK_NONBLOCK : 0), 0,
						    l.fds),
					 0);
		carriers_run(run_out_of_time, &l);
		assert_int_equal(l.past, -ETIMEDOUT);
		assert_int_equal(l.soon, -ETIMEDOUT);
		assert_int_equal(l.early, 0);
		assert_int_equal(l.full, -ETIMEDOUT);
		assert_int_equal(l.there, 1);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(fcntl(l.fds[i], F_GETFL) & O_NONBLOCK, flags);
			fiber_close(l.fds[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io_megabytes_through_a_pipe),
		cmocka_unit_test(test_io_megabytes_through_a_socket),
		cmocka_unit_test(test_io_200_pairs_throw_a_number_to_and_fro),
		cmocka_unit_test(test_io_several_readers_share_one_descriptor),
		cmocka_unit_test(test_io_reader_and_writer_wait_on_one_descriptor_apart),
		cmocka_unit_test(test_io_deadlines_end_reads_and_writes),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

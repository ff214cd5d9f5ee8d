/* SPDX-License-Identifier: MIT */
/* passing.c - programs whose order is made by what passes through channels and descriptors */
#include "programs.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static int element;

static void send_one(void)
{
	fiber_chan_send(o.chan, &element, FIBER_FOREVER);
}

static void receive_one(void)
{
	int got;

	fiber_chan_recv(o.chan, &got, FIBER_FOREVER);
}

static void *write_send(void *arg)
{
	data = 1;
	send_one();
	return arg;
}

static void *receive_read(void *arg)
{
	receive_one();
	return data ? arg : NULL;
}

static void *write_receive(void *arg)
{
	data = 1;
	receive_one();
	return arg;
}

static void *send_read(void *arg)
{
	send_one();
	return data ? arg : NULL;
}

static void *send_write(void *arg)
{
	send_one();
	data = 1;
	return arg;
}

static void *send_send_read(void *arg)
{
	send_one();
	send_one();
	return data ? arg : NULL;
}

static void *write_receive_receive(void *arg)
{
	data = 1;
	receive_one();
	receive_one();
	return arg;
}

static void *write_close(void *arg)
{
	data = 1;
	fiber_chan_close(o.chan);
	return arg;
}

static void *close_write(void *arg)
{
	fiber_chan_close(o.chan);
	data = 1;
	return arg;
}

static void *select_read(void *arg)
{
	int got;
	struct fiber_select_case c[2] = {
		{.op = FIBER_SELECT_RECV, .chan = o.chan, .elem = &got},
		{.op = FIBER_SELECT_TIMER, .at = FIBER_FOREVER},
	};

	fiber_select(c, 2, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void *select_in_vain(void *arg)
{
	int got;
	struct fiber_select_case c[2] = {
		{.op = FIBER_SELECT_RECV, .chan = o.chan, .elem = &got},
		{.op = FIBER_SELECT_TIMER, .at = fiber_after(1000)},
	};

	if (fiber_select(c, 2, FIBER_FOREVER) == 1) {
		other = data;
		receive_one();
	}
	return arg;
}

static void with_channel(size_t capacity, fiber_fn *a, fiber_fn *b)
{
	fiber_chan_new(sizeof element, capacity, &o.chan);
	run_both(a, b);
	fiber_chan_unref(o.chan);
}

#define CHANNEL(name, capacity, a, b)         \
	static void name(void *arg)           \
	{                                     \
		(void)arg;                    \
		with_channel(capacity, a, b); \
	}

CHANNEL(send_orders, 0, write_send, receive_read)
CHANNEL(send_orders_buffered, 3, write_send, receive_read)
CHANNEL(write_after_send, 1, send_write, receive_read)
CHANNEL(receive_orders, 0, write_receive, send_read)
CHANNEL(receive_races_buffered, 1, write_receive, send_read)
CHANNEL(receive_orders_next, 1, write_receive_receive, send_send_read)
CHANNEL(receive_races_next, 2, write_receive_receive, send_send_read)
CHANNEL(close_orders, 0, write_close, receive_read)
CHANNEL(write_after_close, 0, close_write, receive_read)
CHANNEL(select_orders, 0, write_send, select_read)
CHANNEL(select_orders_buffered, 1, write_send, select_read)
CHANNEL(select_times_out, 0, write_send, select_in_vain)

static void *write_bytes(void *arg)
{
	data = 1;
	fiber_write(o.fds[1], "x", 1, FIBER_FOREVER);
	return arg;
}

static void *bytes_write(void *arg)
{
	fiber_write(o.fds[1], "x", 1, FIBER_FOREVER);
	data = 1;
	return arg;
}

static void *read_bytes(void *arg)
{
	char c;

	fiber_read(o.fds[0], &c, 1, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void *send_bytes(void *arg)
{
	data = 1;
	fiber_send(o.fds[1], "x", 1, 0, FIBER_FOREVER);
	return arg;
}

static void *receive_bytes(void *arg)
{
	char c;

	fiber_recv(o.fds[0], &c, 1, 0, FIBER_FOREVER);
	return data ? arg : NULL;
}

/* Bytes of another pipe order nothing here. */
static void *read_own_pipe(void *arg)
{
	int fds[2];
	char c;

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0)
		return arg;
	fiber_write(fds[1], "x", 1, FIBER_FOREVER);
	fiber_read(fds[0], &c, 1, FIBER_FOREVER);
	data++;
	fiber_close(fds[0]);
	fiber_close(fds[1]);
	return arg;
}

static void close_both(void)
{
	fiber_close(o.fds[0]);
	fiber_close(o.fds[1]);
}

static void with_pipe(fiber_fn *a, fiber_fn *b)
{
	if (pipe2(o.fds, O_NONBLOCK | O_CLOEXEC) < 0)
		fiber_test_fail("no pipe");
	run_both(a, b);
	close_both();
}

static void pipe_orders(void *arg)
{
	(void)arg;
	with_pipe(write_bytes, read_bytes);
}

static void write_after_bytes(void *arg)
{
	(void)arg;
	with_pipe(bytes_write, read_bytes);
}

static void socket_orders(void *arg)
{
	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, o.fds) < 0)
		fiber_test_fail("no socket pair");
	run_both(send_bytes, receive_bytes);
	close_both();
}

static void *write_in_thread(void *arg)
{
	data = 1;
	return arg;
}

static void *block_then_read(void *arg)
{
	fiber_block(write_in_thread, NULL, NULL, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void *read_data(void *arg)
{
	return data ? arg : NULL;
}

static void block_orders(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(block_then_read, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
	data++;
}

const struct program passing_programs[] = {
	{"send", NULL, NULL, send_orders, false},
	{"send, buffered", NULL, NULL, send_orders_buffered, false},
	{"send, write after it", NULL, NULL, write_after_send, true},
	{"receive", NULL, NULL, receive_orders, false},
	{"receive, buffered", NULL, NULL, receive_races_buffered, true},
	{"receive before the send after the next", NULL, NULL, receive_orders_next, false},
	{"receive, buffer of two", NULL, NULL, receive_races_next, true},
	{"close", NULL, NULL, close_orders, false},
	{"close, write after it", NULL, NULL, write_after_close, true},
	{"select", NULL, NULL, select_orders, false},
	{"select, buffered", NULL, NULL, select_orders_buffered, false},
	{"select that times out", NULL, NULL, select_times_out, true},
	{"pipe", NULL, NULL, pipe_orders, false},
	{"pipe, write after it", NULL, NULL, write_after_bytes, true},
	{"two pipes", read_own_pipe, read_own_pipe, NULL, true},
	{"socket", NULL, NULL, socket_orders, false},
	{"call on a thread", NULL, NULL, block_orders, false},
	{"call on a thread, another fiber", block_then_read, read_data, NULL, true},
};
const size_t passing_count = sizeof passing_programs / sizeof *passing_programs;

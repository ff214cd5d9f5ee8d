/* SPDX-License-Identifier: MIT */
/*
 * test_io_terminal.c - a terminal or a shared socket suspends the fiber and never blocks its
 * carrier
 *
 * A terminal in blocking mode has no call that does not wait: if it is full, writing one more byte
 * blocks.
 */
#include "carriers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define MUCH 100000

struct line {
	int master, slave;
	size_t sent, got, wrong;
};

static void *talk(void *arg)
{
	struct line *l = arg;
	static char bytes[MUCH];

	for (size_t i = 0; i < MUCH; i++)
		bytes[i] = (char)('a' + i % 23);
	l->sent = (size_t)fiber_write_full(l->slave, bytes, MUCH, FIBER_FOREVER);
	return arg;
}

static void *listen_to(void *arg)
{
	struct line *l = arg;
	char bytes[1000];
	ssize_t n = 1;

	while (l->got < MUCH && n > 0) {
		n = fiber_read(l->master, bytes, sizeof bytes, FIBER_FOREVER);
		for (ssize_t i = 0; i < n; i++)
			l->wrong += bytes[i] != (char)('a' + (l->got + (size_t)i) % 23);
		l->got += n > 0 ? (size_t)n : 0;
	}
	return arg;
}

static void open_terminal(struct line *l)
{
	struct termios raw;

	memset(l, 0, sizeof *l);
	l->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(l->master >= 0);
	assert_int_equal(grantpt(l->master), 0);
	assert_int_equal(unlockpt(l->master), 0);
	l->slave = open(ptsname(l->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(l->slave >= 0);
	assert_int_equal(tcgetattr(l->slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(l->slave, TCSANOW, &raw), 0);
}

static void test_io_terminal_that_is_full_holds_up_no_carrier(void **state)
{
	static const int flags[] = {0, O_NONBLOCK};
	fiber_fn *const fns[] = {talk, listen_to};
	const struct fiber_runtime_options options = carriers_options();

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct line l;
		void *const args[] = {&l, &l};

		open_terminal(&l);
		assert_int_equal(fcntl(l.slave, F_SETFL, O_RDWR | flags[i]), 0);
		assert_int_equal(fcntl(l.master, F_SETFL, O_RDWR | flags[i]), 0);
		assert_int_equal(fiber_run_many(fns, args, 2, &options, NULL), 0);
		assert_int_equal(l.sent, MUCH);
		assert_int_equal(l.got, MUCH);
		assert_int_equal(l.wrong, 0);
		assert_int_equal(fcntl(l.slave, F_GETFL) & O_NONBLOCK, flags[i]);
		assert_int_equal(fcntl(l.master, F_GETFL) & O_NONBLOCK, flags[i]);
		fiber_close(l.slave);
		fiber_close(l.master);
	}
}

static void *type(void *arg)
{
	struct line *l = arg;

	carriers_pause();
	l->sent = (size_t)fiber_write_full(l->master, "a line\n", 7, FIBER_FOREVER);
	return arg;
}

static void *type_a_line(void *arg)
{
	struct line *l = arg;
	char bytes[16] = "";
	struct fiber *typist;
	ssize_t n;

	if (fiber_spawn(type, l, &typist) < 0)
		fiber_fail(-ENOMEM, "no typist");
	while (l->got < 7) {
		n = fiber_read(l->slave, bytes + l->got, sizeof bytes - l->got, FIBER_FOREVER);
		l->got += n > 0 ? (size_t)n : 7;
	}
	l->wrong += l->got != 7 || memcmp(bytes, "a line\n", 7) != 0;
	fiber_join(typist, NULL, FIBER_FOREVER);
	return arg;
}

static void test_io_terminal_gives_what_is_typed(void **state)
{
	struct line l;

	(void)state;
	open_terminal(&l);
	assert_int_equal(carriers_run(type_a_line, &l).error, 0);
	assert_int_equal(l.wrong, 0);
	fiber_close(l.slave);
	fiber_close(l.master);
}

/* -- many fibers on one socket -- */

enum { EACH = 4, PIECES = 200, PIECE = 1000 };

struct crossing {
	int fds[2];
	_Atomic long sent[2], got[2], wrong;
};

static void *write_pieces(void *arg, int end)
{
	struct crossing *c = arg;
	char bytes[PIECE] = "";
	ssize_t n;

	for (int i = 0; i < PIECES; i++) {
		n = fiber_write_full(c->fds[end], bytes, sizeof bytes, FIBER_FOREVER);
		c->sent[end] += n;
		c->wrong += n != PIECE;
	}
	return arg;
}

static void *write_here(void *arg)
{
	return write_pieces(arg, 0);
}

static void *write_there(void *arg)
{
	return write_pieces(arg, 1);
}

static void *read_pieces(void *arg, int end)
{
	struct crossing *c = arg;
	char bytes[777];
	ssize_t n;

	while ((n = fiber_read(c->fds[end], bytes, sizeof bytes, FIBER_FOREVER)) > 0)
		c->got[end] += n;
	c->wrong += n != 0;
	return arg;
}

static void *read_here(void *arg)
{
	return read_pieces(arg, 0);
}

static void *read_there(void *arg)
{
	return read_pieces(arg, 1);
}

static void *cross(void *arg)
{
	static fiber_fn *const fns[] = {write_here, write_there, read_here, read_there};
	struct crossing *c = arg;
	struct fiber *fibers[COUNT(fns) * EACH];

	for (size_t i = 0; i < COUNT(fibers); i++)
		if (fiber_spawn(fns[i / EACH], c, &fibers[i]) < 0)
			fiber_fail(-ENOMEM, "no fiber");
	for (size_t i = 0; i < 2 * EACH; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	for (int i = 0; i < 2; i++)
		while (c->got[1 - i] < c->sent[i])
			fiber_sleep(MS / 10);
	shutdown(c->fds[0], SHUT_RDWR);
	for (size_t i = 2 * EACH; i < COUNT(fibers); i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	for (int i = 0; i < 2; i++)
		fiber_close(c->fds[i]);
	return arg;
}

static void test_io_several_fibers_use_a_socket_in_both_directions(void **state)
{
	struct crossing c;

	(void)state;
	for (int flags = 0; flags <= SOCK_NONBLOCK; flags += SOCK_NONBLOCK) {
		memset(&c, 0, sizeof c);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | flags, 0, c.fds), 0);
		assert_int_equal(carriers_run(cross, &c).error, 0);
		assert_int_equal(c.wrong, 0);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(c.sent[i], EACH * PIECES * PIECE);
			assert_int_equal(c.got[i], EACH * PIECES * PIECE);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io_terminal_that_is_full_holds_up_no_carrier),
		cmocka_unit_test(test_io_terminal_gives_what_is_typed),
		cmocka_unit_test(test_io_several_fibers_use_a_socket_in_both_directions),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_io_kinds.c - every kind of descriptor suspends the fiber, and keeps its flags
 *
 * One fiber waits on each descriptor while the fiber that makes it ready runs on the same carriers.
 * On one carrier a call that blocks would hang, and the watchdog would show where.
 */
#include "carriers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* One fiber reads; the other makes data available once the first waits. */
struct meeting {
	int fd;
	ssize_t got;
	unsigned char bytes[512];
	void (*make)(struct meeting *);
	int other;
};

static void *read_once(void *arg)
{
	struct meeting *m = arg;

	m->got = fiber_read(m->fd, m->bytes, sizeof m->bytes, FIBER_FOREVER);
	return arg;
}

static void *meet(void *arg)
{
	struct meeting *m = arg;
	struct fiber *reader;

	if (fiber_spawn(read_once, m, &reader) < 0)
		fiber_fail(-ENOMEM, "no reader");
	carriers_await_suspended(reader);
	m->make(m);
	fiber_join(reader, NULL, FIBER_FOREVER);
	return arg;
}

/* Meet on fd in blocking mode and with O_NONBLOCK. size: expected bytes, 0: any number. */
static void both_ways(struct meeting *m, ssize_t size)
{
	static const int flags[] = {0, O_NONBLOCK};

	assert_true(m->fd >= 0);
	for (int i = 0; i < 2; i++) {
		const int before = (fcntl(m->fd, F_GETFL) & ~O_NONBLOCK) | flags[i];

		assert_int_equal(fcntl(m->fd, F_SETFL, before), 0);
		m->got = 0;
		assert_int_equal(carriers_run(meet, m).error, 0);
		if (size)
			assert_int_equal(m->got, size);
		assert_true(m->got > 0);
		assert_int_equal(fcntl(m->fd, F_GETFL), before);
	}
}

static void post(struct meeting *m)
{
	const uint64_t one = 7;

	fiber_write(m->fd, &one, sizeof one, FIBER_FOREVER);
}

static void test_io_kinds_eventfd(void **state)
{
	struct meeting m = {.fd = eventfd(0, EFD_CLOEXEC), .make = post};

	(void)state;
	both_ways(&m, 8);
	assert_int_equal(m.bytes[0], 7);
	fiber_close(m.fd);
}

static void arm(struct meeting *m)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};

	timerfd_settime(m->fd, 0, &soon, NULL);
}

static void test_io_kinds_timerfd(void **state)
{
	struct meeting m = {.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), .make = arm};

	(void)state;
	both_ways(&m, 8);
	assert_int_equal(m.bytes[0], 1);
	fiber_close(m.fd);
}

static void send_signal(struct meeting *m)
{
	(void)m;
	kill(getpid(), SIGUSR1);
}

static void test_io_kinds_signalfd(void **state)
{
	struct meeting m = {.make = send_signal};
	struct signalfd_siginfo info;
	sigset_t set;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	m.fd = signalfd(-1, &set, SFD_CLOEXEC);
	both_ways(&m, sizeof info);
	memcpy(&info, m.bytes, sizeof info);
	assert_int_equal(info.ssi_signo, SIGUSR1);
	fiber_close(m.fd);
}

/* The name is new each time: two equal events would be merged. */
static void touch(struct meeting *m)
{
	static int number;
	char name[16], path[HARNESS_PATH];

	(void)m;
	snprintf(name, sizeof name, "touched%d", number++ % 1000);
	close(open(harness_file(path, name), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600));
	unlink(path);
}

static void test_io_kinds_inotify(void **state)
{
	struct meeting m = {.fd = inotify_init1(IN_CLOEXEC), .make = touch};
	struct inotify_event event;

	(void)state;
	assert_true(inotify_add_watch(m.fd, harness_folder(), IN_DELETE) >= 0);
	both_ways(&m, sizeof event + 16);
	memcpy(&event, m.bytes, sizeof event);
	assert_int_equal(event.mask, IN_DELETE);
	assert_memory_equal((char *)m.bytes + sizeof event, "touched", 7);
	fiber_close(m.fd);
}

/* -- several readers of descriptors that must be polled first -- */

enum { READERS = 4, EVENTS = 300 };

struct shared {
	int fd;
	_Atomic int got, wrong;
};

static void *read_events(void *arg)
{
	struct shared *s = arg;
	char event[sizeof(struct inotify_event) + 16];
	ssize_t n;

	/* The buffer has room for one event. */
	while ((n = fiber_read(s->fd, event, sizeof event, FIBER_FOREVER)) > 0)
		s->got++;
	s->wrong += n != -ECANCELED;
	return arg;
}

static void *share(void *arg)
{
	struct shared *s = arg;
	struct fiber *readers[READERS];

	for (int i = 0; i < READERS; i++)
		s->wrong += fiber_spawn(read_events, s, &readers[i]) < 0;
	for (int i = 0; i < EVENTS; i++) {
		touch(NULL);
		if (i % 7 == 0)
			fiber_yield();
	}
	while (s->got < EVENTS)
		fiber_sleep(MS / 10);
	for (int i = 0; i < READERS; i++)
		fiber_cancel(readers[i]);
	for (int i = 0; i < READERS; i++)
		fiber_join(readers[i], NULL, FIBER_FOREVER);
	fiber_close(s->fd);
	return arg;
}

static void test_io_kinds_several_readers_of_one_that_cannot_be_asked(void **state)
{
	struct shared s = {.fd = inotify_init1(IN_CLOEXEC)};

	(void)state;
	assert_true(inotify_add_watch(s.fd, harness_folder(), IN_DELETE) >= 0);
	carriers_run(share, &s);
	assert_int_equal(s.got, EVENTS);
	assert_int_equal(s.wrong, 0);
}

/* -- descriptors that only have events -- */

struct watched {
	int fd, events;
	pid_t child;
	int gate[2];
};

static void *watch(void *arg)
{
	struct watched *w = arg;

	w->events = fiber_wait_fd(w->fd, POLLIN, FIBER_FOREVER);
	return arg;
}

static void *let_go(void *arg)
{
	struct watched *w = arg;
	struct fiber *watcher;

	if (fiber_spawn(watch, w, &watcher) < 0)
		fiber_fail(-ENOMEM, "no watcher");
	carriers_await_suspended(watcher);
	if (write(w->gate[1], "x", 1) != 1)
		fiber_fail(-EIO, "no gate");
	fiber_join(watcher, NULL, FIBER_FOREVER);
	return arg;
}

static void test_io_kinds_pidfd(void **state)
{
	struct watched w = {0};
	siginfo_t info = {0};
	char byte;

	(void)state;
	assert_int_equal(pipe2(w.gate, O_CLOEXEC), 0);
	w.child = fork();
	if (w.child == 0)
		_exit(read(w.gate[0], &byte, 1) == 1 ? 3 : 4);
	w.fd = (int)syscall(SYS_pidfd_open, w.child, 0);
	if (w.fd < 0) { /* not available in this kernel or container */
		kill(w.child, SIGKILL);
		waitpid(w.child, NULL, 0);
		skip();
	}
	assert_int_equal(carriers_run(let_go, &w).error, 0);
	assert_int_equal(w.events, POLLIN);
	assert_int_equal(waitid(P_PID, (id_t)w.child, &info, WEXITED), 0);
	assert_int_equal(info.si_status, 3);
	fiber_close(w.fd);
	close(w.gate[0]);
	close(w.gate[1]);
}

static void test_io_kinds_epoll_of_the_program(void **state)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct watched w = {.fd = epoll_create1(EPOLL_CLOEXEC)};

	(void)state;
	assert_int_equal(pipe2(w.gate, O_CLOEXEC), 0);
	assert_int_equal(epoll_ctl(w.fd, EPOLL_CTL_ADD, w.gate[0], &event), 0);
	assert_int_equal(carriers_run(let_go, &w).error, 0);
	assert_int_equal(w.events, POLLIN);
	fiber_close(w.fd);
	close(w.gate[0]);
	close(w.gate[1]);
}

/* -- descriptors that are always ready -- */

struct device {
	const char *path;
	ssize_t reads, writes;
};

static void *use_device(void *arg)
{
	static struct device found;
	const struct device *d = arg;
	const int fd = fiber_open(d->path, O_RDWR | O_CLOEXEC, 0, FIBER_FOREVER);
	char bytes[64] = "";

	found.path = d->path;
	found.writes = fiber_write(fd, bytes, sizeof bytes, FIBER_FOREVER);
	found.reads = fiber_read(fd, bytes, sizeof bytes, FIBER_FOREVER);
	if (fiber_close(fd) < 0)
		fiber_fail(-EIO, "not open");
	return &found;
}

static void test_io_kinds_devices(void **state)
{
	static const struct device devices[] = {
		{"/dev/null", 0, 64}, {"/dev/zero", 64, 64}, {"/dev/urandom", 64, 64}};

	(void)state;
	for (size_t i = 0; i < COUNT(devices); i++) {
		struct device d = devices[i];
		struct fiber_result r = carriers_run(use_device, &d);

		assert_int_equal(r.error, 0);
		assert_int_equal(((struct device *)r.value)->writes, d.writes);
		assert_int_equal(((struct device *)r.value)->reads, d.reads);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io_kinds_eventfd),
		cmocka_unit_test(test_io_kinds_timerfd),
		cmocka_unit_test(test_io_kinds_signalfd),
		cmocka_unit_test(test_io_kinds_inotify),
		cmocka_unit_test(test_io_kinds_several_readers_of_one_that_cannot_be_asked),
		cmocka_unit_test(test_io_kinds_pidfd),
		cmocka_unit_test(test_io_kinds_epoll_of_the_program),
		cmocka_unit_test(test_io_kinds_devices),
	};
	sigset_t set;

	/* Block it before there are threads, so that no thread gets it as a signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

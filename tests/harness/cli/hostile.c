/* SPDX-License-Identifier: MIT */
/* hostile.c - listeners at a control socket that break the protocol */
#include "tests/harness/cli/hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout/row.h"
#include "tests/harness/cli/layout.h"
#include "tests/harness/clock.h"
#include "tests/harness/paths.h"
#include "wire/wire.h"

#define PEERS	64
#define MS	INT64_C(1000000)
#define RECORDS 0x7f0000000000u /* the claimed address of the records */
#define MANY	(UINT64_C(1) << 24)

struct peer {
	int fd;
	unsigned type; /* type of the request; 0: none received yet */
	size_t received;
	unsigned char in[sizeof(struct fib_wire_header) + FIB_WIRE_REQUEST_MAX];
	size_t filled, sent; /* bytes of out */
	int64_t next;	     /* when it sends next */
	uint64_t count;	     /* messages of an endless answer so far */
	bool proper;	     /* whether to answer this request properly */
	unsigned char *out;
};

static struct {
	struct hostile_how how;
	struct fib_layout layout;
	struct peer peers[PEERS];
} self;

#define ROOM ((size_t)FIB_WIRE_FRAME_MAX + 65536)

/* -- what it sends -- */

static void say(struct peer *p, unsigned type, const void *payload, size_t length)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, (uint16_t)type,
					  (uint32_t)length};

	if (p->filled + sizeof h + length > ROOM)
		abort();
	memcpy(p->out + p->filled, &h, sizeof h);
	if (length)
		memcpy(p->out + p->filled + sizeof h, payload, length);
	p->filled += sizeof h + length;
}

static void say_process(struct peer *p)
{
	struct fib_wire_process process = {.pid = getpid(), .carriers = 1, .fibers = 1, .now = 1};

	snprintf(process.name, sizeof process.name, "%s",
		 self.how.name ? self.how.name : "listener");
	say(p, FIB_WIRE_PROCESS, &process, sizeof process);
}

static void say_row(struct peer *p, uint64_t i)
{
	struct {
		struct fib_wire_rows head;
		struct fib_row row;
	} rows = {.head = {sizeof rows.row, 1}};

	rows.row.id = i + 1;
	rows.row.record = RECORDS + i * self.layout.record_size;
	say(p, FIB_WIRE_ROWS, &rows, sizeof rows);
}

static void say_what_is_proper(struct peer *p)
{
	static const struct fib_wire_counters counters = {.now = 1};
	struct fib_wire_end end = {0};

	if (p->type != FIB_WIRE_CARRIERS)
		say_process(p);
	if (p->type == FIB_WIRE_COUNTERS || p->type == FIB_WIRE_LIST)
		say(p, FIB_WIRE_LAYOUT, &self.layout, sizeof self.layout);
	if (p->type == FIB_WIRE_COUNTERS)
		say(p, FIB_WIRE_COUNTERS_ARE, &counters, sizeof counters);
	if (p->type == FIB_WIRE_LIST) {
		say_row(p, 0);
		end.total = end.shown = 1;
	}
	say(p, FIB_WIRE_END, &end, sizeof end);
}

static void say_claim(struct peer *p)
{
	const struct fib_wire_still still = {p->count + 1, UINT64_C(1) << 40};

	say(p, FIB_WIRE_STILL, &still, sizeof still);
	p->next = harness_now() + 200 * MS;
}

static void say_rows(struct peer *p, bool rising)
{
	if (!p->count) {
		say_process(p);
		say(p, FIB_WIRE_LAYOUT, &self.layout, sizeof self.layout);
	}
	while (p->filled < 65536)
		say_row(p, rising ? p->count++ : 0);
}

static void say_maps(struct peer *p)
{
	static unsigned char bytes[FIB_WIRE_FRAME_MAX];

	if (!p->count)
		say_process(p);
	say(p, FIB_WIRE_MAPS, bytes, sizeof bytes);
}

static void say_more(struct peer *p)
{
	const struct fib_wire_header huge = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ROWS,
					     0xfffffff0u};
	static const struct fib_wire_error unknown = {-EINVAL, "no such value"};

	switch (p->proper ? HOSTILE_PROPER : self.how.kind) {
	case HOSTILE_PROPER:
	case HOSTILE_BYTES:
		say_what_is_proper(p);
		if (p->proper || self.how.kind == HOSTILE_PROPER)
			p->type = 0;
		break;
	case HOSTILE_STILL:
		say(p, FIB_WIRE_STILL, NULL, 0);
		p->next = harness_now() + 200 * MS;
		break;
	case HOSTILE_FLOOD:
		while (p->filled < 65536)
			say(p, FIB_WIRE_STILL, NULL, 0);
		break;
	case HOSTILE_MAPS:
		say_maps(p);
		break;
	case HOSTILE_ROWS:
	case HOSTILE_RISING:
		say_rows(p, self.how.kind == HOSTILE_RISING);
		break;
	case HOSTILE_CLAIMS:
		say_claim(p);
		break;
	case HOSTILE_OLDER:
		say(p, FIB_WIRE_ERROR, &unknown, sizeof unknown);
		p->type = 0;
		break;
	case HOSTILE_HUGE:
		memcpy(p->out, &huge, sizeof huge);
		p->filled = sizeof huge;
		p->next = INT64_MAX;
		break;
	default:
		p->next = INT64_MAX;
		break;
	}
	p->count++;
}

/* -- the peers -- */

static void hang_up(struct peer *p)
{
	close(p->fd);
	free(p->out);
	*p = (struct peer){.fd = -1};
}

static void take_request(struct peer *p)
{
	struct fib_wire_header h;
	size_t want = sizeof h;
	ssize_t n;

	if (p->received >= sizeof h) {
		memcpy(&h, p->in, sizeof h);
		want += h.length;
	}
	n = recv(p->fd, p->in + p->received, want - p->received, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		hang_up(p);
		return;
	}
	p->received += n > 0 ? (size_t)n : 0;
	if (p->received < sizeof h)
		return;
	memcpy(&h, p->in, sizeof h);
	if (h.length > FIB_WIRE_REQUEST_MAX || p->received < sizeof h + h.length)
		return;
	if (self.how.log)
		self.how.log->requests++;
	p->received = 0;
	p->type = h.type;
	p->count = 0;
	p->next = 0;
	p->proper =
		(self.how.greets && h.type == FIB_WIRE_HELLO) ||
		(self.how.counts && (h.type == FIB_WIRE_COUNTERS || h.type == FIB_WIRE_CARRIERS));
	if (self.how.kind == HOSTILE_CLOSES && !p->proper)
		hang_up(p);
}

static void send_some(struct peer *p)
{
	const bool drips = self.how.kind == HOSTILE_BYTES && !p->proper;
	ssize_t n = send(p->fd, p->out + p->sent, drips ? 1 : p->filled - p->sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		hang_up(p);
		return;
	}
	p->sent += (size_t)n;
	if (drips)
		p->next = harness_now() + 1000 * MS;
	if (p->sent == p->filled)
		p->sent = p->filled = 0;
}

static void turn(struct peer *p)
{
	if (!p->type && p->sent == p->filled)
		take_request(p);
	if (p->fd < 0 || harness_now() < p->next)
		return;
	if (p->type && p->sent == p->filled)
		say_more(p);
	if (p->sent < p->filled)
		send_some(p);
}

static void admit(int fd)
{
	int i;

	for (i = 0; i < PEERS && self.peers[i].fd >= 0; i++)
		;
	if (i == PEERS) {
		close(fd);
		return;
	}
	self.peers[i] = (struct peer){.fd = fd, .out = malloc(ROOM)};
}

static void serve(int listener)
{
	int i;

	for (i = 0; i < PEERS; i++)
		self.peers[i].fd = -1;
	for (;;) {
		struct pollfd fds[PEERS + 1] = {{.fd = listener, .events = POLLIN}};

		for (i = 0; i < PEERS; i++) {
			const struct peer *p = &self.peers[i];
			const bool full =
				p->fd >= 0 && p->sent < p->filled && harness_now() >= p->next;

			fds[i + 1] = (struct pollfd){.fd = p->fd,
						     .events = full ? POLLIN | POLLOUT : POLLIN};
		}
		poll(fds, PEERS + 1, 100);
		if (fds[0].revents)
			admit(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
		for (i = 0; i < PEERS; i++) {
			char byte;

			if (self.peers[i].fd < 0)
				continue;
			/* The peer has closed its end. */
			if (recv(self.peers[i].fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
				hang_up(&self.peers[i]);
			else
				turn(&self.peers[i]);
		}
	}
}

/* -- the process -- */

/* Open connections that are never accepted, until the backlog is full. */
static void fill_backlog(const struct sockaddr_un *at)
{
	int fd;

	do
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	while (fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0);
	if (fd < 0 || errno != EAGAIN)
		abort();
}

static int open_door(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(at.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
	    listen(fd, self.how.kind == HOSTILE_BACKLOG ? 0 : 64) < 0)
		abort();
	if (self.how.kind == HOSTILE_BACKLOG)
		fill_backlog(&at);
	return fd;
}

/* Compute the path of the socket and create its folder. */
static void choose_path(char *path, size_t size, pid_t pid)
{
	char folder[80];

	if (self.how.user)
		snprintf(folder, sizeof folder, "/tmp/fiber-%u", (unsigned)self.how.user);
	else
		snprintf(folder, sizeof folder, "%s/fiber", harness_folder());
	mkdir(folder, 0700);
	if (snprintf(path, size, "%s/%d.sock", folder, (int)pid) >= (int)size)
		abort();
}

static void be_child(int ready)
{
	char path[108];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (self.how.user && (setgid(self.how.user) < 0 || setuid(self.how.user) < 0))
		abort();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* setuid cleared it */
	choose_path(path, sizeof path, getpid());
	fd = open_door(path);
	if (write(ready, "", 1) != 1)
		abort();
	close(ready);
	if (self.how.kind == HOSTILE_BACKLOG)
		for (;;)
			pause();
	serve(fd);
}

void hostile_start(struct hostile *ret, const struct hostile_how *how)
{
	int fds[2];
	char byte;

	if (!self.layout.record_size) {
		layout_of_program(&self.layout);
		self.layout.records = RECORDS;
		self.layout.capacity = self.layout.committed = MANY;
	}
	self.how = *how;
	harness_folder();
	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	ret->pid = fork();
	if (ret->pid == 0) {
		be_child(fds[1]);
		_exit(1);
	}
	close(fds[1]);
	if (ret->pid < 0 || read(fds[0], &byte, 1) != 1)
		abort();
	close(fds[0]);
	choose_path(ret->path, sizeof ret->path, ret->pid);
}

void hostile_end(struct hostile *hostile)
{
	kill(hostile->pid, SIGKILL);
	waitpid(hostile->pid, NULL, 0);
	unlink(hostile->path);
}

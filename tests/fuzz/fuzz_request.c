/* SPDX-License-Identifier: MIT */
/*
 * fuzz_request.c - the control socket of a program with a peer that sends arbitrary requests
 *
 * The first byte of an input says what FIBER_CONTROL allows, the second how many bytes arrive at a
 * time. The rest is what the peer sends. For every input the replies are whole frames, an answer
 * ends once, and finally the connection is closed and all its memory is freed.
 */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>

#include "fuzz.h"
#include "os/os.h"
#include "service/answer.h"
#include "service/peer.h"
#include "service/serve.h"
#include "tests/unit/service/records.h"

#define FIBERS 6
#define TURNS  200000u /* more than any input needs */

static struct fiber_runtime *rt; /* with a carrier and a policy */
static _Alignas(4096) unsigned char stacks[FIBERS][16384];

/* Every second fiber has started and is some calls deep. */
static void give_stack(struct fiber *f, size_t i)
{
	if (i % 2 == 0)
		return;
	f->stack.low = stacks[i];
	f->stack.size = sizeof stacks[i];
	f->context.sp = (uint64_t)(uintptr_t)(stacks[i] + sizeof stacks[i] - 512 * i);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct fiber_runtime_options o = {.size = sizeof o,
						.carriers = 1,
						.control_path = "",
						.pinned_policy = FIBER_PINNED_SILENT};
	static const char *const names[FIBERS] = {"a", "", "\033[2J", "\xff\xfe", "name", "stuck"};
	size_t i;

	(void)argc;
	(void)argv;
	setenv("FIBER_CONTROL", "off", 1);
	fuzz_must(fiber_runtime_start(&o, &rt) == 0);
	for (i = 0; i < FIBERS; i++)
		give_stack(record_make(names[i], 0, 0), i);
	return 0;
}

/* What the other end of the peer has received, and the frames in it. */
struct received {
	unsigned char bytes[1u << 20];
	size_t size, whole;
	unsigned ends; /* END and ERROR frames */
};
static struct received got;

static void check_frames(void)
{
	struct fib_wire_header h;

	while (got.size - got.whole >= sizeof h) {
		memcpy(&h, got.bytes + got.whole, sizeof h);
		fuzz_must(fib_wire_check(&h, FIB_WIRE_FRAME_MAX) == 0);
		fuzz_must(h.type >= FIB_WIRE_PROCESS);
		if (got.size - got.whole - sizeof h < h.length)
			break;
		if (h.type == FIB_WIRE_END || h.type == FIB_WIRE_ERROR)
			got.ends++;
		got.whole += sizeof h + h.length;
	}
	memmove(got.bytes, got.bytes + got.whole, got.size - got.whole);
	got.size -= got.whole;
	got.whole = 0;
}

/* Read what is available. False if nothing is. */
static bool take(int fd)
{
	ssize_t n = recv(fd, got.bytes + got.size, sizeof got.bytes - got.size, MSG_DONTWAIT);

	if (n <= 0)
		return false;
	got.size += (size_t)n;
	check_frames();
	return true;
}

static bool turn(struct fib_peer *peer, int64_t now)
{
	struct pollfd p = {.fd = peer->fd, .events = fib_peer_events(peer)};

	if (peer->fd < 0)
		return false;
	fuzz_must(poll(&p, 1, 0) >= 0);
	if (!p.revents && !fib_peer_busy(peer))
		return false;
	fib_peer_turn(peer, p.revents, false, now);
	return true;
}

/* Run the peer and read from it until neither changes anything. */
static void settle(struct fib_peer *peer, int fd, int64_t now)
{
	unsigned turns = 0;
	bool moved;

	do {
		moved = turn(peer, now);
		moved = take(fd) || moved;
		fuzz_must(++turns < TURNS);
	} while (moved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fib_peer peer;
	size_t at = 2, step, n;
	int64_t now = 1000;
	int fds[2];

	if (size < 2)
		return 0;
	fib_answer_introduce("fuzz", (enum fib_wire_mode)(data[0] % 3));
	step = data[1] ? data[1] : size;
	got.size = got.whole = got.ends = 0;
	fuzz_must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	fuzz_must(fib_peer_open(&peer, fds[0], now) == 0);
	while (at < size && peer.fd >= 0) {
		n = size - at < step ? size - at : step;
		if (send(fds[1], data + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			break;
		at += n;
		settle(&peer, fds[1], now);
	}
	/* A request has at least 12 bytes and gets at most one END or ERROR frame. */
	fuzz_must(got.ends <= (size - 2) / sizeof(struct fib_wire_header) + 1);
	fuzz_must(got.size == 0);
	/* The peer waits for the rest of half a request, for a limited time. */
	if (peer.fd >= 0)
		fib_peer_turn(&peer, 0, false, now + 2 * FIB_PEER_PATIENCE);
	fuzz_must(peer.fd < 0);
	close(fds[1]);
	return 0;
}

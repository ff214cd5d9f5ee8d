/* SPDX-License-Identifier: MIT */
/*
 * serve.c - read the request of a connection, and answer it in turns
 *
 * A peer may be slow, silent, broken or gone, and must not delay the clock or the next peer. So
 * nothing here waits: a turn does what is possible now and returns.
 *
 * The rule for time: a peer has FIB_PEER_PATIENCE to send a whole request, however many pieces it
 * comes in, and as long to take a whole buffer of the answer. Sending or taking a byte now and then
 * does not extend the limit. Time in which the service itself pauses does not count.
 *
 * The rule for invalid input: one ERROR frame that names the error, then the connection is closed,
 * since the start of the next request is unknown.
 */
#include "service/serve.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "os/os.h"
#include "service/command.h"
#include "service/kept.h"

/*
 * The answer is gathered before it is written, so that the reader is woken once for many pieces: up
 * to so many bytes, or for so long.
 */
#define GATHER_BYTES (64u << 10)
#define GATHER_NS    INT64_C(25000)
/*
 * A brief turn takes the CPU from a carrier, so it does one thing: receive a request, make one
 * piece, or, once BRIEF_GATHER bytes are gathered, make BRIEF_WRITES writes. GRANTED_WRITES for a
 * granted request such as a recording, whose data is lost if it is not taken in time.
 */
#define BRIEF_GATHER   (4u << 10)
#define BRIEF_WRITES   2
#define GRANTED_WRITES 6
/*
 * Size of such a write. It fits in one object of the kernel's slabs, which reuses the memory of an
 * earlier one that was read. Longer writes take new pages, which the reader frees on its own CPU:
 * this CPU must refill its page list now and then, and in a virtual machine the pages may not even
 * be present. That costs 50 to 100 us.
 */
#define BRIEF_BYTES 3584u

static bool drained(const struct fib_peer *peer)
{
	return peer->sent == peer->filled;
}

static ssize_t get(const struct fib_peer *peer, void *buf, size_t size)
{
	return peer->plain ? fib_os_local_read(peer->fd, buf, size)
			   : fib_os_read(peer->fd, buf, size);
}

static ssize_t put(const struct fib_peer *peer, const void *buf, size_t size)
{
	return peer->plain ? fib_os_local_write(peer->fd, buf, size)
			   : fib_os_write(peer->fd, buf, size);
}

/* -- taking requests -- */

static void end_with_error(struct fib_peer *peer, int error, const char *text)
{
	fib_peer_error(peer, error, "%s", text);
	peer->closing = true;
}

/* How many bytes of the request are needed, as far as known. */
static size_t wanted(const struct fib_peer *peer)
{
	struct fib_wire_header header;

	if (peer->received < sizeof header)
		return sizeof header;
	memcpy(&header, peer->in, sizeof header);
	return sizeof header + header.length;
}

/* The header is complete: check it. False: an error was queued. */
static bool check_header(struct fib_peer *peer)
{
	const struct fib_command *command;
	struct fib_wire_header header;
	int rc;

	memcpy(&header, peer->in, sizeof header);
	rc = fib_wire_check(&header, FIB_WIRE_REQUEST_MAX);
	command = rc < 0 ? NULL : fib_command_find(header.type);
	if (rc == -EMSGSIZE)
		end_with_error(peer, rc, "this request is longer than any that there is");
	else if (rc < 0)
		end_with_error(peer, rc, "this is no request of fiberctl, or of another version");
	else if (!command)
		end_with_error(peer, -EOPNOTSUPP, "this program does not know that request");
	else if (header.length < command->least)
		end_with_error(peer, -EINVAL, "this request is too short");
	return !peer->closing;
}

static void start_command(struct fib_peer *peer, int64_t now)
{
	const unsigned char *payload = peer->in + sizeof(struct fib_wire_header);
	size_t length = peer->received - sizeof(struct fib_wire_header);
	struct fib_wire_header header;
	const struct fib_command *command;

	memcpy(&header, peer->in, sizeof header);
	command = fib_command_find(header.type);
	memset(&peer->cursor, 0, sizeof peer->cursor);
	fib_kept_renew();
	peer->received = 0;
	peer->spoke = now;
	peer->granted |= command->granted;
	if (command->begin(peer, payload, length))
		peer->command = command;
}

/* Read at most one request and no byte beyond it. False when the peer has closed. */
static bool receive(struct fib_peer *peer, int64_t now)
{
	for (;;) {
		size_t want = wanted(peer);
		ssize_t n = get(peer, peer->in + peer->received, want - peer->received);

		if (n == -EAGAIN)
			return true;
		if (n <= 0)
			return false;
		peer->received += (size_t)n;
		if (peer->received < want)
			continue;
		if (want == sizeof(struct fib_wire_header) && !check_header(peer))
			return true;
		if (wanted(peer) > peer->received)
			continue;
		start_command(peer, now);
		return true;
	}
}

/* -- turns -- */

/* Write what can be written; in a brief turn a part of it. False when the peer is gone. */
static bool flush(struct fib_peer *peer, int64_t now)
{
	const size_t most = peer->brief ? BRIEF_BYTES : SIZE_MAX;
	unsigned writes = peer->granted ? GRANTED_WRITES : BRIEF_WRITES;

	while (!drained(peer)) {
		size_t left = peer->filled - peer->sent;
		ssize_t n;

		if (peer->brief && !writes--) {
			peer->deadline = now + FIB_PEER_PATIENCE; /* the service pauses */
			return true;
		}
		n = put(peer, peer->out + peer->sent, left > most ? most : left);
		if (n == -EAGAIN)
			return true;
		if (n < 0)
			return false;
		peer->sent += (size_t)n;
	}
	peer->sent = 0;
	peer->filled = 0;
	peer->writing = false;
	peer->spoke = now;
	peer->deadline = now + FIB_PEER_PATIENCE;
	return true;
}

/* Continue the answer, by at most what one turn may cost. */
static void answer(struct fib_peer *peer, int64_t now)
{
	const int64_t began = now;

	do {
		if (peer->command->step(peer, now))
			peer->command = NULL;
		now = fib_os_now();
	} while (peer->command && !peer->brief && peer->filled < GATHER_BYTES &&
		 now - began < GATHER_NS);
}

/*
 * Gather the answer until it is worth a write, but not longer than FIB_PEER_STILL: if there is
 * nothing to send then, a STILL frame says that the answer continues.
 */
static bool is_to_write(struct fib_peer *peer, int64_t now)
{
	const bool silent = peer->command && now - peer->spoke >= FIB_PEER_STILL;

	if (silent && drained(peer)) {
		const struct fib_wire_still still = {peer->cursor.next, peer->cursor.committed};

		/* Without a walk through the records there is no progress to report. */
		fib_peer_frame(peer, FIB_WIRE_STILL, &still, still.all ? sizeof still : 0);
	}
	return !drained(peer) &&
	       (silent || !peer->command || !peer->brief || peer->filled >= BRIEF_GATHER);
}

/* Do one of the possible steps; a brief turn does no more. False when the peer is gone. */
static bool work(struct fib_peer *peer, short revents, int64_t now)
{
	if (peer->writing)
		return flush(peer, now);
	if (peer->command) {
		peer->deadline = now + FIB_PEER_PATIENCE;
		answer(peer, now);
	} else if (!peer->closing && (revents & POLLIN) && !receive(peer, now))
		return false;
	peer->writing = is_to_write(peer, now);
	return peer->brief || !peer->writing || flush(peer, now);
}

static bool turn(struct fib_peer *peer, short revents, int64_t now)
{
	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		return false;
	if (!work(peer, revents, now))
		return false;
	if (peer->closing && drained(peer))
		return false;
	return now < peer->deadline;
}

void fib_peer_turn(struct fib_peer *peer, short revents, bool brief, int64_t now)
{
	peer->brief = brief;
	if (!turn(peer, revents, now))
		fib_peer_close(peer);
}

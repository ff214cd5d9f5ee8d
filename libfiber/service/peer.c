/* SPDX-License-Identifier: MIT */
/*
 * peer.c - one connection to the control socket
 *
 * The descriptor, the buffer of the answer and the frames in it. What a connection does at its turn is in serve.c.
 */
#include "service/peer.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/check.h"
#include "os/os.h"
#include "service/maps.h"

/* A frame of the largest size, the small ones before it, and what had been gathered before. */
#define OUT_SIZE (FIB_WIRE_FRAME_MAX + (256u << 10))

#define KEPT (96u << 10) /* bytes of a buffer that stay in memory for who comes next */

static int map_buffer(struct fib_peer *peer)
{
	void *out;
	int rc = fib_os_map_buffer(OUT_SIZE, &out);

	if (rc == 0)
		peer->out = out;
	return rc;
}

int fib_peer_open(struct fib_peer *peer, int fd, int64_t now)
{
	int rc = peer->out ? 0 : map_buffer(peer);

	if (rc < 0)
		return rc;
	memset(&peer->cursor, 0, sizeof peer->cursor);
	peer->closing = peer->granted = peer->writing = false;
	peer->waits_for_maps = peer->plain = false;
	peer->command = NULL;
	peer->deadline = now + FIB_PEER_PATIENCE;
	peer->who = (struct fib_os_who){0};
	peer->sent = peer->filled = peer->frame = peer->received = peer->touched = 0;
	/* Last: a process forked in the middle of this closes what it finds (service.c). */
	fib_fence_release();
	peer->fd = fd;
	return 0;
}

/*
 * Rows and stacks have the addresses of records and objects. A search for pointers to these
 * (inspect/leaks) would find them here, and take them for the program's.
 */
static void forget(struct fib_peer *peer)
{
	const size_t used = peer->touched;

	memset(peer->out, 0, used < KEPT ? used : KEPT);
	if (used <= KEPT)
		return;
	if (fib_os_is_locked(peer->out + KEPT))
		memset(peer->out + KEPT, 0, used - KEPT);
	else
		fib_os_discard(peer->out + KEPT, OUT_SIZE - KEPT);
}

void fib_peer_close(struct fib_peer *peer)
{
	int fd = peer->fd;

	if (fd < 0)
		return;
	peer->fd = -1;
	fib_fence_release();
	fib_maps_leave(peer);
	fib_os_close(fd);
	forget(peer);
	memset(&peer->cursor, 0, sizeof peer->cursor);
}

void fib_peer_end(struct fib_peer *peer)
{
	void *out = peer->out;

	fib_peer_close(peer);
	/* First: a process forked in the middle of this unmaps what it finds. */
	peer->out = NULL;
	fib_fence_release();
	if (out)
		fib_os_unmap(out, OUT_SIZE);
}

short fib_peer_events(const struct fib_peer *peer)
{
	if (peer->writing)
		return POLLOUT;
	return peer->command || peer->closing ? 0 : POLLIN;
}

bool fib_peer_busy(const struct fib_peer *peer)
{
	return peer->command && !peer->writing;
}

/* -- building an answer -- */

size_t fib_peer_filled(const struct fib_peer *peer)
{
	return peer->filled;
}

void fib_peer_frame_open(struct fib_peer *peer, enum fib_wire_type type)
{
	struct fib_wire_header header = {
		.magic = FIB_WIRE_MAGIC,
		.version = FIB_WIRE_VERSION,
		.type = (uint16_t)type,
	};

	fib_check(peer->filled + sizeof header <= OUT_SIZE);
	peer->frame = peer->filled;
	memcpy(peer->out + peer->filled, &header, sizeof header);
	peer->filled += sizeof header;
}

void *fib_peer_at(struct fib_peer *peer, size_t *ret_room)
{
	size_t used = peer->filled - peer->frame - sizeof(struct fib_wire_header);
	size_t room = OUT_SIZE - peer->filled;

	*ret_room = room < FIB_WIRE_FRAME_MAX - used ? room : FIB_WIRE_FRAME_MAX - used;
	return peer->out + peer->filled;
}

void fib_peer_touch(struct fib_peer *peer, size_t length)
{
	const size_t end = peer->filled + length;

	fib_check(end <= OUT_SIZE);
	if (end > peer->touched)
		peer->touched = end;
}

void fib_peer_add(struct fib_peer *peer, size_t length)
{
	fib_peer_touch(peer, length);
	peer->filled += length;
}

void fib_peer_frame_close(struct fib_peer *peer)
{
	size_t used = peer->filled - peer->frame - sizeof(struct fib_wire_header);
	uint32_t length = (uint32_t)used;

	memcpy(peer->out + peer->frame + offsetof(struct fib_wire_header, length), &length,
	       sizeof length);
}

void fib_peer_frame_drop(struct fib_peer *peer)
{
	peer->filled = peer->frame;
}

void fib_peer_frame(struct fib_peer *peer, enum fib_wire_type type, const void *payload,
		    size_t length)
{
	size_t room;
	void *at;

	fib_peer_frame_open(peer, type);
	at = fib_peer_at(peer, &room);
	fib_check(length <= room);
	memcpy(at, payload, length);
	fib_peer_add(peer, length);
	fib_peer_frame_close(peer);
}

void fib_peer_error(struct fib_peer *peer, int error, const char *fmt, ...)
{
	struct fib_wire_error e = {.error = error};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof e.text, fmt, ap);
	va_end(ap);
	fib_peer_frame(peer, FIB_WIRE_ERROR, &e, sizeof e);
}

void fib_peer_turn_away(int fd, int error, const char *text)
{
	struct {
		struct fib_wire_header header;
		struct fib_wire_error error;
	} last = {
		.header = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ERROR, sizeof last.error},
		.error = {.error = error},
	};

	_Static_assert(sizeof last == sizeof last.header + sizeof last.error, "no hole");
	snprintf(last.error.text, sizeof last.error.text, "%s", text);
	/* A fresh connection has room for it; if not, the end says enough. */
	fib_os_local_write(fd, &last, sizeof last);
	fib_os_close(fd);
}

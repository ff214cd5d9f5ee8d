/* SPDX-License-Identifier: MIT */
/*
 * answer.c - the frames that the answers to several commands share
 *
 * A reader needs three things besides the fibers: who we are, how our records are laid out, and which
 * files are mapped where, so that it can name addresses. The maps are read with plain read(2) into
 * the frame, a piece at a time: a program with tens of thousands of mappings has megabytes of them.
 */
#include "service/answer.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/registry.h"
#include "os/local.h"
#include "os/os.h"
#include "sched/tick.h"

#define MAPS_PIECE 512u /* bytes: some five lines, each a microsecond or two of the kernel's */

static struct {
	char name[sizeof(((struct fib_wire_process *)0)->name)];
	enum fib_wire_mode mode;
	int64_t began;
} self;

void fib_answer_introduce(const char *name, enum fib_wire_mode mode)
{
	snprintf(self.name, sizeof self.name, "%s", name);
	self.mode = mode;
	self.began = fib_os_now();
}

enum fib_wire_mode fib_answer_mode(void)
{
	return self.mode;
}

int64_t fib_answer_began(void)
{
	return self.began;
}

void fib_answer_process(struct fib_peer *peer, int64_t now)
{
	struct fib_wire_process p = {0};
	int policy = fib_tick_policy();

	p.pid = getpid();
	p.mode = self.mode;
	p.carriers = fib_tick_carriers();
	p.policy = policy < 0 ? 0 : (uint32_t)policy;
	p.fibers = fib_tick_fibers();
	p.now = now;
	memcpy(p.name, self.name, sizeof p.name);
	peer->cursor.told = now;
	fib_peer_frame(peer, FIB_WIRE_PROCESS, &p, sizeof p);
}

/* The counters in it are set by others while we copy. */
fib_unwatched static void copy_layout(struct fib_layout *to)
{
	const volatile unsigned char *from = (const volatile void *)&fiber_registry;
	unsigned char *at = (unsigned char *)to;
	size_t i;

	for (i = 0; i < sizeof *to; i++)
		at[i] = from[i];
}

void fib_answer_layout(struct fib_peer *peer)
{
	struct fib_layout layout;

	copy_layout(&layout);
	fib_peer_frame(peer, FIB_WIRE_LAYOUT, &layout, sizeof layout);
}

void fib_answer_end(struct fib_peer *peer)
{
	fib_peer_frame(peer, FIB_WIRE_END, &peer->cursor.end, sizeof peer->cursor.end);
}

/* A piece. True when there is no more. */
static bool answer_maps(struct fib_peer *peer)
{
	struct fib_cursor *c = &peer->cursor;
	struct iovec piece;
	ssize_t n;

	fib_peer_frame_open(peer, FIB_WIRE_MAPS);
	piece.iov_base = fib_peer_at(peer, &piece.iov_len);
	if (piece.iov_len > MAPS_PIECE)
		piece.iov_len = MAPS_PIECE;
	/* It is on no disk, but is not known to be there at once. */
	n = fib_os_read_slow(c->file, &piece, 1);
	if (n > 0) {
		fib_peer_add(peer, (size_t)n);
		fib_peer_frame_close(peer);
		return false;
	}
	fib_peer_frame_drop(peer);
	fib_os_close(c->file);
	c->file = -1;
	return true;
}

enum { STAGE_HEAD, STAGE_OPEN, STAGE_MAPS, STAGE_FIBERS };

bool fib_answer_preface(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;

	switch (c->stage) {
	case STAGE_HEAD:
		fib_answer_process(peer, now);
		fib_answer_layout(peer);
		c->stage = c->wanted & FIB_WIRE_WANT_MAPS ? STAGE_OPEN : STAGE_FIBERS;
		return false;
	case STAGE_OPEN:
		c->file = fib_os_open("/proc/self/maps");
		/* In a sandbox without /proc the reader has to look for itself. */
		c->stage = c->file < 0 ? STAGE_FIBERS : STAGE_MAPS;
		return false;
	case STAGE_MAPS:
		if (answer_maps(peer))
			c->stage = STAGE_FIBERS;
		return false;
	default:
		return true;
	}
}

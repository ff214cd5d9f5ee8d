/* SPDX-License-Identifier: MIT */
/*
 * answer.c - the frames that several commands send
 *
 * Besides the fibers a reader needs the identity of the process, the layout of the records, and the
 * mapped files, to name addresses. The mappings are read (maps.c) into the frame in pieces: a
 * program with tens of thousands of mappings has megabytes of them.
 */
#include "service/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/registry.h"
#include "os/os.h"
#include "service/maps.h"
#include "watch/tick.h"

#define MAPS_PIECE 512u /* bytes: about five lines; each takes the kernel 1-2 us */

static struct {
	char name[sizeof(((struct fib_wire_process *)0)->name)];
	enum fib_wire_mode mode;
	int64_t began;
	int32_t pid;
} self;

void fib_answer_introduce(const char *name, enum fib_wire_mode mode)
{
	snprintf(self.name, sizeof self.name, "%s", name);
	self.mode = mode;
	self.began = fib_os_now();
	self.pid = getpid();
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

	p.pid = self.pid;
	p.mode = self.mode;
	p.carriers = fib_tick_carriers();
	p.policy = policy < 0 ? 0 : (uint32_t)policy;
	p.fibers = fib_tick_fibers();
	p.now = now;
	memcpy(p.name, self.name, sizeof p.name);
	peer->cursor.process_time = now;
	fib_peer_frame(peer, FIB_WIRE_PROCESS, &p, sizeof p);
}

/* Other threads change the counters in it during the copy. */
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

void fib_answer_refused(struct fib_peer *peer, int rc, const char *call, const char *lacks)
{
	struct fib_wire_refused *r = &peer->cursor.refused;

	if (!fib_os_is_refusal(rc) || r->error)
		return;
	r->error = rc;
	snprintf(r->call, sizeof r->call, "%s", call);
	snprintf(r->lacks, sizeof r->lacks, "%s", lacks);
}

void fib_answer_end(struct fib_peer *peer)
{
	const struct fib_wire_refused *r = &peer->cursor.refused;

	if (r->error)
		fib_peer_frame(peer, FIB_WIRE_REFUSED, r, sizeof *r);
	fib_peer_frame(peer, FIB_WIRE_END, &peer->cursor.end, sizeof peer->cursor.end);
}

/* Append a piece. True: there is no more. */
static bool answer_maps(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;
	size_t room;
	ssize_t n;
	void *at;

	fib_peer_frame_open(peer, FIB_WIRE_MAPS);
	at = fib_peer_at(peer, &room);
	n = fib_maps_read(peer, at, room < MAPS_PIECE ? room : MAPS_PIECE, c->mapped, now);
	if (n > 0) {
		c->mapped += (size_t)n;
		fib_peer_add(peer, (size_t)n);
		fib_peer_frame_close(peer);
		return false;
	}
	fib_peer_frame_drop(peer);
	if (n == -EAGAIN)
		return false;
	/* In a sandbox without /proc the reader must look itself. */
	fib_maps_leave(peer);
	return true;
}

enum { STAGE_HEAD, STAGE_MAPS, STAGE_FIBERS };

bool fib_answer_preface(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;

	switch (c->stage) {
	case STAGE_HEAD:
		fib_answer_process(peer, now);
		fib_answer_layout(peer);
		c->stage = c->wanted & FIB_WIRE_WANT_MAPS ? STAGE_MAPS : STAGE_FIBERS;
		return false;
	case STAGE_MAPS:
		if (answer_maps(peer, now))
			c->stage = STAGE_FIBERS;
		return false;
	default:
		return true;
	}
}

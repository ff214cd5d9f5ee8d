/* SPDX-License-Identifier: MIT */
/*
 * cmd_thread.c - send where a plain thread sleeps, and the bytes of its stack
 *
 * A thread that holds what fibers wait for has no record, and its registers are saved nowhere. Neither
 * are those of a running fiber, which are its carrier's.
 * While it sleeps in the system, the kernel reports its stack pointer, and its stack does not
 * change. So the stack is copied between two looks. The copy counts if the thread slept in the same
 * place both times and got no CPU time in between. A thread that runs would have to be stopped, and
 * is left alone.
 *
 * The end of such a stack is not known here. The copy ends at unmapped memory, or at its maximum
 * size.
 */
#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "os/sample.h"
#include "os/threads.h"
#include "service/answer.h"
#include "service/command.h"
#include "service/kept.h"
#include "watch/tick.h"
#include "wire/thread.h"

#define TRIES 8
#define PIECE (16u << 10)

/* What a field of a cursor means here. */
#define TRIED(c) ((c)->stage)

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_thread request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	peer->cursor.id = request.tid;
	return true;
}

/* Copy up to `most` bytes, as far as memory is mapped. Returns the number of bytes. */
static uint32_t copy(uint64_t from, unsigned char *to, uint32_t most)
{
	const uint32_t page = (uint32_t)fib_os_page_size();
	uint32_t done = 0, piece = PIECE;

	while (done < most) {
		const uint32_t rest = page - (uint32_t)((from + done) % page);
		uint32_t n = piece == PIECE ? piece : rest;

		n = n < most - done ? n : most - done;
		if (fib_os_peek_through(fib_kept_pipe(), from + done, to + done, n) == 0)
			done += n;
		else if (piece < PIECE)
			break;
		else
			piece = 0; /* from here on page by page */
	}
	return done;
}

static bool same(const struct fib_sleeper_place *a, const struct fib_sleeper_place *b)
{
	return a->call == b->call && a->sp == b->sp && a->pc == b->pc;
}

/* The state to report for a thread whose place is unknown. */
static enum fib_wire_thread_state nowhere(int rc)
{
	if (rc == 0)
		return FIB_WIRE_THREAD_RUNS;
	return rc == -ENOENT || rc == -ESRCH ? FIB_WIRE_THREAD_ENDED : FIB_WIRE_THREAD_HIDDEN;
}

/* A carrier keeps the file open in which its place is, if it could open it. */
static int find_place(uint32_t tid, struct fib_sleeper_place *ret)
{
	int kept, rc;

	if (!fib_tick_place(tid, ret, &kept))
		return fib_os_thread_place(tid, ret);
	if (kept != -ENODATA)
		return kept;
	rc = fib_os_thread_place(tid, ret);
	/* The carrier has not ended: there is no /proc. */
	return rc == -ENOENT ? kept : rc;
}

static enum fib_wire_thread_state look(uint32_t tid, struct fib_wire_thread_is *ret,
				       unsigned char *stack)
{
	const int64_t used = fib_os_thread_cpu_of(tid);
	struct fib_sleeper_place before, after;
	int rc = find_place(tid, &before);

	ret->error = rc < 0 ? rc : 0;
	if (rc != 1)
		return nowhere(rc);
	ret->stack_size = copy(before.sp, stack, FIB_WIRE_THREAD_STACK);
	if (find_place(tid, &after) != 1 || !same(&before, &after) ||
	    fib_os_thread_cpu_of(tid) != used)
		return FIB_WIRE_THREAD_MOVED;
	ret->call = before.call;
	ret->sp = before.sp;
	ret->pc = before.pc;
	ret->cut = ret->stack_size == FIB_WIRE_THREAD_STACK;
	return ret->stack_size ? FIB_WIRE_THREAD_SLEEPS : FIB_WIRE_THREAD_GONE;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;
	struct fib_wire_thread_is is = {.tid = c->id, .call = -1};
	unsigned char *at;
	size_t room;

	(void)now;
	fib_peer_frame_open(peer, FIB_WIRE_THREAD_IS);
	at = fib_peer_at(peer, &room);
	is.state = c->id > UINT32_MAX ? FIB_WIRE_THREAD_ENDED
				      : look((uint32_t)c->id, &is, at + sizeof is);
	/* A copy of a stack that has moved is dropped. */
	fib_peer_touch(peer, sizeof is + is.stack_size);
	if (is.state == FIB_WIRE_THREAD_MOVED && ++TRIED(c) < TRIES) {
		fib_peer_frame_drop(peer);
		return false;
	}
	if (is.state != FIB_WIRE_THREAD_SLEEPS)
		is.stack_size = 0;
	memcpy(at, &is, sizeof is);
	fib_peer_add(peer, sizeof is + is.stack_size);
	fib_peer_frame_close(peer);
	c->end.total = c->end.shown = 1;
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_thread = {
	.type = FIB_WIRE_THREAD,
	.name = "thread",
	.least = sizeof(struct fib_wire_thread),
	.begin = begin,
	.step = step,
};

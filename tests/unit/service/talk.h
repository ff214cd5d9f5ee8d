/* SPDX-License-Identifier: MIT */
/* talk.h - one peer and its client in one thread, with a clock that the test moves */
#ifndef UNIT_SERVICE_TALK_H
#define UNIT_SERVICE_TALK_H

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/registry.h"
#include "service/answer.h"
#include "service/peer.h"
#include "service/serve.h"

#define TALK_ROOM (64u << 20)

struct talk {
	struct fib_peer peer;
	int fd; /* the client's end */
	int64_t now;
	unsigned char *got;   /* what the client has received */
	size_t size, at;      /* at: the next frame for talk_frame() */
	unsigned char *given; /* payload copies, each aligned for any struct */
	size_t given_size;
	unsigned turns;
	bool brief; /* every turn is brief */
};

static inline void talk_begin(struct talk *t)
{
	int fds[2];

	memset(t, 0, sizeof *t);
	t->now = 1000;
	t->got = malloc(TALK_ROOM);
	t->given = malloc(2 * TALK_ROOM);
	if (!t->got || !t->given || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	    fib_peer_open(&t->peer, fds[0], t->now) < 0)
		abort();
	t->fd = fds[1];
}

static inline void talk_end(struct talk *t)
{
	fib_peer_end(&t->peer);
	close(t->fd);
	free(t->got);
	free(t->given);
}

/* For tests of a service with changeable settings: *state is the talk. */
static inline int talk_set_up(void **state)
{
	static struct talk t;

	fib_registry_init();
	fib_answer_introduce("unit", FIB_WIRE_RW);
	talk_begin(&t);
	*state = &t;
	return 0;
}

static inline int talk_tear_down(void **state)
{
	talk_end(*state);
	return 0;
}

/* One turn of the peer, with the current result of poll(). */
static inline void talk_turn(struct talk *t)
{
	struct pollfd p = {.fd = t->peer.fd, .events = fib_peer_events(&t->peer)};

	if (poll(&p, 1, 0) < 0)
		abort();
	fib_peer_turn(&t->peer, p.revents, t->brief, t->now);
	t->turns++;
}

static inline bool talk_take(struct talk *t)
{
	ssize_t n = recv(t->fd, t->got + t->size, TALK_ROOM - t->size, MSG_DONTWAIT);

	if (n <= 0)
		return false;
	t->size += (size_t)n;
	return true;
}

/* Let both ends work until neither has anything left to do. */
static inline void talk_run(struct talk *t)
{
	struct pollfd p;

	do {
		if (t->peer.fd >= 0)
			talk_turn(t);
		while (talk_take(t))
			;
		p = (struct pollfd){.fd = t->peer.fd, .events = POLLIN};
	} while (t->peer.fd >= 0 &&
		 (t->peer.command || fib_peer_filled(&t->peer) || poll(&p, 1, 0) > 0));
	while (talk_take(t))
		;
}

static inline void talk_send(struct talk *t, const void *bytes, size_t length)
{
	if (send(t->fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
		abort();
}

static inline void talk_request(struct talk *t, unsigned type, const void *payload, size_t length)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, (uint16_t)type,
				    (uint32_t)length};

	talk_send(t, &h, sizeof h);
	if (length)
		talk_send(t, payload, length);
}

/* The type of the next received frame, 0 if there is none. */
static inline unsigned talk_frame(struct talk *t, const void **ret, size_t *ret_length)
{
	struct fib_wire_header h;

	*ret = NULL;
	if (t->size - t->at < sizeof h)
		return 0;
	memcpy(&h, t->got + t->at, sizeof h);
	if (fib_wire_check(&h, FIB_WIRE_FRAME_MAX) < 0 || t->size - t->at - sizeof h < h.length)
		abort();
	*ret = memcpy(t->given + t->given_size, t->got + t->at + sizeof h, h.length);
	t->given_size += (h.length + 15u) & ~15u;
	*ret_length = h.length;
	t->at += sizeof h + h.length;
	return h.type;
}

/* Skip to the next frame of that type; NULL if none is left. */
static inline const void *talk_find(struct talk *t, unsigned type, size_t *ret_length)
{
	const void *payload;
	unsigned got;

	while ((got = talk_frame(t, &payload, ret_length)))
		if (got == type)
			return payload;
	return NULL;
}

/*
 * Make one request to a new peer. The answer is one frame of that type and size. Returns 0 with the
 * answer in ret, or the error of the ERROR frame.
 */
static inline int talk_ask(unsigned type, const void *request, size_t length, unsigned answer,
			   void *ret, size_t size)
{
	struct fib_wire_error e = {0};
	const void *payload;
	struct talk t;
	size_t got;

	talk_begin(&t);
	talk_request(&t, type, request, length);
	talk_run(&t);
	payload = talk_find(&t, answer, &got);
	if (payload)
		memcpy(ret, payload, size);
	t.at = 0;
	if (!payload && (payload = talk_find(&t, FIB_WIRE_ERROR, &got)))
		memcpy(&e, payload, sizeof e);
	talk_end(&t);
	return payload ? e.error : -EIO;
}

#endif

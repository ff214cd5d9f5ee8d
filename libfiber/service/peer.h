/* SPDX-License-Identifier: MIT */
/*
 * peer.h - one connection to the control socket
 *
 * A peer is in one of three states: it owes us a request, we owe it an answer, or it only has to take
 * what is in its buffer before we close. Each state has a time limit. Times are ns of fib_os_now(), given by
 * the caller.
 */
#ifndef FIB_SERVICE_PEER_H
#define FIB_SERVICE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "os/local.h"
#include "os/os.h"
#include "service/sample.h"
#include "wire/wire.h"

struct fib_command;

/* How long a peer may owe us the rest of a request, or leave a buffer full of answer unread. */
#define FIB_PEER_PATIENCE INT64_C(10000000000)

/* Who is looked for among millions is not found soon: so often a peer hears that it is worked on (FIB_WIRE_STILL). */
#define FIB_PEER_STILL INT64_C(500000000)

/* How far an answer has come. Set to zero before a command begins. */
struct fib_cursor {
	unsigned stage;	    /* of the command's own counting */
	uint64_t counted;   /* by the command, as it says */
	uint64_t fibers;    /* the same */
	uint64_t next;	    /* record to look at */
	uint64_t committed; /* records there are */
	uint64_t id;	    /* the fiber that is asked for, 0: all */
	int64_t setting;    /* of the request: the value that is wanted */
	uint32_t ring;	    /* of the request: enum fib_wire_ring */
	uint32_t act;	    /* of the request: enum fib_wire_act_what */
	uint32_t wanted;    /* FIB_WIRE_WANT_* */
	bool several;	    /* there are several runtimes */
	uint64_t mapped;    /* bytes of the mappings that it has had */
	struct fib_wire_end end;
	int64_t began;			 /* the first record was looked at; 0: not yet */
	int64_t process_time;		 /* the time that PROCESS has said */
	struct fib_wire_refused refused; /* error 0: nothing was */
	struct fib_sample_object object;
	struct fib_wire_counters counters; /* of an answer to COUNTERS */
};

struct fib_peer {
	int fd;	      /* -1: this place is free */
	bool closing; /* nothing more is read; close when the buffer is empty */
	bool granted; /* it waits for no debts (cpu_budget.h) */
	bool brief;   /* every microsecond of this turn counts */
	bool writing; /* what is in the buffer is complete; nothing is added until it has been written */
	const struct fib_command *command; /* being answered, or NULL */
	int64_t deadline;
	int64_t spoke;	       /* when it was last told something, or asked */
	struct fib_os_who who; /* set once it is open */
	struct fib_cursor cursor;
	bool waits_for_maps; /* another peer reads them now (maps.h) */
	bool plain;	     /* read(2) and write(2) do: fib_os_local_read() */
	unsigned char *out;  /* mapped from the first connection on, NULL before that */
	size_t sent, filled; /* out[sent, filled) waits to be written */
	size_t touched;	     /* end of what this connection may have written to out */
	size_t frame;	     /* where the open frame's header is */
	size_t received;
	unsigned char in[sizeof(struct fib_wire_header) + FIB_WIRE_REQUEST_MAX];
};

/* Take over the connected descriptor. 0, or -ENOMEM: the descriptor is still the caller's. The first time peer is zeroed. */
int fib_peer_open(struct fib_peer *peer, int fd, int64_t now);

/* The connection ends; the buffer stays for the next, since mapping one takes longer than most answers. */
void fib_peer_close(struct fib_peer *peer);

/* The same, and the buffer is given back. */
void fib_peer_end(struct fib_peer *peer);

/* The events to poll for: POLLIN, POLLOUT or 0. */
short fib_peer_events(const struct fib_peer *peer);

/* Whether there is an answer to go on with, so that nobody should sleep. */
bool fib_peer_busy(const struct fib_peer *peer);

/* -- for commands: building the answer in the buffer -- */

/* Append a frame. Commands begin a piece with a buffer that has room for one frame of FIB_WIRE_FRAME_MAX bytes and
 * for small ones besides. */
void fib_peer_frame(struct fib_peer *peer, enum fib_wire_type type, const void *payload,
		    size_t length);

/* Append a frame piecewise: open, then the bytes at fib_peer_at() that fib_peer_add() counts, then close.
 * *ret_room is what the frame may hold. */
void fib_peer_frame_open(struct fib_peer *peer, enum fib_wire_type type);
void *fib_peer_at(struct fib_peer *peer, size_t *ret_room);
void fib_peer_add(struct fib_peer *peer, size_t length);
/* Before a write of up to length bytes at fib_peer_at() that may not be added: they are cleared at the end. */
void fib_peer_touch(struct fib_peer *peer, size_t length);
void fib_peer_frame_close(struct fib_peer *peer);
void fib_peer_frame_drop(struct fib_peer *peer); /* as if it had not been opened */

/* Bytes in the buffer. */
size_t fib_peer_filled(const struct fib_peer *peer);

/* Append an ERROR frame. */
void fib_peer_error(struct fib_peer *peer, int error, const char *fmt, ...) fib_printf(3, 4);

/* One ERROR frame to a connection that gets no peer, then close it. */
void fib_peer_turn_away(int fd, int error, const char *text);

#endif

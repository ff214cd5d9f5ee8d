/* SPDX-License-Identifier: MIT */
/* client.h - the asking end of the control protocol; used by the tools, each client from one thread. See client.c. */
#ifndef FIB_WIRE_CLIENT_H
#define FIB_WIRE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/budget.h"
#include "wire/wire.h"

/* The frames of an answer that somebody has in memory: to a request of that type. False: it has none. */
typedef bool fib_wire_kept_fn(void *context, enum fib_wire_type type, const unsigned char **ret_at,
			      const unsigned char **ret_end);

struct fib_wire_client {
	int fd;
	int64_t timeout_ns;	       /* longest wait for any one piece of an answer */
	struct fib_wire_budget budget; /* of the whole answer */
	unsigned char *payload;	       /* owned; of the last frame received */
	size_t capacity;
	struct fib_wire_header header; /* of the frame that is being received ... */
	size_t taken;		       /* ... and bytes of header and payload so far */
	unsigned char *buffer;	       /* owned; of what has come */
	fib_wire_kept_fn *kept;	       /* NULL: the other end is a process */
	void *keeper;
	int64_t rest_ns; /* between two looks for an answer, the last one */
	const unsigned char *at,
		*end; /* not taken yet: of the buffer, or of the answer that is kept */
};

/* Connect to the socket at path. 0, or a negative errno (-ENAMETOOLONG, -ECONNREFUSED when its
 * process is dead, -ENOTSOCK when it is something else, -EACCES, ...). */
int fib_wire_connect(struct fib_wire_client *client, const char *path, int64_t timeout_ns);

/* The same without waiting: -EAGAIN when the other end has not accepted those before us; try again later. */
int fib_wire_connect_now(struct fib_wire_client *client, const char *path, int64_t timeout_ns);
void fib_wire_disconnect(struct fib_wire_client *client);

/* Be connected with answers that are kept in memory and stay there: requests, whatever their payload, are answered from
 * them, or are -EOPNOTSUPP, as those are that an older program does not know. Whoever asks need not know. */
void fib_wire_recall(struct fib_wire_client *client, fib_wire_kept_fn *kept, void *keeper);

/* The pid of the other end as we see it, which may know itself by another one inside a container; 0: not known. */
pid_t fib_wire_peer(const struct fib_wire_client *client);

/* Send one request. 0, or a negative errno. 0 also when the other end has closed: why, is still to be
 * received. */
int fib_wire_request(struct fib_wire_client *client, enum fib_wire_type type, const void *payload,
		     size_t length);

/*
 * Receive the next frame. The payload stays valid until the next call. -EPROTO for anything that is no frame, -EMSGSIZE for one that
 * is longer than any, -ETIMEDOUT when the other end is silent, -ETIME when it is not and the answer does not end (budget.h),
 * -ECONNRESET when it closed.
 */
int fib_wire_receive(struct fib_wire_client *client, struct fib_wire_header *ret_header,
		     const void **ret_payload);

/* The same without waiting: -EAGAIN when the frame has not come whole. The caller charges what it waits to the budget. */
int fib_wire_receive_now(struct fib_wire_client *client, struct fib_wire_header *ret_header,
			 const void **ret_payload);

/* So many things in the last frame were not in the answer before: it makes progress. */
void fib_wire_news(struct fib_wire_client *client, uint64_t count);

#endif

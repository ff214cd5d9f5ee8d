/* SPDX-License-Identifier: MIT */
/* client.h - the client side of the control protocol; used by the tools, each client from one
 * thread. See client.c. */
#ifndef FIB_WIRE_CLIENT_H
#define FIB_WIRE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/budget.h"
#include "wire/wire.h"

/* Get the frames of a saved answer to a request of that type. Returns false if there is none. */
typedef bool fib_wire_kept_fn(void *context, enum fib_wire_type type, const unsigned char **ret_at,
			      const unsigned char **ret_end);

struct fib_wire_client {
	int fd;
	int64_t timeout_ns; /* longest wait for one step of an answer */
	int64_t longest_ns; /* of a whole answer, whatever its progress; 0: as its budget says */
	struct fib_wire_budget budget; /* of the whole answer */
	unsigned char *payload;	       /* owned; of the last frame received */
	size_t capacity;
	struct fib_wire_header header; /* of the frame being received ... */
	size_t taken;		       /* ... and bytes of header and payload so far */
	unsigned char *buffer;	       /* owned; bytes that have arrived */
	fib_wire_kept_fn *kept;	       /* NULL: the client is connected to a process */
	void *keeper;
	int64_t rest_ns; /* length of the last sleep between two polls */
	const unsigned char *at,
		*end; /* not taken yet: of the buffer, or of the answer that is kept */
};

/* Connect to the socket at path. Returns 0, or a negative errno (-ENAMETOOLONG, -ECONNREFUSED when
 * its process is dead, -ENOTSOCK when it is not a socket, -EACCES, ...). */
int fib_wire_connect(struct fib_wire_client *client, const char *path, int64_t timeout_ns);

/* fib_wire_connect() without waiting: -EAGAIN when the program has not yet accepted earlier
 * clients; try again later. */
int fib_wire_connect_now(struct fib_wire_client *client, const char *path, int64_t timeout_ns);
void fib_wire_disconnect(struct fib_wire_client *client);

/* Use saved answers, which stay in memory, instead of a connection. Requests, whatever their
 * payload, are answered from them, or return -EOPNOTSUPP, like requests that an older program does
 * not know. The user of the client need not know. */
void fib_wire_recall(struct fib_wire_client *client, fib_wire_kept_fn *kept, void *keeper);

/* The program's pid as seen from here; inside a container it may know itself by another one. 0:
 * unknown. */
pid_t fib_wire_peer(const struct fib_wire_client *client);

/* Send one request. Returns 0 or a negative errno. Returns 0 also when the program has closed the
 * connection: its reason can still be received. */
int fib_wire_request(struct fib_wire_client *client, enum fib_wire_type type, const void *payload,
		     size_t length);

/*
 * Receive the next frame. The payload stays valid until the next call. Returns 0; -EPROTO for data
 * that is not a frame; -EXDEV for a frame in another byte order; -EMSGSIZE for a frame that is too
 * long; -ETIMEDOUT when nothing arrives; -ETIME when data arrives but the answer does not end
 * (budget.h); -ECONNRESET when the program closed the connection.
 */
int fib_wire_receive(struct fib_wire_client *client, struct fib_wire_header *ret_header,
		     const void **ret_payload);

/* fib_wire_receive() without waiting: -EAGAIN when the frame is not complete. The caller charges
 * its waiting time to the budget. */
int fib_wire_receive_now(struct fib_wire_client *client, struct fib_wire_header *ret_header,
			 const void **ret_payload);

/* Record that count things in the last frame are new in the answer: it makes progress. */
void fib_wire_news(struct fib_wire_client *client, uint64_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tls.h - library libfiber-tls: TLS on the sockets of fibers
 *
 * This is a separate library because it needs OpenSSL and libfiber must not. Link with `pkg-config
 * --libs libfiber-tls libfiber`. <fiber.h> does not include this header.
 *
 * A context holds certificates and settings of many connections. A connection (struct fiber_tls)
 * adds TLS to a connected stream socket. The socket stays the caller's: its file status flags are
 * not changed, and no call closes it.
 *
 * Calls with a deadline park the fiber; a plain thread blocks. No call waits inside OpenSSL, and no
 * lock is held during a wait. Deadlines are absolute nanoseconds on fiber_now()'s clock. One fiber
 * may write while another one reads. A second reader or writer gets -EBUSY. A handshake counts as
 * both. A fiber may be moved to another carrier between calls and during waits.
 *
 * Errors after which the connection goes on; the same call may be made again:
 *	-ETIMEDOUT  the deadline has passed
 *	-ECANCELED  the fiber is cancelled
 *	-EBUSY      another caller reads, writes or shakes hands
 *	-EDEADLK    in a pinned fiber under FIBER_PINNED_ERROR
 *	-ENOMEM     without memory to wait
 * Errors that end the connection; every later call returns the same one:
 *	-EACCES        the certificate of the peer is not accepted: fiber_tls_error() has the reason
 *	-EPROTO        the peer breaks the protocol, or has sent an alert
 *	-ECONNABORTED  the stream ended without the peer's closing message: it may be cut short
 *	-EBADF         the socket was closed with fiber_close() during the call
 *	-ECONNRESET and other errors of recv(2)
 *	-ENOTSUP       the peer has changed keys, and the kernel, which encrypts, cannot
 *	-ENOMEM        OpenSSL got no memory
 * Errors of send(2), as -EPIPE and -ECONNRESET, end the writing only: every later write returns the
 * same one. Reads go on, because the peer may have sent an answer or an alert before it closed.
 *
 * Handshakes need 32 KiB of stack. No call is async-signal-safe. A connection does not survive
 * fork(2) in both processes: only one of them may use it.
 */
#ifndef FIBER_TLS_H
#define FIBER_TLS_H

#include <sys/types.h>

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_tls_context;
struct fiber_tls;
struct ssl_st;	   /* OpenSSL's SSL */
struct ssl_ctx_st; /* OpenSSL's SSL_CTX */

/* Flags of a context. */
#define FIBER_TLS_NO_VERIFY 1u /* client: accept any certificate: for tests only */
#define FIBER_TLS_NEED_CERT \
	2u /* server: demand a certificate of the client, signed by ca, which must be set */
#define FIBER_TLS_NO_RESUME 4u /* neither resume sessions nor offer tickets */
#define FIBER_TLS_KERNEL    8u /* let the kernel encrypt what is sent, where it can (kTLS) */

/* Set size to sizeof(struct fiber_tls_options); zero is a default. Strings are copied. */
struct fiber_tls_options {
	size_t size;
	const char *certificate; /* PEM file: the certificate and its chain. A server needs it */
	const char *key;	 /* PEM file; NULL: the file of the certificate */
	const char *ca;		 /* PEM file of trusted authorities; NULL: the system's */
	const char *alpn;	 /* "h2,http/1.1": protocols, the preferred one first; NULL: none */
	const char *ciphers;	 /* OpenSSL's list of TLS 1.2 ciphers; NULL: its default */
	const char *suites;	 /* OpenSSL's list of TLS 1.3 cipher suites; NULL: its default */
	unsigned flags;
};

/*
 * Make a context for servers or for clients. The caller owns one reference. TLS 1.2 is the lowest
 * version. The files are read during the call, which blocks the carrier: make contexts before
 * fiber_run(), or in a function called by fiber_block().
 *
 * text: NULL, or a buffer of text_size bytes that gets one line about an error. Returns 0; the
 * error of open(2) for a file that cannot be read; -EINVAL: a file without a certificate, a key
 * that does not belong to the certificate, a bad list of protocols or ciphers, unknown flags, a
 * flag of the other side, FIBER_TLS_NEED_CERT without ca;
 * -ENOENT: the system has no authorities; -ENOMEM. *ret is NULL after an error.
 */
FIBER_API int fiber_tls_server_new(const struct fiber_tls_options *options,
				   struct fiber_tls_context **ret, char *text, size_t text_size);
FIBER_API int fiber_tls_client_new(const struct fiber_tls_options *options,
				   struct fiber_tls_context **ret, char *text, size_t text_size);

/*
 * Give a server one more certificate. A client that names a host (SNI) gets the first certificate
 * that is valid for the name; one that names no host, or another, gets the context's own. Call it
 * before the first connection is made. Reads files and returns as fiber_tls_server_new();
 * -EINVAL also for the context of a client.
 */
FIBER_API int fiber_tls_add_certificate(struct fiber_tls_context *context, const char *certificate,
					const char *key, char *text, size_t text_size);

/* Take another reference to the context and return the context. A connection holds one itself. Any
 * thread. */
FIBER_API struct fiber_tls_context *fiber_tls_context_ref(struct fiber_tls_context *context);

/* Release a reference. The last release frees the context. NULL is allowed. Any thread. */
FIBER_API void fiber_tls_context_unref(struct fiber_tls_context *context);

/*
 * Make a connection on the connected stream socket fd. Nothing is sent yet. host: for a client, the
 * name or the numeric address that the certificate must be valid for; a name is also sent to the
 * server (SNI). NULL: for a server, and for a client with FIBER_TLS_NO_VERIFY. Clients of one
 * context resume the sessions of earlier connections to the same host.
 *
 * Returns 0; -EINVAL: a client that verifies has no host, or a server has one; -ENOMEM. Never waits.
 */
FIBER_API int fiber_tls_new(struct fiber_tls_context *context, int fd, const char *host,
			    struct fiber_tls **ret);

/*
 * Free the connection. Nothing is sent: see fiber_tls_shutdown(). No call may be using it: end calls
 * of other fibers with shutdown(2) of the socket, and call fiber_close() only after they have
 * returned, because another socket may get the number. The socket stays open. NULL is allowed.
 * Never waits.
 */
FIBER_API void fiber_tls_free(struct fiber_tls *tls);

/* Shake hands. Reading and writing does it too where it has not been done. Returns 0 when the
 * connection is ready, at once if it is already. After -ETIMEDOUT and -ECANCELED another call
 * continues, or the connection is freed. */
FIBER_API int fiber_tls_handshake(struct fiber_tls *tls, int64_t deadline);

/* Read at least one byte. Returns the number of bytes, which may be fewer than size; 0 after the
 * peer's closing message, and for a size of 0. */
FIBER_API ssize_t fiber_tls_read(struct fiber_tls *tls, void *buf, size_t size, int64_t deadline);

/*
 * Write all of size bytes. Fewer are written only past the deadline, in a cancelled fiber or after
 * an error. The error is returned when nothing was written; otherwise the count is returned, and
 * the next call returns the error. Written bytes were encrypted. Some 20 KiB of them may be in the
 * connection when the deadline has passed. The next write sends them first; one of size 0
 * returns 0 when all have left. A read and fiber_tls_shutdown() do too, fiber_tls_free() drops them.
 */
FIBER_API ssize_t fiber_tls_write(struct fiber_tls *tls, const void *buf, size_t size,
				  int64_t deadline);

/*
 * Send the closing message, after which nothing can be written (-EPIPE). Returns 0 when the socket
 * has taken it, also if it was sent before. It does not wait for the peer's: read until 0 for that.
 * With a deadline in the past, and in a cancelled fiber, it is sent if the socket has room. After
 * an error that ended the connection nothing is sent, and that error is returned; before the
 * handshake is done nothing is sent, and the call returns 0.
 */
FIBER_API int fiber_tls_shutdown(struct fiber_tls *tls, int64_t deadline);

/* One line about the error that ended the connection, as "certificate has expired"; "" before. The
 * text is the connection's and does not change any more. */
FIBER_API const char *fiber_tls_error(struct fiber_tls *tls);

/* What the handshake agreed on. The strings are the connection's; "" where there is none. */
struct fiber_tls_info {
	const char *version; /* "TLSv1.3" */
	const char *cipher;  /* "TLS_AES_256_GCM_SHA384" */
	const char *alpn;    /* "h2" */
	const char *host;    /* the name that the client has sent (SNI) */
	bool kernel;	     /* the kernel encrypts what is sent (kTLS) */
	bool resumed;	     /* a session was resumed; no certificate was exchanged */
};

/* Returns 0, or -ENOTCONN before the handshake is done. Never waits. */
FIBER_API int fiber_tls_info(struct fiber_tls *tls, struct fiber_tls_info *ret);

/*
 * OpenSSL's objects, for settings and facts that this header does not have. They stay the library's.
 * Do not set modes, callbacks of sessions, host names and protocols, BIOs and application data.
 * Change a context only before its first connection, and use an SSL only while no call uses the
 * connection. A call of OpenSSL must not be interrupted by a wait: do not park in its callbacks.
 */
FIBER_API struct ssl_ctx_st *fiber_tls_context_openssl(struct fiber_tls_context *context);
FIBER_API struct ssl_st *fiber_tls_openssl(struct fiber_tls *tls);

FIBER_END_DECLS

#endif

/* SPDX-License-Identifier: MIT */
/* connection.h - one connection, as the files of libfiber-tls see it */
#ifndef FIB_TLS_CONNECTION_H
#define FIB_TLS_CONNECTION_H

#include <fiber/sync.h>
#include <fiber/tls.h>
#include <openssl/ssl.h>
#include <pthread.h>

#define FIB_TLS_TEXT 200
#define FIB_TLS_IN   2048

/*
 * I set before the first use, then read-only; L under ->lock; R the caller that reads.
 *
 * `lock` is held for calls of OpenSSL and never during a wait, so it is a plain mutex. `receiving`
 * gives `in` to a caller that waits without the lock.
 */
struct fiber_tls {
	struct fiber_tls_context *context; /* I */
	SSL *ssl;			   /* L */
	int fd;				   /* I */
	pthread_mutex_t lock;
	bool reading, writing; /* L: a caller is in a call of this direction */
	bool corked;	       /* L: what OpenSSL writes is kept for one send with what follows */
	bool full;	       /* L: the socket has not taken all of a send */
	bool kernel;	       /* L: the kernel encrypts what is sent */
	int type;	       /* L: of the next record for the kernel; 0: data */
	bool ready;	       /* L: the handshake is done */
	bool closing;	       /* L: the closing message was sent */
	bool receiving;	       /* L: a caller waits for bytes for `in` */
	bool awaited;	       /* L: another caller waits for that in `received` */
	bool more;	       /* L: the last receive filled its buffer: there may be more */
	bool eof;	       /* L: the peer has ended the stream */
	int broken;	       /* L: the socket's error, 0 or negative */
	int send_broken;       /* L: the error of sending only: reads go on */
	int failed;	       /* L: the error that ended the connection, 0 or negative */
	char *out;	       /* L: bytes that the socket did not take; NULL: none */
	size_t busy;	       /* L: bytes of content moved since the last yield */
	size_t idle;	       /* L: bytes received since the last content or yield */
	size_t out_at, out_end, out_room; /* L */
	size_t in_at, in_end;		  /* L: received bytes in `in` that OpenSSL has not read */
	char *host;			  /* I: a client's peer, NULL: none */
	char alpn[256];			  /* L: written by fiber_tls_info() */
	struct fiber_event received;	  /* its own */
	char text[FIB_TLS_TEXT];	  /* L until failed is set, then read-only */
	char in[FIB_TLS_IN];		  /* R while receiving, else L */
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * stream.c - read, write, close
 *
 * A record is written whole or not at all: transport.c keeps what the socket does not take. So the
 * count of written bytes is exact when a deadline passes, and OpenSSL is never asked to repeat a
 * write with the same bytes.
 */
#include <errno.h>
#include <openssl/err.h>

#include "direction.h"
#include "failure.h"
#include "transport.h"

/* The content of a record is at most this long. */
#define RECORD (16u << 10)

static ssize_t read_some(struct fiber_tls *tls, void *buf, size_t size, int64_t deadline)
{
	int error = 0;
	size_t n;

	while (!error) {
		ERR_clear_error();
		if (tls->failed)
			return tls->failed;
		if (SSL_read_ex(tls->ssl, buf, size, &n)) {
			tls->idle = 0;
			fib_tls_transport_moved(tls, n);
			return (ssize_t)n;
		}
		if (SSL_get_error(tls->ssl, 0) == SSL_ERROR_ZERO_RETURN)
			return 0;
		error = fib_tls_await(tls, 0, deadline);
	}
	return error;
}

ssize_t fiber_tls_read(struct fiber_tls *tls, void *buf, size_t size, int64_t deadline)
{
	ssize_t n;

	pthread_mutex_lock(&tls->lock);
	n = fib_tls_make_ready(tls, deadline);
	if (!n)
		n = fib_tls_enter(tls, FIB_TLS_READS);
	if (!n) {
		n = size ? read_some(tls, buf, size, deadline) : 0;
		fib_tls_leave(tls, FIB_TLS_READS);
	}
	pthread_mutex_unlock(&tls->lock);
	return n;
}

/* Write one record. Returns the number of its bytes, or an error. */
static ssize_t write_record(struct fiber_tls *tls, const char *bytes, size_t size, int64_t deadline)
{
	int error = 0;
	size_t n;

	size = size < RECORD ? size : RECORD;
	while (!error) {
		if (tls->failed)
			return tls->failed;
		error = fib_tls_transport_make_room(tls, deadline);
		if (error)
			return fib_tls_send_failed(tls, error);
		ERR_clear_error();
		if (SSL_write_ex(tls->ssl, bytes, size, &n)) {
			if (tls->send_broken)
				return tls->send_broken;
			fib_tls_transport_moved(tls, n);
			return (ssize_t)n;
		}
		error = fib_tls_await(tls, 0, deadline);
	}
	return error;
}

static ssize_t write_all(struct fiber_tls *tls, const char *bytes, size_t size, int64_t deadline)
{
	size_t done = 0;
	ssize_t n = 0;
	int error;

	if (tls->closing)
		return -EPIPE;
	while (done < size) {
		n = write_record(tls, bytes + done, size - done, deadline);
		if (n < 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	}
	error = fib_tls_transport_flush(tls, deadline);
	if (!error || (!tls->broken && !tls->send_broken))
		return done ? (ssize_t)done : error;
	/* The last record has not left. */
	error = fib_tls_send_failed(tls, error);
	done -= (size_t)n;
	return done ? (ssize_t)done : error;
}

ssize_t fiber_tls_write(struct fiber_tls *tls, const void *buf, size_t size, int64_t deadline)
{
	ssize_t n;

	pthread_mutex_lock(&tls->lock);
	n = fib_tls_make_ready(tls, deadline);
	if (!n)
		n = fib_tls_enter(tls, FIB_TLS_WRITES);
	if (!n) {
		n = write_all(tls, buf, size, deadline);
		fib_tls_leave(tls, FIB_TLS_WRITES);
	}
	pthread_mutex_unlock(&tls->lock);
	return n;
}

/* The caller has entered to write. */
static int close_stream(struct fiber_tls *tls, int64_t deadline)
{
	int error, n;

	while (!tls->closing) {
		if (tls->failed)
			return tls->failed;
		ERR_clear_error();
		/* OpenSSL does not close in the middle of a message of the peer, as a ticket. */
		if (SSL_in_init(tls->ssl)) {
			n = SSL_do_handshake(tls->ssl);
			if (n == 1)
				continue;
		} else {
			n = SSL_shutdown(tls->ssl);
			tls->closing = n >= 0;
		}
		error = tls->closing ? 0 : fib_tls_await(tls, n, deadline);
		if (error)
			return error;
	}
	error = fib_tls_transport_flush(tls, deadline);
	return error ? fib_tls_send_failed(tls, error) : 0;
}

int fiber_tls_shutdown(struct fiber_tls *tls, int64_t deadline)
{
	int error;

	pthread_mutex_lock(&tls->lock);
	error = tls->failed;
	if (!error && tls->ready) {
		error = fib_tls_enter(tls, FIB_TLS_WRITES);
		if (!error) {
			error = close_stream(tls, deadline);
			fib_tls_leave(tls, FIB_TLS_WRITES);
		}
	}
	pthread_mutex_unlock(&tls->lock);
	return error;
}

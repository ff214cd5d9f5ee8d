/* SPDX-License-Identifier: MIT */
/*
 * transport.c - the bytes between OpenSSL and the socket
 *
 * OpenSSL keeps state in thread-locals: its queue of errors, its random numbers. A fiber may
 * continue on another thread after a wait. So no fiber may wait inside OpenSSL. The rule: the
 * functions that OpenSSL calls for bytes (a BIO) only try. If nothing is there, OpenSSL returns,
 * its errors are taken, and the fiber waits outside. The tries have MSG_DONTWAIT, so the flags of
 * the descriptor do not matter and stay as they are.
 *
 * Receiving: the wait is fiber_recv() into a small buffer, which OpenSSL then reads. fiber_recv()
 * skips the try when the socket is known to be empty, so a small message costs one system call. If
 * the small buffer is filled, more bytes are probably there. Then OpenSSL receives directly into
 * its own buffer of 16 KiB, until a receive gets less than it asked for. So an idle connection needs
 * only the small buffer, and a large transfer copies nothing twice.
 *
 * Sending: a record goes directly to the socket. What the socket does not take is kept in `out`,
 * and OpenSSL continues as if it was sent. So a record is never half written when a deadline
 * passes, and the next call may have another buffer. Before the next record `out` is sent.
 *
 * During a handshake the connection is corked: all is kept, and sent before a wait. So a client's last
 * message goes with its first request, and a server's tickets go with its first answer.
 *
 * A peer that is fast enough keeps the socket ready, and the fiber would never wait. Encryption costs
 * about 100 us for 256 KiB, so after that many bytes the fiber yields.
 *
 * Records without content keep OpenSSL in its own loop: key updates, tickets. So after 48 KiB
 * without content OpenSSL gets no more bytes, as if none were there. The caller then yields, and
 * sees its deadline and its cancellation. A record and what is read ahead are less than that. Key
 * updates are the slowest: 48 KiB of them take about 20 ms.
 *
 * If the kernel encrypts (kernel.c), `out` and what is sent are the content of data records. A record
 * of another type is not kept: OpenSSL repeats the write when there is room.
 *
 * A send may fail while the peer's last bytes are still to be received: an answer, or the alert that
 * says why it has closed. So such an error ends the sending only. OpenSSL is not told: its bytes are
 * dropped from then on, and the functions that write look at the error themselves.
 *
 * OpenSSL also writes when it reads: answers to key updates, alerts. A peer that sends such requests
 * and never reads would let `out` grow. So beyond OUT_MOST bytes OpenSSL must wait.
 */
#include "transport.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <fiber.h>

#include "kernel.h"

#define OUT_MOST    (64u << 10)
#define BUSY_MOST   (256u << 10)
#define IDLE_MOST   (48u << 10)
#define JOINED_MOST (4u << 10)

static BIO_METHOD *method;

/* Errors of a wait, after which the socket is as before. */
static bool is_of_wait(ssize_t error)
{
	return error == -ETIMEDOUT || error == -ECANCELED || error == -EDEADLK || error == -ENOMEM;
}

/* Why nothing can be sent. 0: it can. */
static int send_error(const struct fiber_tls *tls)
{
	return tls->broken ? tls->broken : tls->send_broken;
}

/* -- what OpenSSL calls; the lock is held -- */

/* Receive without a wait. Returns as recv(2), or -EAGAIN. */
static ssize_t receive_directly(struct fiber_tls *tls, char *buf, size_t size)
{
	ssize_t n;

	/* Other bytes must not be received before those that another caller waits for. */
	if (tls->receiving || !tls->more)
		return -EAGAIN;
	n = fiber_recv(tls->fd, buf, size, MSG_DONTWAIT, FIBER_FOREVER);
	tls->more = n > 0 && (size_t)n == size;
	tls->eof = n == 0;
	return n;
}

/* Take received bytes, or receive without a wait. Returns as recv(2), or -EAGAIN. */
static ssize_t take(struct fiber_tls *tls, char *buf, size_t size)
{
	size_t have = tls->in_end - tls->in_at;

	if (tls->eof)
		return 0;
	if (!have)
		return tls->broken ? tls->broken : receive_directly(tls, buf, size);
	have = have < size ? have : size;
	memcpy(buf, tls->in + tls->in_at, have);
	tls->in_at += have;
	return (ssize_t)have;
}

static int on_read(BIO *bio, char *buf, int size)
{
	struct fiber_tls *tls = BIO_get_data(bio);
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (tls->idle >= IDLE_MOST)
		n = -EAGAIN;
	else
		n = size > 0 ? take(tls, buf, (size_t)size) : 0;
	if (n == -EAGAIN)
		BIO_set_retry_read(bio);
	else if (n < 0)
		tls->broken = (int)n;
	else
		tls->idle += (size_t)n;
	return n < 0 ? -1 : (int)n;
}

/* Keep bytes until the socket takes them. */
static int keep(struct fiber_tls *tls, const char *bytes, size_t size)
{
	size_t need;

	if (tls->out_at) {
		memmove(tls->out, tls->out + tls->out_at, tls->out_end - tls->out_at);
		tls->out_end -= tls->out_at;
		tls->out_at = 0;
	}
	need = tls->out_end + size;
	if (need > tls->out_room) {
		char *const larger = realloc(tls->out, need);

		if (!larger)
			return -ENOMEM;
		tls->out = larger;
		tls->out_room = need;
	}
	memcpy(tls->out + tls->out_end, bytes, size);
	tls->out_end = need;
	return 0;
}

/* Send, and keep the rest. Returns 0, -EAGAIN: too much is kept already; or the socket's error. */
static int send_or_keep(struct fiber_tls *tls, const char *bytes, size_t size)
{
	ssize_t n;

	if (tls->out_end - tls->out_at > OUT_MOST)
		return -EAGAIN;
	if (tls->out_end || tls->corked)
		return keep(tls, bytes, size);
	n = fiber_send(tls->fd, bytes, size, MSG_DONTWAIT, FIBER_FOREVER);
	if (n == -EAGAIN)
		n = 0;
	if (n < 0)
		return (int)n;
	tls->full = (size_t)n < size;
	return tls->full ? keep(tls, bytes + n, size - (size_t)n) : 0;
}

static int send_kept(struct fiber_tls *tls);

/* Send a record of another type than data through the kernel. Returns as send_or_keep(). */
static int send_typed(struct fiber_tls *tls, const char *bytes, size_t size)
{
	int error;
	ssize_t n;

	error = tls->out_end ? send_kept(tls) : 0;
	if (error)
		return error;
	n = fib_tls_kernel_send(tls, tls->type, bytes, size);
	tls->full = n == -EAGAIN;
	if (n < 0)
		return (int)n;
	/* From here on the peer expects other keys: see kernel.c. */
	if (tls->type == SSL3_RT_HANDSHAKE && bytes[0] == SSL3_MT_KEY_UPDATE)
		tls->broken = -ENOTSUP;
	tls->type = 0;
	return 0;
}

static int on_write(BIO *bio, const char *bytes, int size)
{
	struct fiber_tls *tls = BIO_get_data(bio);
	int error;

	BIO_clear_retry_flags(bio);
	if (send_error(tls))
		return tls->broken ? -1 : size;
	if (tls->type)
		error = send_typed(tls, bytes, (size_t)size);
	else
		error = send_or_keep(tls, bytes, (size_t)size);
	if (error == -EAGAIN)
		BIO_set_retry_write(bio);
	else
		tls->send_broken = error;
	return error == -EAGAIN ? -1 : size;
}

/* What was encrypted by OpenSSL must have left before the kernel encrypts. */
static bool start_kernel(struct fiber_tls *tls, bool sends, void *keys)
{
	if (!sends || send_error(tls) || (tls->out_end && send_kept(tls)))
		return false;
	tls->kernel = fib_tls_kernel_start(tls, keys);
	return tls->kernel;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
	struct fiber_tls *tls = BIO_get_data(bio);

	switch (command) {
	case BIO_CTRL_EOF:
		return tls->eof;
	case BIO_CTRL_FLUSH:
		return 1;
	case FIB_TLS_KERNEL_START:
		return start_kernel(tls, number != 0, pointer);
	case BIO_CTRL_GET_KTLS_SEND:
		return tls->kernel;
	case FIB_TLS_KERNEL_TYPE:
	case FIB_TLS_KERNEL_NO_TYPE:
		tls->type = command == FIB_TLS_KERNEL_TYPE ? (int)number : 0;
		return 0;
	default:
		return 0;
	}
}

static void make_method(void)
{
	BIO_METHOD *const made =
		BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fiber socket");

	if (made && BIO_meth_set_read(made, on_read) && BIO_meth_set_write(made, on_write) &&
	    BIO_meth_set_ctrl(made, on_control))
		method = made;
	else
		BIO_meth_free(made);
}

int fib_tls_transport_open(struct fiber_tls *tls)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	BIO *bio;

	pthread_once(&once, make_method);
	bio = method ? BIO_new(method) : NULL;
	if (!bio)
		return -ENOMEM;
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	return 0;
}

/* -- the waits: outside OpenSSL, without the lock -- */

/* Send what the socket takes. Returns 0: all; -EAGAIN; or the socket's error. */
static int send_kept(struct fiber_tls *tls)
{
	const ssize_t n = fiber_send(tls->fd, tls->out + tls->out_at, tls->out_end - tls->out_at,
				     MSG_DONTWAIT, FIBER_FOREVER);

	tls->full = n == -EAGAIN;
	if (n < 0)
		return (int)n;
	tls->out_at += (size_t)n;
	tls->full = tls->out_at < tls->out_end;
	if (tls->full)
		return -EAGAIN;
	free(tls->out);
	tls->out = NULL;
	tls->out_at = tls->out_end = tls->out_room = 0;
	return 0;
}

static int wait_for(struct fiber_tls *tls, short events, int64_t deadline)
{
	int rc;

	pthread_mutex_unlock(&tls->lock);
	rc = fiber_wait_fd(tls->fd, events, deadline);
	pthread_mutex_lock(&tls->lock);
	if (rc < 0 && !is_of_wait(rc) && events & POLLIN)
		tls->broken = rc;
	else if (rc < 0 && !is_of_wait(rc))
		tls->send_broken = rc;
	/* For OpenSSL, which receives directly then. */
	if (rc > 0 && rc & ~POLLOUT && !tls->receiving)
		tls->more = true;
	return rc < 0 ? rc : 0;
}

int fib_tls_transport_flush(struct fiber_tls *tls, int64_t deadline)
{
	int error = send_error(tls);

	/* A typed record was refused, and is not among what is kept. */
	if (!error && tls->type && !tls->out_end)
		return wait_for(tls, POLLOUT, deadline);
	while (tls->out_end && !error) {
		error = send_kept(tls);
		if (error == -EAGAIN)
			error = wait_for(tls, POLLOUT, deadline);
		else if (error)
			tls->send_broken = error;
		/* Another caller may have found an error during the wait. */
		if (!error)
			error = send_error(tls);
	}
	return error;
}

void fib_tls_transport_push(struct fiber_tls *tls)
{
	if (tls->out_end && !send_error(tls))
		send_kept(tls);
}

int fib_tls_transport_make_room(struct fiber_tls *tls, int64_t deadline)
{
	const bool little = tls->out_end - tls->out_at < JOINED_MOST;

	return little && !tls->full ? send_error(tls) : fib_tls_transport_flush(tls, deadline);
}

/* Receive into `in`, and let OpenSSL find the bytes, the end or the error. */
static int receive(struct fiber_tls *tls, int64_t deadline)
{
	/* A peer that does not get this side's part of a handshake has no reason to send more. */
	const int flags = tls->send_broken && !tls->ready ? MSG_DONTWAIT : 0;
	ssize_t n;

	tls->receiving = true;
	pthread_mutex_unlock(&tls->lock);
	n = fiber_recv(tls->fd, tls->in, sizeof(tls->in), flags, deadline);
	pthread_mutex_lock(&tls->lock);
	tls->receiving = false;
	if (tls->awaited) {
		tls->awaited = false;
		fiber_event_set(&tls->received);
	}
	if (n < 0 && is_of_wait(n))
		return (int)n;
	if (n == -EAGAIN)
		n = tls->send_broken;
	tls->in_at = 0;
	tls->in_end = n > 0 ? (size_t)n : 0;
	tls->more = n == sizeof(tls->in);
	tls->eof = n == 0;
	if (n < 0)
		tls->broken = (int)n;
	return 0;
}

/* Another caller receives: wait until it has received, or has given it up. */
static int wait_for_receiver(struct fiber_tls *tls, int64_t deadline)
{
	int error;

	tls->awaited = true;
	fiber_event_reset(&tls->received);
	pthread_mutex_unlock(&tls->lock);
	error = fiber_event_wait(&tls->received, deadline);
	pthread_mutex_lock(&tls->lock);
	return error;
}

static void yield(struct fiber_tls *tls)
{
	pthread_mutex_unlock(&tls->lock);
	fiber_yield();
	pthread_mutex_lock(&tls->lock);
}

/* OpenSSL got no more bytes although some may be there. Returns 0 or an error of a wait. */
static int pause_receiving(struct fiber_tls *tls, int64_t deadline)
{
	struct fiber_event never = {0};

	tls->idle = 0;
	yield(tls);
	/* A wait that does not wait. fiber_cancelled() would not respect a mask. */
	if (fiber_event_wait(&never, 0) == -ECANCELED)
		return -ECANCELED;
	return fiber_now() >= deadline ? -ETIMEDOUT : 0;
}

int fib_tls_transport_await(struct fiber_tls *tls, int64_t deadline)
{
	int error = 0;

	if (tls->idle >= IDLE_MOST)
		return pause_receiving(tls, deadline);
	/* The peer may not answer before it has what is kept. A writer sends it itself. */
	if (tls->out_end && !send_error(tls))
		error = send_kept(tls);
	if (error == -EAGAIN)
		return wait_for(tls, POLLIN | POLLOUT, deadline);
	if (error)
		tls->send_broken = error;
	return tls->receiving ? wait_for_receiver(tls, deadline) : receive(tls, deadline);
}

void fib_tls_transport_moved(struct fiber_tls *tls, size_t bytes)
{
	tls->busy += bytes;
	if (tls->busy < BUSY_MOST)
		return;
	tls->busy = 0;
	yield(tls);
}

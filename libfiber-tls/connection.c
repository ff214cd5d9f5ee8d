/* SPDX-License-Identifier: MIT */
/*
 * connection.c - make a connection, shake hands, free it
 *
 * A caller enters a connection for a direction, then alternates between a call of OpenSSL with the
 * lock and a wait without it. OpenSSL names what it waits for: bytes of the peer, or room for bytes
 * that it wants to send.
 */
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "direction.h"
#include "failure.h"
#include "transport.h"

static bool is_address(const char *host)
{
	unsigned char bytes[16];

	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Set what the certificate must be valid for, and the name that is sent. Only alternative names of a
 * certificate are names of hosts (RFC 9525); its subject may be anything. */
static bool set_host(SSL *ssl, const char *host)
{
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
				       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return SSL_set1_host(ssl, host) && SSL_set_tlsext_host_name(ssl, host);
}

static int set_side(struct fiber_tls *tls, const char *host)
{
	SSL_SESSION *session;

	if (tls->context->server) {
		SSL_set_accept_state(tls->ssl);
		return 0;
	}
	SSL_set_connect_state(tls->ssl);
	if (!host)
		return 0;
	if (!set_host(tls->ssl, host))
		return -EINVAL;
	tls->host = strdup(host);
	if (!tls->host)
		return -ENOMEM;
	session = fib_tls_sessions_take(&tls->context->saved, host);
	if (session)
		SSL_set_session(tls->ssl, session);
	SSL_SESSION_free(session);
	return 0;
}

int fiber_tls_new(struct fiber_tls_context *context, int fd, const char *host,
		  struct fiber_tls **ret)
{
	const bool verifies = !context->server && !(context->flags & FIBER_TLS_NO_VERIFY);
	struct fiber_tls *tls;
	int error = -ENOMEM;

	*ret = NULL;
	if ((verifies && !host) || (host && (context->server || !*host)))
		return -EINVAL;
	tls = calloc(1, sizeof(*tls));
	if (!tls)
		return -ENOMEM;
	tls->context = fiber_tls_context_ref(context);
	tls->fd = fd;
	pthread_mutex_init(&tls->lock, NULL);
	tls->ssl = SSL_new(context->openssl);
	if (tls->ssl && SSL_set_app_data(tls->ssl, tls) && !fib_tls_transport_open(tls))
		error = set_side(tls, host);
	ERR_clear_error();
	if (error) {
		fiber_tls_free(tls);
		return error;
	}
	*ret = tls;
	return 0;
}

void fiber_tls_free(struct fiber_tls *tls)
{
	if (!tls)
		return;
	/* Without closing messages OpenSSL would make the session unfit to be resumed. TLS 1.1 took
	 * back that rule. After an error the session is unfit. */
	if (tls->ssl && !tls->failed)
		SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(tls->ssl);
	fiber_tls_context_unref(tls->context);
	pthread_mutex_destroy(&tls->lock);
	free(tls->out);
	free(tls->host);
	free(tls);
}

int fib_tls_enter(struct fiber_tls *tls, enum fib_tls_direction direction)
{
	const bool reads = direction != FIB_TLS_WRITES, writes = direction != FIB_TLS_READS;

	if ((reads && tls->reading) || (writes && tls->writing))
		return -EBUSY;
	tls->reading |= reads;
	tls->writing |= writes;
	return 0;
}

void fib_tls_leave(struct fiber_tls *tls, enum fib_tls_direction direction)
{
	if (direction != FIB_TLS_WRITES)
		tls->reading = false;
	if (direction != FIB_TLS_READS)
		tls->writing = false;
}

int fib_tls_await(struct fiber_tls *tls, int result, int64_t deadline)
{
	int error;

	switch (SSL_get_error(tls->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return fib_tls_transport_await(tls, deadline);
	case SSL_ERROR_WANT_WRITE:
		error = fib_tls_transport_flush(tls, deadline);
		/* OpenSSL goes on: a writer then finds the error, a reader reads. */
		return tls->broken || tls->send_broken ? 0 : error;
	default:
		break;
	}
	error = fib_tls_fail(tls);
	/* An alert may be among it. */
	fib_tls_transport_push(tls);
	return error;
}

static int shake_hands(struct fiber_tls *tls, int64_t deadline)
{
	int error = 0, n;

	while (!tls->ready && !error) {
		ERR_clear_error();
		tls->corked = true;
		n = SSL_do_handshake(tls->ssl);
		tls->corked = false;
		if (n == 1)
			tls->ready = true;
		else
			error = fib_tls_await(tls, n, deadline);
	}
	return error;
}

/* The peer waits for this side's last message. A server of TLS 1.3 has only tickets left, which can
 * wait. Returns 0 or an error. */
static int send_last(struct fiber_tls *tls, int64_t deadline)
{
	int error;

	if (tls->context->server && SSL_version(tls->ssl) >= TLS1_3_VERSION)
		return 0;
	error = fib_tls_transport_flush(tls, deadline);
	return error ? fib_tls_send_failed(tls, error) : 0;
}

int fib_tls_make_ready(struct fiber_tls *tls, int64_t deadline)
{
	int error;

	if (tls->ready || tls->failed)
		return tls->failed;
	error = fib_tls_enter(tls, FIB_TLS_BOTH);
	if (error)
		return error;
	error = shake_hands(tls, deadline);
	fib_tls_leave(tls, FIB_TLS_BOTH);
	return error;
}

int fiber_tls_handshake(struct fiber_tls *tls, int64_t deadline)
{
	int error;

	pthread_mutex_lock(&tls->lock);
	error = fib_tls_make_ready(tls, deadline);
	if (!error)
		error = send_last(tls, deadline);
	pthread_mutex_unlock(&tls->lock);
	return error;
}

const char *fiber_tls_error(struct fiber_tls *tls)
{
	const char *text;

	pthread_mutex_lock(&tls->lock);
	text = tls->failed ? tls->text : "";
	pthread_mutex_unlock(&tls->lock);
	return text;
}

struct ssl_st *fiber_tls_openssl(struct fiber_tls *tls)
{
	return tls->ssl;
}

/* SPDX-License-Identifier: MIT */
/*
 * sessions.c - a client's sessions, for later connections to the same host
 *
 * A session of TLS 1.3 is used once: a second use would let an observer see that two connections
 * have the same client (RFC 8446, C.4). A server gives two with each handshake. A session of TLS
 * 1.2 is used again: it stays in the list.
 *
 * A busy host gives more sessions than are taken. It keeps at most four, so that it does not push out
 * those of other hosts.
 *
 * A resumed connection exchanges no certificates. It is as trustworthy as the connection that got the
 * session: that one had the same context, so the same authorities, and the same host. When the
 * peer's certificate expires, its sessions are dropped.
 */
#include "sessions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST	  256
#define MOST_HOST 4

struct fib_tls_session {
	TAILQ_ENTRY(fib_tls_session) link;
	SSL_SESSION *session;
	char host[];
};

void fib_tls_sessions_init(struct fib_tls_sessions *sessions)
{
	pthread_mutex_init(&sessions->lock, NULL);
	TAILQ_INIT(&sessions->list);
	sessions->count = 0;
}

/* Free an entry that is in no list. NULL is allowed. */
static void drop(struct fib_tls_session *s)
{
	if (!s)
		return;
	SSL_SESSION_free(s->session);
	free(s);
}

static void take_out(struct fib_tls_sessions *sessions, struct fib_tls_session *s)
{
	TAILQ_REMOVE(&sessions->list, s, link);
	sessions->count--;
}

void fib_tls_sessions_free(struct fib_tls_sessions *sessions)
{
	struct fib_tls_session *s, *next;

	for (s = TAILQ_FIRST(&sessions->list); s; s = next) {
		next = TAILQ_NEXT(s, link);
		drop(s);
	}
	pthread_mutex_destroy(&sessions->lock);
}

/* The entry that makes way for a new one of the host. NULL: there is room. */
static struct fib_tls_session *find_surplus(struct fib_tls_sessions *sessions, const char *host)
{
	struct fib_tls_session *s;
	unsigned count = 0;

	TAILQ_FOREACH(s, &sessions->list, link)
	if (!strcmp(s->host, host) && ++count == MOST_HOST)
		return s;
	return sessions->count == MOST ? TAILQ_LAST(&sessions->list, fib_tls_session_list) : NULL;
}

void fib_tls_sessions_put(struct fib_tls_sessions *sessions, const char *host, SSL_SESSION *session)
{
	const size_t size = strlen(host) + 1;
	struct fib_tls_session *const s = malloc(sizeof(*s) + size);
	struct fib_tls_session *surplus;

	if (!s) {
		SSL_SESSION_free(session);
		return;
	}
	s->session = session;
	memcpy(s->host, host, size);
	pthread_mutex_lock(&sessions->lock);
	surplus = find_surplus(sessions, host);
	if (surplus)
		take_out(sessions, surplus);
	TAILQ_INSERT_HEAD(&sessions->list, s, link);
	sessions->count++;
	pthread_mutex_unlock(&sessions->lock);
	drop(surplus);
}

/* Whether the session may be resumed: neither it nor the peer's certificate has expired. */
static bool is_current(SSL_SESSION *session)
{
	X509 *const peer = SSL_SESSION_get0_peer(session);
	const long age = (long)time(NULL) - SSL_SESSION_get_time(session);

	if (age < 0 || age > SSL_SESSION_get_timeout(session))
		return false;
	return !peer || X509_cmp_current_time(X509_get0_notAfter(peer)) > 0;
}

/* Find the newest session of the host, and drop those of it that may not be resumed. */
static struct fib_tls_session *find(struct fib_tls_sessions *sessions, const char *host)
{
	struct fib_tls_session *s, *next;

	for (s = TAILQ_FIRST(&sessions->list); s; s = next) {
		next = TAILQ_NEXT(s, link);
		if (strcmp(s->host, host) != 0)
			continue;
		if (is_current(s->session))
			return s;
		take_out(sessions, s);
		drop(s);
	}
	return NULL;
}

SSL_SESSION *fib_tls_sessions_take(struct fib_tls_sessions *sessions, const char *host)
{
	SSL_SESSION *session = NULL;
	struct fib_tls_session *s;
	bool once = false;

	pthread_mutex_lock(&sessions->lock);
	s = find(sessions, host);
	if (s) {
		session = s->session;
		once = SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION;
	}
	if (once)
		take_out(sessions, s);
	else if (session)
		SSL_SESSION_up_ref(session);
	pthread_mutex_unlock(&sessions->lock);
	if (once)
		free(s);
	return session;
}

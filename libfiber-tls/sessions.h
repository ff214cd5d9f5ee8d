/* SPDX-License-Identifier: MIT */
/* sessions.h - a client's sessions, for later connections to the same host */
#ifndef FIB_TLS_SESSIONS_H
#define FIB_TLS_SESSIONS_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <sys/queue.h>

struct fib_tls_session;

/* The newest session is first. The lock is held for a walk through the list, never during a wait. */
struct fib_tls_sessions {
	pthread_mutex_t lock;
	TAILQ_HEAD(fib_tls_session_list, fib_tls_session) list;
	unsigned count;
};

void fib_tls_sessions_init(struct fib_tls_sessions *sessions);
void fib_tls_sessions_free(struct fib_tls_sessions *sessions);

/* Keep a session with this host. Takes the caller's reference; drops the oldest session, of
 * this host if it has too many, or this one without memory. Any thread. */
void fib_tls_sessions_put(struct fib_tls_sessions *sessions, const char *host,
			  SSL_SESSION *session);

/* Take the newest session with this host. Drops expired ones, and those of expired certificates.
 * The reference is the caller's; NULL: there is none. Any thread. */
SSL_SESSION *fib_tls_sessions_take(struct fib_tls_sessions *sessions, const char *host);

#endif

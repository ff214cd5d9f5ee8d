/* SPDX-License-Identifier: MIT */
/*
 * pair.h - a server and a client on the two ends of a socket pair, for the tests of libfiber-tls
 *
 * No assert is inside a fiber: fibers record, and tests check the record on their own stack.
 */
#ifndef UNIT_TLS_PAIR_H
#define UNIT_TLS_PAIR_H

#include "tests/system/carriers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber/tls.h>

#include "tests/harness/certificates.h"
#include "tests/harness/openssl_races.h"

#define SECOND (1000 * MS)

struct pair {
	struct fiber_tls_context *server_context, *client_context;
	struct fiber_tls *server, *client;
	int fds[2]; /* the server's, the client's */
	int server_result, client_result;
};

/* Certificates "authority" and "server", which is valid for localhost and 127.0.0.1. */
static inline int pair_certificates(void **state)
{
	(void)state;
	harness_authority("authority");
	harness_certify("server", "authority", "DNS:localhost,IP:127.0.0.1", 1);
	return 0;
}

static inline struct fiber_tls_options pair_server_options(const char *name)
{
	return (struct fiber_tls_options){.size = sizeof(struct fiber_tls_options),
					  .certificate = harness_pem(name),
					  .key = harness_key(name)};
}

static inline struct fiber_tls_options pair_client_options(void)
{
	return (struct fiber_tls_options){.size = sizeof(struct fiber_tls_options),
					  .ca = harness_pem("authority")};
}

/* NULL: the options above. */
static inline void pair_contexts(struct pair *p, const struct fiber_tls_options *server,
				 const struct fiber_tls_options *client)
{
	const struct fiber_tls_options of_server = pair_server_options("server");
	const struct fiber_tls_options of_client = pair_client_options();
	char text[256] = "";

	if (fiber_tls_server_new(server ? server : &of_server, &p->server_context, text,
				 sizeof(text)) ||
	    fiber_tls_client_new(client ? client : &of_client, &p->client_context, text,
				 sizeof(text)))
		_assert_true(0, text, __FILE__, __LINE__);
}

static inline void pair_connect(struct pair *p, const char *host)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->fds), 0);
	assert_int_equal(fiber_tls_new(p->server_context, p->fds[0], NULL, &p->server), 0);
	assert_int_equal(fiber_tls_new(p->client_context, p->fds[1], host, &p->client), 0);
}

/* Two ends of a TCP connection. */
static inline void pair_tcp(int fds[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fds[1], (struct sockaddr *)&at, size), 0);
	fds[0] = accept(listener, NULL, NULL);
	assert_true(fds[0] >= 0);
	close(listener);
}

static inline void pair_connect_tcp(struct pair *p, const char *host)
{
	pair_tcp(p->fds);
	assert_int_equal(fiber_tls_new(p->server_context, p->fds[0], NULL, &p->server), 0);
	assert_int_equal(fiber_tls_new(p->client_context, p->fds[1], host, &p->client), 0);
}

static inline void pair_open(struct pair *p)
{
	pair_contexts(p, NULL, NULL);
	pair_connect(p, "localhost");
}

static inline void pair_disconnect(struct pair *p)
{
	fiber_tls_free(p->server);
	fiber_tls_free(p->client);
	fiber_close(p->fds[0]);
	fiber_close(p->fds[1]);
}

static inline void pair_close(struct pair *p)
{
	pair_disconnect(p);
	fiber_tls_context_unref(p->server_context);
	fiber_tls_context_unref(p->client_context);
}

/* Run a fiber for each side, of this test's carriers, until both have ended. */
struct pair_sides {
	fiber_fn *server, *client;
	void *arg;
};

static inline void *pair_both(void *arg)
{
	const struct pair_sides *const sides = arg;
	struct fiber *server;

	if (fiber_spawn(sides->server, sides->arg, &server))
		abort();
	sides->client(sides->arg);
	fiber_join(server, NULL, FIBER_FOREVER);
	return NULL;
}

static inline void pair_run(fiber_fn *server, fiber_fn *client, void *arg)
{
	struct pair_sides sides = {server, client, arg};

	carriers_run(pair_both, &sides);
}

static inline void *pair_server_shakes(void *arg)
{
	struct pair *const p = arg;

	p->server_result = fiber_tls_handshake(p->server, fiber_after(20 * SECOND));
	/* A peer that waits must not wait for this side in vain. */
	if (p->server_result)
		shutdown(p->fds[0], SHUT_WR);
	return NULL;
}

static inline void *pair_client_shakes(void *arg)
{
	struct pair *const p = arg;

	p->client_result = fiber_tls_handshake(p->client, fiber_after(20 * SECOND));
	if (p->client_result)
		shutdown(p->fds[1], SHUT_WR);
	return NULL;
}

static inline void pair_shake(struct pair *p)
{
	pair_run(pair_server_shakes, pair_client_shakes, p);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ports.c - which socket has which port
 *
 * The rules are Linux's. Two TCP sockets may share an address and a port if both have SO_REUSEADDR
 * and the other one does not listen, or both have SO_REUSEPORT; two UDP sockets if both have one of
 * these options. An accepted connection has the port of its listener.
 */
#include "net/ports.h"

#include <errno.h>
#include <netinet/in.h>

#include "net/hosts.h"

#define FIRST 40000u
#define LAST  65535u

static unsigned next_port;

void fib_ports_begin(void)
{
	next_port = FIRST;
}

/* Whether the address of a socket includes *b: exactly, or as 0.0.0.0 or ::. */
static bool includes(const struct fib_socket *s, const struct fib_address *b)
{
	const struct fib_address *a = &s->local;

	if (fib_address_same_ip(a, b))
		return true;
	if (!fib_address_is_any(a))
		return false;
	if (fib_address_is_v4(a))
		return fib_address_is_v4(b);
	return !fib_address_is_v4(b) || !s->v6_only;
}

/* Whether s may have *a beside the socket other, which has the same port. */
static bool may_share(const struct fib_socket *s, const struct fib_socket *other)
{
	if (s->reuse_port && other->reuse_port)
		return true;
	return s->reuse_address && other->reuse_address && !(s->stream && other->listening);
}

static bool overlap(const struct fib_socket *s, const struct fib_address *a,
		    const struct fib_socket *other)
{
	struct fib_socket mine = *s;

	mine.local = *a;
	return includes(&mine, &other->local) || includes(other, a);
}

static bool in_use(const struct fib_socket *s, const struct fib_address *a)
{
	struct fib_socket *other;
	unsigned i;

	for (i = 0; i < fib_socket_count(); i++) {
		other = fib_socket_at(i);
		if (other->closed || other == s || other->stream != s->stream ||
		    other->local.port != a->port)
			continue;
		if (!may_share(s, other) && overlap(s, a, other) && fib_socket_alive(other))
			return true;
	}
	return false;
}

/* A free port for *a; 0: none. */
static unsigned choose(const struct fib_socket *s, struct fib_address *a)
{
	unsigned tries;

	for (tries = FIRST; tries <= LAST; tries++) {
		a->port = (uint16_t)next_port;
		next_port = next_port == LAST ? FIRST : next_port + 1;
		if (!in_use(s, a))
			return a->port;
	}
	return 0;
}

int fib_port_bind(struct fib_socket *s, const struct fib_address *a)
{
	struct fib_address at = *a;

	if (!fib_address_is_any(a) && !fib_hosts_has(a))
		return -EADDRNOTAVAIL;
	if (!at.port && !choose(s, &at))
		return -EADDRINUSE;
	if (a->port && in_use(s, a))
		return -EADDRINUSE;
	s->port_chosen = !a->port;
	s->local = at;
	return 0;
}

int fib_port_choose(struct fib_socket *s)
{
	struct fib_address any = fib_address_none(s->family);

	if (s->local.port)
		return 0;
	if (!choose(s, &any))
		return -EADDRNOTAVAIL;
	s->port_chosen = true;
	s->local = any;
	return 0;
}

bool fib_port_is_listened(struct fib_socket *s)
{
	struct fib_socket *other;
	unsigned i;

	for (i = 0; i < fib_socket_count(); i++) {
		other = fib_socket_at(i);
		if (!other->closed && other != s && other->listening &&
		    other->local.port == s->local.port && overlap(s, &s->local, other) &&
		    !(s->reuse_port && other->reuse_port) && fib_socket_alive(other))
			return true;
	}
	return false;
}

/* How exactly a socket is meant by a connection or datagram to *a; 0: not at all. */
static unsigned match(const struct fib_socket *s, const struct fib_socket *from,
		      const struct fib_address *a)
{
	struct fib_address source;
	unsigned score = 1;

	if (s->closed || s->stream != from->stream || s->local.port != a->port || !includes(s, a))
		return 0;
	if (s->stream && !s->listening)
		return 0;
	score += 2u * fib_address_same_ip(&s->local, a);
	score += (s->family == AF_INET) == fib_address_is_v4(a);
	if (!s->stream && s->connected) {
		source = fib_address_is_any(&from->local) ? fib_port_source(a) : from->local;
		if (s->remote.port != from->local.port || !fib_address_same_ip(&s->remote, &source))
			return 0;
		score += 4;
	}
	return score;
}

struct fib_socket *fib_port_find(const struct fib_socket *from, const struct fib_address *a)
{
	struct fib_socket *best = NULL, *s;
	unsigned score, highest = 0, same = 0, i;

	for (i = 0; i < fib_socket_count(); i++) {
		s = fib_socket_at(i);
		score = match(s, from, a);
		if (!score || score < highest)
			continue;
		if (score > highest)
			same = 0;
		highest = score;
		same++;
		/* Sockets with SO_REUSEPORT share what comes; of others the last one gets it. */
		if (!best || !s->reuse_port || same == 1 || from->local.port % same == 0)
			best = s;
	}
	return best;
}

struct fib_address fib_port_source(const struct fib_address *to)
{
	struct fib_address a = *to;

	if (fib_address_is_loopback(to))
		a = fib_address_loopback(fib_address_is_v4(to) ? AF_INET : AF_INET6);
	a.port = 0;
	return a;
}

int fib_port_choose_for(struct fib_socket *s, int fd, const struct fib_address *to)
{
	const int rc = fib_port_choose(s);
	const uint16_t port = s->local.port;

	if (rc < 0)
		return rc;
	if (fib_address_is_any(&s->local)) {
		s->local = fib_port_source(to);
		s->local.port = port;
	}
	return fib_socket_make_name(s, fd);
}

int fib_port_reach(const struct fib_socket *s, struct fib_address *to)
{
	struct fib_address loopback;

	if (fib_address_is_any(to)) {
		loopback = fib_address_loopback(fib_address_is_v4(to) ? AF_INET : AF_INET6);
		loopback.port = to->port;
		*to = loopback;
	}
	if (s->family == AF_INET6 && s->v6_only && fib_address_is_v4(to))
		return -ENETUNREACH;
	return fib_hosts_has(to) ? 0 : -ENETUNREACH;
}
